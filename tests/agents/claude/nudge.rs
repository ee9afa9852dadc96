//! Messages to the real claude: each arrives once, complete, and as a message.

use coop_client::v1;

use crate::harness::{Setup, error_code};
use crate::nudge;

/// Messages that claude could take for something else.
const TRICKY: [&str; 3] = ["/unknown command {n}", "# a heading {n}", "what? why! a/b @nobody {n}"];

#[tokio::test]
async fn fifty_messages_arrive_once_and_complete() {
    nudge::fifty_messages_arrive_once_and_complete(Setup::claude(), &TRICKY).await;
}

#[tokio::test]
async fn a_busy_agent_refuses_or_queues_messages() {
    nudge::a_busy_agent_refuses_or_queues_messages(Setup::claude()).await;
}

#[tokio::test]
async fn an_interrupting_message_replaces_the_turn() {
    nudge::an_interrupting_message_replaces_the_turn(Setup::claude()).await;
}

#[tokio::test]
async fn a_draft_is_never_sent_with_a_message() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    session.press("half a thought").await;
    nudge::a_draft_blocks_messages(&mut session, "half a thought", "❯").await;
    session.press("\r").await;
    session.wait_reply("echo: half a thought").await;
    session.wait_state("idle").await;
    session.nudge("now").await.expect("taken");
    session.api.wait_for_messages(&["half a thought", "now"]).await;
}

#[tokio::test]
async fn a_repeated_idempotency_key_types_once() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    let request = v1::NudgeRequest {
        message: "only once".to_owned(),
        idempotency_key: Some("key".to_owned()),
        ..Default::default()
    };
    let first = session.nudge_with(request.clone()).await.expect("taken");
    let again = session.nudge_with(request).await.expect("known");
    assert_eq!(first, again);
    session.wait_state_after(first.seq, "idle").await;
    let other = v1::NudgeRequest {
        message: "another".to_owned(),
        idempotency_key: Some("key".to_owned()),
        ..Default::default()
    };
    assert_eq!(
        error_code(&session.nudge_with(other).await.expect_err("the key is taken")),
        "BAD_REQUEST"
    );
    assert_eq!(session.api.user_messages(), ["only once"]);
}

#[tokio::test]
async fn concurrent_keys_do_not_mix_with_a_message() {
    let Some(mut session) = Setup::claude().idle().await else { return };
    for round in 0..5 {
        let (mut typing, mut asking) = (session.client(), session.client());
        let message = format!("whole message {round}");
        let nudge =
            asking.nudge(v1::NudgeRequest { message: message.clone(), ..Default::default() });
        let keys = typing.send_input_raw(v1::SendInputRawRequest { data: b"xyz"[..].into() });
        let (nudged, typed) = tokio::join!(nudge, keys);
        typed.expect("the keys are taken");
        match nudged {
            // The keys came first and became a draft.
            Err(refused) => assert_eq!(error_code(&refused), "AGENT_BUSY"),
            Ok(nudged) => assert_eq!(nudged.into_inner().outcome, "accepted"),
        }
        session.wait_state("idle").await;
        session
            .wait_row("the keys in the composer", |row| row.starts_with('❯') && row.contains("xyz"))
            .await;
        session.press("\x15").await;
        session.wait_row("an empty composer", |row| row.trim_end() == "❯").await;
    }
    let arrived = session.api.user_messages();
    assert!(
        arrived.iter().all(|text| text.starts_with("whole message") && !text.contains("xyz")),
        "{arrived:?}"
    );
}
