//! How the model's questions are answered: page by page with keys, or all at once through the waiting hook. It knows
//! nothing of the other dialogs.

use serde_json::{Value, json};

use super::answer::{chosen, digit, fill, take, towards, write};
use crate::driver::Move;
use crate::driver::keys::{ENTER, ESCAPE, LEFT, TAB, press, refuse};
use crate::driver::prompt::{Answer, Prompt, QuestionAnswer};
use crate::driver::sight::{Dialog, Page, Role};

pub(super) fn next_move(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if answer.accept == Some(false) {
        return press(ESCAPE);
    }
    let current = match &dialog.page {
        Page::Only => 0,
        Page::Question { current, .. } if unanswered(dialog, *current) => return press(LEFT),
        Page::Question { current, .. } => *current,
        Page::Review { .. } => return review(prompt, answer, dialog),
    };
    if answer.answers.is_empty() {
        return one(prompt, answer, dialog);
    }
    let Some(wanted) = answer.answers.get(current) else {
        return refuse(format!("question {} is on screen, and there is no answer for it", current + 1));
    };
    page(prompt, current, wanted, dialog)
}

/// Whether a question before this page has no answer; the pages are answered from the first on.
fn unanswered(dialog: &Dialog, page: usize) -> bool {
    let tabs = dialog.lines.first().map(String::as_str).unwrap_or_default();
    tabs.chars().filter(|c| matches!(c, '☐' | '☒')).take(page).any(|mark| mark == '☐')
}

/// The only question, answered with an option of the dialog or with words.
fn one(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    let field = dialog.choice_with(Role::OwnWords);
    match (chosen(prompt, answer, dialog), answer.words()) {
        (Err(reason), _) => refuse(reason),
        (Ok(Some(at)), Some(text)) if Some(at) == field => words(dialog, at, text),
        (Ok(Some(_)), Some(_)) => refuse("this option takes no words"),
        (Ok(Some(at)), None) if Some(at) == field => refuse("this option needs text"),
        (Ok(Some(at)), None)
            if boxes(dialog) && dialog.choices.get(at).is_some_and(|choice| choice.role == Role::Plain) =>
        {
            refuse("this question takes several options: give answers")
        }
        (Ok(Some(at)), None) => take(dialog, at),
        (Ok(None), Some(text)) => match field {
            Some(at) => words(dialog, at, text),
            None => refuse("this question takes no words"),
        },
        (Ok(None), None) => refuse("a question is answered with an option, text or answers"),
    }
}

fn boxes(dialog: &Dialog) -> bool {
    dialog.choices.iter().any(|choice| choice.checked.is_some())
}

fn page(prompt: &Prompt, current: usize, wanted: &QuestionAnswer, dialog: &Dialog) -> Move {
    let mut places = Vec::with_capacity(wanted.options.len());
    for option in &wanted.options {
        match place(prompt, current, *option, dialog) {
            Some(at) => places.push(at),
            None => return refuse(format!("question {} shows no option {option}", current + 1)),
        }
    }
    let field = dialog.choice_with(Role::OwnWords);
    let text = wanted.words();
    if boxes(dialog) {
        return several(&places, text, field, dialog);
    }
    match (places.first(), text, field) {
        (Some(at), None, _) => take(dialog, *at),
        (None, Some(text), Some(at)) => words(dialog, at, text),
        (None, Some(_), None) => refuse("this question takes no words"),
        (Some(_), Some(_), _) => refuse("this question takes an option or words, not both"),
        (None, None, _) => refuse(format!("there is no answer to question {}", current + 1)),
    }
}

/// Where an option of a question is in the dialog: by its label, or by its number where only the screen knows it.
fn place(prompt: &Prompt, current: usize, option: usize, dialog: &Dialog) -> Option<usize> {
    let number = option.checked_sub(1)?;
    let mut plain = dialog.choices.iter().enumerate().filter(|(_, choice)| choice.role == Role::Plain);
    let nth = plain.clone().nth(number).map(|(at, _)| at);
    let Some(label) = prompt.questions.get(current).and_then(|question| question.options.get(number)) else {
        return nth;
    };
    // The screen may have wrapped a label or cut it; then its place must do.
    plain.find(|(_, choice)| choice.label == label.label).map(|(at, _)| at).or(nth)
}

