//! Claude on coop's terminal, with nothing but keys and the screen: what the other tests stand on.

use std::fmt::Write as _;

use crate::fake::Fate;
use crate::world::{Setup, World};

/// At its empty prompt.
async fn idle_claude(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.see("mode on").await;
    Some(world)
}

#[tokio::test]
async fn claude_talks_to_the_fake() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("good morning to everybody").await;
    world.hear("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    let mut text = String::new();
    for number in 0..200 {
        writeln!(text, "line {number}: grüße, 世界, \"quotes\" and more").expect("written");
    }
    text.push_str("the end");
    world.paste(&text).await;
    world.hear("echo: line 0").await;
    assert_eq!(world.api.user_messages(), [text]);
}

#[tokio::test]
async fn claude_asks_before_it_runs_a_tool() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world
        .paste("#tool Bash {\"command\":\"touch made\",\"description\":\"makes a file\"} #say all is made")
        .await;
    world.see("Do you want to proceed?").await;
    assert!(!world.workspace().join("made").exists());
    world.answer("1", "Do you want to proceed?").await;
    world.hear("all is made").await;
    assert!(world.workspace().join("made").exists());
    assert_eq!(world.api.user_messages().len(), 1, "an answered dialog is no message");
}

#[tokio::test]
async fn claude_asks_the_users_question() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("#ask Which color? / Red / Blue").await;
    world.see("Enter to select").await;
    world.answer("2", "Enter to select").await;
    world.hear("done").await;
    let results = world.api.last_turn().body["messages"].to_string();
    assert!(results.contains("Which color?") && results.contains("Blue"), "{results}");
}

#[tokio::test]
async fn claude_shows_its_plan() {
    let setup = Setup::claude().only_args(&["--permission-mode", "plan"]);
    let Some(mut world) = idle_claude(setup).await else { return };
    world.paste("#plan # The plan\n\n1. Think of a word").await;
    world.see("Would you like to proceed?").await;
    world.answer("2", "Would you like to proceed?").await;
    world.hear("done").await;
}

#[tokio::test]
async fn a_held_reply_waits_for_the_test() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("#stream 3x0 #hold middle #say the rest").await;
    world.api.wait_held("middle").await;
    world.see("line 2 of 3").await;
    world.see("esc to interrupt").await;
    world.api.release("middle");
    world.hear("the rest").await;
}

#[tokio::test]
async fn an_interrupted_reply_is_hung_up_on() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("#stream 3x0 #hold forever #say never").await;
    world.api.wait_held("forever").await;
    world.see("line 2 of 3").await;
    world.press("\x1b").await;
    world.see("Interrupted").await;
    world
        .api
        .wait_for("the agent to hang up", |requests| (requests.last()?.fate == Fate::HungUp).then_some(()))
        .await;
    world.paste("and again").await;
    world.hear("echo: and again").await;
    assert_eq!(world.api.user_messages(), ["#stream 3x0 #hold forever #say never", "and again"]);
}

#[tokio::test]
async fn an_error_is_tried_again() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("#status 529 #think hm #say it works again").await;
    world.hear("it works again").await;
    let fates: Vec<_> =
        world.api.requests().iter().filter(|request| request.is_turn()).map(|request| request.fate).collect();
    assert_eq!(fates[0], Fate::Failed);
    assert_eq!(world.api.user_messages().len(), 1, "a retry is no message: {fates:?}");
}

#[tokio::test]
async fn a_cut_connection_is_survived() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("#say half #drop #say whole").await;
    world.hear("whole").await;
    assert_eq!(world.api.user_messages().len(), 1);
}

#[tokio::test]
async fn a_message_to_a_busy_claude_is_queued() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("#say started #hold gate").await;
    world.api.wait_held("gate").await;
    world.paste("the second message").await;
    world.see("queued messages").await;
    world.api.release("gate");
    world.hear("echo: the second message").await;
    assert_eq!(world.api.user_messages(), ["#say started #hold gate", "the second message"]);
}

#[tokio::test]
async fn a_compacted_conversation_goes_on() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("remember this").await;
    world.hear("echo: remember this").await;
    world.paste("/compact").await;
    world.see("Compacted").await;
    world.paste("and this").await;
    world.hear("echo: and this").await;
    assert_eq!(world.api.user_messages(), ["remember this", "and this"]);
    assert!(world.api.requests().iter().any(|request| request.asked.side == Some("compact")));
}

#[tokio::test]
async fn a_message_below_is_heard_too() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    let task = "#tool Task {\"description\":\"d\",\"prompt\":\"#say from below\",\"subagent_type\":\"general-purpose\"}";
    world.paste(&format!("{task} #say from above")).await;
    world.hear("from above").await;
    world.api.wait_for_messages(&[&format!("{task} #say from above"), "#say from below"]).await;
}

#[tokio::test]
async fn a_second_coop_goes_on_with_the_conversation() {
    let Some(mut world) = idle_claude(Setup::claude()).await else { return };
    world.paste("the first part").await;
    world.hear("echo: the first part").await;
    world.start_again(&Setup::claude().args(&["--continue"])).await;
    world.see("manual mode on").await;
    world.paste("the second part").await;
    world.hear("echo: the second part").await;
    assert_eq!(world.api.user_messages(), ["the first part", "the second part"]);
}
