//! Events in the lifecycle of a gemini session, the state they lead to, and what stays in its home.

use std::time::{Duration, Instant};

use coop_client::v1;

use crate::harness::{Setup, poll_until};
use crate::lifecycle;

/// How long to wait for the effect of a key before it is pressed again.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Gemini in two processes, as by default.
fn two_processes() -> Setup {
    Setup::gemini().env("GEMINI_CLI_NO_RELAUNCH", "")
}

#[tokio::test]
async fn a_nested_gemini_does_not_change_the_state() {
    lifecycle::a_nested_agent_does_not_change_the_state(Setup::gemini(), "gemini").await;
}

#[tokio::test]
async fn a_killed_gemini_has_exited() {
    lifecycle::a_killed_agent_has_exited(two_processes()).await;
}

#[tokio::test]
async fn sigterm_ends_both_gemini_processes() {
    let Some(mut session) = two_processes().idle().await else { return };
    session.signal("SIGTERM").await;
    session.wait_state("exited").await;
}

#[tokio::test]
async fn a_switch_continues_the_conversation_and_a_restart_starts_a_new_one() {
    lifecycle::a_switch_continues_the_conversation_and_a_restart_starts_a_new_one(two_processes())
        .await;
}

#[tokio::test]
async fn clear_starts_a_new_conversation() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    session.round_trip("before").await;
    let before = session.state().await;
    assert!(before.last_message.as_deref().is_some_and(|said| said.contains("echo: before")));
    session.press("\x1b[200~/clear\x1b[201~").await;
    session.wait_row("the command", |row| row.starts_with(" > /clear")).await;
    let id = before.agent_session_id.clone();
    // An Enter that comes too early is lost, and every accepted one clears again.
    let mut pressed: Option<Instant> = None;
    poll_until("another conversation", async || {
        if pressed.is_none_or(|at| at.elapsed() > RETRY_INTERVAL) {
            session.press("\r").await;
            pressed = Some(Instant::now());
        }
        (session.state().await.agent_session_id != id).then_some(())
    })
    .await;
    session.wait_state("idle").await;
    session.round_trip("after").await;
}

#[tokio::test]
async fn the_extension_exists_only_while_coop_runs() {
    let mine = serde_json::json!({ "name": "mine", "version": "1.0.0" }).to_string();
    let setup = two_processes().file(".gemini/extensions/mine/gemini-extension.json", &mine);
    let Some(session) = setup.idle().await else { return };
    let extensions = session.home().join(".gemini/extensions");
    assert!(extensions.join("coop-hooks/hooks/hooks.json").exists());
    let settings =
        std::fs::read_to_string(session.home().join(".gemini/settings.json")).expect("settings");
    assert!(!settings.contains("coop"), "the user's settings are unchanged");
    let request = v1::ShutdownRequest::default();
    session.client().shutdown(request).await.expect("coop shuts down");
    poll_until("coop's extension to go", async || {
        (!extensions.join("coop-hooks").exists()).then_some(())
    })
    .await;
    assert!(extensions.join("mine/gemini-extension.json").exists());
}
