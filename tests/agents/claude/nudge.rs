//! Messages for the real claude: each arrives once, whole, and is witnessed.

use coop_client::v1;

use crate::world::{Setup, World, refusal};

async fn idle() -> Option<World> {
    let mut world = Setup::claude().start().await?;
    world.wait_state("idle").await;
    Some(world)
}

/// Everything that a message can look like, again and again.
fn messages() -> Vec<String> {
    let long = |seed: usize| -> String {
        (0..64)
            .map(|line| format!("{seed}: line {line} with some words in it, grüße 世界 🐔 \"quoted\"\n"))
            .collect()
    };
    let kinds: [&dyn Fn(usize) -> String; 10] = [
        &|n| format!("short {n}"),
        &|n| format!("first of {n}\nsecond\n\nfourth"),
        &|n| long(n).trim_end().to_owned(),
        &|n| format!("/unknown command {n}"),
        &|n| format!("!touch never-{n}"),
        &|n| format!("# a heading {n}"),
        &|n| format!("🐔🥚 {n} 👩‍👩‍👧 done"),
        &|n| format!("what? why! a/b @nobody {n}"),
        &|n| format!("a line of more than the terminal is wide {n} {}", "word ".repeat(60).trim_end()),
        &|n| format!("ends with a backslash {n} \\"),
    ];
    (0..50).map(|n| kinds[n % kinds.len()](n)).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[tokio::test]
async fn fifty_messages_in_a_row_arrive_once_each_and_whole() {
    let Some(mut world) = idle().await else { return };
    let sent = messages();
    for message in &sent {
        let nudged = world.nudge(message).await.expect("an idle claude takes a message");
        assert_eq!((nudged.outcome.as_str(), nudged.delivered), ("accepted", true), "{message:?}");
        assert_eq!(nudged.state_before, "idle");
        world.wait_state_after(nudged.seq, "idle").await;
    }
    let arrived = world.api.user_messages();
    assert_eq!(arrived.len(), sent.len());
    for (arrived, sent) in arrived.iter().zip(&sent) {
        assert_eq!(words(arrived), words(sent));
        assert_eq!(arrived.trim().lines().count(), sent.trim().lines().count(), "{sent:?}");
    }
    let made = std::fs::read_dir(world.workspace()).expect("a workspace").count();
    assert_eq!(made, 0, "no message was run as a command");
}

#[tokio::test]
async fn a_busy_claude_refuses_or_queues_and_nothing_is_lost() {
    let Some(mut world) = idle().await else { return };
    world.nudge("#hold gate #say started").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    let refused = world.nudge("not now").await.expect_err("claude is busy");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    let queue = |text: &str| v1::NudgeRequest {
        message: text.to_owned(),
        mode: "queue".to_owned(),
        ..Default::default()
    };
    for text in ["first in line", "second in line"] {
        let queued = world.nudge_with(queue(text)).await.expect("queued");
        assert_eq!((queued.outcome.as_str(), queued.delivered), ("queued", false));
    }
    world.api.release("gate");
    world.api.wait_for_messages(&["#hold gate #say started", "first in line", "second in line"]).await;
}

#[tokio::test]
async fn an_interrupting_message_takes_the_place_of_the_turn() {
    let Some(mut world) = idle().await else { return };
    for (round, busy) in ["#hold before #say never", "#stream 3x0 #hold middle #say never"].iter().enumerate()
    {
        world.nudge(busy).await.expect("taken");
        world.api.wait_held(if round == 0 { "before" } else { "middle" }).await;
        let request = v1::NudgeRequest {
            message: format!("do this instead {round}"),
            mode: "interrupt".to_owned(),
            ..Default::default()
        };
        let nudged = world.nudge_with(request).await.expect("taken");
        assert_eq!(nudged.outcome, "accepted");
        world.hear(&format!("echo: do this instead {round}")).await;
        world.wait_state_after(nudged.seq, "idle").await;
    }
    let arrived = world.api.user_messages();
    let instead: Vec<_> = arrived.iter().filter(|text| text.contains("instead")).collect();
    assert_eq!(instead, ["do this instead 0", "do this instead 1"]);
}

#[tokio::test]
async fn the_same_key_types_once() {
    let Some(mut world) = idle().await else { return };
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
async fn a_draft_of_somebody_is_never_sent_along() {
    let Some(mut world) = idle().await else { return };
    world.press("half a thought").await;
    world.see_row("a draft", |row| row.starts_with('❯') && row.contains("half a thought")).await;
    let refused = world.nudge("not over this").await.expect_err("there is a draft");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    world.press("\r").await;
    world.hear("echo: half a thought").await;
    world.wait_state("idle").await;
    world.nudge("now").await.expect("taken");
    world.api.wait_for_messages(&["half a thought", "now"]).await;
}

#[tokio::test]
async fn keys_that_come_with_a_message_do_not_mix_with_it() {
    let Some(mut world) = idle().await else { return };
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
