//! A model that fails: the error, its category, what is said while claude tries again, and the way out of it.

use coop_client::v1;

use crate::world::{Setup, World};

/// The message fails for good, with this category; the next one works.
async fn fails_and_recovers(world: &mut World, message: &str, category: &str, retries: bool) {
    let nudged = world.nudge(message).await.expect("taken");
    let state = world.wait_state_after(nudged.seq, "error").await;
    assert_eq!(state.error_category.as_deref(), Some(category), "{:?}", state.error_detail);
    assert!(state.error_detail.is_some_and(|detail| !detail.is_empty()));
    if retries {
        let retrying = world.events().into_iter().any(|event| match event.payload {
            Some(v1::event::Payload::State(state)) => {
                state.next == "working"
                    && state.detection_cause == "retrying"
                    && state.error_category.as_deref() == Some(category)
            }
            _ => false,
        });
        assert!(retrying, "it was seen to try again: {:?}", world.states());
    }
    world.echoes(&format!("after {category}")).await;
}

#[tokio::test]
async fn errors_of_the_model_have_their_category_and_end_with_the_next_message() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    for (status, category) in
        [(401, "unauthorized"), (429, "rate_limited"), (500, "server_error"), (529, "server_error")]
    {
        let message = format!("#status {status} #status {status} #status {status}");
        fails_and_recovers(&mut world, &message, category, true).await;
    }
}

#[tokio::test]
async fn an_exhausted_account_is_out_of_credits() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    fails_and_recovers(&mut world, "#refuse 400 Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.", "out_of_credits", false).await;
}

#[tokio::test]
async fn nobody_at_the_other_end_is_no_internet() {
    let setup = Setup::claude().env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let Some(mut world) = setup.idle().await else { return };
    let nudged = world.nudge("is anybody there").await.expect("taken");
    let state = world.wait_state_after(nudged.seq, "error").await;
    assert_eq!(state.error_category.as_deref(), Some("no_internet"), "{:?}", state.error_detail);
    assert!(world.nudge("and now").await.is_ok(), "an error takes a message");
}

#[tokio::test]
async fn a_limit_that_only_time_lifts_parks_claude_and_a_message_still_goes_in() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    let limit = "#refuse 429 Claude AI usage limit reached|1794900000";
    let nudged = world.nudge(&format!("{limit} {limit} {limit}")).await.expect("taken");
    let state = world.wait_state_after(nudged.seq, "parked").await;
    assert_eq!(state.error_category.as_deref(), Some("rate_limited"));
    assert_eq!(state.resume_at_epoch_ms, Some(1_794_900_000_000));
    world.echoes("is it over").await;
}
