//! How an answer gets into a dialog of Gemini CLI: the next key towards it from what is on screen. Nothing is remembered
//! from one key to the next. Digits choose at once, whatever is highlighted, so Enter is pressed only where there is no
//! digit: on a text, on `Done` and on the page that shows all answers.

use bytes::Bytes;

use super::{composer, dialogs};
use crate::driver::Move;
use crate::driver::keys::{BACKSPACE, DOWN, ENTER, ESCAPE, UP, end, paste, press, refuse};
use crate::driver::prompt::{Answer, Prompt, PromptKind, QuestionAnswer};
use crate::driver::sight::{Choice, Dialog, Page, Role};

/// Brings the cursor to the end of its row.
const END: &[u8] = b"\x05";

pub(super) fn next_move(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    match dialog.kind {
        PromptKind::Question => question(prompt, answer, dialog),
        PromptKind::Plan => plan(answer, dialog),
        PromptKind::Setup if dialog.subtype == Some("api_key") => key(answer, dialog),
        PromptKind::Permission | PromptKind::Setup => choice(answer, dialog),
    }
}

fn choice(answer: &Answer, dialog: &Dialog) -> Move {
    if answer.words().is_some() {
        return refuse("this dialog takes no text: answer with accept or option");
    }
    let wanted = match (answer.option, answer.accept) {
        (Some(option), _) => option.checked_sub(1),
        (None, Some(true)) => {
            dialog.choice_with(Role::Accept).or_else(|| dialog.choice_with(Role::AcceptAlways))
        }
        (None, Some(false)) => match dialog.choice_with(Role::Decline) {
            None => return end(ESCAPE),
            decline => decline,
        },
        (None, None) => None,
    };
    match wanted.and_then(|at| dialog.choices.get(at)) {
        Some(choice) => take(choice),
        None => refuse("the dialog has no option for this answer"),
    }
}

fn take(choice: &Choice) -> Move {
    match choice.digit {
        Some(digit) => by_digit(digit.into()),
        None => refuse("this option cannot be chosen by a key"),
    }
}

/// A digit that leaves the dialog there: it checks a box, or opens a field.
fn point(taking: Move) -> Move {
    match taking {
        Move::Take(bytes) | Move::Press(bytes) => Move::Press(bytes),
        Move::Refuse(reason) => Move::Refuse(reason),
    }
}

fn by_digit(digit: usize) -> Move {
    match u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)).filter(|c| *c != '0') {
        Some(digit) => Move::Take(Bytes::from(digit.to_string())),
        None => refuse("an option beyond the ninth cannot be chosen by a key"),
    }
}

fn plan(answer: &Answer, dialog: &Dialog) -> Move {
    match answer.words() {
        Some(_) if answer.accept == Some(true) => {
            refuse("a plan is approved without a comment; a comment alone asks for changes")
        }
        Some(text) => own_words(text, dialog),
        None if typing(dialog) => press(UP),
        None => choice(answer, dialog),
    }
}

/// The field may hold a key that was found elsewhere, and may show other characters than were typed.
fn key(answer: &Answer, dialog: &Dialog) -> Move {
    let typed = field(dialog).unwrap_or_default();
    match answer.words().map(str::trim) {
        _ if answer.accept == Some(false) => end(ESCAPE),
        None if typed.is_empty() => refuse("the dialog wants an API key: answer with text"),
        None => end(ENTER),
        Some(text) if typed.is_empty() => pasted(text),
        Some(text) if typed.chars().count() == text.chars().count() => end(ENTER),
        Some(_) => erase(typed),
    }
}

