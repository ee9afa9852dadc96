//! The agent's state, and messages to the agent. Without a driver the state is `unknown`: waiting
//! for it and explaining it work, but the agent cannot be sent anything.

use std::time::Duration;

use coop_client::v1;
use tokio::time::{Instant, timeout_at};
use tonic::Request;

use super::terminal::lease_of;
use super::{Service, convert, milliseconds, no_driver};
use crate::driver;
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::event::EventSeq;
use crate::session::outcome::{NudgeOutcome, Refusal, RespondReply};
use crate::session::request::{NudgeMode, NudgeRequest};
use crate::session::snapshot::Snapshot;

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
        convert::agent_state(
            snapshot,
            &self.about.agent,
            &self.about.session_id,
            self.session.epoch_ms(),
        )
    }

    pub(super) async fn wait(
        &self,
        request: &v1::WaitForStateRequest,
    ) -> Result<v1::WaitForStateResponse, Error> {
        let wait = self.wait_request(request)?;
        let _permit = self.subscription()?;
        let mut events = self.session.events().subscribe();
        let mut closed = false;
        loop {
            events.mark_unchanged();
            let snapshot = self.session.snapshot();
            let agent = &snapshot.agent;
            let fits = wait.states.contains(&agent.state())
                && wait.after.is_none_or(|seq| agent.since > seq);
            let stable_at = fits.then_some(Instant::from_std(agent.since_steady) + wait.stable);
            let now = Instant::now();
            if stable_at.is_some_and(|at| at <= now) {
                return Ok(convert::waited(true, self.state_of(&snapshot)));
            }
            if agent.state() == AgentState::Exited && !wait.states.contains(&AgentState::Exited) {
                return Err(Error::exited());
            }
            if closed {
                return Err(Error::shutting_down());
            }
            if wait.deadline <= now {
                return Ok(convert::waited(false, self.state_of(&snapshot)));
            }
            let until = stable_at.map_or(wait.deadline, |at| at.min(wait.deadline));
            tokio::select! {
                // An event, or the end of the time: the next iteration decides.
                _ = timeout_at(until, events.changed()) => {}
                // The child exits just before coop, and a client may wait for that: check again.
                () = self.closing.closed() => closed = true,
            }
        }
    }

    fn wait_request(&self, request: &v1::WaitForStateRequest) -> Result<Wait, Error> {
        let states = request.state.iter().flat_map(|list| list.split(',')).map(str::trim);
        let states = states.map(|name| {
            AgentState::parse(name).ok_or_else(|| {
                let known = AgentState::ALL.map(AgentState::as_str).join(", ");
                Error::bad_request(format!("{name:?} is not a state; the states are {known}"))
            })
        });
        let states = states.collect::<Result<Vec<_>, _>>()?;
        if states.is_empty() {
            return Err(Error::bad_request(
                "state is missing: name at least one state to wait for",
            ));
        }
        let timeout = milliseconds(
            "timeout_ms",
            request.timeout_ms.unwrap_or(WAIT_DEFAULT_MS),
            WAIT_LIMIT_MS,
        )?;
        let stable = milliseconds("stable_ms", request.stable_ms.unwrap_or(0), WAIT_LIMIT_MS)?;
        // A number of another coop process does not apply: all events of this one are later.
        let same_epoch = request.epoch.is_none_or(|given| given == self.session.epoch_ms());
        Ok(Wait {
            states,
            after: request.after_seq.filter(|_| same_epoch).map(EventSeq),
            stable,
            deadline: Instant::now() + timeout,
        })
    }

    /// Usage is read from the agent's log, which needs a driver.
    pub(super) fn usage(&self) -> Result<v1::GetUsageResponse, Error> {
        if self.about.agent == driver::UNKNOWN {
            return Err(no_driver("usage"));
        }
        Ok(convert::usage(&self.session.snapshot().usage))
    }

    pub(super) async fn explain(&self) -> Result<v1::ExplainStateResponse, Error> {
        let explanation = self.session.explain().await?;
        let (snapshot, counters) = (self.session.snapshot(), self.session.source_counters());
        Ok(convert::explanation(explanation, &counters, &snapshot, &self.about.agent))
    }

    pub(super) async fn nudge(
        &self,
        request: Request<v1::NudgeRequest>,
    ) -> Result<v1::NudgeResponse, Error> {
        let (session, lease) = (self.session_of(&request), lease_of(&request));
        let v1::NudgeRequest { message, mode, idempotency_key, confirm_timeout_ms } =
            request.into_inner();
        NudgeRequest::check(&message)?;
        let mode = NudgeMode::parse(&mode).ok_or_else(|| {
            Error::bad_request(format!("mode {mode:?} is none of reject_if_busy, queue, interrupt"))
        })?;
        let confirm = confirm_timeout_ms.unwrap_or(CONFIRM_DEFAULT_MS);
        let confirm = milliseconds("confirm_timeout_ms", confirm, CONFIRM_LIMIT_MS)?;
        if idempotency_key.as_ref().is_some_and(|key| key.len() > KEY_LIMIT) {
            return Err(Error::bad_request(format!(
                "idempotency_key is longer than {KEY_LIMIT} bytes"
            )));
        }
        let request = NudgeRequest { text: message, mode, idempotency_key, confirm };
        let nudged = session.nudge(request, lease).await?;
        let response = convert::nudged(&nudged);
        match nudged.outcome {
            NudgeOutcome::Rejected(reason) => Err(convert::refused_nudge(reason, &response)),
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
        let (session, lease) = (self.session_of(&request), lease_of(&request));
        let request = convert::respond_request(request.into_inner())?;
        let responded = session.respond(request, lease).await?;
        let response = convert::responded(&responded);
        match responded {
            RespondReply::Given { .. } => Ok(response),
            RespondReply::NoPrompt { .. } => {
                Err(convert::refused_response(Refusal::NoPrompt, &response))
            }
        }
    }

    pub(super) async fn interrupt(
        &self,
        request: Request<v1::InterruptRequest>,
    ) -> Result<v1::InterruptResponse, Error> {
        let done = self.session_of(&request).interrupt(lease_of(&request)).await?;
        Ok(convert::interrupted(&done))
    }
}

/// A checked request to wait for a state.
struct Wait {
    states: Vec<AgentState>,
    after: Option<EventSeq>,
    stable: Duration,
    deadline: Instant,
}
