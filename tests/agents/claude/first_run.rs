//! The first run of claude on a machine, and other dialogs at its start.

use coop_client::v1;

use crate::harness::{Setup, TestSession};

#[tokio::test]
async fn a_new_claude_is_set_up_with_keys() {
    let setup = Setup::claude().fresh().coop(&["--groom", "manual"]);
    let Some(mut session) = setup.start().await else { return };
    session.enter("Choose the text style").await;
    session.wait_text("Do you want to use this API key?").await;
    session.pick("\x1b[A", "Yes").await;
    session.enter("Security notes:").await;
    session.pick("\x1b[B", "Yes, I trust this folder").await;
    session.wait_text("manual mode on").await;
    session.paste("hello from the first run").await;
    session.wait_reply("echo: hello from the first run").await;
    assert_eq!(session.api.user_messages(), ["hello from the first run"]);
    let called = session.api.requests();
    assert!(called.iter().any(|request| request.line.contains("/api/hello")), "{called:?}");
}

/// Waits for a setup prompt, and accepts it.
async fn agree(session: &mut TestSession, subtype: &str) {
    let prompt = session.wait_prompt_of(subtype).await;
    let yes =
        v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() };
    let answered = session.respond(yes).await.expect("answered");
    assert_eq!(answered.outcome, "answered", "{subtype}");
}

#[tokio::test]
async fn a_new_claude_is_set_up_with_answers() {
    let setup = Setup::claude().fresh().coop(&["--groom", "manual"]);
    let Some(mut session) = setup.start().await else { return };
    for subtype in ["theme_picker", "api_key", "security_notes", "trust"] {
        agree(&mut session, subtype).await;
    }
    session.wait_state("idle").await;
    session.nudge("hello by answers").await.expect("taken");
    session.wait_reply("echo: hello by answers").await;
}

#[tokio::test]
async fn a_groomed_claude_is_set_up_without_answers() {
    let Some(mut session) = Setup::claude().fresh().start().await else { return };
    session.wait_state("idle").await;
    session.nudge("hello by myself").await.expect("taken");
    session.wait_reply("echo: hello by myself").await;
    assert_eq!(session.api.user_messages(), ["hello by myself"]);
}

/// Claude has run before, but not in this folder and not with this key.
fn unknown_folder() -> Setup {
    let config =
        serde_json::json!({ "hasCompletedOnboarding": true, "hasSeenAutoDefaultNotice": true });
    Setup::claude().file(".claude.json", &config.to_string())
}

#[tokio::test]
async fn an_unknown_folder_and_key_are_prompts() {
    let Some(mut session) = unknown_folder().coop(&["--groom", "manual"]).start().await else {
        return;
    };
    for subtype in ["trust", "api_key"] {
        agree(&mut session, subtype).await;
    }
    session.wait_state("idle").await;
    drop(session);
    let Some(mut session) = unknown_folder().start().await else { return };
    session.wait_state("idle").await;
}

#[tokio::test]
async fn bypass_mode_is_a_prompt_and_is_groomed_only_if_the_command_asks_for_it() {
    let bypass =
        || Setup::claude().only_args(&["--dangerously-skip-permissions"]).env("IS_SANDBOX", "1");
    let Some(mut session) = bypass().coop(&["--groom", "manual"]).start().await else { return };
    agree(&mut session, "startup_bypass").await;
    session.wait_state("idle").await;
    drop(session);
    let Some(mut session) = bypass().start().await else { return };
    session.wait_state("idle").await;
    session
        .nudge("#tool Bash {\"command\":\"touch made\",\"description\":\"d\"} #say no question")
        .await
        .expect("taken");
    session.wait_reply("no question").await;
    session.wait_file("made").await;
}

#[tokio::test]
async fn invalid_settings_are_a_prompt() {
    let wrong = r#"{"hooks":{"NoSuchEvent":[]}}"#;
    let setup = Setup::claude().file(".claude/settings.json", wrong);
    let Some(mut session) = setup.coop(&["--groom", "manual"]).start().await else { return };
    agree(&mut session, "settings_warning").await;
    session.wait_state("idle").await;
}
