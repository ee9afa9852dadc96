//! The draft in the composer: whether it keeps messages waiting, and when what coop typed and did
//! not submit is taken back. How it is deleted is the task's matter.

use super::super::task::{TakeBackTask, Typed, takes_message};
use super::super::{AgentSession, Context};
use super::TaskQueue;
use crate::driver::screen_reading::Composer;
use crate::session::clock::Now;

impl AgentSession {
    /// Whether the composer is shown, without a draft that is not coop's own, and no dialog takes
    /// the keys.
    pub(super) fn can_take_message(&self) -> bool {
        let reading = self.tracker.reading();
        let is_free = |composer: &Composer| composer.draft.is_empty() || self.is_own(composer);
        takes_message(&self.tracker.verdict().situation)
            && reading.composer.as_ref().is_some_and(is_free)
            && reading.dialog.is_none()
    }

    fn is_own(&self, composer: &Composer) -> bool {
        let typed = Typed::new(self.client_typed.as_ref(), self.only_here);
        self.tasks.own_messages.hold(composer, &*self.driver, typed)
    }

    /// Takes back a message that was typed and not submitted, once nothing else is to be done.
    pub(in crate::session::agent) fn take_back(&mut self, now: Now, context: &mut Context) {
        let TaskQueue { running, waiting, messages, own_messages, .. } = &mut self.tasks;
        if running.is_some() || !waiting.is_empty() || !messages.is_empty() {
            return;
        }
        own_messages.see(now.steady, self.tracker.reading());
        let composer = self.tracker.reading().composer.as_ref();
        let is_left = own_messages.is_to_be_deleted()
            && composer.is_some_and(|composer| !composer.draft.is_empty());
        if is_left && self.can_take_message() && context.lease.check(now, None).is_ok() {
            self.tasks.waiting.push_back(Box::new(TakeBackTask::new(now)));
        }
    }
}
