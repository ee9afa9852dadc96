//! Messages for the real codex: each arrives once, whole, and as a message.

use crate::nudge;
use crate::world::Setup;

/// What it could take for something else than a message.
const TRICKY: [&str; 11] = [
    "is this a question? {n}",
    "? {n}",
    "! not a command {n}",
    "/status {n}",
    "/quit {n}",
    "/ is a slash {n}",
    "{n} look at @src/main",
    "{n} what is $this",
    "a\n\nb\n\nc {n}",
    "grüße, 世界, and a \"quote\" {n}",
    "quit {n}",
];

#[tokio::test]
async fn fifty_messages_in_a_row_arrive_once_each_and_whole() {
    nudge::fifty_in_a_row_arrive_once_each_and_whole(Setup::codex(), &TRICKY).await;
}

#[tokio::test]
async fn a_busy_agent_refuses_or_queues_and_nothing_is_lost() {
    nudge::a_busy_agent_refuses_or_queues_and_nothing_is_lost(Setup::codex()).await;
}

#[tokio::test]
async fn an_interrupting_message_takes_the_place_of_the_turn() {
    nudge::an_interrupting_message_takes_the_place_of_the_turn(Setup::codex()).await;
}

#[tokio::test]
async fn a_draft_of_somebody_is_never_sent_along() {
    let Some(mut world) = Setup::codex().idle().await else { return };
    world.press("half a thought").await;
    nudge::none_goes_over_a_draft(&mut world, "half a thought", "›").await;
}
