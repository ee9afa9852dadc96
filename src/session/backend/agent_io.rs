//! The agent's hooks, log and status files: what they report becomes [`Input`]s, and waiting hooks
//! are answered.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;

use super::agent_watch::AgentWatch;
use crate::launch::LaunchContext;
use crate::pty::LaunchError;
use crate::session::actor::Input;
use crate::session::agent::HookId;
use crate::source::{
    CounterReader, HOOK_PIPE, HookReply, LogTarget, OBSERVATIONS, Observation, Observations,
    SourceConfig, Sources, observations,
};

/// The values needed to prepare an agent's launch and to receive its hooks.
#[derive(Debug)]
pub(crate) struct HookSetup {
    pub context: LaunchContext,
    /// The secret by which the session's own hooks are recognised.
    pub nonce: String,
}

pub(super) struct AgentIo {
    sources: Sources,
    pub(super) observations: Observations,
    waiting_hooks: HashMap<HookId, HookReply>,
    last_hook: u64,
    /// The log of a child whose status file says which conversation it has.
    log_of_conversation: Option<LogTarget>,
    pub(super) watch: AgentWatch,
}

impl AgentIo {
    /// Opens the pipe that the agent's hooks write to.
    pub(super) fn open(dir: PathBuf, nonce: String, agent: String) -> Result<Self, LaunchError> {
        let (sender, observations) = observations(OBSERVATIONS);
        let sources = Sources::start(SourceConfig { dir, nonce }, sender).map_err(|error| {
            LaunchError::Unprepared(format!("the pipe for the agent's hooks: {error}"))
        })?;
        let waiting_hooks = HashMap::new();
        let watch = AgentWatch::new(agent);
        let (last_hook, log_of_conversation) = (0, None);
        Ok(Self { sources, observations, waiting_hooks, last_hook, log_of_conversation, watch })
    }

    /// The variable with the path of the pipe that hooks write to.
    pub(super) fn hook_variable(&self) -> (std::ffi::OsString, std::ffi::OsString) {
        (HOOK_PIPE.into(), self.sources.hook_pipe().into())
    }

    /// Follows the log of a child that is about to start. If its status file will name the
    /// conversation, a new log is not followed before: it could be that of another process.
    pub(super) fn before_start(&mut self, log: Option<LogTarget>, has_status_file: bool) {
        self.log_of_conversation = log.clone().filter(|_| has_status_file);
        match log {
            Some(log) if has_status_file && log.is_unnamed() => self.sources.unfollow_log(),
            Some(log) => self.sources.follow_log(log),
            None => {}
        }
    }

    /// The agent has this conversation now, whose log no hook has named.
    pub(super) fn follow_conversation(&mut self, id: &str) {
        let log = self.log_of_conversation.as_ref().and_then(|log| log.of_conversation(id));
        if let Some(log) = log {
            self.sources.follow_log(log);
        }
    }

    /// The child runs: its status file can be found by its pid.
    pub(super) fn started(&mut self, pid: i32, registry: Option<PathBuf>) {
        // Observations of the previous child are obsolete.
        while self.observations.try_recv().is_some() {}
        self.watch.started(pid);
        if let Some(dir) = registry {
            self.sources.watch_registry(dir, pid);
        }
    }

    pub(super) fn input(&mut self, observation: Observation) -> Input {
        match observation {
            Observation::Hook(call) => {
                let waiting = call.reply.map(|reply| {
                    self.last_hook += 1;
                    let id = HookId(self.last_hook);
                    self.waiting_hooks.insert(id, reply);
                    id
                });
                let by_agent = call.agent.is_some();
                self.watch.bind(call.agent);
                Input::Hook { event: call.event, payload: call.payload, waiting, by_agent }
            }
            Observation::LogLine(line) => Input::LogLine(line),
            Observation::LogGrew => Input::LogGrew,
            Observation::Registry(file) => {
                self.watch.bind(file.process);
                Input::Registry(file.value)
            }
        }
    }

    pub(super) fn answer_hook(&mut self, hook: HookId, output: &Value) {
        if let Some(reply) = self.waiting_hooks.remove(&hook)
            && !reply.answer(output)
        {
            tracing::debug!("the agent's hook ended before its answer");
        }
    }

    pub(super) fn release_hook(&mut self, hook: HookId) {
        self.waiting_hooks.remove(&hook);
    }

    pub(super) fn follow_log(&mut self, path: PathBuf) {
        self.sources.follow_log(LogTarget::whole_file(path));
    }

    pub(super) fn counters(&self) -> CounterReader {
        self.sources.counters()
    }

    pub(super) fn poll_sources(&mut self, wanted: bool) {
        self.sources.set_poll(wanted);
    }
}
