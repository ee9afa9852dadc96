//! Messages for the real gemini: each arrives once, whole, and as a message.

use crate::nudge;
use crate::world::Setup;

/// What it could take for something else than a message.
const TRICKY: [&str; 3] = ["/help is no command here {n}", "? {n} is it", "what? why! a/b {n} @nobo"];

#[tokio::test]
async fn fifty_messages_in_a_row_arrive_once_each_and_whole() {
    nudge::fifty_in_a_row_arrive_once_each_and_whole(Setup::gemini(), &TRICKY).await;
}

#[tokio::test]
async fn a_busy_agent_refuses_or_queues_and_nothing_is_lost() {
    nudge::a_busy_agent_refuses_or_queues_and_nothing_is_lost(Setup::gemini()).await;
}

#[tokio::test]
async fn an_interrupting_message_takes_the_place_of_the_turn() {
    nudge::an_interrupting_message_takes_the_place_of_the_turn(Setup::gemini()).await;
}

#[tokio::test]
async fn a_draft_of_somebody_is_never_sent_along() {
    let Some(mut world) = Setup::gemini().idle().await else { return };
    world.press("\x1b[200~half a thought\x1b[201~").await;
    nudge::none_goes_over_a_draft(&mut world, "half a thought", " > ").await;
}
