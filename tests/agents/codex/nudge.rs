//! Messages to the real codex: each arrives once, complete, and as a message.

use crate::harness::Setup;
use crate::nudge;

/// Messages that codex could take for something else.
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
async fn fifty_messages_arrive_once_and_complete() {
    nudge::fifty_messages_arrive_once_and_complete(Setup::codex(), &TRICKY).await;
}

#[tokio::test]
async fn a_busy_agent_refuses_or_queues_messages() {
    nudge::a_busy_agent_refuses_or_queues_messages(Setup::codex()).await;
}

#[tokio::test]
async fn an_interrupting_message_replaces_the_turn() {
    nudge::an_interrupting_message_replaces_the_turn(Setup::codex()).await;
}

#[tokio::test]
async fn a_draft_is_never_sent_with_a_message() {
    let Some(mut session) = Setup::codex().idle().await else { return };
    session.press("half a thought").await;
    nudge::a_draft_blocks_messages(&mut session, "half a thought", "›").await;
}
