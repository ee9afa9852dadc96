//! What the real codex makes of a model that fails, and what coop says of it.

use crate::world::Setup;

/// Nobody listens on this port.
const NOBODY: &str = r#"
model = "mock-model"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:9/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[projects."{workspace}"]
trust_level = "trusted"
"#;

#[tokio::test]
async fn an_error_is_an_error_with_its_category_until_the_next_turn() {
    let Some(mut world) = Setup::codex().idle().await else { return };
    let cases = [
        ("#status 400", "other"),
        ("#status 401 #status 401 #status 401 #status 401", "unauthorized"),
        ("#status 429 #status 429 #status 429 #status 429", "rate_limited"),
        ("#status 500 #status 500 #status 500 #status 500", "server_error"),
    ];
    for (script, category) in cases {
        let nudged = world.nudge(script).await.expect("taken");
        let failed = world.wait_state_after(nudged.seq, "error").await;
        let told = world
            .wait_for("what was wrong", |state| {
                (state.error_category.as_deref() == Some(category)).then(|| state.error_detail.clone())
            })
            .await;
        assert!(told.is_some_and(|detail| !detail.is_empty()), "{script}");
        let next = world.nudge("are you there").await.expect("an error takes messages");
        assert!(next.seq > failed.since_seq);
        world.wait_state_after(next.seq, "idle").await;
    }
    let states = world.states();
    let idle_first = states.windows(2).any(|pair| pair == ["idle", "error"]);
    assert!(!idle_first, "a failed turn is not idle before it is an error: {states:?}");
}

#[tokio::test]
async fn a_missing_network_is_waited_for() {
    let Some(mut world) = Setup::codex().file(".codex/config.toml", NOBODY).idle().await else { return };
    world.nudge("is anybody there").await.expect("taken");
    let category = world
        .wait_for("the reason", |state| {
            (state.state == "working" && state.detection_cause == "retrying")
                .then(|| state.error_category.clone())
        })
        .await;
    assert_eq!(category.as_deref(), Some("no_internet"));
    world.interrupt().await.expect("stopped");
    world.wait_state("idle").await;
}
