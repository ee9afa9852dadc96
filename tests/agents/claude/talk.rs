//! Claude on coop's terminal, with nothing but keys and the screen.

use crate::talk::{self, Dialog, Face};
use crate::world::{Setup, World};

const CLAUDE: Face = Face {
    setup: Setup::claude,
    planning: || Setup::claude().only_args(&["--permission-mode", "plan"]),
    ready: "mode on",
    permission: Dialog { words: "Do you want to proceed?", key: "1" },
    question: Dialog { words: "Enter to select", key: "2" },
    plan: Dialog { words: "Would you like to proceed?", key: "2" },
    approved: "done",
    streamed: "line 2 of 3",
    interrupted: "Interrupted",
};

#[tokio::test]
async fn a_message_is_answered() {
    talk::a_message_is_answered(&CLAUDE).await;
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    talk::a_long_text_arrives_whole(&CLAUDE, " more").await;
}

#[tokio::test]
async fn a_tool_is_asked_about() {
    talk::a_tool_is_asked_about(&CLAUDE).await;
}

#[tokio::test]
async fn a_question_is_answered() {
    talk::a_question_is_answered(&CLAUDE).await;
}

#[tokio::test]
async fn a_plan_is_shown() {
    talk::a_plan_is_shown(&CLAUDE).await;
}

#[tokio::test]
async fn an_interrupted_reply_is_hung_up_on() {
    talk::an_interrupted_reply_is_hung_up_on(&CLAUDE).await;
}

#[tokio::test]
async fn an_error_is_tried_again() {
    talk::an_error_is_tried_again(&CLAUDE, 529).await;
}

#[tokio::test]
async fn a_cut_connection_is_survived() {
    talk::a_cut_connection_is_survived(&CLAUDE).await;
}

/// At its empty prompt.
async fn ready() -> Option<World> {
    let mut world = Setup::claude().start().await?;
    world.see(CLAUDE.ready).await;
    Some(world)
}

#[tokio::test]
async fn a_held_reply_waits_for_the_test() {
    let Some(mut world) = ready().await else { return };
    world.paste("#stream 3x0 #hold middle #say the rest").await;
    world.api.wait_held("middle").await;
    world.see("line 2 of 3").await;
    world.see("esc to interrupt").await;
    world.api.release("middle");
    world.hear("the rest").await;
}

#[tokio::test]
async fn a_message_to_a_busy_claude_is_queued() {
    let Some(mut world) = ready().await else { return };
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
    let Some(mut world) = ready().await else { return };
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
    let Some(mut world) = ready().await else { return };
    let task = "#tool Task {\"description\":\"d\",\"prompt\":\"#say from below\",\"subagent_type\":\"general-purpose\"}";
    world.paste(&format!("{task} #say from above")).await;
    world.hear("from above").await;
    world.api.wait_for_messages(&[&format!("{task} #say from above"), "#say from below"]).await;
}

#[tokio::test]
async fn a_second_coop_goes_on_with_the_conversation() {
    let Some(mut world) = ready().await else { return };
    world.paste("the first part").await;
    world.hear("echo: the first part").await;
    world.start_again(&Setup::claude().args(&["--continue"])).await;
    world.see("manual mode on").await;
    world.paste("the second part").await;
    world.hear("echo: the second part").await;
    assert_eq!(world.api.user_messages(), ["the first part", "the second part"]);
}
