//! Claude on a machine where it has never run, and other dialogs of its start.

use coop_client::v1;

use crate::world::{Setup, World};

#[tokio::test]
async fn a_fresh_claude_is_led_to_its_prompt_by_keys() {
    let setup = Setup::claude().fresh().coop(&["--groom", "manual"]);
    let Some(mut world) = setup.start().await else { return };
    world.enter("Choose the text style").await;
    world.see("Do you want to use this API key?").await;
    world.pick("\x1b[A", "Yes").await;
    world.enter("Security notes:").await;
    world.pick("\x1b[B", "Yes, I trust this folder").await;
    world.see("manual mode on").await;
    world.paste("hello from the first run").await;
    world.hear("echo: hello from the first run").await;
    assert_eq!(world.api.user_messages(), ["hello from the first run"]);
    let called = world.api.requests();
    assert!(called.iter().any(|request| request.line.contains("/api/hello")), "{called:?}");
}

/// Waits for a set-up prompt, and says yes to it.
async fn agree(world: &mut World, subtype: &str) {
    let prompt = world.wait_prompt_of(subtype).await;
    let yes = v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() };
    let answered = world.respond(yes).await.expect("answered");
    assert_eq!(answered.outcome, "answered", "{subtype}");
}

#[tokio::test]
async fn a_fresh_claude_is_led_to_its_prompt_by_answers() {
    let setup = Setup::claude().fresh().coop(&["--groom", "manual"]);
    let Some(mut world) = setup.start().await else { return };
    for subtype in ["theme_picker", "api_key", "security_notes", "trust"] {
        agree(&mut world, subtype).await;
    }
    world.wait_state("idle").await;
    world.nudge("hello by answers").await.expect("taken");
    world.hear("echo: hello by answers").await;
}

#[tokio::test]
async fn a_groomed_claude_gets_there_by_itself() {
    let Some(mut world) = Setup::claude().fresh().start().await else { return };
    world.wait_state("idle").await;
    world.nudge("hello by myself").await.expect("taken");
    world.hear("echo: hello by myself").await;
    assert_eq!(world.api.user_messages(), ["hello by myself"]);
}

/// It has run before, but never in this folder, nor with this key.
fn strange_folder() -> Setup {
    let config = serde_json::json!({ "hasCompletedOnboarding": true, "hasSeenAutoDefaultNotice": true });
    Setup::claude().file(".claude.json", &config.to_string())
}

#[tokio::test]
async fn a_strange_folder_and_key_are_asked_about() {
    let Some(mut world) = strange_folder().coop(&["--groom", "manual"]).start().await else { return };
    for subtype in ["trust", "api_key"] {
        agree(&mut world, subtype).await;
    }
    world.wait_state("idle").await;
    let Some(mut world) = strange_folder().start().await else { return };
    world.wait_state("idle").await;
}

#[tokio::test]
async fn bypassing_permissions_is_asked_about_and_groomed_only_if_the_command_wants_it() {
    let bypass = || Setup::claude().only_args(&["--dangerously-skip-permissions"]).env("IS_SANDBOX", "1");
    let Some(mut world) = bypass().coop(&["--groom", "manual"]).start().await else { return };
    agree(&mut world, "startup_bypass").await;
    world.wait_state("idle").await;
    let Some(mut world) = bypass().start().await else { return };
    world.wait_state("idle").await;
    world
        .nudge("#tool Bash {\"command\":\"touch made\",\"description\":\"d\"} #say no question")
        .await
        .expect("taken");
    world.hear("no question").await;
    world.wait_file("made").await;
}

#[tokio::test]
async fn wrong_settings_are_a_prompt() {
    let wrong = r#"{"hooks":{"NoSuchEvent":[]}}"#;
    let setup = Setup::claude().file(".claude/settings.json", wrong);
    let Some(mut world) = setup.coop(&["--groom", "manual"]).start().await else { return };
    agree(&mut world, "settings_warning").await;
    world.wait_state("idle").await;
}
