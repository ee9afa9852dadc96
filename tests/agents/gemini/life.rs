//! What else happens in a session of the real gemini: its state stays true, and its home stays clean.

use std::time::{Duration, Instant};

use coop_client::v1;

use crate::life;
use crate::world::{Setup, until};

/// How long a key may take to have its effect before it is pressed again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Two processes, as gemini usually runs.
fn usual() -> Setup {
    Setup::gemini().env("GEMINI_CLI_NO_RELAUNCH", "")
}

#[tokio::test]
async fn a_gemini_inside_gemini_changes_nothing() {
    life::another_one_inside_changes_nothing(Setup::gemini(), "gemini").await;
}

#[tokio::test]
async fn a_killed_gemini_is_gone_at_once() {
    life::killed_it_is_gone_at_once(usual()).await;
}

#[tokio::test]
async fn a_gemini_that_is_asked_to_end_does_though_its_outer_process_would_not() {
    let Some(mut world) = usual().idle().await else { return };
    world.signal("SIGTERM").await;
    world.wait_state("exited").await;
}

#[tokio::test]
async fn a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew() {
    life::a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew(usual()).await;
}

#[tokio::test]
async fn a_cleared_conversation_is_another_one() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    world.echoes("before").await;
    let before = world.state().await;
    assert!(before.last_message.as_deref().is_some_and(|said| said.contains("echo: before")));
    world.press("\x1b[200~/clear\x1b[201~").await;
    world.see_row("the command", |row| row.starts_with(" > /clear")).await;
    let id = before.agent_session_id.clone();
    // An Enter that comes too early is lost, and each that is taken clears once more.
    let mut pressed: Option<Instant> = None;
    until("another conversation", async || {
        if pressed.is_none_or(|at| at.elapsed() > PATIENCE) {
            world.press("\r").await;
            pressed = Some(Instant::now());
        }
        (world.state().await.agent_session_id != id).then_some(())
    })
    .await;
    world.wait_state("idle").await;
    world.echoes("after").await;
}

#[tokio::test]
async fn coops_extension_is_there_while_it_is_used_and_gone_afterwards() {
    let mine = serde_json::json!({ "name": "mine", "version": "1.0.0" }).to_string();
    let setup = usual().file(".gemini/extensions/mine/gemini-extension.json", &mine);
    let Some(world) = setup.idle().await else { return };
    let extensions = world.home().join(".gemini/extensions");
    assert!(extensions.join("coop-hooks/hooks/hooks.json").exists());
    let settings = std::fs::read_to_string(world.home().join(".gemini/settings.json")).expect("settings");
    assert!(!settings.contains("coop"), "the user's settings are the user's");
    let request = v1::ShutdownRequest::default();
    world.client().shutdown(request).await.expect("coop takes its leave");
    until("coop's extension to go", async || (!extensions.join("coop-hooks").exists()).then_some(())).await;
    assert!(extensions.join("mine/gemini-extension.json").exists());
}
