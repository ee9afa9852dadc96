//! Answers a question of an unknown program: with a line of text, as a user would type it, or with
//! the digit of an option if a pointer shows that the program reads single keys.

use bytes::Bytes;

use crate::driver::NextKey;
use crate::driver::keys::refuse;
use crate::driver::prompt::{Answer, Prompt};
use crate::driver::screen_reading::{Choice, Dialog, Role};

pub(super) fn next_key(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    let text = answer.words().map(str::trim);
    let wanted = match (text, answer.option, answer.accept) {
        (Some(text), None, None) => return line(text),
        (Some(_), _, _) => return refuse("this dialog takes text or an option, not both"),
        (None, Some(option), _) => option.checked_sub(1),
        (None, None, Some(true)) => dialog.choice_with(Role::Accept),
        (None, None, Some(false)) => dialog.choice_with(Role::Decline),
        (None, None, None) => None,
    };
    match wanted.and_then(|at| dialog.choices.get(at)) {
        Some(choice) => take(choice, dialog.highlighted.is_some()),
        None => refuse("the dialog shows no option for this answer: answer with text"),
    }
}

fn take(choice: &Choice, single_keys: bool) -> NextKey {
    match choice.digit {
        Some(digit) if single_keys => NextKey::Confirm(Bytes::from(digit.to_string())),
        Some(digit) => line(&digit.to_string()),
        None => line(&choice.label),
    }
}

/// Types the text and its Enter in one write, so that no other key can come between them.
fn line(text: &str) -> NextKey {
    match text.chars().any(char::is_control) {
        true => refuse("this dialog takes one line of text, without tabs"),
        false => NextKey::Confirm(Bytes::from(format!("{text}\r"))),
    }
}
