//! The first run of codex: the dialogs up to its composer, and which of them coop answers itself.

use coop_client::v1;

use crate::harness::Setup;

/// A provider, without a trusted folder.
const UNTRUSTED: &str = r#"
model = "mock-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{api}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
"#;

/// A provider that requires a login.
const SIGNED_OUT: &str = r#"
model = "mock-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{api}/v1"
requires_openai_auth = true
wire_api = "responses"
"#;

/// A hook of a repository.
const REPOSITORY_HOOK: &str = r#"
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "touch repository-hook-ran"
timeout = 2
"#;

/// A folder that codex does not trust yet.
fn untrusted(groom: &str) -> Setup {
    Setup::codex()
        .file(".codex/config.toml", UNTRUSTED)
        .file("../work/.codex/config.toml", "")
        .coop(&["--groom", groom])
}

/// Codex asks for a login and gets a key; whether it trusts the folder is answered by the client or
/// by grooming.
async fn is_set_up(groom: &str) {
    let setup = untrusted(groom).file(".codex/config.toml", SIGNED_OUT);
    let Some(mut session) = setup.start().await else { return };
    let login = session.wait_prompt_of("login_method").await;
    let at = login
        .options
        .iter()
        .position(|option| option == "Provide your own API key")
        .expect("there");
    session.choose(i32::try_from(at + 1).expect("small")).await.expect("chosen");
    let prompt = session.wait_prompt_of("api_key").await;
    let key = v1::RespondRequest {
        prompt_id: Some(prompt.id),
        text: Some("sk-a-key-of-the-test".to_owned()),
        ..Default::default()
    };
    assert_eq!(session.respond(key).await.expect("given").outcome, "answered");
    if groom == "manual" {
        session.wait_prompt_of("trust").await;
        session.accept().await;
    }
    session.wait_state("idle").await;
    session.round_trip("good morning").await;
    let kept = std::fs::read_to_string(session.home().join(".codex/auth.json"))
        .expect("codex keeps the key");
    assert!(kept.contains("sk-a-key-of-the-test"), "{kept}");
    session.assert_not_idle_before_last_prompt();
}

#[tokio::test]
async fn a_new_codex_is_set_up_with_answers() {
    is_set_up("manual").await;
}

#[tokio::test]
async fn a_groomed_codex_asks_for_a_login_and_trusts_its_folder() {
    is_set_up("auto").await;
}

#[tokio::test]
async fn a_login_is_never_groomed() {
    let Some(mut session) = Setup::codex().fresh().coop(&["--groom", "auto"]).start().await else {
        return;
    };
    let login = session.wait_prompt_of("login_method").await;
    assert_eq!(login.r#type, "setup");
    assert!(
        login.options.iter().any(|option| option == "Use an OpenAI API key"),
        "{:?}",
        login.options
    );
    let at = login.options.iter().position(|option| option == "Use an OpenAI API key").unwrap();
    session.choose(i32::try_from(at + 1).unwrap()).await.expect("chosen");
    session.wait_prompt_of("api_key").await;
    session.decline().await;
    session.wait_prompt_of("login_method").await;
    let states = session.states();
    assert!(!states.iter().any(|state| state == "idle"), "idle at the login: {states:?}");
}

#[tokio::test]
async fn trust_is_a_prompt_without_grooming() {
    let Some(mut session) = untrusted("manual").start().await else { return };
    let prompt = session.wait_prompt_of("trust").await;
    assert_eq!(prompt.r#type, "permission");
    assert_eq!(prompt.options, ["Trust and continue", "Quit"]);
    assert_eq!(session.accept().await.outcome, "answered");
    session.wait_state("idle").await;
    session.round_trip("good morning").await;
}

#[tokio::test]
async fn trust_is_given_by_grooming() {
    let Some(mut session) = untrusted("auto").start().await else { return };
    session.wait_state("idle").await;
    assert!(
        session.states().iter().any(|state| state == "prompt"),
        "it was asked for: {:?}",
        session.states()
    );
    session.round_trip("good morning").await;
}

#[tokio::test]
async fn coop_trusts_its_own_hooks_and_never_those_of_a_repository() {
    let setup = Setup::codex()
        .file("../work/.codex/config.toml", REPOSITORY_HOOK)
        .coop(&["--groom", "auto"]);
    let Some(mut session) = setup.start().await else { return };
    let review = session.wait_prompt_of("hooks_review").await;
    assert!(
        review.screen_lines.iter().any(|line| line.contains("1 hook")),
        "{:?}",
        review.screen_lines
    );
    assert_eq!(session.decline().await.outcome, "answered");
    session.wait_state("idle").await;
    session.round_trip("good morning").await;
    let explained = session.explain().await;
    assert!(explained.votes.iter().any(|vote| vote.tier == "hooks"), "{explained:?}");
    assert!(!session.workspace().join("repository-hook-ran").exists());
}

#[tokio::test]
async fn the_users_configuration_is_unchanged() {
    let Some(mut session) = Setup::codex().start().await else { return };
    let config = session.home().join(".codex/config.toml");
    let given = std::fs::read_to_string(&config).expect("the test's file");
    session.wait_state("idle").await;
    session.round_trip("good morning").await;
    let kept = std::fs::read_to_string(config).expect("still there");
    // Codex records which notices it has shown; coop adds nothing.
    let added = kept.strip_prefix(&given).expect("the given text is unchanged");
    assert!(!added.contains("hook") && !added.contains("coop"), "{added}");
}
