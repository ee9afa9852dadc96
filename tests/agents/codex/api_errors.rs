//! Errors of the model API: the error, its category, codex's retries, and the recovery.

use crate::harness::Setup;

/// A provider on a port without a listener.
const NO_LISTENER: &str = r#"
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
async fn an_api_error_has_a_category_until_the_next_turn() {
    let Some(mut session) = Setup::codex().idle().await else { return };
    let cases = [
        ("#status 400", "other"),
        ("#status 401 #status 401 #status 401 #status 401", "unauthorized"),
        ("#status 429 #status 429 #status 429 #status 429", "rate_limited"),
        ("#status 500 #status 500 #status 500 #status 500", "server_error"),
    ];
    for (script, category) in cases {
        let nudged = session.nudge(script).await.expect("taken");
        let failed = session.wait_state_after(nudged.seq, "error").await;
        let detail = session
            .wait_for("what was wrong", |state| {
                (state.error_category.as_deref() == Some(category))
                    .then(|| state.error_detail.clone())
            })
            .await;
        assert!(detail.is_some_and(|detail| !detail.is_empty()), "{script}");
        let next = session.nudge("are you there").await.expect("an agent in error takes messages");
        assert!(next.seq > failed.since_seq);
        session.wait_state_after(next.seq, "idle").await;
    }
    let states = session.states();
    let idle_first = states.windows(2).any(|pair| pair == ["idle", "error"]);
    assert!(!idle_first, "a failed turn is not idle before it is an error: {states:?}");
}

#[tokio::test]
async fn codex_retries_without_a_network() {
    let Some(mut session) = Setup::codex().file(".codex/config.toml", NO_LISTENER).idle().await
    else {
        return;
    };
    session.nudge("are you there").await.expect("taken");
    let category = session
        .wait_for("the reason", |state| {
            (state.state == "working" && state.detection_cause == "retrying")
                .then(|| state.error_category.clone())
        })
        .await;
    assert_eq!(category.as_deref(), Some("no_internet"));
    session.interrupt().await.expect("stopped");
    session.wait_state("idle").await;
}
