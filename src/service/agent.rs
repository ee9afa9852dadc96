//! What is asked about the agent, and what is said to it. Without a driver the state is `unknown`, waiting
//! and explaining work all the same, and nothing can be said to an agent nobody knows.

use std::time::Duration;

use coop_client::v1;
use tokio::time::{Instant, timeout_at};
use tonic::Request;

use super::terminal::shown_lease;
use super::{Service, convert, milliseconds, no_driver};
use crate::driver;
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::event::EventSeq;
use crate::session::snapshot::Snapshot;
use crate::session::talk::{Message, Mode, NudgeOutcome, Refusal, Responded};

const WAIT_DEFAULT_MS: i32 = 30_000;
const WAIT_LIMIT_MS: i32 = 600_000;
const CONFIRM_DEFAULT_MS: i32 = 5000;
const CONFIRM_LIMIT_MS: i32 = 30_000;
const KEY_LIMIT: usize = 256;

impl Service {
    pub(super) fn agent_state(&self) -> v1::GetAgentStateResponse {
        self.state_of(&self.session.snapshot())
    }

    fn state_of(&self, snapshot: &Snapshot) -> v1::GetAgentStateResponse {
        convert::agent_state(snapshot, &self.about.agent, &self.about.session_id, self.session.epoch_ms())
    }

    pub(super) async fn wait(
        &self,
        request: &v1::WaitForStateRequest,
    ) -> Result<v1::WaitForStateResponse, Error> {
        let wait = self.wait_request(request)?;
        let mut events = self.session.events().subscribe();
        let mut closed = false;
        loop {
            events.mark_unchanged();
            let snapshot = self.session.snapshot();
            let agent = &snapshot.agent;
            let fits = wait.states.contains(&agent.state()) && wait.after.is_none_or(|seq| agent.since > seq);
            let stable_at = fits.then_some(Instant::from_std(agent.since_steady) + wait.stable);
            let now = Instant::now();
            if stable_at.is_some_and(|at| at <= now) {
                return Ok(self.waited(true, &snapshot));
            }
            if agent.state() == AgentState::Exited && !wait.states.contains(&AgentState::Exited) {
                return Err(Error::exited());
            }
            if closed {
                return Err(Error::shutting_down());
            }
            if wait.deadline <= now {
                return Ok(self.waited(false, &snapshot));
            }
            let until = stable_at.map_or(wait.deadline, |at| at.min(wait.deadline));
            tokio::select! {
                // Whether something changed or the time passed: the next look decides.
                _ = timeout_at(until, events.changed()) => {}
                // The child's end, which somebody may wait for, comes just before coop's: one more look.
                () = self.closing.closed() => closed = true,
            }
        }
    }

    fn wait_request(&self, request: &v1::WaitForStateRequest) -> Result<Wait, Error> {
        let states = request.state.iter().flat_map(|list| list.split(',')).map(str::trim);
        let states = states.map(|name| {
            AgentState::parse(name).ok_or_else(|| {
                let known = AgentState::ALL.map(AgentState::as_str).join(", ");
                Error::bad_request(format!("{name:?} is no state; the states are {known}"))
            })
        });
        let states = states.collect::<Result<Vec<_>, _>>()?;
        if states.is_empty() {
            return Err(Error::bad_request("state is missing: name at least one state to wait for"));
        }
        let timeout =
            milliseconds("timeout_ms", request.timeout_ms.unwrap_or(WAIT_DEFAULT_MS), WAIT_LIMIT_MS)?;
        let stable = milliseconds("stable_ms", request.stable_ms.unwrap_or(0), WAIT_LIMIT_MS)?;
        // Another coop's number says nothing about this one's events: all of them are after it.
        let same_epoch = request.epoch.is_none_or(|asked| asked == self.session.epoch_ms());
        Ok(Wait {
            states,
            after: request.after_seq.filter(|_| same_epoch).map(EventSeq),
            stable,
            deadline: Instant::now() + timeout,
        })
    }

