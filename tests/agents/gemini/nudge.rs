//! Messages to the real gemini: each arrives once, complete, and as a message.

use std::time::Duration;

use coop_client::v1;

use crate::harness::Setup;
use crate::nudge;

/// Messages that gemini could take for something else.
const TRICKY: [&str; 3] =
    ["/help is no command here {n}", "? {n} is it", "what? why! a/b {n} @nobo"];

#[tokio::test]
async fn fifty_messages_arrive_once_and_complete() {
    nudge::fifty_messages_arrive_once_and_complete(Setup::gemini(), &TRICKY).await;
}

/// A starved Gemini takes the Enter after a paste for a line break, or loses it if it reads the
/// Enter before the paste. The first needs another Enter at once, the second the retry after 4 s.
#[tokio::test]
async fn a_message_reaches_an_agent_that_is_starved_of_the_processor() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let mut client = session.client();
    let starve = tokio::spawn(async move {
        for (signal, ms) in [("SIGSTOP", 300), ("SIGCONT", 100)].iter().cycle() {
            let request = v1::SendSignalRequest { signal: (*signal).to_owned() };
            client.send_signal(request).await.expect("sent");
            tokio::time::sleep(Duration::from_millis(*ms)).await;
        }
    });
    let sent: Vec<String> = (0..8).map(|number| format!("message {number} for you")).collect();
    for message in &sent {
        let request = v1::NudgeRequest {
            message: message.clone(),
            confirm_timeout_ms: Some(9000),
            ..Default::default()
        };
        let nudged = session.nudge_with(request).await.expect("an idle agent takes a message");
        assert_eq!(nudged.outcome, "accepted");
        session.wait_state_after(nudged.seq, "idle").await;
    }
    starve.abort();
    session.signal("SIGCONT").await;
    assert_eq!(session.api.user_messages(), sent);
}

#[tokio::test]
async fn a_busy_agent_refuses_or_queues_messages() {
    nudge::a_busy_agent_refuses_or_queues_messages(Setup::gemini()).await;
}

#[tokio::test]
async fn an_interrupting_message_replaces_the_turn() {
    nudge::an_interrupting_message_replaces_the_turn(Setup::gemini()).await;
}

#[tokio::test]
async fn a_draft_is_never_sent_with_a_message() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    session.press("\x1b[200~half a thought\x1b[201~").await;
    nudge::a_draft_blocks_messages(&mut session, "half a thought", " > ").await;
}
