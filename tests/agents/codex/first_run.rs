//! The way of a codex that has never run before to its prompt, and what coop does about it by itself.

use coop_client::v1;

use crate::world::Setup;

/// A provider, and nothing about any folder.
const UNTRUSTED: &str = r#"
model = "mock-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{api}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
"#;

/// A provider that codex must sign in for.
const SIGNED_OUT: &str = r#"
model = "mock-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{api}/v1"
requires_openai_auth = true
wire_api = "responses"
"#;

/// A repository's own hook.
const FOREIGN: &str = r#"
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "touch foreign-hook-ran"
timeout = 2
"#;

/// A folder that codex asks about.
fn untrusted(groom: &str) -> Setup {
    Setup::codex()
        .file(".codex/config.toml", UNTRUSTED)
        .file("../work/.codex/config.toml", "")
        .coop(&["--groom", groom])
}

/// A codex that nobody has signed in to is given a key; whether it may trust the folder is somebody's to say, or coop's.
async fn led_to_its_prompt(groom: &str) {
    let setup = untrusted(groom).file(".codex/config.toml", SIGNED_OUT);
    let Some(mut world) = setup.start().await else { return };
    let login = world.wait_prompt_of("login_method").await;
    let at = login.options.iter().position(|option| option == "Provide your own API key").expect("there");
    world.choose(i32::try_from(at + 1).expect("small")).await.expect("chosen");
    let prompt = world.wait_prompt_of("api_key").await;
    let key = v1::RespondRequest {
        prompt_id: Some(prompt.id),
        text: Some("sk-a-key-of-the-test".to_owned()),
        ..Default::default()
    };
    assert_eq!(world.respond(key).await.expect("given").outcome, "answered");
    if groom == "manual" {
        world.wait_prompt_of("trust").await;
        world.accept().await;
    }
    world.wait_state("idle").await;
    world.echoes("good morning").await;
    let kept = std::fs::read_to_string(world.home().join(".codex/auth.json")).expect("codex keeps the key");
    assert!(kept.contains("sk-a-key-of-the-test"), "{kept}");
    let states = world.states();
    let last = states.iter().rposition(|state| state == "prompt").expect("there were some");
    assert!(!states[..last].iter().any(|state| state == "idle"), "idle before it is set up: {states:?}");
}

#[tokio::test]
async fn a_fresh_codex_is_led_to_its_prompt_by_answers() {
    led_to_its_prompt("manual").await;
}

#[tokio::test]
async fn a_groomed_codex_asks_how_to_sign_in_and_trusts_its_folder() {
    led_to_its_prompt("auto").await;
}

#[tokio::test]
async fn a_login_is_somebodys_own_business() {
    let Some(mut world) = Setup::codex().fresh().coop(&["--groom", "auto"]).start().await else { return };
    let login = world.wait_prompt_of("login_method").await;
    assert_eq!(login.r#type, "setup");
    assert!(login.options.iter().any(|option| option == "Use an OpenAI API key"), "{:?}", login.options);
    let at = login.options.iter().position(|option| option == "Use an OpenAI API key").unwrap();
    world.choose(i32::try_from(at + 1).unwrap()).await.expect("chosen");
    world.wait_prompt_of("api_key").await;
    world.decline().await;
    world.wait_prompt_of("login_method").await;
    let states = world.states();
    assert!(!states.iter().any(|state| state == "idle"), "a login is no composer: {states:?}");
}

#[tokio::test]
async fn trust_is_asked_for_and_given_by_hand() {
    let Some(mut world) = untrusted("manual").start().await else { return };
    let prompt = world.wait_prompt_of("trust").await;
    assert_eq!(prompt.r#type, "permission");
    assert_eq!(prompt.options, ["Trust and continue", "Quit"]);
    assert_eq!(world.accept().await.outcome, "answered");
    world.wait_state("idle").await;
    world.echoes("good morning").await;
}

#[tokio::test]
async fn trust_is_given_by_coop_if_it_may() {
    let Some(mut world) = untrusted("auto").start().await else { return };
    world.wait_state("idle").await;
    assert!(world.states().iter().any(|state| state == "prompt"), "it was asked for: {:?}", world.states());
    world.echoes("good morning").await;
}

#[tokio::test]
async fn hooks_of_a_repository_are_never_trusted_by_coop_and_its_own_need_no_question() {
    let setup = Setup::codex().file("../work/.codex/config.toml", FOREIGN).coop(&["--groom", "auto"]);
    let Some(mut world) = setup.start().await else { return };
    let review = world.wait_prompt_of("hooks_review").await;
    assert!(review.screen_lines.iter().any(|line| line.contains("1 hook")), "{:?}", review.screen_lines);
    assert_eq!(world.decline().await.outcome, "answered");
    world.wait_state("idle").await;
    world.echoes("good morning").await;
    let explained = world.explain().await;
    assert!(explained.votes.iter().any(|vote| vote.tier == "hooks"), "{explained:?}");
    assert!(!world.workspace().join("foreign-hook-ran").exists());
}

#[tokio::test]
async fn the_users_own_configuration_stays_as_it_is() {
    let Some(mut world) = Setup::codex().start().await else { return };
    let config = world.home().join(".codex/config.toml");
    let given = std::fs::read_to_string(&config).expect("the recipe's");
    world.wait_state("idle").await;
    world.echoes("good morning").await;
    let kept = std::fs::read_to_string(config).expect("still there");
    // Codex adds what it has shown already; none of it is coop's.
    let added = kept.strip_prefix(&given).expect("what was given stands as it was");
    assert!(!added.contains("hook") && !added.contains("coop"), "{added}");
}
