//! The real codex is stopped, whatever it is doing.

use crate::interrupt;
use crate::world::Setup;

#[tokio::test]
async fn before_anything_has_streamed() {
    interrupt::before_anything_has_streamed(Setup::codex()).await;
}

#[tokio::test]
async fn while_text_streams() {
    interrupt::while_text_streams(Setup::codex(), "line 2 of 3").await;
}

#[tokio::test]
async fn at_a_dialog() {
    interrupt::at_a_dialog(Setup::codex()).await;
}

#[tokio::test]
async fn at_a_question() {
    interrupt::at_a_question(Setup::codex()).await;
}

#[tokio::test]
async fn at_rest_there_is_nothing_to_stop() {
    interrupt::at_rest_there_is_nothing_to_stop(Setup::codex()).await;
}

#[tokio::test]
async fn while_a_command_runs_that_goes_on_in_the_background() {
    let Some(mut world) = Setup::codex().idle().await else { return };
    let call = serde_json::json!({ "cmd": "touch begun; sleep 120", "yield_time_ms": 30000 });
    world.nudge(&format!("#tool exec_command {call}")).await.expect("taken");
    world.wait_file("begun").await;
    interrupt::stopped_and_alive(&mut world, "after the command").await;
}
