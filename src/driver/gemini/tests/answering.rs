//! Tests of answers on captured dialogs of Gemini CLI: the next key.

use super::dialog;
use crate::driver::gemini::answer::next_key;
use crate::driver::gemini::groom;
use crate::driver::prompt::{Answer, Prompt, Question};
use crate::driver::testing::answers::{
    self, accept, answers, option, paste, prompt, question, text, with,
};

fn erase(text: &str) -> String {
    format!("\x05{}", "\x7f".repeat(text.len()))
}

/// The next key, or `None` if the answer is refused.
fn key(case: &str, questions: &[Question], answer: &Answer) -> Option<String> {
    let dialog = dialog(case);
    let prompt = Prompt { questions: questions.to_vec(), ..prompt(&dialog) };
    answers::key(next_key(&prompt, answer, &dialog))
}

fn check(cases: &[(&str, Answer, Option<&str>)]) {
    for (case, answer, wanted) in cases {
        assert_eq!(key(case, &[], answer).as_deref(), *wanted, "{case} {answer:?}");
    }
}

#[test]
fn a_permission_is_answered_by_the_meaning_of_its_options() {
    check(&[
        ("confirm-shell", accept(true), Some("!1")),
        ("confirm-shell", accept(false), Some("!3")),
        ("confirm-shell", option(2), Some("!2")),
        ("confirm-shell", option(4), None),
        ("confirm-shell", option(0), None),
        ("confirm-shell", Answer::default(), None),
        ("confirm-shell", with("no", accept(false)), None),
        ("confirm-write", accept(false), Some("!4")),
        ("confirm-mcp", accept(true), Some("!1")),
        ("confirm-mcp", accept(false), Some("!4")),
        ("confirm-webfetch", accept(false), Some("!3")),
        // The highlight stays where it was in the previous dialog.
        ("confirm-two-2of2", accept(true), Some("!1")),
    ]);
}

#[test]
fn setup_dialogs_are_answered_by_the_meaning_of_their_options() {
    check(&[
        ("trust-folder", accept(true), Some("!1")),
        ("trust-folder", accept(false), Some("!3")),
        ("auth-dialog", option(2), Some("!2")),
        ("auth-dialog", accept(true), None),
        ("auth-dialog", accept(false), Some("!\x1b")),
        ("api-key-dialog", text(" a-key "), Some(&paste("a-key"))),
        ("api-key-dialog", accept(true), None),
        ("api-key-dialog", accept(false), Some("!\x1b")),
        ("quota-dialog-daily", accept(true), Some("!1")),
        ("quota-dialog-daily", accept(false), Some("!2")),
    ]);
}

#[test]
fn a_plan_is_approved_declined_or_sent_back() {
    check(&[
        ("plan-approval", accept(true), Some("!2")),
        ("plan-approval", option(1), Some("!1")),
        ("plan-approval", accept(false), Some("!\x1b")),
        ("plan-approval", text("add step C"), Some(&paste("add step C"))),
        ("plan-approval", text("add\x1b[201~\x03 C"), Some(&paste("add[201~ C"))),
        // A single digit would select an option.
        ("plan-approval", text("3"), Some(&paste(" 3"))),
        ("plan-approval", with("but", accept(true)), None),
        ("plan-approval-feedback", text("add step C"), Some("!\r")),
        ("plan-approval-feedback", text("add step D"), Some(&erase("add step C"))),
        // In the field a digit would be typed.
        ("plan-approval-feedback", option(1), Some("\x1b[A")),
    ]);
}

#[test]
fn one_question_takes_an_option_or_text() {
    check(&[
        ("ask-user-choice", option(2), Some("!2")),
        ("ask-user-choice", text("MyCustomDB"), Some(&paste("MyCustomDB"))),
        ("ask-user-choice", accept(false), Some("!\x1b")),
        ("ask-user-choice", accept(true), None),
        ("ask-user-custom-focused", text("MyCustomDB"), Some(&paste("MyCustomDB"))),
        ("ask-user-custom-focused", option(2), Some("\x1b[A")),
        ("ask-user-custom-typed", text("MyCustomDB"), Some("!\r")),
        ("ask-user-custom-typed", text("OtherDB"), Some(&erase("MyCustomDB"))),
        ("ask-user-yesno", option(1), Some("!1")),
        ("ask-user-yesno", accept(false), Some("!2")),
        ("ask-user-yesno", option(3), None),
        ("ask-user-text", text("my project"), Some(&paste("my project"))),
    ]);
}

#[test]
fn boxes_are_ticked_one_by_one_and_the_answers_confirmed_at_the_end() {
    let questions = [
        question("Letters", true, &["Alpha", "Beta", "Gamma"]),
        question("Name", false, &[]),
        question("Sure", false, &["Yes", "No"]),
    ];
    let all = answers(&[(&[1, 3], ""), (&[], "a name"), (&[1], "")]);
    assert_eq!(key("ask-user-multi-1", &questions, &all).as_deref(), Some("1"));
    let none_of_these = answers(&[(&[], "others"), (&[], "a name"), (&[1], "")]);
    assert_eq!(key("ask-user-multi-1", &questions, &none_of_these).as_deref(), Some("\x1b[B"));
    assert_eq!(key("ask-user-multi-1", &questions, &option(1)), None, "there are three questions");
    assert_eq!(key("ask-user-multi-review", &questions, &all).as_deref(), Some("!\r"));
    let extras = [question("Extras", true, &["Salt", "Pepper", "Oil"])];
    let picked = |text| answers(&[(&[2], text)]);
    assert_eq!(
        key("ask-user-boxes-done", &extras, &picked("more")).as_deref(),
        Some("\x1b[A"),
        "back"
    );
    assert_eq!(key("ask-user-boxes-done", &extras, &picked("")).as_deref(), Some("!\r"));
}

#[test]
fn grooming_trusts_the_folder_and_answers_nothing_else() {
    let answer = |case: &str| groom::answer(&prompt(&dialog(case)));
    assert_eq!(answer("trust-folder"), Some(accept(true)));
    for case in
        ["auth-dialog", "api-key-dialog", "confirm-shell", "quota-dialog-daily", "plan-approval"]
    {
        assert_eq!(answer(case), None, "{case}");
    }
}
