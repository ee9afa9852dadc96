//! The way of a codex that has never run before to its prompt, and what coop does about it by itself.

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
    world.wait_state("idle").await;
    world.echoes("good morning").await;
    let text = std::fs::read_to_string(config).unwrap();
    assert!(!text.contains("hooks"), "{text}");
}
