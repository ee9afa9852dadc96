//! Answers the model's questions: page by page with keys, or all at once through the waiting hook.
//! It does not know the other dialogs.

use serde_json::{Value, json};

use super::answer::{chosen, digit, fill, move_towards, take, write};
use crate::driver::NextKey;
use crate::driver::keys::{ENTER, ESCAPE, LEFT, TAB, press, refuse, reveal};
use crate::driver::prompt::{Answer, Prompt, QuestionAnswer};
use crate::driver::screen_reading::{Dialog, Page, Role};

pub(super) fn next_key(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if answer.accept == Some(false) {
        return press(ESCAPE);
    }
    let current = match &dialog.page {
        Page::Only => match shown_question(prompt, dialog) {
            Some(current) => current,
            None => return refuse("the dialog does not show which of the questions it asks"),
        },
        Page::Question { current, .. } if unanswered(dialog, *current) => return press(LEFT),
        Page::Question { current, .. } => *current,
        Page::Review { .. } => return review(prompt, answer, dialog),
    };
    if answer.answers.is_empty() {
        return only_question(prompt, answer, dialog);
    }
    let Some(wanted) = answer.answers.get(current) else {
        return refuse(format!(
            "question {} is on screen, and there is no answer for it",
            current + 1
        ));
    };
    page(prompt, current, wanted, dialog)
}

/// The question on a page that does not show the headers of all: the only one, or the one with this
/// text.
fn shown_question(prompt: &Prompt, dialog: &Dialog) -> Option<usize> {
    if prompt.questions.len() < 2 {
        return Some(0);
    }
    let shown = without_whitespace(&dialog.message);
    prompt.questions.iter().position(|asked| without_whitespace(&asked.question) == shown)
}

/// Whether a question before this page is unanswered; pages are answered in order.
fn unanswered(dialog: &Dialog, page: usize) -> bool {
    let tabs = dialog.lines.first().map(String::as_str).unwrap_or_default();
    tabs.chars().filter(|c| matches!(c, '☐' | '☒')).take(page).any(|mark| mark == '☐')
}

/// Answers the only question with an option of the dialog or with text.
fn only_question(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    let field = dialog.choice_with(Role::OwnWords);
    match (chosen(prompt, answer, dialog), answer.words()) {
        (Err(reason), _) => refuse(reason),
        (Ok(Some(at)), Some(text)) if Some(at) == field => free_text(dialog, at, text),
        (Ok(Some(_)), Some(_)) => refuse("this option takes no text"),
        (Ok(Some(at)), None) if Some(at) == field => refuse("this option needs text"),
        (Ok(Some(at)), None)
            if has_boxes(dialog)
                && dialog.choices.get(at).is_some_and(|choice| choice.role == Role::Plain) =>
        {
            refuse("this question takes several options: use answers")
        }
        (Ok(Some(at)), None) => take(dialog, at),
        (Ok(None), Some(text)) => match field {
            Some(at) => free_text(dialog, at, text),
            None => refuse("this question takes no text"),
        },
        (Ok(None), None) => refuse("a question is answered with an option, text or answers"),
    }
}

fn has_boxes(dialog: &Dialog) -> bool {
    dialog.choices.iter().any(|choice| choice.checked.is_some())
}

fn page(prompt: &Prompt, current: usize, wanted: &QuestionAnswer, dialog: &Dialog) -> NextKey {
    let mut positions = Vec::with_capacity(wanted.options.len());
    for option in &wanted.options {
        match position_of(prompt, current, *option, dialog) {
            Some(at) => positions.push(at),
            None => return refuse(format!("question {} shows no option {option}", current + 1)),
        }
    }
    let field = dialog.choice_with(Role::OwnWords);
    let text = wanted.words();
    if has_boxes(dialog) {
        return tick_boxes(&positions, text, field, dialog);
    }
    match (positions.first(), text, field) {
        (Some(at), None, _) => take(dialog, *at),
        (None, Some(text), Some(at)) => free_text(dialog, at, text),
        (None, Some(_), None) => refuse("this question takes no text"),
        (Some(_), Some(_), _) => refuse("this question takes an option or text, not both"),
        (None, None, _) => refuse(format!("there is no answer to question {}", current + 1)),
    }
}

/// The position of a question's option in the dialog: by its label, or by its number if only the
/// screen shows the option.
fn position_of(prompt: &Prompt, current: usize, option: usize, dialog: &Dialog) -> Option<usize> {
    let number = option.checked_sub(1)?;
    let mut plain =
        dialog.choices.iter().enumerate().filter(|(_, choice)| choice.role == Role::Plain);
    let nth = plain.clone().nth(number).map(|(at, _)| at);
    let Some(label) =
        prompt.questions.get(current).and_then(|question| question.options.get(number))
    else {
        return nth;
    };
    // The screen may wrap or shorten a label; then its position decides.
    plain.find(|(_, choice)| choice.label == label.label).map(|(at, _)| at).or(nth)
}

