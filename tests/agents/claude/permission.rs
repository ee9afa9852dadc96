//! Permissions that the real claude asks for: their content, and their answers.

use coop_client::v1;
use serde_json::json;

use crate::harness::{Setup, error_code};
use crate::permission::{self, CommandDialog, deny_with};

#[tokio::test]
async fn a_command_is_shown_in_full_and_allowed() {
    let dialog = CommandDialog { tool: "Bash", yes: "Yes", via: "hook" };
    permission::a_command_is_shown_in_full_and_allowed(Setup::claude(), dialog).await;
}

#[tokio::test]
async fn two_consecutive_commands_are_two_prompts_and_a_late_answer_is_stale() {
    permission::two_commands_are_two_prompts_and_a_late_answer_is_stale(Setup::claude(), "").await;
}

#[tokio::test]
async fn a_message_at_a_dialog_is_refused_and_approves_nothing() {
    permission::a_message_at_a_dialog_is_refused_and_approves_nothing(Setup::claude()).await;
}

#[tokio::test]
async fn always_allowing_a_write_stops_its_prompts() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    let place = session.workspace().to_owned();
    let calls = ["one", "two"].map(|name| {
        format!("#tool Write {}", json!({ "file_path": place.join(name), "content": "x" }))
    });
    permission::always_allowing_stops_prompts(&mut session, "Write", calls, "Yes, ").await;
    assert!(place.join("one").exists() && place.join("two").exists());
}

#[tokio::test]
async fn edits_and_web_fetches_are_prompts() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    permission::an_edit_is_a_prompt(&mut session, "Edit", |file| {
        let edit = json!({ "file_path": file, "old_string": "old", "new_string": "new" });
        format!("#tool Read {} #tool Edit {edit}", json!({ "file_path": file }))
    })
    .await;

    let fetch = json!({ "url": "http://127.0.0.1:9/page", "prompt": "what is there" });
    session.nudge(&format!("#tool WebFetch {fetch} #say fetched")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some("WebFetch")));
    assert!(prompt.input_full.is_some_and(|input| input.contains("127.0.0.1:9/page")));
    session.decline().await;
    session.wait_state("idle").await;
}

#[tokio::test]
async fn a_denied_command_never_runs() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.nudge(&session.shell_call("touch never")).await.expect("taken");
    session.wait_prompt().await;
    assert_eq!(session.decline().await.outcome, "answered");
    session.wait_state("idle").await;
    session
        .nudge(&format!("{} #say went on", session.shell_call("touch never")))
        .await
        .expect("taken");
    session.wait_prompt().await;
    let response = session.respond(deny_with("use another way")).await.expect("denied");
    assert_eq!(response.outcome, "answered");
    session.wait_reply("went on").await;
    session.wait_state("idle").await;
    let result = session.api.last_result();
    assert!(result.contains("use another way"), "the reason is missing: {result}");
    assert!(!session.workspace().join("never").exists());
}

#[tokio::test]
async fn an_answer_at_the_keyboard_makes_a_later_one_stale() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.nudge(&format!("{} #say mine", session.shell_call("touch made"))).await.expect("taken");
    let prompt = session.wait_prompt().await;
    session.press("1").await;
    session.wait_reply("mine").await;
    session.wait_state("idle").await;
    let late = v1::RespondRequest {
        accept: Some(false),
        prompt_id: Some(prompt.id),
        ..Default::default()
    };
    assert_eq!(error_code(&session.respond(late).await.expect_err("it is over")), "STALE_PROMPT");
    let any = v1::RespondRequest { accept: Some(false), ..Default::default() };
    assert_eq!(error_code(&session.respond(any).await.expect_err("there is none")), "NO_PROMPT");
}

#[tokio::test]
async fn answers_work_with_keys_instead_of_hooks() {
    let Some(mut session) = Setup::claude().coop(&["--groom", "pristine"]).idle().await else {
        return;
    };
    session
        .nudge(&format!("{} #say by keys", session.shell_call("touch made")))
        .await
        .expect("taken");
    session.wait_prompt().await;
    let answered = session.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.via.as_str()), ("answered", "keys"));
    session.wait_reply("by keys").await;
    session.wait_state("idle").await;
    session
        .nudge(&format!("{} #say went on", session.shell_call("touch never")))
        .await
        .expect("taken");
    session.wait_prompt().await;
    let response = session.respond(deny_with("rather not")).await.expect("denied");
    assert_eq!((response.outcome.as_str(), response.via.as_str()), ("answered", "keys"));
    session.wait_reply("went on").await;
    assert!(session.api.last_result().contains("rather not"));
    assert!(!session.workspace().join("never").exists());
}

#[tokio::test]
async fn a_comment_with_a_permission_reaches_the_model() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.nudge(&session.shell_call("touch made")).await.expect("taken");
    session.wait_prompt().await;
    let comment = v1::RespondRequest {
        accept: Some(true),
        text: Some("and be quick about it".to_owned()),
        ..Default::default()
    };
    assert_eq!(session.respond(comment).await.expect("answered").outcome, "answered");
    session.wait_reply("echo: and be quick about it").await;
    session.wait_file("made").await;
}
