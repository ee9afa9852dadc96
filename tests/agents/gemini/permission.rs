//! Permissions that the real gemini asks for: their content, and their answers.

use serde_json::json;

use crate::harness::Setup;
use crate::permission::{self, CommandDialog};

#[tokio::test]
async fn a_command_is_shown_in_full_and_allowed() {
    let dialog = CommandDialog { tool: "run_shell_command", yes: "Allow once", via: "keys" };
    permission::a_command_is_shown_in_full_and_allowed(Setup::gemini(), dialog).await;
}

#[tokio::test]
async fn a_denied_command_never_runs_and_ends_the_turn() {
    permission::a_denied_command_never_runs_and_ends_the_turn(Setup::gemini()).await;
}

#[tokio::test]
async fn two_parallel_commands_are_two_prompts_and_a_late_answer_is_stale() {
    permission::two_commands_are_two_prompts_and_a_late_answer_is_stale(Setup::gemini(), "#and")
        .await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    permission::a_message_at_a_dialog_is_refused_and_approves_nothing(Setup::gemini()).await;
}

#[tokio::test]
async fn always_allowing_a_command_stops_its_prompts() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let calls = [(); 2].map(|()| session.shell_call("touch made"));
    permission::always_allowing_stops_prompts(
        &mut session,
        "run_shell_command",
        calls,
        "Allow for this session",
    )
    .await;
    assert!(session.workspace().join("made").exists());
}

#[tokio::test]
async fn a_denied_edit_changes_nothing() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let file = session.workspace().join("never");
    let call = json!({ "file_path": file, "content": "x\n" });
    session.nudge(&format!("#tool write_file {call}")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(
        (prompt.r#type.as_str(), prompt.tool.as_deref()),
        ("permission", Some("write_file"))
    );
    session.decline().await;
    session.wait_state("idle").await;
    assert!(!file.exists());
}

#[tokio::test]
async fn always_allowing_a_write_stops_its_prompts() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let place = session.workspace().to_owned();
    let calls = ["one", "two"].map(|name| {
        format!("#tool write_file {}", json!({ "file_path": place.join(name), "content": "x\n" }))
    });
    permission::always_allowing_stops_prompts(
        &mut session,
        "write_file",
        calls,
        "Allow for this session",
    )
    .await;
    assert!(place.join("one").exists() && place.join("two").exists());
}

#[tokio::test]
async fn an_edit_is_a_prompt() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    permission::an_edit_is_a_prompt(&mut session, "replace", |file| {
        let edit = json!({
            "file_path": file, "instruction": "i", "old_string": "old", "new_string": "new",
        });
        format!("#tool replace {edit}")
    })
    .await;
}
