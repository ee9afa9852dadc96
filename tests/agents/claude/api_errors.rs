//! Errors of the model API: the error, its category, claude's retries, and the recovery.

use coop_client::v1;

use crate::harness::{Setup, TestSession};

/// The message fails with this category; the next one works.
async fn fails_and_recovers(
    session: &mut TestSession,
    message: &str,
    category: &str,
    retries: bool,
) {
    let nudged = session.nudge(message).await.expect("taken");
    let state = session.wait_state_after(nudged.seq, "error").await;
    assert_eq!(state.error_category.as_deref(), Some(category), "{:?}", state.error_detail);
    assert!(state.error_detail.is_some_and(|detail| !detail.is_empty()));
    if retries {
        let retrying = session.events().into_iter().any(|event| match event.payload {
            Some(v1::event::Payload::State(state)) => {
                state.next == "working"
                    && state.detection_cause == "retrying"
                    && state.error_category.as_deref() == Some(category)
            }
            _ => false,
        });
        assert!(retrying, "no retry was reported: {:?}", session.states());
    }
    session.round_trip(&format!("after {category}")).await;
}

#[tokio::test]
async fn api_errors_have_a_category_and_end_with_the_next_message() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    for (status, category) in
        [(401, "unauthorized"), (429, "rate_limited"), (500, "server_error"), (529, "server_error")]
    {
        let message = format!("#status {status} #status {status} #status {status}");
        fails_and_recovers(&mut session, &message, category, true).await;
    }
}

#[tokio::test]
async fn an_exhausted_account_is_out_of_credits() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    let refusal = "#refuse 400 Your credit balance is too low to access the Anthropic API. \
                   Please go to Plans & Billing to upgrade or purchase credits.";
    fails_and_recovers(&mut session, refusal, "out_of_credits", false).await;
}

#[tokio::test]
async fn a_refused_connection_is_no_internet() {
    let setup = Setup::claude().env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let Some(mut session) = setup.idle().await else { return };
    let nudged = session.nudge("are you there").await.expect("taken");
    let state = session.wait_state_after(nudged.seq, "error").await;
    assert_eq!(state.error_category.as_deref(), Some("no_internet"), "{:?}", state.error_detail);
    assert!(session.nudge("and now").await.is_ok(), "an agent in error takes messages");
}

#[tokio::test]
async fn a_usage_limit_parks_claude_and_messages_are_still_taken() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    let limit = "#refuse 429 Claude AI usage limit reached|1794900000";
    let nudged = session.nudge(&format!("{limit} {limit} {limit}")).await.expect("taken");
    let state = session.wait_state_after(nudged.seq, "parked").await;
    assert_eq!(state.error_category.as_deref(), Some("rate_limited"));
    assert_eq!(state.resume_at_epoch_ms, Some(1_794_900_000_000));
    session.round_trip("is it over").await;
}
