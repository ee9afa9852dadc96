//! Questions and plans of the real claude.

use coop_client::v1;
use serde_json::{Value, json};

use crate::world::{Setup, World};

async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

fn question(text: &str, header: &str, labels: &[&str], multi: bool) -> Value {
    let options: Vec<Value> = labels
        .iter()
        .map(|label| json!({ "label": label, "description": format!("It is {label}") }))
        .collect();
    json!({ "question": text, "header": header, "options": options, "multiSelect": multi })
}

fn three() -> Value {
    json!([
        question("Which color?", "Color", &["Red", "Green", "Blue"], false),
        question("Which size?", "Size", &["Small", "Large"], false),
        question("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true),
    ])
}

fn picked(options: &[i32]) -> v1::Answer {
    v1::Answer { options: options.to_vec(), ..Default::default() }
}

fn words(text: &str) -> v1::Answer {
    v1::Answer { text: Some(text.to_owned()), ..Default::default() }
}

fn answers(answers: Vec<v1::Answer>) -> v1::RespondRequest {
    v1::RespondRequest { answers, ..Default::default() }
}

/// What the model was told the user said.
fn told(world: &World) -> String {
    world.api.last_turn().body["messages"].to_string()
}

#[tokio::test]
async fn one_question_is_answered_by_its_number() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = idle(Setup::claude().coop(&["--groom", groom])).await else { return };
        world.nudge("#ask Which color? / Red / Blue").await.expect("taken");
        let prompt = world.wait_prompt().await;
        assert_eq!((prompt.r#type.as_str(), prompt.question.as_deref()), ("question", Some("Which color?")));
        assert_eq!(prompt.questions.len(), 1);
        assert_eq!(prompt.questions[0].options, ["Red", "Blue"]);
        let answered = world.choose(2).await.expect("answered");
        assert_eq!(answered.outcome, "answered", "{groom}");
        assert_eq!(answered.via, if groom == "auto" { "hook" } else { "keys" });
        world.hear("done").await;
        world.wait_state("idle").await;
        assert!(told(&world).contains("Blue"), "{}", told(&world));
    }
}

#[tokio::test]
async fn three_questions_are_answered_together() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = idle(Setup::claude().coop(&["--groom", groom])).await else { return };
        world.nudge(&format!("#ask {}", three())).await.expect("taken");
        let prompt = world.wait_prompt().await;
        if groom == "auto" {
            assert_eq!(prompt.questions.len(), 3);
            assert_eq!(prompt.questions[2].header, "Extras");
            assert!(prompt.questions[2].multi_select);
        }
        let request = answers(vec![picked(&[3]), picked(&[1]), picked(&[1, 3])]);
        let answered = world.respond(request).await.expect("answered");
        assert_eq!(answered.outcome, "answered", "{groom}");
        world.hear("done").await;
        world.wait_state("idle").await;
        let told = told(&world);
        for label in ["Blue", "Small", "Salt", "Oil"] {
            assert!(told.contains(label), "{groom}: {label} in {told}");
        }
    }
}

#[tokio::test]
async fn several_of_one_question_and_own_words() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = idle(Setup::claude().coop(&["--groom", groom])).await else { return };
        let extras = json!([question("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true)]);
        world.nudge(&format!("#ask {extras}")).await.expect("taken");
        world.wait_prompt().await;
        world.respond(answers(vec![picked(&[2, 3])])).await.expect("answered");
        world.hear("done").await;
        world.wait_state("idle").await;
        assert!(told(&world).contains("Pepper, Oil"), "{groom}: {}", told(&world));

        let nudged = world.nudge("#ask Which color? / Red / Blue #say thanks").await.expect("taken");
        world.wait_prompt().await;
        world.respond(answers(vec![words("a deep purple")])).await.expect("answered");
        world.hear("thanks").await;
        world.wait_state_after(nudged.seq, "idle").await;
        assert!(told(&world).contains("a deep purple"), "{groom}: {}", told(&world));
    }
}

#[tokio::test]
async fn a_declined_question_is_over() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = idle(Setup::claude().coop(&["--groom", groom])).await else { return };
        world.nudge("#ask Which color? / Red / Blue").await.expect("taken");
        world.wait_prompt().await;
        let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
        assert_eq!(world.respond(no).await.expect("declined").outcome, "answered");
        world.wait_state("idle").await;
        assert!(world.nudge("something else").await.is_ok());
    }
}

fn planning(groom: &str) -> Setup {
    Setup::claude().only_args(&["--permission-mode", "plan"]).coop(&["--groom", groom])
}

const PLAN: &str = "#plan # Build a coop\n\n1. Take wood\n2. Add hens";

#[tokio::test]
async fn a_plan_is_shown_and_approved() {
    let Some(mut world) = idle(planning("auto")).await else { return };
    world.nudge(PLAN).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.summary.as_deref()), ("plan", Some("Build a coop")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("Add hens")));
    let answered = world.accept().await;
    assert_eq!(answered.outcome, "answered");
    world.hear("done").await;
    world.wait_state("idle").await;
}

#[tokio::test]
async fn a_plan_is_approved_with_manual_edits() {
    let Some(mut world) = idle(planning("auto")).await else { return };
    world.nudge(PLAN).await.expect("taken");
    let prompt = world.wait_prompt().await;
    let manual = prompt.options.iter().position(|label| label.contains("manually")).expect("such an option");
    world.choose(i32::try_from(manual + 1).expect("small")).await.expect("chosen");
    world.hear("done").await;
    world.wait_state("idle").await;
    world.see("manual mode on").await;
}

#[tokio::test]
async fn a_plan_gets_feedback_or_a_no() {
    let Some(mut world) = idle(planning("auto")).await else { return };
    world.nudge(&format!("{PLAN} #say thought again")).await.expect("taken");
    world.wait_prompt().await;
    let feedback = v1::RespondRequest {
        accept: Some(false),
        text: Some("use bricks instead".to_owned()),
        ..Default::default()
    };
    assert_eq!(world.respond(feedback).await.expect("answered").outcome, "answered");
    world.hear("thought again").await;
    world.wait_state("idle").await;
    assert!(told(&world).contains("use bricks instead"), "{}", told(&world));

    world.nudge(PLAN).await.expect("taken");
    world.wait_prompt().await;
    let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
    assert_eq!(world.respond(no).await.expect("declined").outcome, "answered");
    world.wait_state("idle").await;
}
