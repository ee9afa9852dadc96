//! Errors of the model API: the error, its category, the dialogs that gemini opens for some, and
//! the recovery.

use crate::harness::{Setup, TestSession};

/// The turn fails with this category; the next one works.
async fn failed_and_recovers(session: &mut TestSession, seq: u64, category: &str) {
    let state = session.wait_state_after(seq, "error").await;
    assert_eq!(state.error_category.as_deref(), Some(category), "{:?}", state.error_detail);
    assert!(state.error_detail.is_some_and(|detail| !detail.is_empty()));
    session.round_trip(&format!("after {category}")).await;
}

#[tokio::test]
async fn api_errors_have_a_category_and_end_with_the_next_message() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let cases = [
        ("#status 401", "unauthorized"),
        ("#status 403", "unauthorized"),
        ("#refuse 400 API key not valid. Please pass a valid API key.", "unauthorized"),
        ("#refuse 400 something else is wrong", "other"),
    ];
    for (message, category) in cases {
        let nudged = session.nudge(message).await.expect("taken");
        failed_and_recovers(&mut session, nudged.seq, category).await;
    }
}

#[tokio::test]
async fn an_exhausted_quota_is_a_prompt_and_stopping_is_an_error() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let spent = "#refuse 429 You exceeded your daily quota.";
    let nudged = session.nudge(&format!("{spent} {spent} {spent}")).await.expect("taken");
    let prompt = session.wait_prompt_of("quota").await;
    assert_eq!(prompt.r#type, "setup");
    assert!(prompt.options.iter().any(|label| label == "Stop"), "{:?}", prompt.options);
    assert_eq!(session.decline().await.outcome, "answered");
    failed_and_recovers(&mut session, nudged.seq, "rate_limited").await;
}

#[tokio::test]
async fn a_missing_model_is_a_prompt() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let nudged = session.nudge("#status 404 #status 404").await.expect("taken");
    session.wait_prompt_of("model_not_found").await;
    session.choose(2).await.expect("stopped");
    failed_and_recovers(&mut session, nudged.seq, "other").await;
}

#[tokio::test]
async fn a_retry_of_gemini_is_working() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let nudged = session.nudge("#status 500 #say it works again").await.expect("taken");
    session.wait_reply("it works again").await;
    session.wait_state_after(nudged.seq, "idle").await;
    assert!(!session.states().iter().any(|state| state == "error"), "{:?}", session.states());
}
