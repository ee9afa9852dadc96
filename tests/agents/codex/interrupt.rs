//! The real codex is stopped, whatever it is doing.

use crate::world::{Setup, World};

async fn idle() -> Option<World> {
    let mut world = Setup::codex().start().await?;
    world.wait_state("idle").await;
    Some(world)
}

/// Stops the turn, and shows that the next one is as good as any.
async fn stop(world: &mut World) {
    let stopped = world.interrupt().await.expect("stopped");
    assert!(stopped.delivered);
    world.wait_state("idle").await;
    let nudged = world.nudge("and again").await.expect("taken");
    assert_eq!(nudged.outcome, "accepted");
    world.hear("echo: and again").await;
    world.wait_state_after(nudged.seq, "idle").await;
}

#[tokio::test]
async fn while_it_thinks() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#hold forever").await.expect("taken");
    world.api.wait_held("forever").await;
    stop(&mut world).await;
}

#[tokio::test]
async fn while_it_speaks() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#stream 3x0 #hold forever #say never").await.expect("taken");
    world.api.wait_held("forever").await;
    world.hear("line 2 of 3").await;
    assert_eq!(world.state().await.state, "working", "its screen is that of an idle codex");
    stop(&mut world).await;
}

#[tokio::test]
async fn while_a_command_runs_that_goes_on_in_the_background() {
    let Some(mut world) = idle().await else { return };
    let call = serde_json::json!({ "cmd": "touch begun; sleep 120", "yield_time_ms": 30000 });
    world.nudge(&format!("#tool exec_command {call}")).await.expect("taken");
    world.wait_file("begun").await;
    stop(&mut world).await;
}

#[tokio::test]
async fn while_it_asks() {
    let Some(mut world) = idle().await else { return };
    let call = serde_json::json!({
        "cmd": "touch never", "sandbox_permissions": "require_escalated", "justification": "May I?",
    });
    world.nudge(&format!("#tool exec_command {call}")).await.expect("taken");
    world.wait_prompt().await;
    stop(&mut world).await;
    assert!(!world.workspace().join("never").exists());
}

#[tokio::test]
async fn at_rest_there_is_nothing_to_stop() {
    let Some(mut world) = idle().await else { return };
    assert!(!world.interrupt().await.expect("asked").delivered);
    assert_eq!(world.state().await.state, "idle");
}
