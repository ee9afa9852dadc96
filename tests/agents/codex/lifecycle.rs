//! Events in the lifecycle of a codex session, and the state they lead to.

use crate::harness::Setup;
use crate::lifecycle;

#[tokio::test]
async fn a_killed_codex_has_exited() {
    lifecycle::a_killed_agent_has_exited(Setup::codex()).await;
}

#[tokio::test]
async fn a_codex_that_quits_has_exited() {
    lifecycle::an_agent_that_quits_has_exited(Setup::codex(), "/quit").await;
}

#[tokio::test]
async fn a_switch_continues_the_conversation_and_a_restart_starts_a_new_one() {
    lifecycle::a_switch_continues_the_conversation_and_a_restart_starts_a_new_one(Setup::codex())
        .await;
}

#[tokio::test]
async fn codex_is_idle_only_when_ready() {
    let Some(mut session) = Setup::codex().idle().await else { return };
    let state = session.state().await;
    assert_eq!(
        state.detection_tier, "terminal",
        "its first screen looks ready and is not: {state:?}"
    );
    session.round_trip("good morning").await;
    let state = session.state().await;
    assert!(state.agent_session_id.is_some() && state.transcript_path.is_some(), "{state:?}");
    assert!(state.last_message.is_some_and(|said| said.contains("echo: good morning")));
    let states = session.states();
    assert!(
        states.iter().filter(|state| *state == "idle").count() <= 2,
        "once ready, and once done: {states:?}"
    );
}

#[tokio::test]
async fn a_background_command_is_not_a_turn() {
    let Some(mut session) = Setup::codex().idle().await else { return };
    let call = serde_json::json!({ "cmd": "sleep 120", "yield_time_ms": 250 });
    let nudged =
        session.nudge(&format!("#tool exec_command {call} #say it runs")).await.expect("taken");
    session.wait_reply("it runs").await;
    session.wait_state_after(nudged.seq, "idle").await;
    session.wait_text("background terminal running").await;
    session.round_trip("and meanwhile").await;
}
