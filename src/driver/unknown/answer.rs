//! How a question is answered by somebody who knows nothing of the program: a line, as a person would type it, or the
//! digit of an option where a pointer shows that the program listens to single keys.

use bytes::Bytes;

use crate::driver::Move;
use crate::driver::keys::refuse;
use crate::driver::prompt::{Answer, Prompt};
use crate::driver::sight::{Choice, Dialog, Role};

pub(super) fn next_move(prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
    if let Err(reason) = answer.check(prompt) {
        return refuse(reason);
    }
    let text = answer.words().map(str::trim);
    let wanted = match (text, answer.option, answer.accept) {
        (Some(text), None, None) => return line(text),
        (Some(_), _, _) => return refuse("this dialog takes a text or an option, not both"),
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

fn take(choice: &Choice, single_keys: bool) -> Move {
    match choice.digit {
        Some(digit) if single_keys => Move::Take(Bytes::from(digit.to_string())),
        Some(digit) => line(&digit.to_string()),
        None => line(&choice.label),
    }
}

/// In one piece, so that nobody's key comes between the text and its Enter.
fn line(text: &str) -> Move {
    match text.chars().any(char::is_control) {
        true => refuse("this dialog takes one line of text, without tabs"),
        false => Move::Take(Bytes::from(format!("{text}\r"))),
    }
}
