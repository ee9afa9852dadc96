//! Interrupts of the real gemini, in every phase of a turn: back to idle, and the next message lands.

use super::{idle, shell, still_answers};
use crate::world::{Setup, World};

/// coop's interrupt ends the turn, and a message after it arrives alone.
async fn stopped_and_alive(world: &mut World, after: &str) {
    let done = world.interrupt().await.expect("an interrupt");
    assert!(done.delivered, "{done:?}");
    world.wait_state("idle").await;
    still_answers(world, after).await;
    assert_eq!(world.api.user_messages().last().map(String::as_str), Some(after));
}

#[tokio::test]
async fn before_anything_has_streamed() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.nudge("#hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    stopped_and_alive(&mut world, "after the silence").await;
}

#[tokio::test]
async fn while_text_streams() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.nudge("#stream 3x0 #hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.see("line 1 of 3").await;
    stopped_and_alive(&mut world, "after the stream").await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.nudge(&shell("touch here; sleep 1000")).await.expect("taken");
    world.wait_prompt().await;
    world.accept().await;
    world.wait_file("here").await;
    world.wait_state("working").await;
    stopped_and_alive(&mut world, "after the tool").await;
}

#[tokio::test]
async fn at_a_dialog() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.nudge(&shell("touch never")).await.expect("taken");
    world.wait_prompt().await;
    stopped_and_alive(&mut world, "after the dialog").await;
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn at_rest_there_is_nothing_to_stop() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let done = world.interrupt().await.is_ok_and(|done| done.delivered);
    assert!(!done);
    still_answers(&mut world, "still there").await;
}
