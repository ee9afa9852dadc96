//! Permissions that the real gemini asks for: seen with everything they are about, and answered by meaning.

use serde_json::json;

use crate::permission::{self, Manner};
use crate::world::Setup;

#[tokio::test]
async fn a_command_is_shown_whole_and_allowed() {
    let manner = Manner { tool: "run_shell_command", yes: "Allow once", via: "keys" };
    permission::a_command_is_shown_whole_and_allowed(Setup::gemini(), manner).await;
}

#[tokio::test]
async fn a_denied_command_never_runs_and_ends_the_turn() {
    permission::a_denied_command_never_runs_and_ends_the_turn(Setup::gemini()).await;
}

#[tokio::test]
async fn two_at_once_are_two_prompts_and_a_late_answer_reaches_neither() {
    permission::two_are_two_prompts_and_a_late_answer_reaches_neither(Setup::gemini(), "#and").await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    permission::a_message_at_a_dialog_is_refused_and_approves_nothing(Setup::gemini()).await;
}

#[tokio::test]
async fn always_allowing_a_command_asks_no_more() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let calls = [(); 2].map(|()| world.shell_call("touch made"));
    permission::allowed_for_good(&mut world, "run_shell_command", calls, "Allow for this session").await;
    assert!(world.workspace().join("made").exists());
}

#[tokio::test]
async fn a_denied_edit_changes_nothing() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let file = world.workspace().join("never");
    let call = json!({ "file_path": file, "content": "x\n" });
    world.nudge(&format!("#tool write_file {call}")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("write_file")));
    world.decline().await;
    world.wait_state("idle").await;
    assert!(!file.exists());
}

#[tokio::test]
async fn allowing_for_the_session_asks_no_more() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let place = world.workspace().to_owned();
    let calls = ["one", "two"].map(|name| {
        format!("#tool write_file {}", json!({ "file_path": place.join(name), "content": "x\n" }))
    });
    permission::allowed_for_good(&mut world, "write_file", calls, "Allow for this session").await;
    assert!(place.join("one").exists() && place.join("two").exists());
}

#[tokio::test]
async fn an_edit_asks_too() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    permission::an_edit_is_asked_about(&mut world, "replace", |file| {
        let edit = json!({ "file_path": file, "instruction": "i", "old_string": "old", "new_string": "new" });
        format!("#tool replace {edit}")
    })
    .await;
}
