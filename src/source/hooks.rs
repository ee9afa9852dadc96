//! What the ways in for hook calls have in common: the check of the nonce, the count of rejected
//! calls, and the answer to a hook that waits. It must not know what an event means.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::oneshot;

use super::agent_process::AgentProcess;
use super::counters::{AtomicCounters, increment};
use super::hook_message::HookMessage;
use super::json_lines::RejectedLines;
use super::queue::ObservationSender;
use crate::os::ProcessIdentity;

/// A hook that waits for an answer; it continues without one when this is dropped.
#[derive(Debug)]
pub struct HookReply(pub(super) oneshot::Sender<Vec<u8>>);

impl HookReply {
    /// Sends the answer; returns false if the hook has exited.
    pub fn answer(self, output: &Value) -> bool {
        self.0.send(output.to_string().into_bytes()).is_ok()
    }

    /// Whether the hook still waits; one that was killed does not.
    pub fn is_waiting(&self) -> bool {
        !self.0.is_closed()
    }
}

/// Accepts hook calls, or counts why not. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct HookIntake {
    nonce: Arc<str>,
    counters: Arc<AtomicCounters>,
    agent_process: Arc<Mutex<AgentProcess>>,
    pub(super) sender: ObservationSender,
}

impl HookIntake {
    pub(super) fn new(
        nonce: &str,
        counters: Arc<AtomicCounters>,
        sender: ObservationSender,
    ) -> Self {
        let agent_process = Arc::default();
        Self { nonce: Arc::from(nonce), counters, agent_process, sender }
    }

    /// Returns the call if its line is well-formed and carries the session's nonce.
    pub(super) fn check(&self, line: Value) -> Option<HookMessage> {
        let Some(message) = HookMessage::decode(line) else {
            self.count_rejected(RejectedLines { malformed: 1, too_long: 0 });
            return None;
        };
        if *message.nonce != *self.nonce {
            increment(&self.counters.hooks_wrong_nonce);
            return None;
        }
        Some(message)
    }

    pub(super) fn count_rejected(&self, rejected: RejectedLines) {
        self.counters.hooks.add(rejected);
    }

    /// Whether calls of this process count. The first process that calls is the session's agent.
    pub(super) fn accepts(&self, pid: i32) -> bool {
        let mut agent_process = self.agent_process.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = agent_process.accepts(pid, ProcessIdentity::of_running);
        if !accepted {
            self.count_other_process();
        }
        accepted
    }

    /// The session's agent, as far as hooks have told.
    pub(super) fn agent(&self) -> Option<ProcessIdentity> {
        self.agent_process.lock().unwrap_or_else(PoisonError::into_inner).bound()
    }

    pub(super) fn count_other_process(&self) {
        increment(&self.counters.hooks_of_other_processes);
    }
}
