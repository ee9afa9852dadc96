//! Questions and plans of the real codex, both in its plan mode.

use coop_client::v1;

use crate::world::{Setup, World};

async fn planning() -> Option<World> {
    let mut world = Setup::codex().start().await?;
    world.wait_state("idle").await;
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
    let input = world.api.last_turn().body["input"].to_string();
    assert!(input.contains("answers") && input.contains("Blue"), "{input}");

    world.nudge("#ask Which size? / Small / Large").await.expect("taken");
    world.wait_prompt_after(&prompt.id).await;
    let words = v1::RespondRequest { text: Some("as big as a house".to_owned()), ..Default::default() };
    assert_eq!(world.respond(words).await.expect("answered").outcome, "answered");
    world.wait_state("idle").await;
    assert!(world.api.last_turn().body["input"].to_string().contains("as big as a house"));
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    let Some(mut world) = planning().await else { return };
    let question = |id: &str, text: &str| {
        let option = |label: &str| serde_json::json!({ "label": label, "description": "d" });
        serde_json::json!({ "id": id, "header": id, "question": text, "options": [option("One"), option("Two")] })
    };
    let call = serde_json::json!({ "questions": [question("a", "First?"), question("b", "Second?")] });
    world.nudge(&format!("#tool request_user_input {call} #say thanks")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.questions.len(), 2);
    let answers = vec![
        v1::Answer { option: Some(2), ..Default::default() },
        v1::Answer { text: Some("neither".to_owned()), ..Default::default() },
    ];
    let both = v1::RespondRequest { answers, ..Default::default() };
    assert_eq!(world.respond(both).await.expect("answered").outcome, "answered");
    world.hear("thanks").await;
    world.wait_state("idle").await;
    let input = world.api.last_turn().body["input"].to_string();
    assert!(input.contains("Two") && input.contains("neither"), "{input}");
}

#[tokio::test]
async fn a_plan_is_a_prompt_and_never_looks_idle() {
    let Some(mut world) = planning().await else { return };
    world.nudge("#plan # The plan\n\n1. Think of a word").await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.summary.as_deref()), ("plan", Some("The plan")));
    let states = world.states();
    assert_eq!(states[states.len() - 2..], ["working", "prompt"], "{states:?}");
    let stay = v1::RespondRequest { accept: Some(false), ..Default::default() };
    assert_eq!(world.respond(stay).await.expect("declined").outcome, "answered");
    world.wait_state("idle").await;
    world.see("Plan mode").await;

    world.nudge("#plan # Another plan\n\n1. Say it").await.expect("taken");
    let second = world.wait_prompt_after(&prompt.id).await;
    assert_eq!(second.summary.as_deref(), Some("Another plan"));
    assert_eq!(world.accept().await.outcome, "answered");
    world.hear("echo: Implement the plan.").await;
    world.wait_state("idle").await;
}
