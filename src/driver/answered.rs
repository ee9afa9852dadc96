//! How tests answer dialogs: the prompt of a dialog, answers in few words, and the key that comes of them. It knows no
//! agent.

use super::Move;
use super::prompt::{Answer, Prompt, PromptId, Question, QuestionAnswer, QuestionOption};
use super::sight::Dialog;

/// The prompt of a dialog that nobody announced.
pub(super) fn prompt(dialog: &Dialog) -> Prompt {
    Prompt {
        id: PromptId("p-1".to_owned()),
        kind: dialog.kind,
        subtype: dialog.subtype,
        tool: dialog.tool.map(str::to_owned),
        input: None,
        input_full: None,
        options: dialog.choices.iter().map(|choice| choice.label.clone()).collect(),
        options_fallback: false,
        questions: Vec::new(),
        question_current: 0,
        summary: None,
        message: dialog.message.clone(),
        screen_lines: dialog.lines.clone(),
        ready: true,
    }
}

pub(super) fn question(header: &str, multi_select: bool, labels: &[&str]) -> Question {
    let option = |label: &&str| QuestionOption { label: (*label).to_owned(), description: String::new() };
    Question {
        question: format!("Which {} do you want?", header.to_lowercase()),
        header: header.to_owned(),
        multi_select,
        options: labels.iter().map(option).collect(),
    }
}

pub(super) fn accept(accept: bool) -> Answer {
    Answer { accept: Some(accept), ..Answer::default() }
}

pub(super) fn option(option: usize) -> Answer {
    Answer { option: Some(option), ..Answer::default() }
}

pub(super) fn text(text: &str) -> Answer {
    with(text, Answer::default())
}

pub(super) fn with(text: &str, answer: Answer) -> Answer {
    Answer { text: Some(text.to_owned()), ..answer }
}

/// The options and the words for each question.
pub(super) fn answers(answers: &[(&[usize], &str)]) -> Answer {
    let one = |(options, text): &(&[usize], &str)| QuestionAnswer {
        options: options.to_vec(),
        text: (!text.is_empty()).then(|| (*text).to_owned()),
    };
    Answer { answers: answers.iter().map(one).collect(), ..Answer::default() }
}

pub(super) fn paste(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

/// The key as it is, or with a `!` before it if the dialog, or its page, goes away by it; `None` if the answer is refused.
pub(super) fn key(next: Move) -> Option<String> {
    match next {
        Move::Press(keys) => Some(String::from_utf8_lossy(&keys).into_owned()),
        Move::Take(keys) => Some(format!("!{}", String::from_utf8_lossy(&keys))),
        Move::Refuse(reason) => {
            assert!(!reason.is_empty());
            None
        }
    }
}
