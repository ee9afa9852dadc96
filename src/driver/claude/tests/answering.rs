//! Tests of answers on captured dialogs of Claude Code: the next key, and the hook's decision.

use serde_json::{Value, json};

use super::dialog;
use crate::driver::claude::answer::{by_hook, next_key};
use crate::driver::prompt::{Answer, Prompt};
use crate::driver::testing::answers::{
    self, accept, answers, option, paste, prompt, question, text, with,
};

/// The next key, or `None` if the answer is refused.
fn key(prompt: &Prompt, answer: &Answer, case: &str) -> Option<String> {
    answers::key(next_key(prompt, answer, &dialog(case)))
}

fn check(cases: &[(&str, Answer, Option<&str>)]) {
    for (case, answer, wanted) in cases {
        let found = key(&prompt(&dialog(case)), answer, case);
        assert_eq!(found.as_deref(), *wanted, "{case} {answer:?}");
    }
}

#[test]
fn a_permission_is_answered_by_the_meaning_of_its_options() {
    check(&[
        ("13-permission-bash", accept(true), Some("1")),
        ("13-permission-bash", accept(false), Some("4")),
        ("13-permission-bash", option(3), Some("3")),
        ("13-permission-bash", option(5), None),
        ("13-permission-bash", option(0), None),
        ("13-permission-bash", Answer::default(), None),
        ("13-permission-bash", answers(&[(&[1], "")]), None),
        ("16-permission-write", accept(false), Some("3")),
        ("18-permission-webfetch", accept(false), Some("3")),
        ("91-permission-cut-80x24", accept(true), Some("1")),
        // Without numbers the highlight moves one row at a time.
        ("19b-permission-unnumbered", accept(true), Some("\x1b[B")),
        ("19b-permission-unnumbered", accept(false), Some("\r")),
        ("19b-permission-unnumbered", option(2), Some("\x1b[B")),
        // In the screen reader form, a digit needs an Enter after it.
        ("82-screenreader-permission", accept(false), Some("4")),
        ("83-screenreader-digit", accept(false), Some("\r")),
        ("83-screenreader-digit", accept(true), Some("\x7f")),
    ]);
}

#[test]
fn a_comment_is_typed_into_the_field_of_its_option() {
    let wrapped = "no way\nsecond line of the comment that is fairly long so that it must wrap \
                   somewhere when the terminal is two hundred columns wide, which takes a good \
                   many words to reach, so here are some more of them";
    check(&[
        ("13-permission-bash", with("do", accept(true)), Some("\t")),
        ("14-permission-bash-amend", with("do\x1b\x03", accept(true)), Some(&paste("do"))),
        ("91-permission-comment-typed", with("use the other one", accept(true)), Some("\r")),
        ("91-permission-comment-typed", with("something else", accept(true)), Some("\x15")),
        ("13-permission-bash", with("no", accept(false)), Some("\x1b[B")),
        ("91-permission-no-comment", with("no", accept(false)), Some(&paste("no"))),
        ("91-permission-no-comment-wrapped", with(wrapped, accept(false)), Some("\r")),
        ("13-permission-bash", with("no", option(2)), None),
        ("13-permission-bash", text("no"), None),
        ("18-permission-webfetch", with("do", accept(true)), None),
    ]);
}

#[test]
fn a_plan_is_approved_declined_or_sent_back() {
    check(&[
        ("51-plan-approval", accept(true), Some("2")),
        ("51-plan-approval", option(1), Some("1")),
        ("51-plan-approval", accept(false), Some("\x1b")),
        ("51-plan-approval", option(3), None),
        ("51-plan-approval", text("do it otherwise"), Some("3")),
        ("52-plan-feedback-focus", text("do it otherwise"), Some(&paste("do it otherwise"))),
        ("53-plan-feedback-typed", text("do it otherwise"), Some("\r")),
        ("53-plan-feedback-typed", with("do it otherwise", accept(false)), Some("\r")),
        ("93-plan-feedback-two-rows-80x24", with("but use\ntwo rows", option(3)), Some("\r")),
        ("93-plan-feedback-two-rows-80x24", with("but use\ntwo rows", option(1)), Some("\x1b[Z")),
        // With text it would also accept all edits, which the answer does not say.
        ("51-plan-approval", with("go", accept(true)), None),
        ("55-plan-exit-empty", accept(true), Some("1")),
        ("55-plan-exit-empty", accept(false), Some("2")),
        ("55-plan-exit-empty", text("other"), None),
    ]);
}

