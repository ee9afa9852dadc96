//! The keys that dialogs are answered with, as terminals send them, and the moves that press them. Which of them a
//! dialog takes only its driver knows.

use bytes::Bytes;

use super::Move;

pub const ENTER: &[u8] = b"\r";
pub const ESCAPE: &[u8] = b"\x1b";
pub const TAB: &[u8] = b"\t";
pub const SHIFT_TAB: &[u8] = b"\x1b[Z";
pub const UP: &[u8] = b"\x1b[A";
pub const DOWN: &[u8] = b"\x1b[B";
pub const LEFT: &[u8] = b"\x1b[D";
pub const BACKSPACE: &[u8] = b"\x7f";
/// Clears what stands before the cursor in its row.
pub const CLEAR_ROW: &[u8] = b"\x15";

pub fn press(keys: &'static [u8]) -> Move {
    Move::Press(Bytes::from_static(keys))
}

/// Presses what the dialog, or its page, goes away by.
pub fn end(keys: &'static [u8]) -> Move {
    Move::Take(Bytes::from_static(keys))
}

/// A text in the brackets that keep a program from taking any of it for keys.
pub fn paste(text: &str) -> String {
    format!("\x1b[200~{}\x1b[201~", clean(text))
}

/// A text that ends no paste and presses no key.
pub fn clean(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

pub fn refuse(reason: impl Into<String>) -> Move {
    Move::Refuse(reason.into())
}
