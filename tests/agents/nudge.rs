//! Messages to an agent, for every agent: each arrives once, complete, and as a message.

use coop_client::v1;

use crate::harness::{Setup, TestSession, error_code};

/// Kinds of messages; `{n}` is replaced by a number.
const KINDS: [&str; 5] = [
    "short {n}",
    "first of {n}\nsecond\n\nfourth",
    "!touch never-{n}",
    "🐔🥚 {n} 👩‍👩‍👧 done",
    "ends with a backslash {n} \\",
];

/// Fifty messages: of every kind, large ones, and those that this agent could take for something
/// else.
fn messages(tricky: &[&str]) -> Vec<String> {
    let lines = (0..64).map(|line| {
        format!("{{n}}: line {line} with some words in it, grüße 世界 🐔 \"quoted\"\n")
    });
    let lines = lines.collect::<String>().trim_end().to_owned();
    // The same word again and again would be echoed, and look to some agents like a stuck model.
    let wide = |words: u32| (0..words).map(|word| format!(" word{word}")).collect::<String>();
    let large = [
        lines,
        format!("wider than the terminal {{n}}{}", wide(120)),
        format!("five kilobytes {{n}}{}", wide(700)),
    ];
    // A large message follows each of the others in turn.
    let others: Vec<&str> = KINDS.iter().chain(tricky).copied().collect();
    let kinds: Vec<&str> = (0..3 * others.len())
        .flat_map(|at| [others[at % others.len()], &large[at % large.len()]])
        .collect();
    (0..50).map(|number| kinds[number % kinds.len()].replace("{n}", &number.to_string())).collect()
}

/// A message without the characters that coop adds around it.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{2060}')
}

pub async fn fifty_messages_arrive_once_and_complete(setup: Setup, tricky: &[&str]) {
    let Some(mut session) = setup.idle().await else { return };
    let sent = messages(tricky);
    for message in &sent {
        let nudged = session.nudge(message).await.expect("an idle agent takes a message");
        assert_eq!((nudged.outcome.as_str(), nudged.delivered), ("accepted", true), "{message:?}");
        assert_eq!(nudged.state_before, "idle");
        session.wait_state_after(nudged.seq, "idle").await;
    }
    let arrived = session.api.user_messages();
    let [arrived, sent] =
        [&arrived, &sent].map(|texts| texts.iter().map(|text| trimmed(text)).collect::<Vec<_>>());
    assert_eq!(arrived, sent);
    let made = std::fs::read_dir(session.workspace()).expect("a workspace").count();
    assert_eq!(made, 0, "no message was run as a command");
}

pub async fn a_busy_agent_refuses_or_queues_messages(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    session.nudge_until_hold("gate", "#hold gate #say started").await;
    let refused = session.nudge("not now").await.expect_err("it is busy");
    assert_eq!(error_code(&refused), "AGENT_BUSY");
    for text in ["first in line", "second in line"] {
        let queue =
            v1::NudgeRequest { message: text.into(), mode: "queue".into(), ..Default::default() };
        let queued = session.nudge_with(queue).await.expect("queued");
        assert_eq!((queued.outcome.as_str(), queued.delivered), ("queued", false));
    }
    session.api.release("gate");
    session.wait_reply("echo: second in line").await;
    session.wait_state("idle").await;
    assert_eq!(
        session.api.user_messages(),
        ["#hold gate #say started", "first in line", "second in line"]
    );
}

pub async fn an_interrupting_message_replaces_the_turn(setup: Setup) {
    let Some(mut session) = setup.idle().await else { return };
    for (gate, busy) in
        [("before", "#hold before #say never"), ("middle", "#stream 3x0 #hold middle #say never")]
    {
        session.nudge_until_hold(gate, busy).await;
        let message = format!("do this instead of {gate}");
        let interrupt =
            v1::NudgeRequest { message, mode: "interrupt".into(), ..Default::default() };
        let nudged = session.nudge_with(interrupt).await.expect("taken");
        assert_eq!(nudged.outcome, "accepted");
        session.wait_reply(&format!("echo: do this instead of {gate}")).await;
        session.wait_state_after(nudged.seq, "idle").await;
    }
    let arrived = session.api.user_messages();
    let instead: Vec<_> = arrived.iter().filter(|text| text.contains("instead")).collect();
    assert_eq!(instead, ["do this instead of before", "do this instead of middle"]);
}

/// A draft in the composer, after this mark: coop refuses messages and the draft is unchanged.
pub async fn a_draft_blocks_messages(session: &mut TestSession, draft: &str, mark: &str) {
    session.wait_row("a draft", |row| row.starts_with(mark) && row.contains(draft)).await;
    let refused = session.nudge("not over this").await.expect_err("there is a draft");
    assert_eq!(error_code(&refused), "AGENT_BUSY");
    let response: v1::NudgeResponse =
        coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!(
        (response.delivered, response.reason.as_deref()),
        (false, Some("draft_in_composer"))
    );
    session
        .wait_row("the draft as it was", |row| row.starts_with(mark) && row.contains(draft))
        .await;
    assert_eq!(session.api.user_messages().len(), 0);
}
