//! Tests of screen reading and grooming on captured screens of Claude Code.

mod answering;
mod composing;
mod recordings;

use super::{groom, screen};
use crate::driver::screen_reading::{Dialog, ScreenReading};
use crate::driver::testing::answers::prompt;
use crate::driver::testing::screens;
use crate::driver::testing::screens::tests::capture;

/// The reading of a captured screen.
fn reading(case: &str) -> ScreenReading {
    screen::read(&capture("claude", case))
}

fn dialog(case: &str) -> Dialog {
    reading(case).dialog.unwrap_or_else(|| panic!("there is no dialog on {case}"))
}

/// The reading of a screen with these rows, at 80x24.
fn screen_of(rows: &str) -> ScreenReading {
    screen::read(&screens::screen(rows, (80, 24)).unwrap())
}

#[test]
fn a_dialog_quoted_in_the_conversation_is_ignored() {
    let rule = "─".repeat(80);
    let rows = format!(
        "● I was asked:\n\n  Bash command\n  Do you want to \
         proceed?\n  ❯ 1. Yes\n    2. No\n\n  Esc to cancel · Tab to amend\n\
         {rule}\n❯ \n{rule}\n  ⏸ manual mode on · ? for shortcuts"
    );
    let reading = screen_of(&rows);
    assert_eq!(reading.dialog, None);
    assert_eq!(reading.composer.map(|composer| composer.draft), Some(String::new()));
    assert!(!reading.busy);
}

#[test]
fn text_in_the_conversation_does_not_start_a_turn() {
    let rule = "─".repeat(80);
    let rows = format!(
        "● It says esc to interrupt.\n  ✻ 429 · Retrying in 1s\n\
         {rule}\n❯ \n{rule}\n  ⏸ manual mode on"
    );
    let reading = screen_of(&rows);
    assert!(!reading.busy);
    assert_eq!(reading.retrying, None);
}

#[test]
fn a_retry_shows_its_error() {
    let cases = [
        ("429 Too many requests", "rate_limited"),
        ("401 Invalid API key", "unauthorized"),
        ("529 Overloaded", "server_error"),
        ("500 Internal server error", "server_error"),
        ("Connection refused", "no_internet"),
        ("API error", "other"),
    ];
    let rule = "─".repeat(80);
    for (words, category) in cases {
        let reading = screen_of(&format!(
            "❯ hello\n\n✻ {words} · Retrying in 1s · attempt 1/1\n\n\
             {rule}\n❯ \n{rule}\n  esc to interrupt"
        ));
        let api_error = reading.retrying.unwrap();
        assert_eq!((api_error.category.as_str(), api_error.detail.as_str()), (category, words));
        assert!(reading.busy);
    }
}

#[test]
fn only_typed_text_is_a_draft() {
    let rule = "─".repeat(80);
    let cases = [
        ("❯\u{a0}\x1b[7mT\x1b[0;2mry \"fix it\"\x1b[0m", ""),
        ("❯\u{a0}Try \"fix it\"", ""),
        ("❯\u{a0}Try it\x1b[7m \x1b[0m", "Try it"),
        ("❯\u{a0}/he\x1b[7ml\x1b[0;2mp\x1b[0m", "/he"),
        ("❯\u{a0}mi\x1b[7md\x1b[0mdle", "middle"),
        ("!\u{a0}ls\x1b[7m \x1b[0m", "!ls"),
    ];
    for (row, draft) in cases {
        let reading = screen_of(&format!("{rule}\n{row}\n{rule}\n  ⏸ manual mode on"));
        assert_eq!(
            reading.composer.map(|composer| composer.draft).as_deref(),
            Some(draft),
            "{row:?}"
        );
    }
}

#[test]
fn moving_in_a_dialog_keeps_its_identity() {
    let same = [
        ("13-permission-bash", "14-permission-bash-amend"),
        ("20-ask-single", "22-ask-single-typed"),
        ("24-ask-multi-q1", "28-ask-multi-review-submit"),
        ("51-plan-approval", "53-plan-feedback-typed"),
        ("82-screenreader-permission", "83-screenreader-digit"),
    ];
    for (one, other) in same {
        assert!(dialog(one).same_as(&dialog(other)), "{one} {other}");
    }
    assert!(!dialog("16-permission-write").same_as(&dialog("17-permission-edit")));
}

#[test]
fn grooming_answers_only_setup_dialogs_that_grant_nothing() {
    let bypass = ["claude".to_owned(), "--dangerously-skip-permissions".to_owned()];
    let by_mode = ["claude", "--permission-mode", "bypassPermissions"].map(str::to_owned);
    let plain = ["claude".to_owned(), "--permission-mode".to_owned(), "plan".to_owned()];
    let cases = [
        ("01-theme-picker", &plain[..], Some(true)),
        ("02-custom-api-key", &plain[..], Some(true)),
        ("03-security-notes", &plain[..], Some(true)),
        ("04-trust-folder", &plain[..], Some(true)),
        ("06-login-method", &plain[..], None),
        ("13-permission-bash", &bypass[..], None),
        ("19a-auto-mode-cannot-check", &plain[..], Some(true)),
        ("19b-permission-unnumbered", &plain[..], None),
        ("20-ask-single", &plain[..], None),
        ("49-model-picker", &plain[..], None),
        ("51-plan-approval", &plain[..], None),
        ("57-resume-picker", &plain[..], None),
        ("59-project-mcp-approval", &plain[..], Some(false)),
        ("61-bypass-warning", &plain[..], None),
        ("61-bypass-warning", &bypass[..], Some(true)),
        ("61-bypass-warning", &by_mode[..], Some(true)),
        ("63-settings-flag-syntax-error", &plain[..], None),
        ("68-settings-unknown-hook", &plain[..], Some(true)),
    ];
    for (case, command, accept) in cases {
        let answer = groom::answer(&prompt(&dialog(case)), command);
        assert_eq!(answer.and_then(|answer| answer.accept), accept, "{case} {command:?}");
    }
    let quoted = ["claude", "--", "--dangerously-skip-permissions"].map(str::to_owned);
    assert_eq!(groom::answer(&prompt(&dialog("61-bypass-warning")), &quoted), None);
}
