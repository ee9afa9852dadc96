//! How an answer gets into a dialog of Claude Code: the next key towards it from what is on screen, or the words that
//! its waiting hook takes. Nothing is remembered from one key to the next.

use bytes::Bytes;
use serde_json::{Value, json};

use super::composer;
use super::questions;
use super::spoken;
use crate::driver::Move;
use crate::driver::keys::{
    BACKSPACE, CLEAR_ROW, DOWN, ENTER, ESCAPE, SHIFT_TAB, TAB, UP, clean, paste, press, refuse,
};
use crate::driver::prompt::{Answer, Prompt, PromptKind};
use crate::driver::sight::{Choice, Dialog, Role};

/// Dialogs without options that go on with an Enter.
const GO_ON: [&str; 3] = ["security_notes", "login_success", "auto_mode_notice"];
/// Menus of the agent's own, which an Escape closes.
const MENUS: [&str; 5] = ["resume_picker", "rewind", "help", "model_picker", "menu"];

/// The next key from what the dialog shows to the answer.
pub(super) fn next_move(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    match dialog.kind {
        PromptKind::Question => questions::next_move(prompt, answer, dialog),
        PromptKind::Plan => plan(prompt, answer, dialog),
        PromptKind::Permission if dialog.subtype.is_none() => permission(prompt, answer, dialog),
        PromptKind::Permission | PromptKind::Setup => setup(prompt, answer, dialog),
    }
}

fn permission(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    let at = match wanted(prompt, answer, dialog) {
        Ok(Some(at)) => at,
        Ok(None) if answer.accept == Some(false) && answer.text.is_none() => return press(ESCAPE),
        Ok(None) => {
            return refuse(
                "the dialog has no option for this answer; a comment needs accept or option with it",
            );
        }
        Err(reason) => return refuse(reason),
    };
    match answer.words() {
        Some(text) => with_comment(dialog, at, text),
        None => take(dialog, at),
    }
}

/// Points at the option, opens its field, writes, and sends.
fn with_comment(dialog: &Dialog, at: usize, text: &str) -> Move {
    let Some(choice) = dialog.choices.get(at) else { return refuse("the dialog has no such option") };
    if !matches!(choice.role, Role::Accept | Role::Decline) {
        return refuse("this option takes no comment");
    }
    if dialog.highlighted != Some(at) {
        return towards(dialog, at);
    }
    let amendable = dialog.lines.last().is_some_and(|line| line.contains("Tab to amend"));
    match &choice.typed {
        None if amendable => press(TAB),
        None => refuse("this dialog takes no comment"),
        Some(_) => write(choice, text, ENTER),
    }
}

fn plan(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    let field = dialog.choice_with(Role::OwnWords);
    let chosen = match chosen(prompt, answer, dialog) {
        Ok(chosen) => chosen,
        Err(reason) => return refuse(reason),
    };
    let role = chosen.and_then(|at| dialog.choices.get(at)).map(|choice| choice.role);
    match (answer.words(), field) {
        (Some(text), Some(at)) if role == Some(Role::AcceptAlways) => fill(dialog, at, text, SHIFT_TAB),
        (Some(_), Some(_)) if answer.accept == Some(true) => {
            refuse("approving with words would also let all edits pass: choose the option that says so")
        }
        (Some(text), Some(at)) if role.is_none_or(|role| role == Role::OwnWords) => {
            fill(dialog, at, text, ENTER)
        }
        (Some(_), Some(_) | None) => refuse("only the option for feedback takes words in this dialog"),
        (None, _) => match chosen.or_else(|| accepted(answer, dialog)) {
            Some(at) if Some(at) == field => refuse("the option for feedback needs text"),
            Some(at) => take(dialog, at),
            None if answer.accept == Some(false) => press(ESCAPE),
            None => refuse("the dialog has no option for this answer"),
        },
    }
}

fn setup(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    let subtype = dialog.subtype.unwrap_or_default();
    if subtype == "oauth_login" {
        return match (answer.words(), answer.accept) {
            (Some(code), _) => Move::Press(Bytes::from(format!("{}\r", paste(code.trim())))),
            (None, Some(false)) => press(ESCAPE),
            (None, Some(true) | None) => refuse("a login needs the code as text"),
        };
    }
    if answer.words().is_some() {
        return refuse("this dialog takes no text");
    }
    match wanted(prompt, answer, dialog) {
        Ok(Some(at)) => take(dialog, at),
        Ok(None)
            if answer.accept == Some(true) && (subtype == "theme_picker" || GO_ON.contains(&subtype)) =>
        {
            press(ENTER)
        }
        Ok(None)
            if answer.accept == Some(false)
                && (subtype == "auto_mode_notice" || MENUS.contains(&subtype)) =>
        {
            press(ESCAPE)
        }
        Ok(None) => refuse("this dialog can neither be accepted nor declined: give an option, or press keys"),
        Err(reason) => refuse(reason),
    }
}

