//! Questions and plans of the real claude.

use coop_client::v1;
use serde_json::{Value, json};

use crate::permission::deny_with;
use crate::question::{answers, choice, is_told, picked, words};
use crate::world::Setup;

fn three() -> Value {
    json!([
        choice("Which color?", "Color", &["Red", "Green", "Blue"], false),
        choice("Which size?", "Size", &["Small", "Large"], false),
        choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true),
    ])
}

#[tokio::test]
async fn one_question_is_answered_by_its_number() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = Setup::claude().coop(&["--groom", groom]).idle().await else { return };
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
        is_told(&world, &["Blue"], &["Red"]);
    }
}

#[tokio::test]
async fn three_questions_are_answered_together() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = Setup::claude().coop(&["--groom", groom]).idle().await else { return };
        world.nudge(&format!("#ask {}", three())).await.expect("taken");
        world.wait_prompt().await;
        // Without hooks they are in the log, which may be written after the dialog is drawn.
        let all = |agent: &v1::GetAgentStateResponse| {
            agent.prompt.as_ref().map(|prompt| prompt.questions.clone()).filter(|asked| asked.len() == 3)
        };
        let asked = world.wait_for("all three questions", all).await;
        assert_eq!((asked[2].header.as_str(), asked[2].multi_select), ("Extras", true));
        let request = answers(vec![picked(&[3]), picked(&[1]), picked(&[1, 3])]);
        let answered = world.respond(request).await.expect("answered");
        assert_eq!(answered.outcome, "answered", "{groom}");
        world.hear("done").await;
        world.wait_state("idle").await;
        is_told(&world, &["Blue", "Small", "Salt, Oil"], &["Red", "Green", "Large", "Pepper"]);
    }
}

#[tokio::test]
async fn several_of_one_question_and_own_words() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = Setup::claude().coop(&["--groom", groom]).idle().await else { return };
        let extras = json!([choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true)]);
        world.nudge(&format!("#ask {extras}")).await.expect("taken");
        world.wait_prompt().await;
        world.respond(answers(vec![picked(&[2, 3])])).await.expect("answered");
        world.hear("done").await;
        world.wait_state("idle").await;
        is_told(&world, &["Pepper, Oil"], &["Salt"]);

        let nudged = world.nudge("#ask Which color? / Red / Blue #say thanks").await.expect("taken");
        world.wait_prompt().await;
        world.respond(answers(vec![words("a deep purple")])).await.expect("answered");
        world.hear("thanks").await;
        world.wait_state_after(nudged.seq, "idle").await;
        is_told(&world, &["a deep purple"], &["Red", "Blue"]);
    }
}

#[tokio::test]
async fn a_declined_question_is_over() {
    for groom in ["auto", "pristine"] {
        let Some(mut world) = Setup::claude().coop(&["--groom", groom]).idle().await else { return };
        world.nudge("#ask Which color? / Red / Blue").await.expect("taken");
        world.wait_prompt().await;
        assert_eq!(world.decline().await.outcome, "answered");
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
    let Some(mut world) = planning("auto").idle().await else { return };
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
    let Some(mut world) = planning("auto").idle().await else { return };
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
    let Some(mut world) = planning("auto").idle().await else { return };
    world.nudge(&format!("{PLAN} #say thought again")).await.expect("taken");
    world.wait_prompt().await;
    let feedback = deny_with("use bricks instead");
    assert_eq!(world.respond(feedback).await.expect("answered").outcome, "answered");
    world.hear("thought again").await;
    world.wait_state("idle").await;
    is_told(&world, &["use bricks instead"], &[]);

    world.nudge(PLAN).await.expect("taken");
    world.wait_prompt().await;
    assert_eq!(world.decline().await.outcome, "answered");
    world.wait_state("idle").await;
}
