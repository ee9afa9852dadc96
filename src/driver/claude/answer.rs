//! Enters an answer into a Claude Code dialog: either as the next key, computed from what the
//! screen shows, or as the decision that the waiting hook prints. No state is kept between two
//! keys.

use bytes::Bytes;
use serde_json::{Value, json};

use super::composer;
use super::questions;
use super::screen_reader;
use crate::driver::NextKey;
use crate::driver::keys::{
    BACKSPACE, CLEAR_ROW, DOWN, ENTER, ESCAPE, SHIFT_TAB, TAB, UP, clean, paste, press, refuse,
    reveal,
};
use crate::driver::prompt::{Answer, Prompt, PromptKind};
use crate::driver::screen_reading::{Choice, Dialog, Role};

/// Dialogs without options that Enter confirms.
const CONFIRMED_BY_ENTER: [&str; 3] = ["security_notes", "login_success", "auto_mode_notice"];
/// Claude's own menus, which Escape closes.
const MENUS: [&str; 5] = ["resume_picker", "rewind", "help", "model_picker", "menu"];

/// The next key that brings the dialog closer to the answer.
pub(super) fn next_key(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    match dialog.kind {
        PromptKind::Question => questions::next_key(prompt, answer, dialog),
        PromptKind::Plan => plan(prompt, answer, dialog),
        PromptKind::Permission if dialog.subtype.is_none() => permission(prompt, answer, dialog),
        PromptKind::Permission | PromptKind::Setup => setup(prompt, answer, dialog),
    }
}

fn permission(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    let at = match wanted(prompt, answer, dialog) {
        Ok(Some(at)) => at,
        Ok(None) if answer.accept == Some(false) && answer.text.is_none() => return press(ESCAPE),
        Ok(None) => {
            return refuse(
                "the dialog has no option for this answer; a comment needs accept or option",
            );
        }
        Err(reason) => return refuse(reason),
    };
    match answer.words() {
        Some(text) => with_comment(dialog, at, text),
        None => take(dialog, at),
    }
}

/// Highlights the option, opens its text field, types the comment and submits it.
fn with_comment(dialog: &Dialog, at: usize, text: &str) -> NextKey {
    let Some(choice) = dialog.choices.get(at) else {
        return refuse("the dialog has no such option");
    };
    if !matches!(choice.role, Role::Accept | Role::Decline) {
        return refuse("this option takes no comment");
    }
    if dialog.highlighted != Some(at) {
        return move_towards(dialog, at);
    }
    let amendable = dialog.lines.last().is_some_and(|line| line.contains("Tab to amend"));
    match &choice.typed {
        None if amendable => press(TAB),
        None => refuse("this dialog takes no comment"),
        Some(_) => write(choice, text, ENTER),
    }
}

fn plan(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    let field = dialog.choice_with(Role::OwnWords);
    let chosen = match chosen(prompt, answer, dialog) {
        Ok(chosen) => chosen,
        Err(reason) => return refuse(reason),
    };
    let role = chosen.and_then(|at| dialog.choices.get(at)).map(|choice| choice.role);
    match (answer.words(), field) {
        (Some(text), Some(at)) if role == Some(Role::AcceptAlways) => {
            fill(dialog, at, text, SHIFT_TAB)
        }
        (Some(_), Some(_)) if answer.accept == Some(true) => refuse(
            "approving with text would also accept all edits: choose the option that says so",
        ),
        (Some(text), Some(at)) if role.is_none_or(|role| role == Role::OwnWords) => {
            fill(dialog, at, text, ENTER)
        }
        (Some(_), Some(_) | None) => refuse("only the feedback option of this dialog takes text"),
        (None, _) => match chosen.or_else(|| accepted(answer, dialog)) {
            Some(at) if Some(at) == field => refuse("the feedback option needs text"),
            Some(at) => take(dialog, at),
            None if answer.accept == Some(false) => press(ESCAPE),
            None => refuse("the dialog has no option for this answer"),
        },
    }
}