#[test]
fn one_question_takes_an_option_or_text_or_is_declined() {
    check(&[
        ("20-ask-single", option(2), Some("2")),
        ("20-ask-single", option(5), Some("5")),
        ("20-ask-single", option(4), None),
        ("20-ask-single", accept(false), Some("\x1b")),
        ("20-ask-single", accept(true), None),
        ("20-ask-single", text("purple"), Some("4")),
        ("21-ask-single-type-something", text("purple"), Some(&paste("purple"))),
        ("22-ask-single-typed", text("purple"), Some("\r")),
        ("22-ask-single-typed", with("purple", option(4)), Some("\r")),
        ("22-ask-single-typed", text("blue"), Some("\x15")),
        ("22-ask-single-typed", option(1), Some("1")),
        ("20-ask-single", answers(&[(&[3], "")]), Some("3")),
        ("29-ask-multiselect-only", option(1), None),
        ("83-screenreader-ask", option(2), Some("2")),
    ]);
}

fn three() -> Prompt {
    let questions = vec![
        question("Colour", false, &["Red", "Green", "Blue"]),
        question("Size", false, &["Small", "Large"]),
        question("Toppings", true, &["Cheese", "Olives", "Ham"]),
    ];
    let asked: Vec<_> = questions.iter().map(|one| json!({"question": one.question})).collect();
    let input = json!({"questions": asked});
    Prompt { questions, input_full: Some(input.to_string()), ..prompt(&dialog("24-ask-multi-q1")) }
}

#[test]
fn several_questions_are_answered_page_by_page() {
    let all = answers(&[(&[2], ""), (&[1], ""), (&[1, 3], "")]);
    let own = answers(&[(&[], "my colour\nin two rows"), (&[1], ""), (&[3], "")]);
    let cases = [
        ("24-ask-multi-q1", &all, Some("2")),
        ("25-ask-multi-q2", &all, Some("1")),
        ("26-ask-multi-q3-multiselect", &all, Some("1")),
        ("27-ask-multi-q3-checked", &all, Some("\t")),
        ("28-ask-multi-review-submit", &all, Some("1")),
        ("86-80x24-ask-multi", &all, Some("2")),
        ("24-ask-multi-q1", &own, Some("4")),
        ("92-ask-own-multiline", &own, Some("\r")),
        ("27-ask-multi-q3-checked", &own, Some("1")),
        // A user at the keyboard gave another answer.
        ("28-ask-multi-review-submit", &own, None),
        ("92-ask-review-incomplete", &own, Some("\x1b[D")),
    ];
    for (case, answer, wanted) in cases {
        assert_eq!(key(&three(), answer, case).as_deref(), wanted, "{case}");
    }
    let confirming = Prompt {
        question_current: 3,
        questions: three().questions,
        ..prompt(&dialog("28-ask-multi-review-submit"))
    };
    for (answer, wanted) in
        [(accept(true), Some("1")), (option(2), Some("2")), (accept(false), Some("\x1b"))]
    {
        assert_eq!(key(&confirming, &answer, "28-ask-multi-review-submit").as_deref(), wanted);
    }
}

#[test]
fn answers_that_do_not_fit_the_questions_are_refused() {
    let wrong = [
        answers(&[(&[2], ""), (&[1], "")]),
        answers(&[(&[4], ""), (&[1], ""), (&[1], "")]),
        answers(&[(&[], ""), (&[1], ""), (&[1], "")]),
        answers(&[(&[1, 2], ""), (&[1], ""), (&[1], "")]),
        answers(&[(&[1], "both"), (&[1], ""), (&[1], "")]),
        with("x", answers(&[(&[1], ""), (&[1], ""), (&[1], "")])),
        option(1),
        text("red"),
        accept(true),
    ];
    for answer in wrong {
        assert!(answer.check(&three()).is_err(), "{answer:?}");
        assert_eq!(key(&three(), &answer, "24-ask-multi-q1"), None, "{answer:?}");
        assert_eq!(by_hook(&three(), &answer), None, "{answer:?}");
    }
    assert_eq!(answers(&[(&[1], ""), (&[1], ""), (&[1, 2], "and")]).check(&three()), Ok(()));
}

#[test]
fn text_is_entered_beside_ticked_options() {
    let toppings = Prompt {
        questions: vec![question("Toppings", true, &["Cheese", "Olives", "Ham"])],
        ..prompt(&dialog("29-ask-multiselect-only"))
    };
    let words = answers(&[(&[], "my own")]);
    let none = answers(&[(&[1], "")]);
    let cases = [
        ("29-ask-multiselect-only", &words, Some("\x1b[B".to_owned())),
        ("92-ask-multiselect-own-focus", &words, Some(paste("my own"))),
        ("92-ask-multiselect-own-typed", &words, Some("\t".to_owned())),
        ("92-ask-multiselect-submit-focus", &words, Some("\r".to_owned())),
        ("92-ask-multiselect-review", &words, Some("1".to_owned())),
        ("92-ask-multiselect-submit-focus", &none, Some("1".to_owned())),
    ];
    for (case, answer, wanted) in cases {
        assert_eq!(key(&toppings, answer, case), wanted, "{case}");
    }
}

