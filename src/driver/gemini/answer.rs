//! Enters an answer into a Gemini CLI dialog as the next key, computed from what the screen shows.
//! No state is kept between two keys. A digit selects its option at once, whatever is highlighted,
//! so Enter is pressed only where there is no digit: on a text, on `Done` and on the page that
//! lists all answers.

use bytes::Bytes;

use super::{composer, dialogs};
use crate::driver::NextKey;
use crate::driver::keys::{
    BACKSPACE, DOWN, ENTER, ESCAPE, UP, confirm, paste, press, refuse, reveal,
};
use crate::driver::prompt::{Answer, Prompt, PromptKind, QuestionAnswer};
use crate::driver::screen_reading::{Choice, Dialog, Page, Role};

/// Moves the cursor to the end of its row.
const END: &[u8] = b"\x05";

pub(super) fn next_key(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    match dialog.kind {
        PromptKind::Question => question(prompt, answer, dialog),
        PromptKind::Plan => plan(answer, dialog),
        PromptKind::Setup if dialog.subtype == Some("api_key") => api_key(answer, dialog),
        PromptKind::Permission | PromptKind::Setup => choice(answer, dialog),
    }
}

fn choice(answer: &Answer, dialog: &Dialog) -> NextKey {
    if answer.words().is_some() {
        return refuse("this dialog takes no text: answer with accept or option");
    }
    let wanted = match (answer.option, answer.accept) {
        (Some(option), _) => option.checked_sub(1),
        (None, Some(true)) => {
            dialog.choice_with(Role::Accept).or_else(|| dialog.choice_with(Role::AcceptAlways))
        }
        (None, Some(false)) => match dialog.choice_with(Role::Decline) {
            None => return confirm(ESCAPE),
            decline => decline,
        },
        (None, None) => None,
    };
    match wanted.and_then(|at| dialog.choices.get(at)) {
        Some(choice) => take(dialog, choice),
        None => match wanted.filter(|_| dialog.more) {
            Some(at) => reveal(dialog, at + 1),
            None => refuse("the dialog has no option for this answer"),
        },
    }
}

fn take(dialog: &Dialog, choice: &Choice) -> NextKey {
    match choice.digit {
        Some(digit) if choice.hidden => reveal(dialog, digit.into()),
        Some(digit) => by_digit(digit.into()),
        None => refuse("no key selects this option"),
    }
}

/// A digit after which the dialog stays open: it ticks a box, or opens a field.
fn without_confirming(key: NextKey) -> NextKey {
    match key {
        NextKey::Confirm(bytes) | NextKey::Press(bytes) => NextKey::Press(bytes),
        NextKey::Reveal { .. } | NextKey::Unseen(_) | NextKey::Refuse(_) => key,
    }
}

fn by_digit(digit: usize) -> NextKey {
    match u32::try_from(digit)
        .ok()
        .and_then(|digit| char::from_digit(digit, 10))
        .filter(|c| *c != '0')
    {
        Some(digit) => NextKey::Confirm(Bytes::from(digit.to_string())),
        None => refuse("no key selects an option beyond the ninth"),
    }
}

fn plan(answer: &Answer, dialog: &Dialog) -> NextKey {
    match answer.words() {
        Some(_) if answer.accept == Some(true) => {
            refuse("a plan is approved without text; text without accept asks for changes")
        }
        Some(text) => free_text(text, dialog),
        None if typing(dialog) => press(UP),
        None => choice(answer, dialog),
    }
}

/// Enters an API key. The field may already hold a key from elsewhere, and may mask its characters.
fn api_key(answer: &Answer, dialog: &Dialog) -> NextKey {
    let typed = field(dialog).unwrap_or_default();
    match answer.words().map(str::trim) {
        _ if answer.accept == Some(false) => confirm(ESCAPE),
        None if typed.is_empty() => refuse("the dialog needs an API key: answer with text"),
        None => confirm(ENTER),
        Some(text) if typed.is_empty() => pasted(text),
        Some(text) if typed.chars().count() == text.chars().count() => confirm(ENTER),
        Some(_) => erase(typed),
    }
}

