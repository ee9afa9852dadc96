//! What else happens in a session of the real claude: its state stays true.

use crate::life;
use crate::world::Setup;

#[tokio::test]
async fn a_claude_inside_claude_changes_nothing() {
    life::another_one_inside_changes_nothing(Setup::claude(), "claude").await;
}

#[tokio::test]
async fn a_killed_claude_is_gone_at_once() {
    life::killed_it_is_gone_at_once(Setup::claude()).await;
}

#[tokio::test]
async fn a_claude_that_quits_has_exited() {
    life::once_it_quits_it_has_exited(Setup::claude(), "/exit").await;
}

#[tokio::test]
async fn a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew() {
    life::a_switch_goes_on_with_the_conversation_and_a_restart_begins_anew(Setup::claude()).await;
}

#[tokio::test]
async fn a_cleared_conversation_is_another_one() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.echoes("before").await;
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
    world.echoes("after").await;
    assert!(world.state().await.transcript_path.is_some_and(|path| before.transcript_path != Some(path)));
}

#[tokio::test]
async fn a_compacted_conversation_is_idle_again() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.echoes("remember this").await;
    world.paste("/compact").await;
    world.see("Compacted").await;
    world.wait_state("idle").await;
    world.echoes("and go on").await;
    assert!(world.states().iter().filter(|state| *state == "working").count() >= 3, "{:?}", world.states());
}

#[tokio::test]
async fn a_task_in_the_background_begins_a_turn_of_its_own() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    let task =
        "#tool Task {\"description\":\"d\",\"prompt\":\"#hold below\",\"subagent_type\":\"general-purpose\"}";
    let nudged = world.nudge(&format!("{task} #say from above")).await.expect("taken");
    world.hear("from above").await;
    let idle = world.wait_state_after(nudged.seq, "idle").await;
    world.api.wait_held("below").await;
    world.api.release("below");
    world.wait_state_after(idle.since_seq, "working").await;
    world.wait_state("idle").await;
    world.echoes("and after that").await;
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
    let Some(mut world) = setup.idle().await else { return };
    world.echoes("with hooks").await;
    assert!(world.home().join("user-hook").exists() && world.home().join("given-hook").exists());
    assert_eq!(world.explain().await.votes.iter().filter(|vote| vote.tier == "hooks").count(), 1);
}

#[tokio::test]
async fn a_second_coop_resumes_a_conversation_by_its_id_or_its_log() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.echoes("the first part").await;
    let first = world.state().await;
    let id = first.agent_session_id.clone().expect("a conversation has an id");
    world.start_again(&Setup::claude().coop(&["--resume", &id])).await;
    world.wait_state("idle").await;
    world.echoes("the second part").await;
    let log = world.state().await.transcript_path.expect("a log");
    world.start_again(&Setup::claude().coop(&["--resume", &log])).await;
    world.wait_state("idle").await;
    world.echoes("the third part").await;
    assert_eq!(world.state().await.agent_session_id, Some(id));
    let said = world.api.last_turn().body["messages"].to_string();
    assert!(
        ["first", "second", "third"].iter().all(|part| said.contains(&format!("the {part} part"))),
        "{said}"
    );
}
