//! The real gemini, with nothing but keys and the screen.

use std::fmt::Write as _;

use crate::fake::Fate;
use crate::world::{Setup, World};

/// At its empty prompt.
async fn idle_gemini(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.see("Type your message").await;
    Some(world)
}

#[tokio::test]
async fn gemini_talks_to_the_fake() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.submit("good morning to everybody").await;
    world.hear("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    let mut text = String::new();
    for number in 0..200 {
        writeln!(text, "line {number}: grüße, 世界, \"quotes\" and\ttabs").expect("written");
    }
    text.push_str("the end");
    world.submit(&text).await;
    world.hear("echo: line 0").await;
    assert_eq!(world.api.user_messages(), [text]);
}

#[tokio::test]
async fn gemini_asks_before_it_runs_a_tool() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.submit("#tool run_shell_command {\"command\":\"touch made\"} #say all is made").await;
    world.see("Allow execution of").await;
    assert!(!world.workspace().join("made").exists());
    world.answer("1", "Allow execution of").await;
    world.hear("all is made").await;
    assert!(world.workspace().join("made").exists());
    assert_eq!(world.api.user_messages().len(), 1, "an answered dialog is no message");
}

#[tokio::test]
async fn gemini_asks_the_users_question() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.submit("#ask Which color? / Red / Blue").await;
    world.see("Enter to select").await;
    world.answer("2", "Enter to select").await;
    world.hear("done").await;
    let contents = world.api.last_turn().body["contents"].to_string();
    assert!(contents.contains("answers") && contents.contains("Blue"), "{contents}");
}

#[tokio::test]
async fn gemini_shows_its_plan() {
    let Some(mut world) = idle_gemini(Setup::gemini().args(&["--approval-mode", "plan"])).await else {
        return;
    };
    world.submit("#plan # The plan: think of a word").await;
    world.see("Ready to start implementation?").await;
    world.answer("2", "Ready to start implementation?").await;
    world.hear("done").await;
}

#[tokio::test]
async fn an_interrupted_reply_is_hung_up_on() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.submit("#stream 3x0 #hold forever #say never").await;
    world.api.wait_held("forever").await;
    world.hear("line 1 of 3").await;
    world.press("\x1b").await;
    world.see("Request cancelled").await;
    world
        .api
        .wait_for("the agent to hang up", |requests| {
            requests.iter().any(|request| request.fate == Fate::HungUp).then_some(())
        })
        .await;
    world.submit("and again").await;
    world.hear("echo: and again").await;
    assert_eq!(world.api.user_messages(), ["#stream 3x0 #hold forever #say never", "and again"]);
}

#[tokio::test]
async fn an_error_is_tried_again() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.submit("#status 500 #think hm #say it works again").await;
    world.hear("it works again").await;
    assert_eq!(world.api.user_messages().len(), 1, "a retry is no message");
}

#[tokio::test]
async fn a_cut_connection_is_survived() {
    let Some(mut world) = idle_gemini(Setup::gemini()).await else { return };
    world.submit("#say half #drop #say whole").await;
    world.hear("whole").await;
    assert_eq!(world.api.user_messages().len(), 1);
}
