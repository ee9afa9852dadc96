//! Interrupts of the real claude, in every phase of a turn: back to idle, and the next message lands.

use crate::world::{Setup, World};

async fn idle() -> Option<World> {
    let mut world = Setup::claude().start().await?;
    world.wait_state("idle").await;
    Some(world)
}

/// coop's interrupt ends the turn, and a message after it arrives alone.
async fn stopped_and_alive(world: &mut World, after: &str) {
    let done = world.interrupt().await.expect("an interrupt");
    assert!(done.delivered, "{done:?}");
    world.wait_state("idle").await;
    let nudged = world.nudge(after).await.expect("taken after an interrupt");
    assert_eq!(nudged.outcome, "accepted");
    world.hear(&format!("echo: {after}")).await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(world.api.user_messages().last().map(String::as_str), Some(after));
}

#[tokio::test]
async fn before_anything_has_streamed() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    stopped_and_alive(&mut world, "after the silence").await;
}

#[tokio::test]
async fn while_text_streams() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#stream 3x0 #hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    world.see("line 2 of 3").await;
    stopped_and_alive(&mut world, "after the stream").await;
}

#[tokio::test]
async fn while_it_thinks() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#think deeply #hold gate #say never").await.expect("taken");
    world.api.wait_held("gate").await;
    stopped_and_alive(&mut world, "after the thought").await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    let Some(mut world) = idle().await else { return };
    world
        .nudge("#tool Bash {\"command\":\"touch here; sleep 1000\",\"description\":\"d\"}")
        .await
        .expect("taken");
    world.wait_prompt().await;
    world.accept().await;
    world.wait_file("here").await;
    world.wait_state("working").await;
    stopped_and_alive(&mut world, "after the tool").await;
}

#[tokio::test]
async fn at_a_dialog() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#tool Bash {\"command\":\"touch never\",\"description\":\"d\"}").await.expect("taken");
    world.wait_prompt().await;
    stopped_and_alive(&mut world, "after the dialog").await;
    assert!(!world.workspace().join("never").exists());
}

/// An Escape that somebody presses is seen as well as coop's own.
#[tokio::test]
async fn by_a_person() {
    let Some(mut world) = idle().await else { return };
    for (name, text) in [("one", "#hold one #say never"), ("two", "#stream 3x0 #hold two #say never")] {
        let nudged = world.nudge(text).await.expect("taken");
        world.api.wait_held(name).await;
        world.wait_state("working").await;
        world.press("\x1b").await;
        world.wait_state_after(nudged.seq, "idle").await;
        let next = world.nudge(&format!("after {name}")).await.expect("taken");
        world.hear(&format!("echo: after {name}")).await;
        world.wait_state_after(next.seq, "idle").await;
    }
}

#[tokio::test]
async fn at_rest_there_is_nothing_to_stop() {
    let Some(mut world) = idle().await else { return };
    let done = world.interrupt().await.expect("an answer");
    assert!(!done.delivered);
    assert_eq!(done.reason.as_deref(), Some("nothing_to_stop"));
    stopless(&mut world).await;
}

async fn stopless(world: &mut World) {
    world.nudge("still here").await.expect("taken");
    world.hear("echo: still here").await;
}
