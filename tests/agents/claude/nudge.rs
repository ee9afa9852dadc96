//! Messages for the real claude: each arrives once, whole, and as a message.

use coop_client::v1;

use crate::nudge;
use crate::world::{Setup, refusal};

/// What it could take for something else than a message.
const TRICKY: [&str; 3] = ["/unknown command {n}", "# a heading {n}", "what? why! a/b @nobody {n}"];

#[tokio::test]
async fn fifty_messages_in_a_row_arrive_once_each_and_whole() {
    nudge::fifty_in_a_row_arrive_once_each_and_whole(Setup::claude(), &TRICKY).await;
}

#[tokio::test]
async fn a_busy_agent_refuses_or_queues_and_nothing_is_lost() {
    nudge::a_busy_agent_refuses_or_queues_and_nothing_is_lost(Setup::claude()).await;
}

#[tokio::test]
async fn an_interrupting_message_takes_the_place_of_the_turn() {
    nudge::an_interrupting_message_takes_the_place_of_the_turn(Setup::claude()).await;
}

#[tokio::test]
async fn a_draft_of_somebody_is_never_sent_along() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.press("half a thought").await;
    nudge::none_goes_over_a_draft(&mut world, "half a thought", "❯").await;
    world.press("\r").await;
    world.hear("echo: half a thought").await;
    world.wait_state("idle").await;
    world.nudge("now").await.expect("taken");
    world.api.wait_for_messages(&["half a thought", "now"]).await;
}

#[tokio::test]
async fn the_same_key_types_once() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    let request = v1::NudgeRequest {
        message: "only once".to_owned(),
        idempotency_key: Some("key".to_owned()),
        ..Default::default()
    };
    let first = world.nudge_with(request.clone()).await.expect("taken");
    let again = world.nudge_with(request).await.expect("known");
    assert_eq!(first, again);
    world.wait_state_after(first.seq, "idle").await;
    let other = v1::NudgeRequest {
        message: "another".to_owned(),
        idempotency_key: Some("key".to_owned()),
        ..Default::default()
    };
    assert_eq!(refusal(&world.nudge_with(other).await.expect_err("the key is taken")), "BAD_REQUEST");
    assert_eq!(world.api.user_messages(), ["only once"]);
}

#[tokio::test]
async fn keys_that_come_with_a_message_do_not_mix_with_it() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    for round in 0..5 {
        let (mut typing, mut asking) = (world.client(), world.client());
        let message = format!("whole message {round}");
        let nudge = asking.nudge(v1::NudgeRequest { message: message.clone(), ..Default::default() });
        let keys = typing.send_input_raw(v1::SendInputRawRequest { data: b"xyz"[..].into() });
        let (nudged, typed) = tokio::join!(nudge, keys);
        typed.expect("the keys are taken");
        match nudged {
            // The keys came first, and are somebody's draft.
            Err(refused) => assert_eq!(refusal(&refused), "AGENT_BUSY"),
            Ok(nudged) => assert_eq!(nudged.into_inner().outcome, "accepted"),
        }
        world.wait_state("idle").await;
        world.see_row("the keys in the composer", |row| row.starts_with('❯') && row.contains("xyz")).await;
        world.press("\x15").await;
        world.see_row("an empty composer", |row| row.trim_end() == "❯").await;
    }
    let arrived = world.api.user_messages();
    assert!(
        arrived.iter().all(|text| text.starts_with("whole message") && !text.contains("xyz")),
        "{arrived:?}"
    );
}