/// The option that the answer names or means.
fn wanted(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Result<Option<usize>, String> {
    Ok(chosen(prompt, answer, dialog)?.or_else(|| accepted(answer, dialog)))
}

/// The option that the answer names, found again by its label.
pub(super) fn chosen(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Result<Option<usize>, String> {
    let Some(option) = answer.option else { return Ok(None) };
    let at = option.wrapping_sub(1);
    let label = prompt.options.get(at).ok_or_else(|| format!("option {option} is out of range"))?;
    let is = |choice: &Choice| choice.label == *label;
    if dialog.choices.get(at).is_some_and(is) {
        return Ok(Some(at));
    }
    dialog
        .choices
        .iter()
        .position(is)
        .map(Some)
        .ok_or_else(|| format!("the dialog shows no option {label:?} now"))
}

fn accepted(answer: &Answer, dialog: &Dialog) -> Option<usize> {
    let role = if answer.accept? { Role::Accept } else { Role::Decline };
    dialog.choice_with(role)
}

/// Takes an option: by its digit where it has one, else by pointing at it and an Enter.
pub(super) fn take(dialog: &Dialog, at: usize) -> Move {
    let Some(choice) = dialog.choices.get(at) else { return refuse("the dialog has no such option") };
    let pointed = dialog.highlighted == Some(at);
    if spoken::is_spoken(dialog) {
        return match (dialog.highlighted, choice.digit) {
            (Some(_), _) if pointed => press(ENTER),
            (Some(_), _) => press(BACKSPACE),
            (None, Some(number)) => digit(number),
            (None, None) => refuse("the dialog does not say how to take this option"),
        };
    }
    match choice.digit {
        // Not every menu acts on its digits; all act on an Enter.
        Some(_) if pointed && dialog.kind == PromptKind::Setup => press(ENTER),
        Some(number) => digit(number),
        None if pointed => press(ENTER),
        None => towards(dialog, at),
    }
}

pub(super) fn digit(number: u8) -> Move {
    Move::Press(Bytes::from(number.to_string()))
}

/// One step of the pointer.
pub(super) fn towards(dialog: &Dialog, at: usize) -> Move {
    match dialog.highlighted {
        Some(now) if now > at => press(UP),
        Some(_) | None => press(DOWN),
    }
}

/// Gets the words into the option's field, opening it by its digit, and sends them.
pub(super) fn fill(dialog: &Dialog, at: usize, text: &str, send: &'static [u8]) -> Move {
    let Some(choice) = dialog.choices.get(at) else { return refuse("the dialog has no such option") };
    if dialog.highlighted == Some(at) && choice.typed.is_some() {
        return write(choice, text, send);
    }
    take(dialog, at)
}

/// Gets the words into an open field, and sends them once they are there.
pub(super) fn write(choice: &Choice, text: &str, send: &'static [u8]) -> Move {
    let text = lines(text);
    match choice.typed.as_deref() {
        Some(typed) if composer::shows(typed, &text) => press(send),
        None | Some("") => Move::Press(Bytes::from(paste(&text))),
        Some(_) => press(CLEAR_ROW),
    }
}

/// The words as they stand in a field: nothing around them, and line feeds between their lines.
fn lines(text: &str) -> String {
    clean(&text.trim().replace("\r\n", "\n").replace('\r', "\n"))
}

/// The answer as the hook that waits while the dialog shows takes it.
pub(super) fn by_hook(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    answer.check(prompt).ok()?;
    let decision = match prompt.kind {
        PromptKind::Permission if prompt.subtype.is_none() => permission_decision(prompt, answer)?,
        PromptKind::Question => questions::decision(prompt, answer)?,
        // Approving a plan also chooses how edits are approved, which the hook cannot say.
        PromptKind::Permission | PromptKind::Plan | PromptKind::Setup => return None,
    };
    Some(json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}))
}

fn permission_decision(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    let label = answer.option.map(|option| prompt.options.get(option.wrapping_sub(1)).map(String::as_str));
    let accept = match (label, answer.accept) {
        (None, accept) => accept?,
        (Some(Some("Yes")), None | Some(true)) => true,
        (Some(Some("No")), None | Some(false)) => false,
        // Every other option does more than to allow or to deny.
        (Some(_), _) => return None,
    };
    match (accept, answer.words()) {
        (true, None) => Some(json!({"behavior": "allow"})),
        // What goes with an allowed tool can only be typed.
        (true, Some(_)) => None,
        (false, text) => Some(json!({"behavior": "deny", "message": text.unwrap_or(DECLINED)})),
    }
}

/// What the model is told of a tool that was declined without a word.
const DECLINED: &str = "The user declined this use of the tool.";
