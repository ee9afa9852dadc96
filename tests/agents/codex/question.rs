//! Questions and plans of the real codex, both in its plan mode.

use coop_client::v1;
use serde_json::json;

use crate::question::{answers, is_told, words};
use crate::world::{Setup, World};

async fn planning() -> Option<World> {
    let mut world = Setup::codex().idle().await?;
    world.plan_mode().await;
    Some(world)
}

#[tokio::test]
async fn a_question_is_answered_with_an_option_or_with_words() {
    let Some(mut world) = planning().await else { return };
    world.nudge("#ask Which color? / Red / Blue").await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.r#type, "question");
    assert_eq!(prompt.questions[0].question, "Which color?");
    assert_eq!(prompt.questions[0].options, ["Red", "Blue"]);
    assert_eq!(world.choose(2).await.expect("chosen").outcome, "answered");
    world.wait_state("idle").await;
    is_told(&world, &["answers", "Blue"], &["Red"]);

    world.nudge("#ask Which size? / Small / Large").await.expect("taken");
    world.wait_prompt_after(&prompt.id).await;
    let own = v1::RespondRequest { text: Some("as big as a house".to_owned()), ..Default::default() };
    assert_eq!(world.respond(own).await.expect("answered").outcome, "answered");
    world.wait_state("idle").await;
    is_told(&world, &["as big as a house"], &["Small", "Large"]);
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    let Some(mut world) = planning().await else { return };
    let question = |id: &str, text: &str, labels: [&str; 2]| {
        let options = labels.map(|label| json!({ "label": label, "description": "d" }));
        json!({ "id": id, "header": id, "question": text, "options": options })
    };
    let asked = [question("a", "First?", ["One", "Two"]), question("b", "Second?", ["Three", "Four"])];
    let call = json!({ "questions": asked });
    world.nudge(&format!("#tool request_user_input {call} #say thanks")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.questions.len(), 2);
    let both = answers(vec![v1::Answer { option: Some(2), ..Default::default() }, words("neither")]);
    assert_eq!(world.respond(both).await.expect("answered").outcome, "answered");
    world.hear("thanks").await;
    world.wait_state("idle").await;
    is_told(&world, &["Two", "neither"], &["One", "Three", "Four"]);
}

#[tokio::test]
async fn a_plan_is_a_prompt_and_never_looks_idle() {
    let Some(mut world) = planning().await else { return };
    world.nudge("#plan # The plan\n\n1. Think of a word").await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.r#type, "plan");
    // The plan is in the log, which may be written after the dialog is drawn.
    let summary = |agent: &v1::GetAgentStateResponse| agent.prompt.as_ref()?.summary.clone();
    assert_eq!(world.wait_for("the plan's summary", summary).await, "The plan");
    let states = world.states();
    assert_eq!(states[states.len() - 2..], ["working", "prompt"], "{states:?}");
    assert_eq!(world.decline().await.outcome, "answered");
    world.wait_state("idle").await;
    world.see("Plan mode").await;

    world.nudge("#plan # Another plan\n\n1. Say it").await.expect("taken");
    let second = world.wait_prompt_after(&prompt.id).await;
    assert_eq!(second.summary.as_deref(), Some("Another plan"));
    assert_eq!(world.accept().await.outcome, "answered");
    world.hear("echo: Implement the plan.").await;
    world.wait_state("idle").await;
}
