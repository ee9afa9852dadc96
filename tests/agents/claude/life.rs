//! What else happens in a session of the real claude: its state stays true.

use coop_client::v1;

use crate::world::{Setup, World};

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

#[tokio::test]
async fn a_cleared_conversation_is_another_one() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    still_answers(&mut world, "before").await;
    let before = world.state().await;
    assert!(before.last_message.as_deref().is_some_and(|said| said.contains("echo: before")));
    world.paste("/clear").await;
    let id = before.agent_session_id.clone();
    let after = world
        .wait_for("another conversation", |state| (state.agent_session_id != id).then(|| state.clone()))
        .await;
    assert_ne!(after.transcript_path, before.transcript_path);
    assert_eq!(after.session_id, before.session_id, "coop's own stays");
    world.see_row("an empty composer", |row| row.trim_end() == "❯").await;
    still_answers(&mut world, "after").await;
    assert!(world.state().await.transcript_path.is_some_and(|path| before.transcript_path != Some(path)));
}

#[tokio::test]
async fn a_compacted_conversation_is_idle_again() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    still_answers(&mut world, "remember this").await;
    world.paste("/compact").await;
    world.see("Compacted").await;
    world.wait_state("idle").await;
    still_answers(&mut world, "and go on").await;
    assert!(world.states().iter().filter(|state| *state == "working").count() >= 3, "{:?}", world.states());
}

#[tokio::test]
async fn a_task_in_the_background_begins_a_turn_of_its_own() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    let task =
        "#tool Task {\"description\":\"d\",\"prompt\":\"#hold below\",\"subagent_type\":\"general-purpose\"}";
    let nudged = world.nudge(&format!("{task} #say from above")).await.expect("taken");
    world.hear("from above").await;
    let idle = world.wait_state_after(nudged.seq, "idle").await;
    world.api.wait_held("below").await;
    world.api.release("below");
    world.wait_state_after(idle.since_seq, "working").await;
    world.wait_state("idle").await;
    still_answers(&mut world, "and after that").await;
}

#[tokio::test]
async fn a_claude_inside_claude_changes_nothing() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    let nested = "claude -p '#hold nested' > inner 2>&1";
    let call = serde_json::json!({ "command": nested, "description": "d", "timeout": 60000 });
    let nudged = world.nudge(&format!("#tool Bash {call} #say outer done")).await.expect("taken");
    let outer = world.wait_prompt().await;
    assert!(outer.input_full.is_some_and(|input| input.contains("claude -p")));
    world.accept().await;
    world.api.wait_held("nested").await;
    let working = world.wait_state("working").await;
    let conversation = working.agent_session_id;
    world.api.release("nested");
    world.hear("outer done").await;
    let idle = world.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(idle.agent_session_id, conversation, "the inner one's is its own");
    assert!(std::fs::read_to_string(world.workspace().join("inner")).unwrap().len() > 1);
    let after = world.states();
    let prompt = after.iter().rposition(|state| state == "prompt").expect("there was one");
    assert_eq!(after[prompt + 1..], ["working", "idle"], "{after:?}");
}

#[tokio::test]
async fn a_killed_claude_is_gone_at_once() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.nudge("#hold gate").await.expect("taken");
    world.api.wait_held("gate").await;
    world.signal("KILL").await;
    let state = world.wait_state("exited").await;
    assert_eq!(state.detection_tier, "process");
    let status = world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!((status.exit_signal, status.exit_code), (Some(9), None));
    assert_eq!(world.states().last().map(String::as_str), Some("exited"));
}

#[tokio::test]
async fn a_claude_that_quits_has_exited() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    world.paste("/exit").await;
    world.wait_state("exited").await;
    let status = world.client().get_status(v1::GetStatusRequest {}).await.expect("a status").into_inner();
    assert_eq!(status.exit_code, Some(0));
}

#[tokio::test]
async fn a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
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
    let said = world.api.last_turn().body["messages"].to_string();
    assert!(said.contains("the first part") && said.contains("the second part"), "{said}");
    world.client().restart_session(v1::RestartSessionRequest::default()).await.expect("restarted");
    world.wait_state("idle").await;
    still_answers(&mut world, "the third part").await;
    assert_ne!(world.state().await.agent_session_id, first);
}

#[tokio::test]
async fn the_users_own_hooks_and_settings_stay_in_force() {
    let mine = serde_json::json!({ "hooks": { "UserPromptSubmit": [
        { "hooks": [{ "type": "command", "command": "touch \"$HOME/user-hook\"" }] }
    ] } });
    let given = serde_json::json!({ "hooks": { "Stop": [
        { "hooks": [{ "type": "command", "command": "touch \"$HOME/given-hook\"" }] }
    ] } });
    let setup = Setup::claude()
        .file(".claude/settings.json", &mine.to_string())
        .args(&["--settings", &given.to_string()]);
    let Some(mut world) = idle(setup).await else { return };
    still_answers(&mut world, "with hooks").await;
    assert!(world.home().join("user-hook").exists() && world.home().join("given-hook").exists());
    assert_eq!(world.explain().await.votes.iter().filter(|vote| vote.tier == "hooks").count(), 1);
}

#[tokio::test]
async fn a_second_coop_resumes_a_conversation_by_its_id_or_its_log() {
    let Some(mut world) = idle(Setup::claude()).await else { return };
    still_answers(&mut world, "the first part").await;
    let first = world.state().await;
    let id = first.agent_session_id.clone().expect("a conversation has an id");
    world.start_again(&Setup::claude().coop(&["--resume", &id])).await;
    world.wait_state("idle").await;
    still_answers(&mut world, "the second part").await;
    let log = world.state().await.transcript_path.expect("a log");
    world.start_again(&Setup::claude().coop(&["--resume", &log])).await;
    world.wait_state("idle").await;
    still_answers(&mut world, "the third part").await;
    assert_eq!(world.state().await.agent_session_id, Some(id));
    let said = world.api.last_turn().body["messages"].to_string();
    assert!(
        ["first", "second", "third"].iter().all(|part| said.contains(&format!("the {part} part"))),
        "{said}"
    );
}