fn setup(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    let subtype = dialog.subtype.unwrap_or_default();
    if subtype == "oauth_login" {
        return match (answer.words(), answer.accept) {
            (Some(code), _) => NextKey::Press(Bytes::from(format!("{}\r", paste(code.trim())))),
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
            if answer.accept == Some(true)
                && (subtype == "theme_picker" || CONFIRMED_BY_ENTER.contains(&subtype)) =>
        {
            press(ENTER)
        }
        Ok(None)
            if answer.accept == Some(false)
                && (subtype == "auto_mode_notice" || MENUS.contains(&subtype)) =>
        {
            press(ESCAPE)
        }
        Ok(None) => refuse(
            "this dialog can neither be accepted nor declined: choose an option, or send keys",
        ),
        Err(reason) => refuse(reason),
    }
}

/// The option that the answer names, or the one with the role that `accept` asks for.
fn wanted(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Result<Option<usize>, String> {
    Ok(chosen(prompt, answer, dialog)?.or_else(|| accepted(answer, dialog)))
}

/// The option that the answer names. It is looked up by its label, because options can move.
pub(super) fn chosen(
    prompt: &Prompt,
    answer: &Answer,
    dialog: &Dialog,
) -> Result<Option<usize>, String> {
    let Some(option) = answer.option else { return Ok(None) };
    let at = option.wrapping_sub(1);
    let label = prompt.options.get(at).ok_or_else(|| format!("option {option} is out of range"))?;
    let found = dialog.choice_of(option, label);
    found.map(Some).ok_or_else(|| format!("the dialog shows no option {label:?} now"))
}

fn accepted(answer: &Answer, dialog: &Dialog) -> Option<usize> {
    let role = if answer.accept? { Role::Accept } else { Role::Decline };
    dialog.choice_with(role)
}

/// Selects an option: by its digit if it has one, otherwise by highlighting it and pressing Enter.
pub(super) fn take(dialog: &Dialog, at: usize) -> NextKey {
    let Some(choice) = dialog.choices.get(at) else {
        return refuse("the dialog has no such option");
    };
    if choice.hidden {
        return reveal(dialog, at + 1);
    }
    let pointed = dialog.highlighted == Some(at);
    if screen_reader::is_screen_reader_dialog(dialog) {
        return match (dialog.highlighted, choice.digit) {
            (Some(_), _) if pointed => press(ENTER),
            (Some(_), _) => press(BACKSPACE),
            (None, Some(number)) => digit(number),
            (None, None) => refuse("the dialog does not show a key for this option"),
        };
    }
    match choice.digit {
        // Some menus ignore digits; all of them take Enter.
        Some(_) if pointed && dialog.kind == PromptKind::Setup => press(ENTER),
        Some(number) => digit(number),
        None if pointed => press(ENTER),
        None => move_towards(dialog, at),
    }
}

pub(super) fn digit(number: u8) -> NextKey {
    NextKey::Press(Bytes::from(number.to_string()))
}

/// Moves the highlight one row towards the option.
pub(super) fn move_towards(dialog: &Dialog, at: usize) -> NextKey {
    match dialog.highlighted {
        Some(now) if now > at => press(UP),
        Some(_) | None => press(DOWN),
    }
}

/// Types the text into the option's field, which its digit opens, and submits it.
pub(super) fn fill(dialog: &Dialog, at: usize, text: &str, send: &'static [u8]) -> NextKey {
    let Some(choice) = dialog.choices.get(at) else {
        return refuse("the dialog has no such option");
    };
    if dialog.highlighted == Some(at) && choice.typed.is_some() {
        return write(choice, text, send);
    }
    take(dialog, at)
}

/// Types the text into an open field, and submits it once the field shows it.
pub(super) fn write(choice: &Choice, text: &str, send: &'static [u8]) -> NextKey {
    let text = lines(text);
    match choice.typed.as_deref() {
        Some(typed) if composer::shows(typed, &text) => press(send),
        None | Some("") => NextKey::Press(Bytes::from(paste(&text))),
        Some(_) => press(CLEAR_ROW),
    }
}

/// The text as a field holds it: trimmed, with line feeds between its lines.
fn lines(text: &str) -> String {
    clean(&text.trim().replace("\r\n", "\n").replace('\r', "\n"))
}

/// The answer in the form that the waiting hook prints while the dialog is open.
pub(super) fn by_hook(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    answer.check(prompt).ok()?;
    let decision = match prompt.kind {
        PromptKind::Permission if prompt.subtype.is_none() => permission_decision(prompt, answer)?,
        PromptKind::Question => questions::decision(prompt, answer)?,
        // Approving a plan also selects how edits are approved, which the hook cannot express.
        PromptKind::Permission | PromptKind::Plan | PromptKind::Setup => return None,
    };
    Some(
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}),
    )
}

fn permission_decision(prompt: &Prompt, answer: &Answer) -> Option<Value> {
    let label =
        answer.option.map(|option| prompt.options.get(option.wrapping_sub(1)).map(String::as_str));
    let accept = match (label, answer.accept) {
        (None, accept) => accept?,
        (Some(Some("Yes")), None | Some(true)) => true,
        (Some(Some("No")), None | Some(false)) => false,
        // Every other option does more than allow or deny.
        (Some(_), _) => return None,
    };
    match (accept, answer.words()) {
        (true, None) => Some(json!({"behavior": "allow"})),
        // A comment on an allowed tool can only be typed.
        (true, Some(_)) => None,
        (false, text) => Some(json!({"behavior": "deny", "message": text.unwrap_or(DECLINED)})),
    }
}

/// The message for the model when a tool is declined without a comment.
const DECLINED: &str = "The user declined this use of the tool.";
