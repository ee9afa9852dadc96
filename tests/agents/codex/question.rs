//! Questions and plans of the real codex, both in its plan mode.

use coop_client::v1;
use serde_json::json;

use crate::harness::{Setup, TestSession};
use crate::question::{answers, assert_tool_result, text_answer};

async fn planning() -> Option<TestSession> {
    let mut session = Setup::codex().idle().await?;
    session.plan_mode().await;
    Some(session)
}

#[tokio::test]
async fn a_question_is_answered_with_an_option_or_text() {
    let Some(mut session) = planning().await else { return };
    session.nudge("#ask Which color? / Red / Blue").await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.r#type, "question");
    assert_eq!(prompt.questions[0].question, "Which color?");
    assert_eq!(prompt.questions[0].options, ["Red", "Blue"]);
    assert_eq!(session.choose(2).await.expect("chosen").outcome, "answered");
    session.wait_state("idle").await;
    assert_tool_result(&session, &["answers", "Blue"], &["Red"]);

    session.nudge("#ask Which size? / Small / Large").await.expect("taken");
    session.wait_prompt_after(&prompt.id).await;
    let own =
        v1::RespondRequest { text: Some("as big as a house".to_owned()), ..Default::default() };
    assert_eq!(session.respond(own).await.expect("answered").outcome, "answered");
    session.wait_state("idle").await;
    assert_tool_result(&session, &["as big as a house"], &["Small", "Large"]);
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    let Some(mut session) = planning().await else { return };
    let question = |id: &str, text: &str, labels: [&str; 2]| {
        let options = labels.map(|label| json!({ "label": label, "description": "d" }));
        json!({ "id": id, "header": id, "question": text, "options": options })
    };
    let asked =
        [question("a", "First?", ["One", "Two"]), question("b", "Second?", ["Three", "Four"])];
    let call = json!({ "questions": asked });
    session.nudge(&format!("#tool request_user_input {call} #say thanks")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.questions.len(), 2);
    let both =
        answers(vec![v1::Answer { option: Some(2), ..Default::default() }, text_answer("neither")]);
    assert_eq!(session.respond(both).await.expect("answered").outcome, "answered");
    session.wait_reply("thanks").await;
    session.wait_state("idle").await;
    assert_tool_result(&session, &["Two", "neither"], &["One", "Three", "Four"]);
}

#[tokio::test]
async fn a_plan_is_a_prompt_and_never_idle() {
    let Some(mut session) = planning().await else { return };
    session.nudge("#plan # The plan\n\n1. Think of a word").await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.r#type, "plan");
    // The plan comes from the log, which may be written after the dialog is drawn.
    let summary = |agent: &v1::GetAgentStateResponse| agent.prompt.as_ref()?.summary.clone();
    assert_eq!(session.wait_for("the plan's summary", summary).await, "The plan");
    let states = session.states();
    assert_eq!(states[states.len() - 2..], ["working", "prompt"], "{states:?}");
    assert_eq!(session.decline().await.outcome, "answered");
    session.wait_state("idle").await;
    session.wait_text("Plan mode").await;

    session.nudge("#plan # Another plan\n\n1. Say it").await.expect("taken");
    let second = session.wait_prompt_after(&prompt.id).await;
    assert_eq!(second.summary.as_deref(), Some("Another plan"));
    assert_eq!(session.accept().await.outcome, "answered");
    session.wait_reply("echo: Implement the plan.").await;
    session.wait_state("idle").await;
}
