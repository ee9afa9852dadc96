//! What is asked about the agent, and of it. Without a driver the state is `unknown`, waiting
//! and explaining work all the same, and nothing can be said to an agent nobody knows.

use std::time::Duration;

use coop_client::v1;
use tokio::time::{Instant, timeout_at};

use super::{Service, convert, milliseconds};
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::clock::millis;
use crate::session::event::EventSeq;
use crate::session::snapshot::Snapshot;

const WAIT_DEFAULT_MS: i32 = 30_000;
const WAIT_LIMIT_MS: i32 = 600_000;

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
        loop {
            events.mark_unchanged();
            let snapshot = self.session.snapshot();
            let agent = &snapshot.agent;
            let fits = wait.states.contains(&agent.state) && wait.after.is_none_or(|seq| agent.since > seq);
            let stable_at = fits.then_some(Instant::from_std(agent.since_steady) + wait.stable);
            let now = Instant::now();
            if stable_at.is_some_and(|at| at <= now) {
                return Ok(self.waited(true, &snapshot));
            }
            if agent.state == AgentState::Exited && !wait.states.contains(&AgentState::Exited) {
                return Err(Error::exited());
            }
            if wait.deadline <= now {
                return Ok(self.waited(false, &snapshot));
            }
            let until = stable_at.map_or(wait.deadline, |at| at.min(wait.deadline));
            tokio::select! {
                // Whether something changed or the time passed: the next look decides.
                _ = timeout_at(until, events.changed()) => {}
                () = self.closing.closed() => return Err(Error::shutting_down()),
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
            state: snapshot.agent.state.as_str().to_owned(),
            agent: Some(self.state_of(snapshot)),
        }
    }

    pub(super) fn explain(&self) -> v1::ExplainStateResponse {
        let snapshot = self.session.snapshot();
        let state = snapshot.agent.state.as_str().to_owned();
        v1::ExplainStateResponse {
            agent: self.about.agent.clone(),
            state: state.clone(),
            detection_tier: convert::PROCESS_TIER.to_owned(),
            reason: "no driver knows this program, so only its process speaks".to_owned(),
            votes: vec![v1::Vote {
                tier: convert::PROCESS_TIER.to_owned(),
                state,
                age_ms: millis(snapshot.agent.since_steady.elapsed()),
                cause: snapshot.agent.cause.to_owned(),
                evidence: match snapshot.process.pid() {
                    Some(pid) => format!("process {pid} is alive"),
                    None => "there is no process".to_owned(),
                },
            }],
            event_seq: snapshot.event_seq.0,
        }
    }
}

struct Wait {
    states: Vec<AgentState>,
    after: Option<EventSeq>,
    stable: Duration,
    deadline: Instant,
}
