//! What the driver sees on screens of Claude Code, and what it does with what it sees.

mod answering;
mod composing;

use super::{groom, screen};
use crate::driver::answered::prompt;
use crate::driver::fixture;
use crate::driver::fixture::tests::capture;
use crate::driver::sight::{Dialog, Sight};

/// What is seen on a kept screen.
fn sight(case: &str) -> Sight {
    screen::see(&capture("claude", case))
}

fn dialog(case: &str) -> Dialog {
    sight(case).dialog.unwrap_or_else(|| panic!("there is no dialog on {case}"))
}

/// A screen of these rows, in the usual size.
fn screen_of(rows: &str) -> Sight {
    screen::see(&fixture::screen(rows, (80, 24)).unwrap())
}

#[test]
fn a_dialog_in_the_conversation_is_no_dialog() {
    let rule = "─".repeat(80);
    let talk = format!(
        "● I was asked:\n\n  Bash command\n  Do you want to proceed?\n  ❯ 1. Yes\n    2. No\n\n  Esc to cancel · Tab to amend\n\
         {rule}\n❯ \n{rule}\n  ⏸ manual mode on · ? for shortcuts"
    );
    let sight = screen_of(&talk);
    assert_eq!(sight.dialog, None);
    assert_eq!(sight.composer.map(|composer| composer.draft), Some(String::new()));
    assert!(!sight.busy);
}

#[test]
fn words_of_the_conversation_start_no_turn() {
    let rule = "─".repeat(80);
    let talk = format!(
        "● It says esc to interrupt.\n  ✻ 429 · Retrying in 1s\n{rule}\n❯ \n{rule}\n  ⏸ manual mode on"
    );
    let sight = screen_of(&talk);
    assert!(!sight.busy);
    assert_eq!(sight.retrying, None);
}

#[test]
fn a_retry_says_why() {
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
        let sight = screen_of(&format!(
            "❯ hello\n\n✻ {words} · Retrying in 1s · attempt 1/1\n\n{rule}\n❯ \n{rule}\n  esc to interrupt"
        ));
        let trouble = sight.retrying.unwrap();
        assert_eq!((trouble.category.as_str(), trouble.detail.as_str()), (category, words));
        assert!(sight.busy);
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
        let sight = screen_of(&format!("{rule}\n{row}\n{rule}\n  ⏸ manual mode on"));
        assert_eq!(sight.composer.map(|composer| composer.draft).as_deref(), Some(draft), "{row:?}");
    }
}

#[test]
fn moving_about_in_a_dialog_makes_no_other() {
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
fn grooming_leads_to_the_composer_and_grants_nothing() {
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
