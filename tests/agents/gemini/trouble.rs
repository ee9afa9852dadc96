//! A model that fails: the error, its category, the dialogs that gemini opens for some, and the way out of it.

use crate::world::{Setup, World};

/// The turn has failed, with this category; the next one works.
async fn failed_and_recovers(world: &mut World, seq: u64, category: &str) {
    let state = world.wait_state_after(seq, "error").await;
    assert_eq!(state.error_category.as_deref(), Some(category), "{:?}", state.error_detail);
    assert!(state.error_detail.is_some_and(|detail| !detail.is_empty()));
    world.echoes(&format!("after {category}")).await;
}

#[tokio::test]
async fn errors_of_the_model_have_their_category_and_end_with_the_next_message() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let cases = [
        ("#status 401", "unauthorized"),
        ("#status 403", "unauthorized"),
        ("#refuse 400 API key not valid. Please pass a valid API key.", "unauthorized"),
        ("#refuse 400 something else is wrong", "other"),
    ];
    for (message, category) in cases {
        let nudged = world.nudge(message).await.expect("taken");
        failed_and_recovers(&mut world, nudged.seq, category).await;
    }
}

#[tokio::test]
async fn a_spent_quota_asks_what_to_do_and_stopping_is_an_error() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let spent = "#refuse 429 You exceeded your daily quota.";
    let nudged = world.nudge(&format!("{spent} {spent} {spent}")).await.expect("taken");
    let prompt = world.wait_prompt_of("quota").await;
    assert_eq!(prompt.r#type, "setup");
    assert!(prompt.options.iter().any(|label| label == "Stop"), "{:?}", prompt.options);
    assert_eq!(world.decline().await.outcome, "answered");
    failed_and_recovers(&mut world, nudged.seq, "rate_limited").await;
}

#[tokio::test]
async fn a_missing_model_asks_what_to_do() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let nudged = world.nudge("#status 404 #status 404").await.expect("taken");
    world.wait_prompt_of("model_not_found").await;
    world.choose(2).await.expect("stopped");
    failed_and_recovers(&mut world, nudged.seq, "other").await;
}

#[tokio::test]
async fn while_gemini_tries_again_by_itself_it_works() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    let nudged = world.nudge("#status 500 #say it works again").await.expect("taken");
    world.hear("it works again").await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert!(!world.states().iter().any(|state| state == "error"), "{:?}", world.states());
}