fn question(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    let current = match &dialog.page {
        Page::Review { .. } => return end(ENTER),
        Page::Only => 0,
        Page::Question { current, .. } => *current,
    };
    if answer.accept == Some(false) && answer.option.is_none() && answer.answers.is_empty() {
        return match dialog.choice_with(Role::Decline) {
            Some(_) if answer.words().is_none() => choice(answer, dialog),
            Some(_) | None => end(ESCAPE),
        };
    }
    let wanted = match answer.answers.get(current) {
        Some(wanted) => wanted.clone(),
        None if !answer.answers.is_empty() => return refuse("this question has no answer"),
        None => QuestionAnswer { options: answer.option.into_iter().collect(), text: answer.text.clone() },
    };
    if dialog.choices.iter().any(|choice| choice.checked.is_some()) {
        let known = prompt.questions.get(current).map_or(0, |question| question.options.len());
        return several(&wanted, dialog, known);
    }
    match (wanted.words(), &wanted.options[..]) {
        (Some(text), []) => own_words(text, dialog),
        (Some(_), _) => refuse("this question takes an option or a text, not both"),
        // A digit would be typed.
        (None, [_]) if typing(dialog) && dialog.choices.len() > 1 => press(UP),
        (None, [option]) => {
            match dialog.choices.iter().find(|choice| choice.digit.map(usize::from) == Some(*option)) {
                Some(choice) if choice.role == Role::OwnWords => refuse("this option needs a text"),
                Some(_) | None => by_digit(*option),
            }
        }
        (None, []) if answer.accept == Some(true) => choice(&Answer { text: None, ..answer.clone() }, dialog),
        (None, []) => refuse("this question has no answer"),
        (None, [_, _, ..]) => refuse("this question takes one option"),
    }
}

/// Boxes to be checked: those in sight, then further down, to the words, to `Done`. Beyond the question's own options
/// are those that Gemini adds.
fn several(wanted: &QuestionAnswer, dialog: &Dialog, options: usize) -> Move {
    let highlighted = dialog.highlighted.and_then(|at| dialog.choices.get(at));
    let typing = typing(dialog);
    let wrong = |choice: &&Choice| {
        let digit = choice.digit.map_or(0, usize::from);
        choice.role == Role::Plain
            && digit <= options
            && choice.checked.is_some_and(|checked| checked != wanted.options.contains(&digit))
    };
    if let Some(choice) = dialog.choices.iter().find(wrong) {
        // A digit would be typed.
        return if typing { press(UP) } else { point(take(choice)) };
    }
    let words = wanted.words();
    match (highlighted, words) {
        (Some(Choice { role: Role::OwnWords, typed: Some(typed), .. }), Some(text))
            if !composer::shows(typed, text) =>
        {
            if typed.is_empty() {
                pasted(text)
            } else {
                erase(typed)
            }
        }
        // It was passed by without a word.
        (Some(Choice { role: Role::Submit, .. }), Some(_)) if empty_field(dialog) => press(UP),
        (Some(Choice { role: Role::Submit, .. }), _) => end(ENTER),
        (_, _) => press(DOWN),
    }
}

/// The field for own words is in sight, and nothing is in it.
fn empty_field(dialog: &Dialog) -> bool {
    let last = dialog.choices.iter().rfind(|choice| choice.digit.is_some());
    last.is_some_and(|last| last.label == dialogs::CUSTOM)
}

/// The field for own words opens by itself when a text is pasted.
fn own_words(text: &str, dialog: &Dialog) -> Move {
    match field(dialog) {
        Some(typed) if composer::shows(typed, text) => end(ENTER),
        Some("") | None => pasted(text),
        Some(typed) => erase(typed),
    }
}

/// What is typed in the field that has the cursor.
fn field(dialog: &Dialog) -> Option<&str> {
    dialog.choices.get(dialog.highlighted?)?.typed.as_deref()
}

fn typing(dialog: &Dialog) -> bool {
    field(dialog).is_some()
}

/// A field knows no key that empties it.
fn erase(typed: &str) -> Move {
    Move::Press(Bytes::from([END, &BACKSPACE.repeat(typed.chars().count())].concat()))
}

/// A digit alone would choose an option, so it gets a blank that nobody is told of.
fn pasted(text: &str) -> Move {
    let blank = if text.len() == 1 { " " } else { "" };
    Move::Press(Bytes::from(paste(&format!("{blank}{text}"))))
}