fn question(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    let current = match &dialog.page {
        Page::Review { .. } => return confirm(ENTER),
        Page::Only => 0,
        Page::Question { current, .. } => *current,
    };
    if answer.accept == Some(false) && answer.option.is_none() && answer.answers.is_empty() {
        return match dialog.choice_with(Role::Decline) {
            Some(_) if answer.words().is_none() => choice(answer, dialog),
            Some(_) | None => confirm(ESCAPE),
        };
    }
    let wanted = match answer.answers.get(current) {
        Some(wanted) => wanted.clone(),
        None if !answer.answers.is_empty() => return refuse("this question has no answer"),
        None => QuestionAnswer {
            options: answer.option.into_iter().collect(),
            text: answer.text.clone(),
        },
    };
    if dialog.choices.iter().any(|choice| choice.checked.is_some()) {
        let known = prompt.questions.get(current).map_or(0, |question| question.options.len());
        return tick_boxes(&wanted, dialog, known);
    }
    match (wanted.words(), &wanted.options[..]) {
        (Some(text), []) => free_text(text, dialog),
        (Some(_), _) => refuse("this question takes an option or text, not both"),
        // In an open field, a digit would be typed.
        (None, [_]) if typing(dialog) && dialog.choices.len() > 1 => press(UP),
        (None, [option]) => {
            match dialog
                .choices
                .iter()
                .find(|choice| choice.digit.map(usize::from) == Some(*option))
            {
                Some(choice) if choice.role == Role::OwnWords => refuse("this option needs text"),
                Some(choice) => take(dialog, choice),
                None => reveal(dialog, *option),
            }
        }
        (None, []) if answer.accept == Some(true) => {
            choice(&Answer { text: None, ..answer.clone() }, dialog)
        }
        (None, []) => refuse("this question has no answer"),
        (None, [_, _, ..]) => refuse("this question takes one option"),
    }
}

/// Ticks the boxes on screen, then moves down to the text field and to `Done`. Gemini adds options
/// of its own after those of the question.
fn tick_boxes(wanted: &QuestionAnswer, dialog: &Dialog, options: usize) -> NextKey {
    let highlighted = dialog.highlighted.and_then(|at| dialog.choices.get(at));
    let typing = typing(dialog);
    let wrong = |choice: &&Choice| {
        let digit = choice.digit.map_or(0, usize::from);
        choice.role == Role::Plain
            && digit <= options
            && choice.checked.is_some_and(|checked| checked != wanted.options.contains(&digit))
    };
    if let Some(choice) = dialog.choices.iter().find(wrong) {
        // In an open field, a digit would be typed.
        return if typing { press(UP) } else { without_confirming(take(dialog, choice)) };
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
        // The text field was skipped without its text.
        (Some(Choice { role: Role::Submit, .. }), Some(_)) if empty_field(dialog) => press(UP),
        (Some(Choice { role: Role::Submit, .. }), _) => confirm(ENTER),
        (_, _) => press(DOWN),
    }
}

/// Whether the text field is on screen and empty.
fn empty_field(dialog: &Dialog) -> bool {
    let last = dialog.choices.iter().rfind(|choice| choice.digit.is_some());
    last.is_some_and(|last| last.label == dialogs::CUSTOM)
}

/// Types a free-text answer; its field opens by itself when a text is pasted.
fn free_text(text: &str, dialog: &Dialog) -> NextKey {
    match field(dialog) {
        Some(typed) if composer::shows(typed, text) => confirm(ENTER),
        Some("") | None => pasted(text),
        Some(typed) => erase(typed),
    }
}

/// The text in the field that has the cursor.
fn field(dialog: &Dialog) -> Option<&str> {
    dialog.choices.get(dialog.highlighted?)?.typed.as_deref()
}

fn typing(dialog: &Dialog) -> bool {
    field(dialog).is_some()
}

/// Deletes the text character by character, because no key clears a field.
fn erase(typed: &str) -> NextKey {
    NextKey::Press(Bytes::from([END, &BACKSPACE.repeat(typed.chars().count())].concat()))
}

/// A single digit would select an option, so a single character gets a leading space, which Gemini
/// trims.
fn pasted(text: &str) -> NextKey {
    let blank = if text.len() == 1 { " " } else { "" };
    NextKey::Press(Bytes::from(paste(&format!("{blank}{text}"))))
}