/// Ticks what is to be ticked, and goes on.
fn several(places: &[usize], text: Option<&str>, field: Option<usize>, dialog: &Dialog) -> Move {
    let differs = |at: usize| {
        let choice = dialog.choices.get(at)?;
        let (checked, number) = (choice.checked?, choice.digit?);
        (choice.role == Role::Plain && checked != places.contains(&at)).then_some(number)
    };
    if let Some(number) = (0..dialog.choices.len()).find_map(differs) {
        return digit(number);
    }
    let submit = dialog.choice_with(Role::Submit);
    let own = field.and_then(|at| dialog.choices.get(at).map(|choice| (at, choice)));
    match (text, own) {
        (Some(_), None) => return refuse("this question takes no words"),
        (Some(text), Some((at, choice))) => {
            let there = choice.typed.as_deref().is_some_and(|typed| super::composer::shows(typed, text));
            if !there && dialog.highlighted != Some(at) {
                return towards(dialog, at);
            }
            if !there {
                return write(choice, text, TAB);
            }
            if choice.checked == Some(false) {
                return choice.digit.map_or_else(|| refuse("the words cannot be ticked"), digit);
            }
        }
        (None, Some((_, choice))) if choice.checked == Some(true) => {
            return choice.digit.map_or_else(|| refuse("the words cannot be unticked"), digit);
        }
        (None, _) => {}
    }
    if submit.is_some() && dialog.highlighted == submit { press(ENTER) } else { press(TAB) }
}

fn words(dialog: &Dialog, at: usize, text: &str) -> Move {
    if boxes(dialog) {
        return several(&[], Some(text), Some(at), dialog);
    }
    fill(dialog, at, text, ENTER)
}

/// All questions are answered: sends the answers if they are the ones that were asked for.
fn review(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
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
    let strays = answer.answers.iter().enumerate().filter(|(at, wanted)| {
        let pieces = pieces(prompt, *at, wanted);
        shown.get(*at).is_some_and(|shown| !pieces.iter().all(|piece| shown.contains(&squeezed(piece))))
    });
    if let Some((at, _)) = strays.clone().next() {
        return refuse(format!("question {} has been answered otherwise at the keyboard", at + 1));
    }
    submit(dialog)
}

fn submit(dialog: &Dialog) -> Move {
    match dialog.choice_with(Role::Submit) {
        Some(at) => take(dialog, at),
        None => refuse("the dialog does not say how to send the answers"),
    }
}

/// The answers on the page that shows them all, without their blanks.
fn reviewed(dialog: &Dialog) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    let rows = dialog.lines.iter().map(|line| line.trim());
    for row in rows.take_while(|row| !row.starts_with("Ready to submit")) {
        if row.starts_with('●') {
            answers.push(String::new());
        } else if let Some(answer) = answers.last_mut() {
            answer.push_str(&squeezed(row));
        }
    }
    answers
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// What the answer to a question consists of: labels, and own words.
fn pieces(prompt: &Prompt, at: usize, wanted: &QuestionAnswer) -> Vec<String> {
    let options = prompt.questions.get(at).map(|question| &question.options[..]).unwrap_or_default();
    let labels = wanted
        .options
        .iter()
        .filter_map(|option| options.get(option.checked_sub(1)?))
        .map(|option| option.label.clone());
    labels.chain(wanted.words().map(str::to_owned)).collect()
}

/// The answers as the waiting hook takes them: the tool's own input with the answers in it.
pub(super) fn decision(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    if answer.accept == Some(false) {
        // Declining ends the turn at the keyboard, and would not through the hook.
        return None;
    }
    let mut input: Value = serde_json::from_str(prompt.input_full.as_deref()?).ok()?;
    let asked: Vec<String> = input
        .get("questions")?
        .as_array()?
        .iter()
        .map(|question| question.get("question").and_then(Value::as_str).map(str::to_owned))
        .collect::<Option<_>>()?;
    let given =
        if answer.answers.is_empty() { vec![single(prompt, answer)?] } else { answer.answers.clone() };
    if asked.is_empty() || asked.len() != given.len() || asked.len() != prompt.questions.len() {
        return None;
    }
    let mut answers = serde_json::Map::new();
    for (at, (question, given)) in asked.into_iter().zip(&given).enumerate() {
        let pieces = pieces(prompt, at, given);
        if pieces.is_empty() || pieces.len() != given.options.len() + usize::from(given.text.is_some()) {
            return None;
        }
        answers.insert(question, Value::String(pieces.join(", ")));
    }
    input.as_object_mut()?.insert("answers".to_owned(), Value::Object(answers));
    Some(json!({"behavior": "allow", "updatedInput": input}))
}

/// An answer to the only question that was not given as one of several.
fn single(prompt: &Prompt, answer: &Answer) -> Option<QuestionAnswer> {
    match (answer.option, answer.words()) {
        (None, Some(text)) => Some(QuestionAnswer { options: Vec::new(), text: Some(text.to_owned()) }),
        (Some(option), None) => {
            let label = prompt.options.get(option.checked_sub(1)?)?;
            let options = &prompt.questions.first()?.options;
            let at = options.iter().position(|known| known.label == *label)?;
            Some(QuestionAnswer { options: vec![at + 1], text: None })
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}
