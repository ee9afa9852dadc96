//! Tests of patterns on screens of made-up programs.

use std::sync::Arc;

use serde_json::json;

use super::{Patterns, Unknown};
use crate::driver::prompt::Answer;
use crate::driver::screen_reading::{Composer, Dialog, Role, ScreenReading};
use crate::driver::testing::answers::{accept, option, prompt, text, with};
use crate::driver::testing::screens;
use crate::driver::{NextKey, Observe as _, Operate as _};

fn driver(lines: usize) -> Unknown {
    let screen = json!({
        "composer": "^> ?(.*)$",
        "working": ["^busy", "^tool: .* runs$"],
        "prompt": [r"\(y/n\)$", r"^Which one\?$", r"^#\?$"],
        "error": ["^Error: "],
        "lines": lines,
    });
    Unknown::new(Arc::new(Patterns::read(screen.as_object().unwrap()).unwrap()))
}

fn reading_of(text: &str) -> ScreenReading {
    driver(5).read_screen(&screens::screen(text, (40, 12)).unwrap())
}

fn draft(text: &str) -> Option<String> {
    reading_of(text).composer.map(|composer| composer.draft)
}

#[test]
fn a_composer_with_the_cursor_takes_messages() {
    assert_eq!(
        reading_of("hello\n> "),
        ScreenReading {
            composer: Some(Composer { draft: String::new(), rows: 1, cut: false }),
            ..ScreenReading::default()
        }
    );
    assert_eq!(draft("hello\n> a draft").as_deref(), Some("a draft"));
    assert_eq!(draft("> \x1b[2mType here\x1b[0m").as_deref(), Some(""), "a hint is not a draft");
    let long = "word ".repeat(20);
    let shown = draft(&format!("> {long}")).unwrap();
    let typed = Composer { draft: shown, rows: 1, cut: false };
    assert!(driver(5).holds(&typed, &long) && !driver(5).holds(&typed, "word"));
}

#[test]
fn a_screen_without_a_composer_is_never_idle() {
    // A sent message looks like a composer, but the cursor has left it.
    for text in ["> do it\nsomething", "> do it\n\x1b[3;1H", "something", "> \nbusy", "busy\n> "] {
        let reading = reading_of(text);
        assert!(
            reading.busy && reading.dialog.is_none() && reading.failed.is_none(),
            "{text:?}: {reading:?}"
        );
    }
    assert_eq!(reading_of(""), ScreenReading::default());
    assert_eq!(reading_of("\n\n"), ScreenReading::default());
}

#[test]
fn only_the_last_lines_count() {
    let screen = screens::screen("busy\n\none\n\ntwo\nthree\n> ", (40, 12)).unwrap();
    assert!(!driver(4).read_screen(&screen).busy);
    assert!(driver(5).read_screen(&screen).busy);
}

#[test]
fn a_program_with_a_hidden_cursor_is_idle_at_its_composer() {
    let reading = reading_of("\x1b[?25l> draft\n status");
    assert_eq!((reading.composer.unwrap().draft.as_str(), reading.busy), ("draft", false));
}

#[test]
fn an_error_has_the_text_of_its_line() {
    let reading = reading_of("> do it\nError: no such thing\n> ");
    assert_eq!(reading.failed.unwrap().detail, "Error: no such thing");
    assert!(reading.composer.is_some() && !reading.busy);
    let reading = reading_of("Error: no such thing\nbusy\n> ");
    assert!(reading.failed.is_none() && reading.busy, "it works again");
}

fn dialog(text: &str) -> Dialog {
    reading_of(text).dialog.unwrap_or_else(|| panic!("{text:?} shows no dialog"))
}

fn labels(dialog: &Dialog) -> Vec<(Option<u8>, &str, Role)> {
    dialog.choices.iter().map(|choice| (choice.digit, choice.label.as_str(), choice.role)).collect()
}

#[test]
fn a_question_has_its_line_and_its_options() {
    let yes_no = dialog("busy\nDelete it? (y/n) ");
    assert_eq!(yes_no.message, "Delete it? (y/n)");
    assert_eq!(labels(&yes_no), [(None, "y", Role::Accept), (None, "n", Role::Decline)]);
    let below = dialog("Which one?\n  1. Yes, do\n> 2. No\n  3. Later");
    assert_eq!(
        labels(&below),
        [
            (Some(1), "Yes, do", Role::Accept),
            (Some(2), "No", Role::Decline),
            (Some(3), "Later", Role::Plain)
        ]
    );
    assert_eq!((below.highlighted, below.lines.len()), (Some(1), 4));
    let above = dialog("1. this\n2. that\n#? ");
    assert_eq!(labels(&above), [(Some(1), "this", Role::Plain), (Some(2), "that", Role::Plain)]);
    assert_eq!(labels(&dialog("1. this\n2. that\nand more\n#? ")), []);
}

#[test]
fn output_below_a_question_ends_the_question() {
    for text in
        ["Delete it? (y/n)\ny", "Delete it? (y/n)\n\nbusy", "\x1b[?25lWhich one?\n1. a\n2. b\n> "]
    {
        assert_eq!(reading_of(text).dialog, None, "{text:?}");
    }
    assert!(
        reading_of("Delete it? (y/n)\n\x1b[2;1H").dialog.is_some(),
        "it is answered on the next line"
    );
}

fn answered(text: &str, answer: &Answer) -> Result<Vec<u8>, String> {
    let dialog = dialog(text);
    match driver(5).next_key(&prompt(&dialog), answer, &dialog) {
        NextKey::Confirm(keys) => Ok(keys.to_vec()),
        NextKey::Press(keys) | NextKey::Reveal { key: keys, .. } => {
            panic!("{keys:?} leaves the dialog there")
        }
        NextKey::Unseen(reason) | NextKey::Refuse(reason) => Err(reason),
    }
}

#[test]
fn answers_are_typed_as_a_user_would_type_them() {
    let (yes_no, keys, lines) =
        ("Delete it? (y/n)", "Which one?\n  1. Yes, do\n> 2. No", "1. this\n2. that\n#?");
    assert_eq!(answered(yes_no, &accept(true)).unwrap(), b"y\r");
    assert_eq!(answered(yes_no, &accept(false)).unwrap(), b"n\r");
    assert_eq!(answered(yes_no, &option(2)).unwrap(), b"n\r");
    assert_eq!(answered(yes_no, &text(" maybe ")).unwrap(), b"maybe\r");
    assert_eq!(
        answered(keys, &option(2)).unwrap(),
        b"2",
        "an Enter would go to what comes after it"
    );
    assert_eq!(answered(keys, &accept(true)).unwrap(), b"1");
    assert_eq!(answered(lines, &option(2)).unwrap(), b"2\r");
    for (shown, answer) in [
        (lines, accept(true)),
        (lines, option(3)),
        (yes_no, text("two\nlines")),
        (yes_no, with("y", option(1))),
        (yes_no, Answer::default()),
    ] {
        assert!(answered(shown, &answer).is_err(), "{shown:?}: {answer:?}");
    }
}
