//! Hooks of the agent that wait for an answer, each with the prompt it announced.

use crate::driver::prompt::PromptId;

/// Names a waiting hook; the session loop holds its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct HookId(pub u64);

#[derive(Debug, Default)]
pub(super) struct PendingHooks {
    waiting: Vec<(PromptId, HookId)>,
}

impl PendingHooks {
    pub(super) fn add(&mut self, prompt: PromptId, hook: HookId) {
        self.waiting.push((prompt, hook));
    }

    pub(super) fn waits_for(&self, prompt: &PromptId) -> bool {
        self.waiting.iter().any(|(waiting, _)| waiting == prompt)
    }

    /// Removes the hook that announced this prompt, so that it can be answered.
    pub(super) fn take(&mut self, prompt: &PromptId) -> Option<HookId> {
        let index = self.waiting.iter().position(|(waiting, _)| waiting == prompt)?;
        Some(self.waiting.remove(index).1)
    }

    /// Removes the hooks whose prompt is over, and returns them.
    pub(super) fn take_unless(&mut self, open: impl Fn(&PromptId) -> bool) -> Vec<HookId> {
        self.waiting.extract_if(.., |(prompt, _)| !open(prompt)).map(|(_, hook)| hook).collect()
    }

    pub(super) fn take_all(&mut self) -> Vec<HookId> {
        self.waiting.drain(..).map(|(_, hook)| hook).collect()
    }
}
