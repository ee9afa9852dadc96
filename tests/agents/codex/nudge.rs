//! Messages to the real codex: each arrives once, whole, and as a message.

use coop_client::v1;

use crate::world::{Setup, World, refusal};

async fn idle(setup: Setup) -> Option<World> {
    let mut world = setup.start().await?;
    world.wait_state("idle").await;
    Some(world)
}

/// What the model got, without what coop puts around a message so that it is one.
fn bare(text: &str) -> String {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{2060}').to_owned()
}

#[tokio::test]
async fn fifty_messages_arrive_once_each() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    let kinds = [
        "short",
        "is this a question?",
        "?",
        "! not a command",
        "!touch never",
        "/status",
        "/quit",
        "/ is a slash",
        "look at @src/main",
        "what is $this",
        "two\nlines",
        "a\n\nb\n\nc",
        "grüße, 世界, and a \"quote\"",
        "quit",
    ];
    let mut sent = Vec::new();
    for round in 0..50 {
        let text = match round {
            10 | 30 => format!("{round} {}", "five kilobytes ".repeat(340).trim_end()),
            20 => (0..60).map(|line| format!("{line}")).collect::<Vec<_>>().join("\n"),
            _ => {
                let kind = kinds[round % kinds.len()];
                if kind.contains('@') || kind.contains('$') {
                    format!("{round} {kind}")
                } else {
                    format!("{kind} {round}")
                }
            }
        };
        let nudged = world.nudge(&text).await.expect("taken");
        assert_eq!(nudged.outcome, "accepted", "{text}");
        world.wait_state_after(nudged.seq, "idle").await;
        sent.push(bare(&text));
    }
    let arrived: Vec<_> = world.api.user_messages().iter().map(|text| bare(text)).collect();
    assert_eq!(arrived, sent);
    assert!(!world.workspace().join("never").exists(), "no message is a command");
}

#[tokio::test]
async fn a_busy_codex_is_left_alone_and_a_queued_message_comes_after() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    world.nudge("#hold gate #say first").await.expect("taken");
    world.api.wait_held("gate").await;
    let refused = world.nudge("second").await.expect_err("it is busy");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    let queued = v1::NudgeRequest { message: "third".into(), mode: "queue".into(), ..Default::default() };
    assert_eq!(world.nudge_with(queued).await.expect("queued").outcome, "queued");
    world.api.release("gate");
    world.hear("echo: third").await;
    world.wait_state("idle").await;
    assert_eq!(world.api.user_messages(), ["#hold gate #say first", "third"]);
}

#[tokio::test]
async fn somebodys_draft_is_not_typed_over() {
    let Some(mut world) = idle(Setup::codex()).await else { return };
    world.press("my own words").await;
    world.see("my own words").await;
    let refused = world.nudge("a message").await.expect_err("there is a draft");
    let told: v1::NudgeResponse = coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!(told.reason.as_deref(), Some("draft_in_composer"));
    assert_eq!(world.api.user_messages().len(), 0);
}
