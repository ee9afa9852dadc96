//! What coop typed and did not submit, for every agent: it is deleted from the composer, and the
//! next message is taken. The agent is stopped while coop types, so that it shows nothing in time.

use coop_client::v1;

use crate::harness::{Setup, TestSession, error_code, poll_until, within_deadline};

#[tokio::test]
async fn with_claude() {
    is_taken_back(Setup::claude).await;
}

#[tokio::test]
async fn with_codex() {
    is_taken_back(Setup::codex).await;
}

#[tokio::test]
async fn with_gemini() {
    is_taken_back(Setup::gemini).await;
}

/// Messages, each with a word that the agent draws for it.
fn messages() -> [(String, &'static str); 4] {
    let lines = (1..=12).map(|line| format!("line {line} of several"));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let words = |count: u32| (0..count).map(|word| format!(" word{word}")).collect::<String>();
    [
        ("never-sent by itself".to_owned(), "never-sent"),
        (format!("{lines}\nfinally"), "finally"),
        (format!("a-paragraph{}", words(60)), "word59"),
        (format!("five kilobytes{}", words(700)), "Pasted"),
    ]
}

async fn is_taken_back(make: fn() -> Setup) {
    for size in [["80", "24"], ["200", "50"]] {
        let setup = make().coop(&["--cols", size[0], "--rows", size[1]]);
        let Some(mut session) = setup.idle().await else { return };
        for (message, word) in messages() {
            never_shown_in_time(&mut session, &message, word).await;
        }
        session.round_trip("after all of them").await;
        assert_eq!(session.api.user_messages(), ["after all of them"]);
    }
}

/// The agent shows this message only after the nudge has failed.
async fn never_shown_in_time(session: &mut TestSession, message: &str, word: &str) {
    let before = output(session).await.len();
    session.signal("STOP").await;
    let failed = session.nudge(message).await.expect_err("the agent is stopped");
    assert_eq!(error_code(&failed), "TIMEOUT", "{message:?}");
    assert!(failed.message().contains("may be left in the composer"), "{failed:?}");
    session.signal("CONT").await;
    let shown = |output: &[u8]| {
        let drawn = output.get(before..).unwrap_or_default();
        let drawn = String::from_utf8_lossy(drawn);
        drawn.contains(word) || drawn.contains("Pasted")
    };
    poll_until(&format!("{word} on the screen"), async || {
        shown(&output(session).await).then_some(())
    })
    .await;
    let on_screen =
        |row: &str| row.contains(word) || row.contains("Pasted") || row.contains("line ");
    poll_until(&format!("an empty composer after {message:?}"), async || {
        (!session.screen().await.iter().any(|row| on_screen(row))).then_some(())
    })
    .await;
    assert_eq!(session.state().await.state, "idle", "{message:?}");
}

/// Everything that the agent has drawn.
async fn output(session: &mut TestSession) -> Vec<u8> {
    let mut client = session.client();
    let mut drawn = Vec::new();
    loop {
        let offset = drawn.len() as u64;
        let request = v1::GetOutputRequest { offset, limit: Some(1 << 20) };
        let part = within_deadline("the output", client.get_output(request)).await;
        let part = part.expect("the output").into_inner();
        if part.data.is_empty() {
            return drawn;
        }
        drawn.extend_from_slice(&part.data);
    }
}
