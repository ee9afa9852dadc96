//! Messages for the real gemini: each arrives once, whole, and is witnessed.

use coop_client::v1;

use super::idle;
use crate::world::{Setup, refusal};

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
        &|n| format!("/help is no command here {n}"),
        &|n| format!("!touch never-{n}"),
        &|n| format!("? {n} is it"),
        &|n| format!("🐔🥚 {n} 👩‍👩‍👧 done"),
        &|n| format!("what? why! a/b {n} @nobo"),
        // The same word again and again would be echoed, and taken for a model that is stuck.
        &|n| {
            format!(
                "more than five hundred characters {n}{}",
                (0..120).map(|at| format!(" word{at}")).collect::<String>()
            )
        },
        &|n| format!("ends with a backslash {n} \\"),
    ];
    (0..50).map(|n| kinds[n % kinds.len()](n)).collect()
}

/// The words, without what coop puts in front so that a slash begins no command.
fn words(text: &str) -> Vec<&str> {
    text.trim_start_matches('\u{2060}').split_whitespace().collect()
}

#[tokio::test]
async fn fifty_messages_in_a_row_arrive_once_each_and_whole() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    let sent = messages();
    for message in &sent {
        let nudged = world.nudge(message).await.expect("an idle gemini takes a message");
        assert_eq!((nudged.outcome.as_str(), nudged.delivered), ("accepted", true), "{message:?}");
        assert_eq!(nudged.state_before, "idle");
        world.wait_state_after(nudged.seq, "idle").await;
    }
    let arrived = world.api.user_messages();
    assert_eq!(arrived.len(), sent.len(), "{arrived:?}");
    for (arrived, sent) in arrived.iter().zip(&sent) {
        assert_eq!(words(arrived), words(sent));
        assert_eq!(arrived.trim().lines().count(), sent.trim().lines().count(), "{sent:?}");
    }
    let made = std::fs::read_dir(world.workspace()).expect("a workspace").count();
    assert_eq!(made, 0, "no message was run as a command");
}

#[tokio::test]
async fn a_busy_gemini_refuses_or_queues_and_nothing_is_lost() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.nudge("#hold gate #say started").await.expect("taken");
    world.api.wait_held("gate").await;
    world.wait_state("working").await;
    let refused = world.nudge("not now").await.expect_err("gemini is busy");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    for text in ["first in line", "second in line"] {
        let request =
            v1::NudgeRequest { message: text.to_owned(), mode: "queue".to_owned(), ..Default::default() };
        let queued = world.nudge_with(request).await.expect("queued");
        assert_eq!((queued.outcome.as_str(), queued.delivered), ("queued", false));
    }
    world.api.release("gate");
    world.api.wait_for_messages(&["#hold gate #say started", "first in line", "second in line"]).await;
}

#[tokio::test]
async fn an_interrupting_message_takes_the_place_of_the_turn() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    for (round, busy) in ["#hold before #say never", "#stream 3x0 #hold middle #say never"].iter().enumerate()
    {
        world.nudge(busy).await.expect("taken");
        world.api.wait_held(if round == 0 { "before" } else { "middle" }).await;
        world.wait_state("working").await;
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
async fn a_draft_of_somebody_is_never_sent_along() {
    let Some(mut world) = idle(Setup::gemini()).await else { return };
    world.press("\x1b[200~half a thought\x1b[201~").await;
    world.see_row("a draft", |row| row.starts_with(" > half a thought")).await;
    let refused = world.nudge("not over this").await.expect_err("there is a draft");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    assert_eq!(world.api.user_messages().len(), 0);
}
