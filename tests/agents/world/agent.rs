//! The agent as coop's clients see it: states, prompts, messages and answers.

use coop_client::v1;
use tonic::Status;

use super::{DEADLINE, World, soon, until};

impl World {
    pub async fn state(&mut self) -> v1::GetAgentStateResponse {
        let request = v1::GetAgentStateRequest {};
        soon("a state", self.run.client.get_agent_state(request)).await.expect("a state").into_inner()
    }

    /// Waits until the agent is in this state, now or later.
    pub async fn wait_state(&mut self, state: &str) -> v1::GetAgentStateResponse {
        self.wait_state_after(0, state).await
    }

    /// Waits for a state that began after this event.
    pub async fn wait_state_after(&mut self, seq: u64, state: &str) -> v1::GetAgentStateResponse {
        let request = v1::WaitForStateRequest {
            state: vec![state.to_owned()],
            timeout_ms: Some(i32::try_from(DEADLINE.as_millis()).expect("it is short")),
            after_seq: (seq > 0).then_some(seq),
            ..Default::default()
        };
        let answer = self.run.client.wait_for_state(request).await.expect("a state").into_inner();
        assert!(answer.matched, "waited {DEADLINE:?} in vain for {state}; it is {}", answer.state);
        let agent = answer.agent.expect("a match has a state");
        self.catch_up(agent.event_seq).await;
        agent
    }

    /// Waits until the events up to this one have come, too.
    async fn catch_up(&self, seq: u64) {
        let come = || self.events().last().is_some_and(|event| event.seq >= seq);
        until("the events so far", async || (come() || seq == 0).then_some(())).await;
    }

    /// Waits until the agent stands at a dialog that takes keys.
    pub async fn wait_prompt(&mut self) -> v1::PromptContext {
        until("a prompt that takes keys", async || {
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

    /// Waits until what is said of the agent is as it should be.
    pub async fn wait_for<T>(
        &mut self,
        what: &str,
        mut probe: impl FnMut(&v1::GetAgentStateResponse) -> Option<T>,
    ) -> T {
        until(what, async || probe(&self.state().await)).await
    }

    pub async fn explain(&mut self) -> v1::ExplainStateResponse {
        let request = v1::ExplainStateRequest {};
        soon("a reason", self.run.client.explain_state(request)).await.expect("a reason").into_inner()
    }

    pub async fn signal(&mut self, name: &str) {
        let request = v1::SendSignalRequest { signal: name.to_owned() };
        soon("the signal to be sent", self.run.client.send_signal(request)).await.expect("sent");
    }

    pub async fn nudge(&mut self, message: &str) -> Result<v1::NudgeResponse, Status> {
        self.nudge_with(v1::NudgeRequest { message: message.to_owned(), ..Default::default() }).await
    }

    pub async fn nudge_with(&mut self, request: v1::NudgeRequest) -> Result<v1::NudgeResponse, Status> {
        soon("a nudge", self.run.client.nudge(request)).await.map(tonic::Response::into_inner)
    }

    /// Gives the agent a message that its model repeats, and waits until it is idle again.
    pub async fn echoes(&mut self, text: &str) {
        let nudged = self.nudge(text).await.expect("an agent at rest takes a message");
        assert_eq!(nudged.outcome, "accepted");
        self.hear(&format!("echo: {text}")).await;
        self.wait_state_after(nudged.seq, "idle").await;
    }

    /// Gives the agent a message, and waits until the model's reply stands at this hold.
    pub async fn works_at(&mut self, hold: &str, message: &str) -> v1::NudgeResponse {
        let nudged = self.nudge(message).await.expect("an agent at rest takes a message");
        self.api.wait_held(hold).await;
        self.wait_state("working").await;
        nudged
    }

    pub async fn respond(&mut self, request: v1::RespondRequest) -> Result<v1::RespondResponse, Status> {
        soon("an answer", self.run.client.respond(request)).await.map(tonic::Response::into_inner)
    }

    /// Answers with the option of this number, counted from 1.
    pub async fn choose(&mut self, option: i32) -> Result<v1::RespondResponse, Status> {
        self.respond(v1::RespondRequest { option: Some(option), ..Default::default() }).await
    }

    /// Says yes to the prompt that stands.
    pub async fn accept(&mut self) -> v1::RespondResponse {
        let yes = v1::RespondRequest { accept: Some(true), ..Default::default() };
        self.respond(yes).await.expect("a yes is taken")
    }

    /// Says no to the prompt that stands.
    pub async fn decline(&mut self) -> v1::RespondResponse {
        let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
        self.respond(no).await.expect("a no is taken")
    }

    /// Waits until this file is in the workspace.
    pub async fn wait_file(&self, name: &str) {
        let path = self.workspace().join(name);
        until(&format!("the file {name}"), async || path.exists().then_some(())).await;
    }

    pub async fn interrupt(&mut self) -> Result<v1::InterruptResponse, Status> {
        soon("an interrupt", self.run.client.interrupt(v1::InterruptRequest {}))
            .await
            .map(tonic::Response::into_inner)
    }

    /// Every event so far, in order.
    pub fn events(&self) -> Vec<v1::Event> {
        self.run.events.lock().expect("nobody panics with it").clone()
    }

    /// The states the agent went through so far, in order.
    pub fn states(&self) -> Vec<String> {
        let events = self.events();
        let states = events.iter().filter_map(|event| match &event.payload {
            Some(v1::event::Payload::State(state)) => Some(state.next.clone()),
            _ => None,
        });
        states.collect()
    }
}

/// The code that a call was refused with.
pub fn refusal(status: &Status) -> String {
    coop_client::reason(status).expect("a refusal has a reason").code
}
