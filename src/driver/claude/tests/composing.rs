//! Tests of messages in captured composers of Claude Code.

use super::reading;
use crate::driver::claude::composer::{compose, holds};
use crate::driver::screen_reading::Composer;

#[test]
fn a_message_is_not_taken_as_a_command() {
    let cases = [
        ("hello", "hello"),
        ("/clear", " /clear"),
        ("!rm -rf x", " !rm -rf x"),
        ("a /clear !x", "a /clear !x"),
        ("# heading", "# heading"),
        ("ends in \\", "ends in \\ "),
        ("exit", "exit."),
        (" quit \n", " quit."),
        (":wq!", ":wq!."),
        ("exit now", "exit now"),
    ];
    for (message, composed) in cases {
        assert_eq!(compose(message), composed, "{message:?}");
    }
}

#[test]
fn pasted_text_is_recognised_in_the_composer() {
    let emoji = "日本語 and 🎉 party 👩‍💻 é ".repeat(8);
    let row = "abcdefghi ".repeat(10);
    let cases = [
        ("90-draft-one-line", "hello world".to_owned()),
        ("90-draft-leading-space", " /foo bar".to_owned()),
        ("90-draft-three-lines", "l1\nl2\nl3".to_owned()),
        (
            "90-draft-pasted-12-lines",
            (1..=12).map(|at| format!("row {at} of the text\n")).collect(),
        ),
        ("90-draft-wrapped", "abcdefghi ".repeat(79).trim().to_owned()),
        ("90-draft-wrapped-80x24", "word ".repeat(60).trim().to_owned()),
        ("90-draft-pasted-5k", "abcdefghi ".repeat(500).trim().to_owned()),
        ("90-draft-pasted-20k", vec![row; 200].join("\n")),
        ("90-draft-emoji", emoji.clone()),
        ("90-draft-emoji-80x24", emoji),
        ("90-draft-one-long-word-80x24", "x".repeat(450)),
        ("90-draft-tabs-80x24", "a\tb\tc".to_owned()),
        ("90-draft-leading-newline-80x24", "\nleading newline".to_owned()),
        ("90-draft-trailing-newline-80x24", "two\nlines\n".to_owned()),
        ("90-draft-slash-inside-80x24", "hello /com".to_owned()),
        ("90-draft-file-popup-80x24", "ends in a backslash \\\nlook at @no".to_owned()),
    ];
    for (case, pasted) in cases {
        let composer = reading(case).composer.unwrap();
        assert!(holds(&composer, &pasted), "{case}: {:?}", composer.draft);
        assert!(!holds(&composer, &format!("{pasted}\nx")), "{case}");
        assert!(!holds(&composer, "something else"), "{case}");
    }
}

#[test]
fn a_missing_space_or_a_wrong_count_is_not_recognised() {
    let composer = |draft: &str| Composer { draft: draft.to_owned(), rows: 1, cut: false };
    assert!(!holds(&composer("/foo"), " /foo"));
    assert!(!holds(&composer("hello hello"), "hello"));
    assert!(!holds(&composer(""), "hello"));
    assert!(holds(&composer("[Pasted text #1 +3 lines]"), "a\nb\nc\nd"));
    assert!(holds(&composer("[Pasted text #1 +3 lines]"), " /a\nb\nc\nd"));
    assert!(!holds(&composer("[Pasted text #1 +4 lines]"), "a\nb\nc\nd"));
    assert!(!holds(&composer("[Pasted text #1 +3 lines] and more"), "a\nb\nc\nd"));
    assert!(!holds(&composer("[Pasted text #1]"), "a\nb"));
}

/// An interrupt brings a message back, and the next one is pasted after it.
#[test]
fn two_messages_are_recognised_one_after_the_other() {
    use crate::driver::Operate as _;
    let driver = crate::driver::claude::Claude;
    let long = "word ".repeat(100);
    let composer = |draft: &str| Composer { draft: draft.to_owned(), rows: 1, cut: false };
    assert!(driver.holds_both(&composer("#hold it[Pasted text #2]"), "#hold it", &long));
    assert!(driver.holds_both(&composer("firstsecond"), "first", "second"));
    assert!(!driver.holds_both(&composer("mine[Pasted text #2]"), "#hold it", &long));
    assert!(!driver.holds_both(&composer("#hold it[Pasted text #2] mine"), "#hold it", &long));
}
