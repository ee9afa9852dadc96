//! What else happens in a session of the real codex: its state stays true.

use crate::life;
use crate::world::Setup;

#[tokio::test]
async fn a_killed_codex_is_gone_at_once() {
    life::killed_it_is_gone_at_once(Setup::codex()).await;
}

#[tokio::test]
async fn a_codex_that_quits_has_exited() {
    life::once_it_quits_it_has_exited(Setup::codex(), "/quit").await;
}

#[tokio::test]
async fn a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew() {
    life::a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew(Setup::codex()).await;
}

#[tokio::test]
async fn it_is_idle_only_once_it_is_ready() {
    let Some(mut world) = Setup::codex().idle().await else { return };
    let state = world.state().await;
    assert_eq!(state.detection_tier, "terminal", "its first screen looks ready and is not: {state:?}");
    world.echoes("good morning").await;
    let state = world.state().await;
    assert!(state.agent_session_id.is_some() && state.transcript_path.is_some(), "{state:?}");
    assert!(state.last_message.is_some_and(|said| said.contains("echo: good morning")));
    let states = world.states();
    assert!(
        states.iter().filter(|state| *state == "idle").count() <= 2,
        "once ready, and once done: {states:?}"
    );
}

#[tokio::test]
async fn a_command_in_the_background_is_no_turn() {
    let Some(mut world) = Setup::codex().idle().await else { return };
    let call = serde_json::json!({ "cmd": "sleep 120", "yield_time_ms": 250 });
    let nudged = world.nudge(&format!("#tool exec_command {call} #say it runs")).await.expect("taken");
    world.hear("it runs").await;
    world.wait_state_after(nudged.seq, "idle").await;
    world.see("background terminal running").await;
    world.echoes("and meanwhile").await;
}
