//! Interrupts, in every phase of a turn and whichever agent it is: back to idle, and the next message lands.

use serde_json::json;

use crate::question::choice;
use crate::world::{Setup, World};

/// coop's interrupt ends the turn, and a message after it arrives alone.
pub async fn stopped_and_alive(world: &mut World, after: &str) {
    let done = world.interrupt().await.expect("an interrupt");
    assert!(done.delivered, "{done:?}");
    world.wait_state("idle").await;
    world.echoes(after).await;
    assert_eq!(world.api.user_messages().last().map(String::as_str), Some(after));
}

pub async fn before_anything_has_streamed(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.works_at("gate", "#hold gate #say never").await;
    stopped_and_alive(&mut world, "after the silence").await;
}

/// `shown` is how much the agent shows of a reply that stops after the third line.
pub async fn while_text_streams(setup: Setup, shown: &str) {
    let Some(mut world) = setup.idle().await else { return };
    world.works_at("gate", "#stream 3x0 #hold gate #say never").await;
    world.see(shown).await;
    assert_eq!(world.state().await.state, "working", "whatever its screen looks like");
    stopped_and_alive(&mut world, "after the stream").await;
}

pub async fn while_a_tool_runs(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.nudge(&world.shell_call("touch here; sleep 1000")).await.expect("taken");
    world.wait_prompt().await;
    world.accept().await;
    world.wait_file("here").await;
    world.wait_state("working").await;
    stopped_and_alive(&mut world, "after the tool").await;
}

pub async fn at_a_dialog(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.nudge(&world.shell_call("touch never")).await.expect("taken");
    world.wait_prompt().await;
    stopped_and_alive(&mut world, "after the dialog").await;
    assert!(!world.workspace().join("never").exists());
}

pub async fn at_a_question(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.let_it_ask().await;
    let asked = json!([choice("Which color?", "Color", &["Red", "Green"], false)]);
    world.nudge(&format!("#ask {asked} #say never")).await.expect("taken");
    assert_eq!(world.wait_prompt().await.r#type, "question");
    stopped_and_alive(&mut world, "after the question").await;
}

pub async fn at_rest_there_is_nothing_to_stop(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    let done = world.interrupt().await.expect("an answer");
    assert_eq!((done.delivered, done.reason.as_deref()), (false, Some("nothing_to_stop")));
    assert_eq!(world.state().await.state, "idle");
    world.echoes("still here").await;
}
