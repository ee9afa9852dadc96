//! The real gemini.

mod bare;
mod first_run;
mod interrupt;
mod life;
mod nudge;
mod permission;
mod question;
mod talk;
mod trouble;

use crate::world::{Setup, World};

/// Gemini at its empty prompt.
async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

/// A message of its own is taken, answered, and ends in idle.
async fn still_answers(world: &mut World, text: &str) {
    let nudged = world.nudge(text).await.expect("taken");
    assert_eq!(nudged.outcome, "accepted");
    world.hear(&format!("echo: {text}")).await;
    world.wait_state_after(nudged.seq, "idle").await;
}

/// The model wants to run this command.
fn shell(command: &str) -> String {
    format!("#tool run_shell_command {}", serde_json::json!({ "command": command }))
}
