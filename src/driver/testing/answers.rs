//! Short forms for tests of answers: the prompt of a dialog, answers, and the next key as text. It
//! knows no agent.

use crate::driver::NextKey;
use crate::driver::prompt::{Answer, Prompt, PromptId, Question, QuestionAnswer, QuestionOption};
use crate::driver::screen_reading::Dialog;

/// The prompt of a dialog without an announcement.
pub(in crate::driver) fn prompt(dialog: &Dialog) -> Prompt {
    Prompt {
        id: PromptId("p-1".to_owned()),
        kind: dialog.kind,
        subtype: dialog.subtype,
        tool: dialog.tool.map(str::to_owned),
        input: None,
        input_full: None,
        options: dialog.choices.iter().map(|choice| choice.label.clone()).collect(),
        more_options: false,
        options_fallback: false,
        questions: Vec::new(),
        question_current: 0,
        summary: None,
        message: dialog.message.clone(),
        screen_lines: dialog.lines.clone(),
        ready: true,
    }
}

pub(in crate::driver) fn question(header: &str, multi_select: bool, labels: &[&str]) -> Question {
    let option =
        |label: &&str| QuestionOption { label: (*label).to_owned(), description: String::new() };
    Question {
        question: format!("Which {} do you want?", header.to_lowercase()),
        header: header.to_owned(),
        multi_select,
        options: labels.iter().map(option).collect(),
    }
}

pub(in crate::driver) fn accept(accept: bool) -> Answer {
    Answer { accept: Some(accept), ..Answer::default() }
}

pub(in crate::driver) fn option(option: usize) -> Answer {
    Answer { option: Some(option), ..Answer::default() }
}

pub(in crate::driver) fn text(text: &str) -> Answer {
    with(text, Answer::default())
}

pub(in crate::driver) fn with(text: &str, answer: Answer) -> Answer {
    Answer { text: Some(text.to_owned()), ..answer }
}

/// The answer with these options and this text for each question.
pub(in crate::driver) fn answers(answers: &[(&[usize], &str)]) -> Answer {
    let one = |(options, text): &(&[usize], &str)| QuestionAnswer {
        options: options.to_vec(),
        text: (!text.is_empty()).then(|| (*text).to_owned()),
    };
    Answer { answers: answers.iter().map(one).collect(), ..Answer::default() }
}

pub(in crate::driver) fn paste(text: &str) -> String {
    crate::term::bracket(text)
}

/// The key as text, after a `!` if it closes the dialog or its page; `None` if the answer is
/// refused.
pub(in crate::driver) fn key(next: NextKey) -> Option<String> {
    match next {
        NextKey::Press(keys) => Some(String::from_utf8_lossy(&keys).into_owned()),
        NextKey::Reveal { key, option } => {
            Some(format!("{} to option {option}", String::from_utf8_lossy(&key)))
        }
        NextKey::Confirm(keys) => Some(format!("!{}", String::from_utf8_lossy(&keys))),
        NextKey::Unseen(reason) | NextKey::Refuse(reason) => {
            assert!(!reason.is_empty());
            None
        }
    }
}