/// Ticks and unticks boxes until they match the answer, then moves on.
fn tick_boxes(
    positions: &[usize],
    text: Option<&str>,
    field: Option<usize>,
    dialog: &Dialog,
) -> NextKey {
    let hidden = |at: &&usize| dialog.choices.get(**at).is_some_and(|choice| choice.hidden);
    if let Some(at) = positions.iter().find(hidden) {
        return reveal(dialog, at + 1);
    }
    let differs = |at: usize| {
        let choice = dialog.choices.get(at)?;
        let (checked, number) = (choice.checked?, choice.digit?);
        (choice.role == Role::Plain && checked != positions.contains(&at)).then_some(number)
    };
    if let Some(number) = (0..dialog.choices.len()).find_map(differs) {
        return digit(number);
    }
    let submit = dialog.choice_with(Role::Submit);
    let own = field.and_then(|at| dialog.choices.get(at).map(|choice| (at, choice)));
    match (text, own) {
        (Some(_), None) => return refuse("this question takes no text"),
        (Some(text), Some((at, choice))) => {
            let shown_already =
                choice.typed.as_deref().is_some_and(|typed| super::composer::shows(typed, text));
            if !shown_already && dialog.highlighted != Some(at) {
                return move_towards(dialog, at);
            }
            if !shown_already {
                return write(choice, text, TAB);
            }
            if choice.checked == Some(false) {
                return choice.digit.map_or_else(|| refuse("the text cannot be ticked"), digit);
            }
        }
        (None, Some((_, choice))) if choice.checked == Some(true) => {
            return choice.digit.map_or_else(|| refuse("the text cannot be unticked"), digit);
        }
        (None, _) => {}
    }
    if submit.is_some() && dialog.highlighted == submit { press(ENTER) } else { press(TAB) }
}

fn free_text(dialog: &Dialog, at: usize, text: &str) -> NextKey {
    if has_boxes(dialog) {
        return tick_boxes(&[], Some(text), Some(at), dialog);
    }
    fill(dialog, at, text, ENTER)
}

/// On the last page: submits the answers if they are those of the request.
fn review(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if answer.answers.is_empty() && answer.text.is_none() {
        return match chosen(prompt, answer, dialog) {
            Ok(Some(at)) => take(dialog, at),
            Ok(None) => submit(dialog),
            Err(reason) => refuse(reason),
        };
    }
    if dialog.lines.iter().any(|line| line.contains("You have not answered all questions")) {
        return press(LEFT);
    }
    let shown = reviewed(dialog);
    let differing = answer.answers.iter().enumerate().filter(|(at, wanted)| {
        let pieces = pieces(prompt, *at, wanted);
        shown.get(*at).is_some_and(|shown| {
            !pieces.iter().all(|piece| shown.contains(&without_whitespace(piece)))
        })
    });
    if let Some((at, _)) = differing.clone().next() {
        return refuse(format!("question {} was answered differently at the keyboard", at + 1));
    }
    submit(dialog)
}

fn submit(dialog: &Dialog) -> NextKey {
    match dialog.choice_with(Role::Submit) {
        Some(at) => take(dialog, at),
        None => refuse("the dialog does not show how to submit the answers"),
    }
}

/// The answers on the page that lists them all, without whitespace.
fn reviewed(dialog: &Dialog) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    let rows = dialog.lines.iter().map(|line| line.trim());
    for row in rows.take_while(|row| !row.starts_with("Ready to submit")) {
        if row.starts_with('●') {
            answers.push(String::new());
        } else if let Some(answer) = answers.last_mut() {
            answer.push_str(&without_whitespace(row));
        }
    }
    answers
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The parts of the answer to a question: labels of options, and the text.
fn pieces(prompt: &Prompt, at: usize, wanted: &QuestionAnswer) -> Vec<String> {
    let options =
        prompt.questions.get(at).map(|question| &question.options[..]).unwrap_or_default();
    let labels = wanted
        .options
        .iter()
        .filter_map(|option| options.get(option.checked_sub(1)?))
        .map(|option| option.label.clone());
    labels.chain(wanted.words().map(str::to_owned)).collect()
}

/// The answers in the form that the waiting hook prints: the tool's input with the answers added.
pub(super) fn decision(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    if answer.accept == Some(false) {
        // At the keyboard, declining ends the turn; through the hook it would not.
        return None;
    }
    let mut input: Value = serde_json::from_str(prompt.input_full.as_deref()?).ok()?;
    let asked: Vec<String> = input
        .get("questions")?
        .as_array()?
        .iter()
        .map(|question| question.get("question").and_then(Value::as_str).map(str::to_owned))
        .collect::<Option<_>>()?;
    let given = if answer.answers.is_empty() {
        vec![single(prompt, answer)?]
    } else {
        answer.answers.clone()
    };
    if asked.is_empty() || asked.len() != given.len() || asked.len() != prompt.questions.len() {
        return None;
    }
    let mut answers = serde_json::Map::new();
    for (at, (question, given)) in asked.into_iter().zip(&given).enumerate() {
        let pieces = pieces(prompt, at, given);
        if pieces.is_empty()
            || pieces.len() != given.options.len() + usize::from(given.text.is_some())
        {
            return None;
        }
        answers.insert(question, Value::String(pieces.join(", ")));
    }
    input.as_object_mut()?.insert("answers".to_owned(), Value::Object(answers));
    Some(json!({"behavior": "allow", "updatedInput": input}))
}

/// The answer to the only question, from an answer without `answers`.
fn single(prompt: &Prompt, answer: &Answer) -> Option<QuestionAnswer> {
    match (answer.option, answer.words()) {
        (None, Some(text)) => {
            Some(QuestionAnswer { options: Vec::new(), text: Some(text.to_owned()) })
        }
        (Some(option), None) => {
            let label = prompt.options.get(option.checked_sub(1)?)?;
            let options = &prompt.questions.first()?.options;
            let at = options.iter().position(|known| known.label == *label)?;
            Some(QuestionAnswer { options: vec![at + 1], text: None })
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}
