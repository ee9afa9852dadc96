//! An agent on coop's terminal, driven by keys and the screen only: the base of the other tests.
//! The tests are the same for every agent.

use std::fmt::Write as _;

use crate::fake_model::Outcome;
use crate::harness::{Setup, TestSession};

/// What a user must know about an agent's screen and keys.
pub struct AgentUi {
    pub setup: fn() -> Setup,
    /// The setup in which the agent plans.
    pub planning: fn() -> Setup,
    /// A text on the screen once the agent takes messages.
    pub ready: &'static str,
    pub permission: Dialog,
    pub question: Dialog,
    pub plan: Dialog,
    /// What the model says after the approval of its plan.
    pub approved: &'static str,
    /// The part of a reply, stopped after the third line, that the agent shows.
    pub streamed: &'static str,
    pub interrupted: &'static str,
}

/// A text of a dialog, and the key for the answer of these tests.
pub struct Dialog {
    pub text: &'static str,
    pub key: &'static str,
}

impl AgentUi {
    async fn ready(&self) -> Option<TestSession> {
        self.started(self.setup).await
    }

    async fn started(&self, setup: fn() -> Setup) -> Option<TestSession> {
        let mut session = setup().start().await?;
        session.wait_text(self.ready).await;
        Some(session)
    }
}

pub async fn a_message_is_answered(ui: &AgentUi) {
    let Some(mut session) = ui.ready().await else { return };
    session.type_in("good morning to everybody").await;
    session.wait_reply("echo: good morning to everybody").await;
    assert_eq!(session.api.user_messages(), ["good morning to everybody"]);
}

/// Each line of the text ends with `end`.
pub async fn a_long_text_arrives_complete(ui: &AgentUi, end: &str) {
    let Some(mut session) = ui.ready().await else { return };
    let mut text = String::new();
    for number in 0..200 {
        writeln!(text, "line {number}: grüße, 世界, \"quotes\" and{end}").expect("written");
    }
    text.push_str("the end");
    session.type_in(&text).await;
    session.wait_reply("echo: line 0").await;
    assert_eq!(session.api.user_messages(), [text]);
}

pub async fn a_tool_asks_for_permission(ui: &AgentUi) {
    let Some(mut session) = ui.ready().await else { return };
    session.type_in(&format!("{} #say all is made", session.shell_call("touch made"))).await;
    session.wait_text(ui.permission.text).await;
    assert!(!session.workspace().join("made").exists());
    session.answer(ui.permission.key, ui.permission.text).await;
    session.wait_reply("all is made").await;
    assert!(session.workspace().join("made").exists());
    assert_eq!(session.api.user_messages().len(), 1, "an answer to a dialog is not a message");
}

pub async fn a_question_is_answered(ui: &AgentUi) {
    let Some(mut session) = ui.ready().await else { return };
    session.allow_questions().await;
    session.type_in("#ask Which color? / Red / Blue").await;
    session.wait_text(ui.question.text).await;
    session.answer(ui.question.key, ui.question.text).await;
    session.wait_reply("done").await;
    let result = session.api.last_result();
    assert!(result.contains("Blue") && !result.contains("Red"), "{result}");
}

pub async fn a_plan_is_shown(ui: &AgentUi) {
    let Some(mut session) = ui.started(ui.planning).await else { return };
    session.allow_questions().await;
    session.type_in("#plan # The plan\n\n1. Think of a word").await;
    session.wait_text(ui.plan.text).await;
    session.answer(ui.plan.key, ui.plan.text).await;
    session.wait_reply(ui.approved).await;
}

pub async fn an_interrupt_closes_the_connection_to_the_model(ui: &AgentUi) {
    let Some(mut session) = ui.ready().await else { return };
    let endless = "#stream 3x0 #hold forever #say never";
    session.type_in(endless).await;
    session.api.wait_held("forever").await;
    session.wait_reply(ui.streamed).await;
    session.press("\x1b").await;
    session.wait_text(ui.interrupted).await;
    session
        .api
        .wait_for("the agent to hang up", |requests| {
            let last = requests.iter().rfind(|request| request.is_turn())?;
            (last.outcome == Outcome::HungUp).then_some(())
        })
        .await;
    session.type_in("and again").await;
    session.wait_reply("echo: and again").await;
    assert_eq!(session.api.user_messages(), [endless, "and again"]);
}

/// The model responds with this status first.
pub async fn an_error_is_retried(ui: &AgentUi, status: u16) {
    let Some(mut session) = ui.ready().await else { return };
    session.type_in(&format!("#status {status} #think hm #say it works again")).await;
    session.wait_reply("it works again").await;
    let requests = session.api.requests();
    let outcomes: Vec<_> =
        requests.iter().filter(|request| request.is_turn()).map(|turn| turn.outcome).collect();
    assert_eq!(outcomes[0], Outcome::Failed);
    assert_eq!(session.api.user_messages().len(), 1, "a retry is not a message: {outcomes:?}");
}

pub async fn a_dropped_connection_is_retried(ui: &AgentUi) {
    let Some(mut session) = ui.ready().await else { return };
    session.type_in("#say half #drop #say whole").await;
    session.wait_reply("whole").await;
    assert_eq!(session.api.user_messages().len(), 1);
}
