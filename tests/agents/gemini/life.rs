//! What else happens in a session of the real gemini: its state stays true, and its home stays clean.

use std::time::{Duration, Instant};

use coop_client::v1;

use super::{idle, shell, still_answers};
use crate::world::{Setup, until};

/// How long a key may take to have its effect before it is pressed again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Two processes, as gemini usually runs.
fn usual() -> Setup {
    Setup::gemini().env("GEMINI_CLI_NO_RELAUNCH", "")
}

#[tokio::test]
async fn a_cleared_conversation_is_another_one() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    still_answers(&mut world, "before").await;
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
    still_answers(&mut world, "after").await;
}

#[tokio::test]
async fn a_gemini_inside_gemini_changes_nothing() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    // What the inner one is told must not be read as told to the outer one.
    let nested = "gemini -p $'#hold nested\\n#say from inside' > inner 2>&1; touch over";
    let nudged = world.nudge(&format!("{} #say outer done", shell(nested))).await.expect("taken");
    world.wait_prompt().await;
    world.accept().await;
    world.api.wait_held("nested").await;
    let conversation = world.wait_state("working").await.agent_session_id;
    world.api.release("nested");
    world.hear("outer done").await;
    let idle = world.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(idle.agent_session_id, conversation, "the inner one's is its own");
    let states = world.states();
    let prompt = states.iter().rposition(|state| state == "prompt").expect("there was one");
    assert_eq!(states[prompt + 1..], ["working", "idle"], "{states:?}");
}

#[tokio::test]
async fn a_killed_gemini_is_gone_at_once() {
    let Some(mut world) = idle(usual()).await else { return };
    world.nudge("#hold gate").await.expect("taken");
    world.api.wait_held("gate").await;
    world.signal("KILL").await;
    let state = world.wait_state("exited").await;
    assert_eq!(state.detection_tier, "process");
}

#[tokio::test]
async fn a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew() {
    let Some(mut world) = idle(usual()).await else { return };
    still_answers(&mut world, "the first part").await;
    let first = world.state().await.agent_session_id;
    let switch = v1::SwitchSessionRequest {
        extra_env: [("EXTRA".to_owned(), "1".to_owned())].into(),
        ..Default::default()
    };
    world.client().switch_session(switch).await.expect("switched");
    world.wait_state("idle").await;
    still_answers(&mut world, "the second part").await;
    assert_eq!(world.state().await.agent_session_id, first);
    let said = world.api.last_turn().body["contents"].to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
    world.client().restart_session(v1::RestartSessionRequest::default()).await.expect("restarted");
    world.wait_state("idle").await;
    still_answers(&mut world, "the third part").await;
    assert_ne!(world.state().await.agent_session_id, first);
}

#[tokio::test]
async fn coops_extension_is_there_while_it_is_used_and_gone_afterwards() {
    let mine = serde_json::json!({ "name": "mine", "version": "1.0.0" }).to_string();
    let setup = usual().file(".gemini/extensions/mine/gemini-extension.json", &mine);
    let Some(world) = idle(setup).await else { return };
    let extensions = world.home().join(".gemini/extensions");
    assert!(extensions.join("coop-hooks/hooks/hooks.json").exists());
    let settings = std::fs::read_to_string(world.home().join(".gemini/settings.json")).expect("settings");
    assert!(!settings.contains("coop"), "the user's settings are the user's");
    let request = v1::ShutdownRequest::default();
    world.client().shutdown(request).await.expect("coop takes its leave");
    until("coop's extension to go", async || (!extensions.join("coop-hooks").exists()).then_some(())).await;
    assert!(extensions.join("mine/gemini-extension.json").exists());
}
