//! The real codex: with everything that coop knows of it in the modules, and here with nothing but keys and the screen.

mod first_run;
mod interrupt;
mod life;
mod mcp;
mod nudge;
mod permission;
mod question;
mod trouble;

use std::fmt::Write as _;

use crate::fake::Fate;
use crate::world::{Setup, World};

/// At its empty prompt: the line with model and directory comes last.
async fn idle_codex(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.see("mock-model").await;
    Some(world)
}

#[tokio::test]
async fn codex_talks_to_the_fake() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.paste("good morning to everybody").await;
    world.hear("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    let mut text = String::new();
    for number in 0..200 {
        writeln!(text, "line {number}: grüße, 世界, \"quotes\" and\ttabs").expect("written");
    }
    text.push_str("the end");
    world.paste(&text).await;
    world.hear("echo: line 0").await;
    assert_eq!(world.api.user_messages(), [text]);
}

#[tokio::test]
async fn codex_asks_before_it_leaves_its_sandbox() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    let call =
        "{\"cmd\":\"touch made\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"May I?\"}";
    world.paste(&format!("#tool exec_command {call} #say all is made")).await;
    world.see("Would you like to run the following command?").await;
    assert!(!world.workspace().join("made").exists());
    world.answer("y", "Would you like to run the following command?").await;
    world.hear("all is made").await;
    assert!(world.workspace().join("made").exists());
    assert_eq!(world.api.user_messages().len(), 1, "an answered dialog is no message");
}

#[tokio::test]
async fn codex_asks_the_users_question_in_plan_mode() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.plan_mode().await;
    world.paste("#ask Which color? / Red / Blue").await;
    world.see("enter to submit answer").await;
    world.answer("2", "enter to submit answer").await;
    world.hear("done").await;
    let input = world.api.last_turn().body["input"].to_string();
    assert!(input.contains("answers") && input.contains("Blue"), "{input}");
}

#[tokio::test]
async fn codex_shows_its_plan() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.plan_mode().await;
    world.paste("#plan # The plan\n\n1. Think of a word").await;
    world.see("Implement this plan?").await;
    world.answer("1", "Implement this plan?").await;
    world.hear("echo: Implement the plan.").await;
}

#[tokio::test]
async fn an_interrupted_reply_is_hung_up_on() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.paste("#stream 3x0 #hold forever #say never").await;
    world.api.wait_held("forever").await;
    world.hear("line 2 of 3").await;
    world.press("\x1b").await;
    world.see("Conversation interrupted").await;
    world
        .api
        .wait_for("the agent to hang up", |requests| {
            requests.iter().any(|request| request.fate == Fate::HungUp).then_some(())
        })
        .await;
    world.paste("and again").await;
    world.hear("echo: and again").await;
    assert_eq!(world.api.user_messages(), ["#stream 3x0 #hold forever #say never", "and again"]);
}

#[tokio::test]
async fn an_error_is_tried_again() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.paste("#status 500 #think hm #say it works again").await;
    world.hear("it works again").await;
    assert_eq!(world.api.user_messages().len(), 1, "a retry is no message");
}

#[tokio::test]
async fn a_cut_connection_is_survived() {
    let Some(mut world) = idle_codex(Setup::codex()).await else { return };
    world.paste("#say half #drop #say whole").await;
    world.hear("whole").await;
    assert_eq!(world.api.user_messages().len(), 1);
}
