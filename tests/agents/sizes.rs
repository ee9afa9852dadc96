//! The agents in terminals of every size: messages of every length arrive once and complete, and
//! every dialog is recognised and answered. CI walks over a part of the grid; `COOP_TEST_GRID=1`
//! walks over all of it.

use coop_client::v1;

use crate::harness::{Setup, TestSession, error_code};

type Size = (u32, u32);

const SIZES: [Size; 2] = [(40, 12), (80, 24)];
const ALL_SIZES: [Size; 7] =
    [(40, 12), (48, 18), (60, 20), (80, 24), (132, 43), (200, 50), (300, 100)];

/// Words and lines of a message.
const LENGTHS: [(usize, usize); 5] = [(1, 1), (60, 1), (150, 1), (30, 3), (5000, 200)];
const ALL_LENGTHS: [(usize, usize); 16] = [
    (1, 1),
    (10, 1),
    (25, 1),
    (40, 1),
    (60, 1),
    (100, 1),
    (150, 1),
    (300, 1),
    (5000, 1),
    (4, 2),
    (60, 2),
    (30, 3),
    (90, 3),
    (30, 5),
    (120, 12),
    (5000, 200),
];

fn walks_everything() -> bool {
    std::env::var_os("COOP_TEST_GRID").is_some()
}

fn sizes() -> Vec<Size> {
    if walks_everything() { ALL_SIZES.to_vec() } else { SIZES.to_vec() }
}

fn lengths() -> Vec<(usize, usize)> {
    if walks_everything() { ALL_LENGTHS.to_vec() } else { LENGTHS.to_vec() }
}

/// A message of so many different words on so many lines.
fn message(words: usize, lines: usize) -> String {
    const WORDS: [&str; 6] = ["a", "ship", "sails", "to", "another", "sea"];
    let mut text = format!("{words} words");
    for word in 1..words {
        let at_line_end = lines > 1 && word % (words / lines).max(1) == 0;
        text.push(if at_line_end { '\n' } else { ' ' });
        text.push_str(WORDS[word % WORDS.len()]);
        // Of many equal words, a lost one would not be missed.
        if word.is_multiple_of(9) {
            text.push_str(&word.to_string());
        }
    }
    text
}

async fn start(setup: Setup, (cols, rows): Size) -> Option<TestSession> {
    setup.coop(&["--cols", &cols.to_string(), "--rows", &rows.to_string()]).idle().await
}

async fn messages_arrive(session: &mut TestSession, size: Size) {
    for (words, lines) in lengths() {
        let sent = message(words, lines);
        let before = session.api.user_messages().len();
        let what = format!("{words} words on {lines} lines at {size:?}");
        let nudged = session.nudge(&sent).await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_eq!(nudged.outcome, "accepted", "{what}");
        session.wait_state_after(nudged.seq, "idle").await;
        let arrived = session.api.user_messages();
        assert_eq!(arrived.len(), before + 1, "{what}");
        assert_eq!(arrived.last().map(|text| text.trim()), Some(sent.as_str()), "{what}");
    }
}

/// Answers the dialog that this message opens, and waits for the end of the turn.
async fn dialog_is_answered(
    session: &mut TestSession,
    size: Size,
    message: &str,
    kind: &str,
    answer: v1::RespondRequest,
) -> v1::PromptContext {
    let nudged = session
        .nudge(message)
        .await
        .unwrap_or_else(|error| panic!("{message} at {size:?}: {error:?}"));
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.r#type, kind, "{message} at {size:?}");
    let answer = v1::RespondRequest { prompt_id: Some(prompt.id.clone()), ..answer };
    let answered = session
        .respond(answer)
        .await
        .unwrap_or_else(|error| panic!("{message} at {size:?}: {error:?}"));
    assert_eq!(answered.outcome, "answered", "{message} at {size:?}");
    session.wait_state_after(nudged.seq, "idle").await;
    prompt
}

async fn permissions_are_answered(session: &mut TestSession, size: Size) {
    let long = format!("touch long # {}end", "a long comment ".repeat(20));
    for (command, file) in [("touch short", "short"), (long.as_str(), "long")] {
        let call = format!("{} #say made", session.shell_call(command));
        let yes = v1::RespondRequest { accept: Some(true), ..Default::default() };
        let prompt = dialog_is_answered(session, size, &call, "permission", yes).await;
        assert!(!prompt.options.is_empty(), "at {size:?}");
        let input = prompt.input_full.expect("the tool's input");
        assert!(input.contains(command), "the whole command at {size:?}: {input}");
        session.wait_file(file).await;
    }
    let call = format!("{} #say never", session.shell_call("touch never"));
    let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
    dialog_is_answered(session, size, &call, "permission", no).await;
    assert!(!session.workspace().join("never").exists());
}

async fn questions_are_answered(session: &mut TestSession, size: Size) {
    session.allow_questions().await;
    let few = "#ask Which color? / Red / Blue #say noted";
    let many = "#ask Which of these many colors of the rainbow do you like best of all of them? / \
                Red as the sun in the evening / Orange like an orange / Yellow / Green and a few \
                more words #say noted";
    let labels = ["Red as the sun in the evening", "Orange like an orange", "Yellow"];
    for (ask, option, label) in [(few, 2, "Blue"), (many, 4, "Green and a few more words")] {
        let answer = v1::RespondRequest { option: Some(option), ..Default::default() };
        let prompt = dialog_is_answered(session, size, ask, "question", answer).await;
        assert_eq!(prompt.options[usize::try_from(option).expect("small") - 1], label);
        if ask == many {
            assert_eq!(prompt.options[..3], labels, "{size:?}");
        }
        let result = session.api.last_result();
        assert!(result.contains(label), "{result} at {size:?}");
    }
}

/// Walks over the grid: messages, then permissions, then questions.
async fn every_size(make: fn() -> Setup) {
    for size in sizes() {
        let Some(mut session) = start(make(), size).await else { return };
        messages_arrive(&mut session, size).await;
        permissions_are_answered(&mut session, size).await;
        questions_are_answered(&mut session, size).await;
    }
}

#[tokio::test]
async fn claude_works_at_every_size() {
    every_size(Setup::claude).await;
}

#[tokio::test]
async fn codex_works_at_every_size() {
    every_size(Setup::codex).await;
}

#[tokio::test]
async fn gemini_works_at_every_size() {
    every_size(Setup::gemini).await;
}

/// Without a hook, keys bring the option onto the screen before it is chosen.
#[tokio::test]
async fn claude_without_hooks_shows_a_hidden_option_before_it_is_chosen() {
    let setup = Setup::claude().coop(&["--groom", "pristine"]);
    let Some(mut session) = start(setup, (40, 12)).await else { return };
    questions_are_answered(&mut session, (40, 12)).await;
}

/// Codex has no room for the field, so nothing that cannot be seen is sent.
#[tokio::test]
async fn a_field_without_room_is_a_timeout_that_names_it() {
    let Some(mut session) = start(Setup::codex(), (40, 12)).await else { return };
    session.allow_questions().await;
    session.nudge("#ask Which color? / Red / Blue #say noted").await.expect("taken");
    session.wait_prompt().await;
    let text = v1::RespondRequest { text: Some("mauve".to_owned()), ..Default::default() };
    let refused = session.respond(text).await.expect_err("there is no room");
    assert_eq!(error_code(&refused), "TIMEOUT");
    assert!(refused.message().contains("the text of option 3"), "{refused:?}");
    assert!(session.state().await.state == "prompt", "it is still open");
}
