//! What else happens in a session of the real codex: its state stays true.

use coop_client::v1;

use crate::world::{Setup, World};

async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

async fn still_answers(world: &mut World, text: &str) {
    let nudged = world.nudge(text).await.expect("taken");
    assert_eq!(nudged.outcome, "accepted");
    world.hear(&format!("echo: {text}")).await;
    world.wait_state_after(nudged.seq, "idle").await;
}

#[tokio::test]
async fn it_is_idle_only_once_it_is_ready() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    let state = world.state().await;
    assert_eq!(state.detection_tier, "terminal", "its first screen looks ready and is not: {state:?}");
    still_answers(&mut world, "good morning").await;
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
    let Some(mut world) = idle(Setup::codex()).await else { return };
    let call = serde_json::json!({ "cmd": "sleep 120", "yield_time_ms": 250 });
    let nudged = world.nudge(&format!("#tool exec_command {call} #say it runs")).await.expect("taken");
    world.hear("it runs").await;
    world.wait_state_after(nudged.seq, "idle").await;
    world.see("background terminal running").await;
    still_answers(&mut world, "and meanwhile").await;
}

#[tokio::test]
async fn a_killed_codex_is_gone_at_once() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    world.nudge("#hold gate").await.expect("taken");
    world.api.wait_held("gate").await;
    world.signal("KILL").await;
    assert_eq!(world.wait_state("exited").await.detection_tier, "process");
    assert_eq!(world.states().last().map(String::as_str), Some("exited"));
}

#[tokio::test]
async fn a_codex_that_quits_has_exited() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    world.paste("/quit").await;
    world.wait_state("exited").await;
    let status = world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.exit_code, Some(0));
}

#[tokio::test]
async fn a_switch_goes_on_with_the_conversation() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    still_answers(&mut world, "the first part").await;
    let first = world.state().await.agent_session_id;
    let extra_env = [("EXTRA".to_owned(), "1".to_owned())].into();
    let switch = v1::SwitchSessionRequest { extra_env, ..Default::default() };
    world.client().switch_session(switch).await.expect("switched");
    world.wait_state("idle").await;
    still_answers(&mut world, "the second part").await;
    assert_eq!(world.state().await.agent_session_id, first);
    let said = world.api.last_turn().body["input"].to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
}

#[tokio::test]
async fn one_turn_is_told_by_what_codex_prints() {
    let command = ["exec", "--json", "--skip-git-repo-check", "#hold gate #say printed"];
    let Some(mut world) = Setup::codex().only_args(&command).coop(&["--groom", "pristine"]).start().await
    else {
        return;
    };
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    let votes = world.explain().await.votes;
    assert!(votes.iter().any(|vote| vote.tier == "stdout" && vote.state == "working"), "{votes:?}");
    world.api.release("gate");
    let state = world.wait_state("exited").await;
    assert_eq!(state.last_message.as_deref(), Some("printed"));
    assert!(state.agent_session_id.is_some());
}
