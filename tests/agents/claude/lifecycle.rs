//! Events in the lifecycle of a claude session, and the state they lead to.

use crate::harness::Setup;
use crate::lifecycle;

#[tokio::test]
async fn a_nested_claude_does_not_change_the_state() {
    lifecycle::a_nested_agent_does_not_change_the_state(Setup::claude(), "claude").await;
}

#[tokio::test]
async fn a_killed_claude_has_exited() {
    lifecycle::a_killed_agent_has_exited(Setup::claude()).await;
}

#[tokio::test]
async fn a_claude_that_quits_has_exited() {
    lifecycle::an_agent_that_quits_has_exited(Setup::claude(), "/exit").await;
}

#[tokio::test]
async fn a_switch_continues_the_conversation_and_a_restart_starts_a_new_one() {
    lifecycle::a_switch_continues_the_conversation_and_a_restart_starts_a_new_one(Setup::claude())
        .await;
}

#[tokio::test]
async fn clear_starts_a_new_conversation() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.round_trip("before").await;
    let before = session.state().await;
    assert!(before.last_message.as_deref().is_some_and(|said| said.contains("echo: before")));
    session.paste("/clear").await;
    let id = before.agent_session_id.clone();
    let after = session
        .wait_for("another conversation", |state| {
            (state.agent_session_id != id).then(|| state.clone())
        })
        .await;
    assert_ne!(after.transcript_path, before.transcript_path);
    assert_eq!(after.session_id, before.session_id, "coop's own stays");
    session.wait_row("an empty composer", |row| row.trim_end() == "❯").await;
    session.round_trip("after").await;
    assert!(
        session
            .state()
            .await
            .transcript_path
            .is_some_and(|path| before.transcript_path != Some(path))
    );
}

#[tokio::test]
async fn compacting_ends_idle() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.round_trip("remember this").await;
    session.paste("/compact").await;
    session.wait_text("Compacted").await;
    session.wait_state("idle").await;
    session.round_trip("and go on").await;
    assert!(
        session.states().iter().filter(|state| *state == "working").count() >= 3,
        "{:?}",
        session.states()
    );
}

#[tokio::test]
async fn a_background_task_starts_its_own_turn() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    let task = "#tool Task {\"description\":\"d\",\"prompt\":\"#hold below\",\
                \"subagent_type\":\"general-purpose\"}";
    let nudged = session.nudge(&format!("{task} #say from above")).await.expect("taken");
    session.wait_reply("from above").await;
    let idle = session.wait_state_after(nudged.seq, "idle").await;
    session.api.wait_held("below").await;
    session.api.release("below");
    session.wait_state_after(idle.since_seq, "working").await;
    session.wait_state("idle").await;
    session.round_trip("and after that").await;
}

#[tokio::test]
async fn the_users_hooks_and_settings_still_apply() {
    let mine = serde_json::json!({ "hooks": { "UserPromptSubmit": [
        { "hooks": [{ "type": "command", "command": "touch \"$HOME/user-hook\"" }] }
    ] } });
    let given = serde_json::json!({ "hooks": { "Stop": [
        { "hooks": [{ "type": "command", "command": "touch \"$HOME/given-hook\"" }] }
    ] } });
    let setup = Setup::claude()
        .file(".claude/settings.json", &mine.to_string())
        .args(&["--settings", &given.to_string()]);
    let Some(mut session) = setup.idle().await else { return };
    session.round_trip("with hooks").await;
    assert!(
        session.home().join("user-hook").exists() && session.home().join("given-hook").exists()
    );
    assert_eq!(session.explain().await.votes.iter().filter(|vote| vote.tier == "hooks").count(), 1);
}

#[tokio::test]
async fn a_second_coop_resumes_a_conversation_by_its_id_or_its_log() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.round_trip("the first part").await;
    let first = session.state().await;
    let id = first.agent_session_id.clone().expect("a conversation has an id");
    session.restart_coop(&Setup::claude().coop(&["--resume", &id])).await;
    session.wait_state("idle").await;
    session.round_trip("the second part").await;
    let log = session.state().await.transcript_path.expect("a log");
    session.restart_coop(&Setup::claude().coop(&["--resume", &log])).await;
    session.wait_state("idle").await;
    session.round_trip("the third part").await;
    assert_eq!(session.state().await.agent_session_id, Some(id));
    let said = session.api.last_turn().body["messages"].to_string();
    assert!(
        ["first", "second", "third"].iter().all(|part| said.contains(&format!("the {part} part"))),
        "{said}"
    );
}
