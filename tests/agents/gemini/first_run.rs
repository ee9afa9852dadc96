//! The first run of gemini on a machine: it asks whether to trust the folder, restarts itself, and
//! asks for the login method and the key.

use coop_client::v1;

use crate::harness::{Setup, TestSession};

/// Only settings that stop its own network traffic; it runs in two processes, as by default.
fn unconfigured() -> Setup {
    let quiet = serde_json::json!({
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
        "privacy": { "usageStatisticsEnabled": false },
        "model": { "name": "gemini-2.5-flash" },
    });
    Setup::gemini()
        .file(".gemini/settings.json", &quiet.to_string())
        .env("GEMINI_CLI_TRUST_WORKSPACE", "")
        .env("GEMINI_CLI_NO_RELAUNCH", "")
}

async fn sign_in(session: &mut TestSession) {
    let prompt = session.wait_prompt_of("auth_method").await;
    assert_eq!(prompt.r#type, "setup");
    let by_key =
        prompt.options.iter().position(|label| label == "Use Gemini API Key").expect("there");
    session.choose(i32::try_from(by_key + 1).expect("small")).await.expect("chosen");
    let prompt = session.wait_prompt_of("api_key").await;
    let key = v1::RespondRequest {
        prompt_id: Some(prompt.id),
        text: Some("a-key-of-the-test".to_owned()),
        ..Default::default()
    };
    assert_eq!(session.respond(key).await.expect("given").outcome, "answered");
    session.wait_state("idle").await;
    session.assert_not_idle_before_last_prompt();
}

#[tokio::test]
async fn a_new_gemini_is_set_up_with_answers() {
    let Some(mut session) = unconfigured().coop(&["--groom", "manual"]).start().await else {
        return;
    };
    let trust = session.wait_prompt_of("trust").await;
    assert_eq!(trust.options.first().map(|label| label.starts_with("Trust folder")), Some(true));
    session.accept().await;
    sign_in(&mut session).await;
    session.round_trip("hello by answers").await;
    assert_eq!(session.api.user_messages(), ["hello by answers"]);
}

#[tokio::test]
async fn a_new_gemini_without_hooks_is_not_idle_before_its_setup() {
    let Some(mut session) = unconfigured().coop(&["--groom", "pristine"]).start().await else {
        return;
    };
    session.wait_prompt_of("trust").await;
    session.accept().await;
    sign_in(&mut session).await;
    session.round_trip("hello without hooks").await;
}

#[tokio::test]
async fn a_groomed_gemini_trusts_its_folder_and_asks_for_a_login() {
    let Some(mut session) = unconfigured().start().await else { return };
    sign_in(&mut session).await;
    session.round_trip("hello by myself").await;
}

#[tokio::test]
async fn hooks_work_after_the_restart() {
    let Some(mut session) = unconfigured().start().await else { return };
    sign_in(&mut session).await;
    session.round_trip("after the restart").await;
    let votes = session.explain().await.votes;
    assert!(
        votes.iter().any(|vote| vote.tier == "hooks" && vote.cause == "hook:AfterAgent"),
        "{votes:?}"
    );
}