#[test]
fn setup_dialogs_are_answered_by_the_meaning_of_their_options() {
    check(&[
        ("01-theme-picker", accept(true), Some("\r")),
        ("01-theme-picker", option(1), Some("\x1b[A")),
        ("01-theme-picker", accept(false), None),
        ("02-custom-api-key", accept(true), Some("\x1b[A")),
        ("02-custom-api-key", accept(false), Some("\r")),
        ("03-security-notes", accept(true), Some("\r")),
        ("04-trust-folder", accept(true), Some("\x1b[B")),
        ("04-trust-folder", accept(false), Some("\r")),
        ("06-login-method", accept(true), None),
        ("06-login-method", option(2), Some("2")),
        ("06-login-method", option(1), Some("\r")),
        ("19a-auto-mode-cannot-check", accept(true), Some("\r")),
        ("19a-auto-mode-cannot-check", accept(false), Some("\x1b")),
        ("42-help-dialog", accept(false), Some("\x1b")),
        ("42-help-dialog", accept(true), None),
        ("43-rewind-dialog", accept(false), Some("\x1b")),
        ("49-model-picker", accept(false), Some("\x1b")),
        ("49-model-picker", option(3), Some("3")),
        ("57-resume-picker", accept(false), Some("\x1b")),
        ("59-project-mcp-approval", accept(false), Some("\r")),
        ("59-project-mcp-approval", accept(true), Some("\x1b[A")),
        ("61-bypass-warning", accept(true), Some("\x1b[B")),
        ("63-settings-flag-syntax-error", accept(true), Some("3")),
        ("68-settings-unknown-hook", accept(true), Some("\r")),
        ("68-settings-unknown-hook", with("why", accept(true)), None),
    ]);
}

#[test]
fn an_option_that_disappeared_is_refused() {
    let before = prompt(&dialog("16-permission-write"));
    assert_eq!(key(&before, &option(2), "13-permission-bash"), None);
    assert_eq!(key(&before, &option(3), "13-permission-bash").as_deref(), Some("4"));
}

fn decision(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    let mut output = by_hook(prompt, answer)?;
    assert_eq!(output["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
    Some(output["hookSpecificOutput"]["decision"].take())
}

#[test]
fn the_hook_takes_only_answers_that_it_can_express() {
    let bash = prompt(&dialog("13-permission-bash"));
    assert_eq!(decision(&bash, &accept(true)), Some(json!({"behavior": "allow"})));
    assert_eq!(decision(&bash, &option(1)), Some(json!({"behavior": "allow"})));
    let denied = json!({"behavior": "deny", "message": "use mv"});
    assert_eq!(decision(&bash, &with("use mv", accept(false))), Some(denied));
    assert_eq!(decision(&bash, &accept(false)).unwrap()["behavior"], "deny");
    for keys_only in [with("and then", accept(true)), option(2), option(3), text("hm"), option(9)] {
        assert_eq!(decision(&bash, &keys_only), None, "{keys_only:?}");
    }
    for case in ["51-plan-approval", "04-trust-folder", "02-custom-api-key"] {
        assert_eq!(decision(&prompt(&dialog(case)), &accept(true)), None, "{case}");
    }
}

#[test]
fn the_hook_takes_the_answers_of_all_questions() {
    let all = answers(&[(&[2], ""), (&[], "huge"), (&[1, 3], "and nuts")]);
    let allowed = decision(&three(), &all).unwrap();
    assert_eq!(allowed["behavior"], "allow");
    assert_eq!(allowed["updatedInput"]["questions"].as_array().unwrap().len(), 3);
    let wanted = json!({
        "Which colour do you want?": "Green",
        "Which size do you want?": "huge",
        "Which toppings do you want?": "Cheese, Ham, and nuts",
    });
    assert_eq!(allowed["updatedInput"]["answers"], wanted);
    assert_eq!(decision(&three(), &accept(false)), None);
    assert_eq!(decision(&Prompt { input_full: None, ..three() }, &all), None);

    let questions = vec![question("Colour", false, &["Red", "Green", "Blue"])];
    let input_full =
        Some(json!({"questions": [{"question": "Which colour do you want?"}]}).to_string());
    let one = Prompt { questions, input_full, ..prompt(&dialog("20-ask-single")) };
    let green = decision(&one, &option(2)).unwrap();
    assert_eq!(green["updatedInput"]["answers"], json!({"Which colour do you want?": "Green"}));
    let words = decision(&one, &text("teal")).unwrap();
    assert_eq!(words["updatedInput"]["answers"], json!({"Which colour do you want?": "teal"}));
    // "Chat about this" is not an answer.
    assert_eq!(decision(&one, &option(5)), None);
}
