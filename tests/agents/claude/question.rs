//! Questions and plans of the real claude.

use coop_client::v1;
use serde_json::{Value, json};

use crate::harness::Setup;
use crate::permission::deny_with;
use crate::question::{answers, assert_tool_result, choice, option_answer, text_answer};

fn three() -> Value {
    json!([
        choice("Which color?", "Color", &["Red", "Green", "Blue"], false),
        choice("Which size?", "Size", &["Small", "Large"], false),
        choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true),
    ])
}

#[tokio::test]
async fn a_question_is_answered_by_option_number() {
    for groom in ["auto", "pristine"] {
        let Some(mut session) = Setup::claude().coop(&["--groom", groom]).idle().await else {
            return;
        };
        session.nudge("#ask Which color? / Red / Blue").await.expect("taken");
        let prompt = session.wait_prompt().await;
        assert_eq!(
            (prompt.r#type.as_str(), prompt.question.as_deref()),
            ("question", Some("Which color?"))
        );
        assert_eq!(prompt.questions.len(), 1);
        assert_eq!(prompt.questions[0].options, ["Red", "Blue"]);
        let answered = session.choose(2).await.expect("answered");
        assert_eq!(answered.outcome, "answered", "{groom}");
        assert_eq!(answered.via, if groom == "auto" { "hook" } else { "keys" });
        session.wait_reply("done").await;
        session.wait_state("idle").await;
        assert_tool_result(&session, &["Blue"], &["Red"]);
    }
}

#[tokio::test]
async fn three_questions_are_answered_together() {
    for groom in ["auto", "pristine"] {
        let Some(mut session) = Setup::claude().coop(&["--groom", groom]).idle().await else {
            return;
        };
        session.nudge(&format!("#ask {}", three())).await.expect("taken");
        session.wait_prompt().await;
        // Without hooks the questions come from the log, which may be written after the dialog is
        // drawn.
        let all = |agent: &v1::GetAgentStateResponse| {
            agent
                .prompt
                .as_ref()
                .map(|prompt| prompt.questions.clone())
                .filter(|asked| asked.len() == 3)
        };
        let asked = session.wait_for("all three questions", all).await;
        assert_eq!((asked[2].header.as_str(), asked[2].multi_select), ("Extras", true));
        let request =
            answers(vec![option_answer(&[3]), option_answer(&[1]), option_answer(&[1, 3])]);
        let answered = session.respond(request).await.expect("answered");
        assert_eq!(answered.outcome, "answered", "{groom}");
        session.wait_reply("done").await;
        session.wait_state("idle").await;
        assert_tool_result(
            &session,
            &["Blue", "Small", "Salt, Oil"],
            &["Red", "Green", "Large", "Pepper"],
        );
    }
}

#[tokio::test]
async fn several_options_or_text_answer_a_question() {
    for groom in ["auto", "pristine"] {
        let Some(mut session) = Setup::claude().coop(&["--groom", groom]).idle().await else {
            return;
        };
        let extras = json!([choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true)]);
        session.nudge(&format!("#ask {extras}")).await.expect("taken");
        session.wait_prompt().await;
        session.respond(answers(vec![option_answer(&[2, 3])])).await.expect("answered");
        session.wait_reply("done").await;
        session.wait_state("idle").await;
        assert_tool_result(&session, &["Pepper, Oil"], &["Salt"]);

        let nudged =
            session.nudge("#ask Which color? / Red / Blue #say thanks").await.expect("taken");
        session.wait_prompt().await;
        session.respond(answers(vec![text_answer("a deep purple")])).await.expect("answered");
        session.wait_reply("thanks").await;
        session.wait_state_after(nudged.seq, "idle").await;
        assert_tool_result(&session, &["a deep purple"], &["Red", "Blue"]);
    }
}

#[tokio::test]
async fn declining_ends_a_question() {
    for groom in ["auto", "pristine"] {
        let Some(mut session) = Setup::claude().coop(&["--groom", groom]).idle().await else {
            return;
        };
        session.nudge("#ask Which color? / Red / Blue").await.expect("taken");
        session.wait_prompt().await;
        assert_eq!(session.decline().await.outcome, "answered");
        session.wait_state("idle").await;
        assert!(session.nudge("something else").await.is_ok());
    }
}

fn planning(groom: &str) -> Setup {
    Setup::claude().only_args(&["--permission-mode", "plan"]).coop(&["--groom", groom])
}

const PLAN: &str = "#plan # Build a coop\n\n1. Take wood\n2. Add hens";

#[tokio::test]
async fn a_plan_is_shown_and_approved() {
    let Some(mut session) = planning("auto").idle().await else { return };
    session.nudge(PLAN).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.summary.as_deref()), ("plan", Some("Build a coop")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("Add hens")));
    let answered = session.accept().await;
    assert_eq!(answered.outcome, "answered");
    session.wait_reply("done").await;
    session.wait_state("idle").await;
}

#[tokio::test]
async fn a_plan_is_approved_with_manual_edits() {
    let Some(mut session) = planning("auto").idle().await else { return };
    session.nudge(PLAN).await.expect("taken");
    let prompt = session.wait_prompt().await;
    let manual =
        prompt.options.iter().position(|label| label.contains("manually")).expect("such an option");
    session.choose(i32::try_from(manual + 1).expect("small")).await.expect("chosen");
    session.wait_reply("done").await;
    session.wait_state("idle").await;
    session.wait_text("manual mode on").await;
}

#[tokio::test]
async fn a_plan_gets_feedback_or_is_declined() {
    let Some(mut session) = planning("auto").idle().await else { return };
    session.nudge(&format!("{PLAN} #say thought again")).await.expect("taken");
    session.wait_prompt().await;
    let feedback = deny_with("use bricks instead");
    assert_eq!(session.respond(feedback).await.expect("answered").outcome, "answered");
    session.wait_reply("thought again").await;
    session.wait_state("idle").await;
    assert_tool_result(&session, &["use bricks instead"], &[]);

    session.nudge(PLAN).await.expect("taken");
    session.wait_prompt().await;
    assert_eq!(session.decline().await.outcome, "answered");
    session.wait_state("idle").await;
}
