//! How an answer gets into a dialog of Codex: the next key towards it from what is on screen. Nothing is remembered
//! from one key to the next.
//!
//! Options are taken by moving the pointer and an Enter. Every dialog takes these, while digits and letters do
//! something else in each of them.

use bytes::Bytes;

use crate::driver::Move;
use crate::driver::draft;
use crate::driver::keys::{CLEAR_ROW, DOWN, ENTER, ESCAPE, TAB, UP, end, paste, press, refuse};
use crate::driver::prompt::{Answer, Prompt, PromptKind};
use crate::driver::sight::{Choice, Dialog, Page, Role};

/// Dialogs that an Escape closes and nothing else.
const CLOSED_BY_ESCAPE: [&str; 3] = ["menu", "resume_picker", "api_key"];

/// The next key from what the dialog shows to the answer.
pub(super) fn next_move(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    match dialog.kind {
        PromptKind::Question => question(prompt, answer, dialog),
        PromptKind::Setup if dialog.subtype == Some("api_key") => match answer.words() {
            Some(key) => fill(dialog, 0, key),
            None if answer.accept == Some(false) => end(ESCAPE),
            None => refuse("an API key must be given as text"),
        },
        PromptKind::Permission | PromptKind::Plan | PromptKind::Setup => choice(prompt, answer, dialog),
    }
}

fn choice(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if answer.words().is_some() {
        return refuse("this dialog takes no words: answer it, and send them as a message");
    }
    let named = match chosen(prompt, answer.option, dialog) {
        Ok(named) => named,
        Err(reason) => return refuse(reason),
    };
    let meant = || answer.accept.map(|accept| if accept { Role::Accept } else { Role::Decline });
    match named.or_else(|| dialog.choice_with(meant()?)) {
        Some(at) => take(dialog, at),
        None if answer.accept == Some(false)
            && (dialog.kind != PromptKind::Setup
                || dialog.subtype.is_some_and(|subtype| CLOSED_BY_ESCAPE.contains(&subtype))) =>
        {
            end(ESCAPE)
        }
        None => refuse("this dialog can neither be accepted nor declined: give an option, or press keys"),
    }
}

/// The answer to the question that is up; each one that is given leads to the next.
fn question(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if answer.accept == Some(false) {
        return end(ESCAPE);
    }
    let current = match &dialog.page {
        Page::Only => 0,
        Page::Question { current, .. } => *current,
        Page::Review { .. } => return end(ENTER),
    };
    let (option, text) = match answer.answers.get(current) {
        Some(given) => (given.options.first().copied(), given.words()),
        None => (answer.option, answer.words()),
    };
    let at = match option {
        // The answers of one of several questions are not those that the prompt was published with.
        Some(option) if !answer.answers.is_empty() => Ok(Some(option.wrapping_sub(1))),
        option => chosen(prompt, option, dialog),
    };
    let at = match at {
        Ok(at) => at.filter(|at| *at < dialog.choices.len()),
        Err(reason) => return refuse(reason),
    };
    match (at, text) {
        (Some(at), Some(text)) => fill(dialog, at, text),
        (Some(at), None) => take(dialog, at),
        (None, Some(text)) => match dialog.choice_with(Role::OwnWords) {
            Some(at) => fill(dialog, at, text),
            None => refuse("this question takes no words of its own"),
        },
        (None, None) => refuse("the question has no such option"),
    }
}

/// The option with this number, found again by its label.
fn chosen(prompt: &Prompt, option: Option<usize>, dialog: &Dialog) -> Result<Option<usize>, String> {
    let Some(option) = option else { return Ok(None) };
    let at = option.wrapping_sub(1);
    let Some(label) = prompt.options.get(at) else {
        return match dialog.choices.get(at) {
            Some(_) if prompt.options.is_empty() => Ok(Some(at)),
            Some(_) | None => Err(format!("option {option} is out of range")),
        };
    };
    let is = |choice: &Choice| choice.label == *label;
    if dialog.choices.get(at).is_some_and(is) {
        return Ok(Some(at));
    }
    let moved = dialog.choices.iter().position(is);
    moved.map(Some).ok_or_else(|| format!("the dialog shows no option {label:?} now"))
}

/// Points at an option, and takes it once the pointer is there.
fn take(dialog: &Dialog, at: usize) -> Move {
    let noted = dialog.choices.iter().any(|choice| choice.typed.is_some() && choice.role != Role::OwnWords);
    match dialog.highlighted {
        // Somebody's notes are open, and the pointer does not move while they are.
        Some(now) if noted && now != at => press(TAB),
        Some(now) if now == at => end(ENTER),
        Some(now) if now > at => press(UP),
        Some(_) => press(DOWN),
        None => refuse("the dialog does not show which option is highlighted"),
    }
}

/// Points at an option, opens its field, writes, and sends.
fn fill(dialog: &Dialog, at: usize, text: &str) -> Move {
    let Some(choice) = dialog.choices.get(at) else { return refuse("the dialog has no such option") };
    if dialog.highlighted != Some(at) {
        return take(dialog, at);
    }
    match choice.typed.as_deref() {
        None => press(TAB),
        Some(typed) if draft::shows(typed, text) => end(ENTER),
        Some("") => Move::Press(Bytes::from(paste(text))),
        Some(_) => press(CLEAR_ROW),
    }
}
