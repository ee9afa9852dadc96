//! Gemini on a machine where it has never run: it asks whether to trust the folder, starts itself anew, asks how to sign
//! in, and for the key.

use coop_client::v1;

use crate::world::{Setup, World};

/// Nothing but what keeps it from calling home; it runs in two processes, as it usually does.
fn virgin() -> Setup {
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

async fn sign_in(world: &mut World) {
    let prompt = world.wait_prompt_of("auth_method").await;
    assert_eq!(prompt.r#type, "setup");
    let by_key = prompt.options.iter().position(|label| label == "Use Gemini API Key").expect("there");
    world.choose(i32::try_from(by_key + 1).expect("small")).await.expect("chosen");
    let prompt = world.wait_prompt_of("api_key").await;
    let key = v1::RespondRequest {
        prompt_id: Some(prompt.id),
        text: Some("a-key-of-the-test".to_owned()),
        ..Default::default()
    };
    assert_eq!(world.respond(key).await.expect("given").outcome, "answered");
    world.wait_state("idle").await;
    let states = world.states();
    let last = states.iter().rposition(|state| state == "prompt").expect("there were some");
    assert!(!states[..last].iter().any(|state| state == "idle"), "idle before it is set up: {states:?}");
}

#[tokio::test]
async fn a_fresh_gemini_is_led_to_its_prompt_by_answers() {
    let Some(mut world) = virgin().coop(&["--groom", "manual"]).start().await else { return };
    let trust = world.wait_prompt_of("trust").await;
    assert_eq!(trust.options.first().map(|label| label.starts_with("Trust folder")), Some(true));
    world.accept().await;
    sign_in(&mut world).await;
    world.echoes("hello by answers").await;
    assert_eq!(world.api.user_messages(), ["hello by answers"]);
}

#[tokio::test]
async fn a_fresh_gemini_without_hooks_is_not_taken_for_idle() {
    let Some(mut world) = virgin().coop(&["--groom", "pristine"]).start().await else { return };
    world.wait_prompt_of("trust").await;
    world.accept().await;
    sign_in(&mut world).await;
    world.echoes("hello without hooks").await;
}

#[tokio::test]
async fn a_groomed_gemini_trusts_its_folder_and_asks_how_to_sign_in() {
    let Some(mut world) = virgin().start().await else { return };
    sign_in(&mut world).await;
    world.echoes("hello by myself").await;
}

#[tokio::test]
async fn the_hooks_are_heard_after_the_restart() {
    let Some(mut world) = virgin().start().await else { return };
    sign_in(&mut world).await;
    world.echoes("heard").await;
    let votes = world.explain().await.votes;
    assert!(votes.iter().any(|vote| vote.tier == "hooks" && vote.cause == "hook:AfterAgent"), "{votes:?}");
}
