//! The agent through coop's API: states, prompts, messages and answers.

use std::time::Duration;

use coop_client::v1;
use tonic::Status;

use super::{DEADLINE, TestSession, poll_until, within_deadline};

impl TestSession {
    pub async fn state(&mut self) -> v1::GetAgentStateResponse {
        let request = v1::GetAgentStateRequest {};
        within_deadline("a state", self.coop.client.get_agent_state(request))
            .await
            .expect("a state")
            .into_inner()
    }

    /// Waits until the agent is in this state, now or later.
    pub async fn wait_state(&mut self, state: &str) -> v1::GetAgentStateResponse {
        self.wait_state_after(0, state).await
    }

    /// Waits for a state that started after this event.
    pub async fn wait_state_after(&mut self, seq: u64, state: &str) -> v1::GetAgentStateResponse {
        let request = v1::WaitForStateRequest {
            state: vec![state.to_owned()],
            timeout_ms: Some(i32::try_from(DEADLINE.as_millis()).expect("it is short")),
            after_seq: (seq > 0).then_some(seq),
            ..Default::default()
        };
        let answer = self.coop.client.wait_for_state(request).await.expect("a state").into_inner();
        assert!(
            answer.matched,
            "timed out after {DEADLINE:?} waiting for {state}; it is {}",
            answer.state
        );
        let agent = answer.agent.expect("a match has a state");
        self.catch_up(agent.event_seq).await;
        agent
    }

    /// Waits until the agent has been in this state for so long.
    pub async fn wait_stable(&mut self, state: &str, time: Duration) {
        let request = v1::WaitForStateRequest {
            state: vec![state.to_owned()],
            timeout_ms: Some(i32::try_from(DEADLINE.as_millis()).expect("it is short")),
            stable_ms: Some(i32::try_from(time.as_millis()).expect("it is short")),
            ..Default::default()
        };
        let answer = self.coop.client.wait_for_state(request).await.expect("a state").into_inner();
        assert!(answer.matched, "not {state} for {time:?}; it is {}", answer.state);
    }

    /// Waits until all events up to this one have arrived.
    async fn catch_up(&self, seq: u64) {
        let arrived = || self.events().last().is_some_and(|event| event.seq >= seq);
        poll_until("the events so far", async || (arrived() || seq == 0).then_some(())).await;
    }

    /// Waits until a dialog is open and takes keys.
    pub async fn wait_prompt(&mut self) -> v1::PromptContext {
        poll_until("a prompt that takes keys", async || {
            let state = self.state().await;
            state.prompt.filter(|prompt| state.state == "prompt" && prompt.ready)
        })
        .await
    }

    /// Waits until a prompt of this subtype takes keys.
    pub async fn wait_prompt_of(&mut self, subtype: &str) -> v1::PromptContext {
        let subtype = Some(subtype.to_owned());
        self.wait_for("such a prompt", |state| {
            state.prompt.clone().filter(|prompt| prompt.ready && prompt.subtype == subtype)
        })
        .await
    }

    /// Waits until another prompt than this one takes keys.
    pub async fn wait_prompt_after(&mut self, id: &str) -> v1::PromptContext {
        self.wait_for("another prompt", |state| {
            state.prompt.clone().filter(|prompt| prompt.ready && prompt.id != id)
        })
        .await
    }

    /// Waits until `probe` finds what it looks for in the agent's state.
    pub async fn wait_for<T>(
        &mut self,
        what: &str,
        mut probe: impl FnMut(&v1::GetAgentStateResponse) -> Option<T>,
    ) -> T {
        poll_until(what, async || probe(&self.state().await)).await
    }

    pub async fn explain(&mut self) -> v1::ExplainStateResponse {
        let request = v1::ExplainStateRequest {};
        within_deadline("a reason", self.coop.client.explain_state(request))
            .await
            .expect("a reason")
            .into_inner()
    }

    pub async fn signal(&mut self, name: &str) {
        let request = v1::SendSignalRequest { signal: name.to_owned() };
        within_deadline("the signal to be sent", self.coop.client.send_signal(request))
            .await
            .expect("sent");
    }

    pub async fn nudge(&mut self, message: &str) -> Result<v1::NudgeResponse, Status> {
        self.nudge_with(v1::NudgeRequest { message: message.to_owned(), ..Default::default() })
            .await
    }

    pub async fn nudge_with(
        &mut self,
        request: v1::NudgeRequest,
    ) -> Result<v1::NudgeResponse, Status> {
        within_deadline("a nudge", self.coop.client.nudge(request))
            .await
            .map(tonic::Response::into_inner)
    }

    /// Sends a message that the model echoes, and waits until the agent is idle again.
    pub async fn round_trip(&mut self, text: &str) {
        let nudged = self.nudge(text).await.expect("an agent at rest takes a message");
        assert_eq!(nudged.outcome, "accepted");
        self.wait_reply(&format!("echo: {text}")).await;
        self.wait_state_after(nudged.seq, "idle").await;
    }

    /// Sends a message, and waits until the model's reply is at this hold.
    pub async fn nudge_until_hold(&mut self, hold: &str, message: &str) -> v1::NudgeResponse {
        let nudged = self.nudge(message).await.expect("an agent at rest takes a message");
        self.api.wait_held(hold).await;
        self.wait_state("working").await;
        nudged
    }

    pub async fn respond(
        &mut self,
        request: v1::RespondRequest,
    ) -> Result<v1::RespondResponse, Status> {
        within_deadline("an answer", self.coop.client.respond(request))
            .await
            .map(tonic::Response::into_inner)
    }

    /// Answers with the option of this number, counted from 1.
    pub async fn choose(&mut self, option: i32) -> Result<v1::RespondResponse, Status> {
        self.respond(v1::RespondRequest { option: Some(option), ..Default::default() }).await
    }

    /// Accepts the open prompt.
    pub async fn accept(&mut self) -> v1::RespondResponse {
        let yes = v1::RespondRequest { accept: Some(true), ..Default::default() };
        self.respond(yes).await.expect("a yes is taken")
    }

    /// Declines the open prompt.
    pub async fn decline(&mut self) -> v1::RespondResponse {
        let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
        self.respond(no).await.expect("a no is taken")
    }

    /// Waits until this file is in the workspace.
    pub async fn wait_file(&self, name: &str) {
        let path = self.workspace().join(name);
        poll_until(&format!("the file {name}"), async || path.exists().then_some(())).await;
    }

    pub async fn interrupt(&mut self) -> Result<v1::InterruptResponse, Status> {
        within_deadline("an interrupt", self.coop.client.interrupt(v1::InterruptRequest {}))
            .await
            .map(tonic::Response::into_inner)
    }

    /// Every event so far, in order.
    pub fn events(&self) -> Vec<v1::Event> {
        self.coop.events.lock().expect("the lock is not poisoned").clone()
    }

    /// The agent was never idle between its setup dialogs.
    pub fn assert_not_idle_before_last_prompt(&self) {
        let states = self.states();
        let last = states.iter().rposition(|state| state == "prompt").expect("there were some");
        assert!(
            !states[..last].iter().any(|state| state == "idle"),
            "idle before it is set up: {states:?}"
        );
    }

    /// The agent's states so far, in order.
    pub fn states(&self) -> Vec<String> {
        let events = self.events();
        let states = events.iter().filter_map(|event| match &event.payload {
            Some(v1::event::Payload::State(state)) => Some(state.next.clone()),
            _ => None,
        });
        states.collect()
    }
}

/// The error code of a refused call.
pub fn error_code(status: &Status) -> String {
    coop_client::reason(status).expect("a refusal has a reason").code
}
