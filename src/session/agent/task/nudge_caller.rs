//! Logs the outcome of a nudge, and replies to its caller and to every caller that sent the same
//! idempotency key.

use super::TaskOutput;
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::event::{EventKind, EventSeq, NudgeEvent};
use crate::session::outcome::{NudgeOutcome, NudgeReply, Refusal};
use crate::session::replies::ReplySender;

#[derive(Debug)]
pub(super) struct NudgeCaller {
    id: String,
    by: By,
    idempotency_key: Option<String>,
    /// None once the caller has its reply.
    reply: Option<ReplySender<NudgeReply>>,
}

/// The agent's state before and after the nudge.
pub(super) type States = (AgentState, AgentState);

impl NudgeCaller {
    pub(super) fn new(
        id: String,
        by: By,
        idempotency_key: Option<String>,
        reply: ReplySender<NudgeReply>,
    ) -> Self {
        Self { id, by, idempotency_key, reply: Some(reply) }
    }

    pub(super) fn log(&self, now: Now, outcome: NudgeOutcome, output: &mut TaskOutput) -> EventSeq {
        let event = NudgeEvent { id: self.id.clone(), outcome, failure: None };
        output.publisher.log_by(now, &self.by, EventKind::Nudge(event))
    }

    /// Replies to every caller that has no reply yet. A message that was not typed frees its key.
    pub(super) fn reply(
        &mut self,
        (before, after): States,
        outcome: NudgeOutcome,
        seq: EventSeq,
        output: &mut TaskOutput,
    ) {
        let left_in_composer = output.own_messages.may_be_left()
            && matches!(outcome, NudgeOutcome::Unconfirmed | NudgeOutcome::Rejected(_));
        let id = self.id.clone();
        let reply = NudgeReply { id, before, after, outcome, seq, left_in_composer };
        let same_key = match (&self.idempotency_key, outcome) {
            (Some(key), NudgeOutcome::Rejected(_)) => output.keys.forget(key),
            (Some(key), _) => output.keys.keep(key, &reply),
            (None, _) => Vec::new(),
        };
        for caller in self.reply.take().into_iter().chain(same_key) {
            output.publisher.reply(caller, Ok(reply.clone()));
        }
    }

    /// Logs that coop gave up on a message it had begun to handle.
    pub(super) fn log_failure(&self, now: Now, error: &Error, output: &mut TaskOutput) {
        let outcome = NudgeOutcome::Rejected(Refusal::AgentBusy);
        let failure = Some(error.message.clone());
        let event = NudgeEvent { id: self.id.clone(), outcome, failure };
        output.publisher.log_by(now, &self.by, EventKind::Nudge(event));
    }

    /// Fails every caller, and frees the key.
    pub(super) fn fail(&mut self, error: &Error, output: &mut TaskOutput) {
        let key = self.idempotency_key.as_deref();
        let same_key = key.map(|key| output.keys.forget(key)).unwrap_or_default();
        for caller in self.reply.take().into_iter().chain(same_key) {
            output.publisher.reply(caller, Err(error.clone()));
        }
    }
}
