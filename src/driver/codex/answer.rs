//! Enters an answer into a Codex dialog as the next key, computed from what the screen shows. No
//! state is kept between two keys.
//!
//! Options are selected by moving the highlight and pressing Enter, which works in every dialog;
//! digits and letters have different effects in each of them.

use bytes::Bytes;

use crate::driver::NextKey;
use crate::driver::draft;
use crate::driver::keys::{
    CLEAR_ROW, DOWN, ENTER, ESCAPE, TAB, UP, confirm, paste, press, refuse, reveal,
};
use crate::driver::prompt::{Answer, Prompt, PromptKind};
use crate::driver::screen_reading::{Dialog, Page, Role};

/// Dialogs that only Escape closes.
const CLOSED_BY_ESCAPE: [&str; 3] = ["menu", "resume_picker", "api_key"];

/// The next key that brings the dialog closer to the answer.
pub(super) fn next_key(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    match dialog.kind {
        PromptKind::Question => question(prompt, answer, dialog),
        PromptKind::Setup if dialog.subtype == Some("api_key") => match answer.words() {
            Some(key) => fill(dialog, 0, key),
            None if answer.accept == Some(false) => confirm(ESCAPE),
            None => refuse("an API key must be given as text"),
        },
        PromptKind::Permission | PromptKind::Plan | PromptKind::Setup => {
            choice(prompt, answer, dialog)
        }
    }
}

fn choice(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if answer.words().is_some() {
        return refuse("this dialog takes no text: answer it, then send the text as a message");
    }
    let named = match chosen(prompt, answer.option, dialog) {
        Ok(named) => named,
        Err(reason) => return refuse(reason),
    };
    let meant = || answer.accept.map(|accept| if accept { Role::Accept } else { Role::Decline });
    // The option may be in the part of the list that is not on screen.
    let unseen = || dialog.first_hidden().filter(|_| answer.accept == Some(true));
    match named.or_else(|| dialog.choice_with(meant()?)).or_else(|| Some(unseen()? - 1)) {
        Some(at) => take(dialog, at),
        None if answer.accept == Some(false)
            && (dialog.kind != PromptKind::Setup
                || dialog.subtype.is_some_and(|subtype| CLOSED_BY_ESCAPE.contains(&subtype))) =>
        {
            confirm(ESCAPE)
        }
        None => refuse(
            "this dialog can neither be accepted nor declined: choose an option, or send keys",
        ),
    }
}

/// Answers the question on screen; each answer opens the next question.
fn question(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if answer.accept == Some(false) {
        return confirm(ESCAPE);
    }
    let current = match &dialog.page {
        Page::Only => 0,
        Page::Question { current, .. } => *current,
        Page::Review { .. } => return confirm(ENTER),
    };
    let (option, text) = match answer.answers.get(current) {
        Some(given) => (given.options.first().copied(), given.words()),
        None => (answer.option, answer.words()),
    };
    let at = match option {
        // The published options are those of the first question, so a later one goes by number.
        Some(option) if !answer.answers.is_empty() => Ok(Some(option.wrapping_sub(1))),
        option => chosen(prompt, option, dialog),
    };
    let at = match at {
        Ok(at) => at.filter(|at| dialog.more || *at < dialog.choices.len()),
        Err(reason) => return refuse(reason),
    };
    match (at, text) {
        (Some(at), Some(text)) => fill(dialog, at, text),
        (Some(at), None) => take(dialog, at),
        (None, Some(text)) => match dialog.choice_with(Role::OwnWords) {
            Some(at) => fill(dialog, at, text),
            None => refuse("this question takes no text"),
        },
        (None, None) => refuse("the question has no such option"),
    }
}

/// The option with this number. It is looked up by its label, because options can move.
fn chosen(
    prompt: &Prompt,
    option: Option<usize>,
    dialog: &Dialog,
) -> Result<Option<usize>, String> {
    let Some(option) = option else { return Ok(None) };
    let at = option.wrapping_sub(1);
    let Some(label) = prompt.options.get(at) else {
        return match dialog.choices.get(at) {
            Some(_) if prompt.options.is_empty() || prompt.more_options => Ok(Some(at)),
            None if dialog.more => Ok(Some(at)),
            Some(_) | None => Err(format!("option {option} is out of range")),
        };
    };
    match dialog.choice_of(option, label) {
        // The list goes on below.
        None if dialog.more && at >= dialog.choices.len() => Ok(Some(at)),
        None => Err(format!("the dialog shows no option {label:?} now")),
        found => Ok(found),
    }
}

/// Moves the highlight to an option, and selects it once it is highlighted.
fn take(dialog: &Dialog, at: usize) -> NextKey {
    let noted =
        dialog.choices.iter().any(|choice| choice.typed.is_some() && choice.role != Role::OwnWords);
    match dialog.highlighted {
        // An open notes field keeps the highlight from moving.
        Some(now) if noted && now != at => press(TAB),
        Some(_) if dialog.choices.get(at).is_none_or(|choice| choice.hidden) => {
            reveal(dialog, at + 1)
        }
        Some(now) if now == at => confirm(ENTER),
        Some(now) if now > at => press(UP),
        Some(_) => press(DOWN),
        None => refuse("the dialog does not show which option is highlighted"),
    }
}

/// Highlights an option, opens its field, types the text and submits it.
fn fill(dialog: &Dialog, at: usize, text: &str) -> NextKey {
    let Some(choice) = dialog.choices.get(at) else { return take(dialog, at) };
    if dialog.highlighted != Some(at) {
        return take(dialog, at);
    }
    match choice.typed.as_deref() {
        None if notes_are_open(dialog) => {
            NextKey::Unseen(format!("the field for the text of option {}", at + 1))
        }
        None => press(TAB),
        Some(typed) if draft::shows(typed, text) => confirm(ENTER),
        Some("") => NextKey::Press(Bytes::from(paste(text))),
        Some(_) => press(CLEAR_ROW),
    }
}

/// Whether a field for notes is open, on screen or not.
fn notes_are_open(dialog: &Dialog) -> bool {
    dialog.lines.iter().rev().take(2).any(|line| line.contains("to clear notes"))
}
