//! Questions and plans of the real gemini.

use coop_client::v1;
use serde_json::{Value, json};

use crate::question::{self, answers, picked, words};
use crate::world::{Setup, World};

fn text(text: &str) -> v1::RespondRequest {
    v1::RespondRequest { text: Some(text.to_owned()), ..Default::default() }
}

fn choice(question: &str, header: &str, labels: &[&str], several: bool) -> Value {
    let mut choice = question::choice(question, header, labels, several);
    choice["type"] = "choice".into();
    choice
}

/// Asks, answers, and says what the model was told.
async fn told(world: &mut World, ask: &Value, request: v1::RespondRequest) -> String {
    let nudged = world.nudge(&format!("#ask {ask} #say thanks")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("question", Some("ask_user")));
    assert_eq!(world.respond(request).await.expect("answered").outcome, "answered", "{ask}");
    world.wait_state_after(nudged.seq, "idle").await;
    world.api.last_result()
}

#[tokio::test]
async fn questions_of_every_kind_are_answered() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let colors = json!([choice("Which color?", "Color", &["Red", "Green", "Blue"], false)]);
    let second = v1::RespondRequest { option: Some(2), ..Default::default() };
    assert!(told(&mut world, &colors, second).await.contains("Green"));
    assert!(told(&mut world, &colors, text("Mauve 7")).await.contains("Mauve 7"), "own words, out of sight");
    let go = json!([{ "question": "Go?", "header": "Go", "type": "yesno" }]);
    let first = v1::RespondRequest { option: Some(1), ..Default::default() };
    assert!(told(&mut world, &go, first).await.contains("Yes"));
    let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
    assert!(told(&mut world, &go, no).await.contains("No"));
    let name =
        json!([{ "question": "Your name?", "header": "Name", "type": "text", "placeholder": "nobody" }]);
    assert!(told(&mut world, &name, text("Somebody Else")).await.contains("Somebody Else"));
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let asked = json!([
        choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true),
        { "question": "Your name?", "header": "Name", "type": "text" },
        { "question": "Go?", "header": "Go", "type": "yesno" },
    ]);
    let all = answers(vec![picked(&[1, 3]), words("a name"), picked(&[2])]);
    let told = told(&mut world, &asked, all).await;
    assert!(told.contains("Salt, Oil") && told.contains("a name") && told.contains("No"), "{told}");
}

#[tokio::test]
async fn boxes_and_own_words_go_together() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let extras = json!([choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true)]);
    let both = v1::Answer { options: vec![2], text: Some("more love".to_owned()), ..Default::default() };
    let told = told(&mut world, &extras, answers(vec![both])).await;
    assert!(told.contains("Pepper, more love"), "{told}");
}

#[tokio::test]
async fn what_somebody_else_typed_into_a_plan_is_not_sent_along() {
    let Some(mut world) = Setup::gemini().args(&["--approval-mode", "plan"]).idle().await else { return };
    let nudged = world.nudge("#plan # The plan\n\nthink\n#say planned").await.expect("taken");
    world.wait_prompt().await;
    world.press("\x1b[200~half a thought\x1b[201~").await;
    world
        .see_row("the pointer at the words", |row| row.contains("● 3.") && row.contains("half a thought"))
        .await;
    world.respond(text("think of two words")).await.expect("sent back");
    world.wait_state_after(nudged.seq, "idle").await;
    let told = world.api.last_turn().body.to_string();
    assert!(told.contains("think of two words") && !told.contains("half"), "{told}");
}

#[tokio::test]
async fn a_plan_is_sent_back_with_words_and_then_approved() {
    let Some(mut world) = Setup::gemini().args(&["--approval-mode", "plan"]).idle().await else { return };
    let nudged = world.nudge("#plan # The plan\n\nthink of a word\n#say planned").await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.summary.as_deref()), ("plan", Some("The plan")));
    world.respond(text("think of two words")).await.expect("sent back");
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(world.api.last_turn().body.to_string().contains("think of two words"));
    let nudged =
        world.nudge("#plan # Another plan\n\nthink of two words\n#say planned").await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.summary.as_deref(), Some("Another plan"));
    world.accept().await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(world.api.last_turn().body.to_string().contains("Plan approved"));
}