    fn waited(&self, matched: bool, snapshot: &Snapshot) -> v1::WaitForStateResponse {
        v1::WaitForStateResponse {
            matched,
            state: snapshot.agent.state().as_str().to_owned(),
            agent: Some(self.state_of(snapshot)),
        }
    }

    /// Only what a driver understands can be counted.
    pub(super) fn usage(&self) -> Result<v1::GetUsageResponse, Error> {
        if self.about.agent == driver::UNKNOWN {
            return Err(no_driver("usage"));
        }
        Ok(convert::usage(&self.session.snapshot().usage))
    }

    pub(super) async fn explain(&self) -> Result<v1::ExplainStateResponse, Error> {
        let explanation = self.session.explain().await?;
        let snapshot = self.session.snapshot();
        Ok(v1::ExplainStateResponse {
            agent: self.about.agent.clone(),
            state: snapshot.agent.state().as_str().to_owned(),
            detection_tier: snapshot.agent.tier.as_str().to_owned(),
            reason: explanation.reason,
            votes: explanation.votes.iter().map(convert::vote).collect(),
            event_seq: snapshot.event_seq.0,
        })
    }

    pub(super) async fn nudge(&self, request: Request<v1::NudgeRequest>) -> Result<v1::NudgeResponse, Error> {
        let lease = shown_lease(&request);
        let v1::NudgeRequest { message, mode, idempotency_key, confirm_timeout_ms } = request.into_inner();
        Message::check(&message)?;
        let mode = Mode::parse(&mode).ok_or_else(|| {
            Error::bad_request(format!("mode {mode:?} is none of reject_if_busy, queue, interrupt"))
        })?;
        let confirm = confirm_timeout_ms.unwrap_or(CONFIRM_DEFAULT_MS);
        let confirm = milliseconds("confirm_timeout_ms", confirm, CONFIRM_LIMIT_MS)?;
        if idempotency_key.as_ref().is_some_and(|key| key.len() > KEY_LIMIT) {
            return Err(Error::bad_request(format!("idempotency_key is longer than {KEY_LIMIT} bytes")));
        }
        let message = Message { text: message, mode, key: idempotency_key, confirm };
        let nudged = self.session.nudge(message, lease).await?;
        let response = convert::nudged(&nudged);
        match nudged.outcome {
            NudgeOutcome::Rejected(reason) => Err(refused(reason, "NudgeResponse", &response)),
            NudgeOutcome::Accepted
            | NudgeOutcome::Submitted
            | NudgeOutcome::Unconfirmed
            | NudgeOutcome::Queued => Ok(response),
        }
    }

    pub(super) async fn respond(
        &self,
        request: Request<v1::RespondRequest>,
    ) -> Result<v1::RespondResponse, Error> {
        let lease = shown_lease(&request);
        let reply = convert::reply(request.into_inner())?;
        let responded = self.session.respond(reply, lease).await?;
        let response = convert::responded(&responded);
        match responded {
            Responded::Given { .. } => Ok(response),
            Responded::NoPrompt { .. } => Err(refused(Refusal::NoPrompt, "RespondResponse", &response)),
        }
    }

    pub(super) async fn interrupt(
        &self,
        request: Request<v1::InterruptRequest>,
    ) -> Result<v1::InterruptResponse, Error> {
        let done = self.session.interrupt(shown_lease(&request)).await?;
        Ok(convert::interrupted(&done))
    }
}

/// A refusal that still carries the response of its call.
fn refused(reason: Refusal, name: &str, response: &impl prost::Message) -> Error {
    let any = prost_types::Any {
        type_url: format!("type.googleapis.com/coop.v1.{name}"),
        value: response.encode_to_vec(),
    };
    Error { response: Some(any), ..reason.error() }
}

struct Wait {
    states: Vec<AgentState>,
    after: Option<EventSeq>,
    stable: Duration,
    deadline: Instant,
}
