//! The keys that answer dialogs, as terminals send them, and short forms of [`NextKey`]. Only a
//! driver knows which of them a dialog takes.

use bytes::Bytes;

use super::NextKey;
use super::screen_reading::Dialog;
use crate::term;

pub(super) const ENTER: &[u8] = b"\r";
pub(super) const ESCAPE: &[u8] = b"\x1b";
pub(super) const TAB: &[u8] = b"\t";
pub(super) const SHIFT_TAB: &[u8] = b"\x1b[Z";
pub(super) const UP: &[u8] = b"\x1b[A";
pub(super) const DOWN: &[u8] = b"\x1b[B";
pub(super) const LEFT: &[u8] = b"\x1b[D";
pub(super) const BACKSPACE: &[u8] = b"\x7f";
/// Deletes the text before the cursor in its row.
pub(super) const CLEAR_ROW: &[u8] = b"\x15";

pub(super) fn press(keys: &'static [u8]) -> NextKey {
    NextKey::Press(Bytes::from_static(keys))
}

/// Presses the key that closes the dialog or its page.
pub(super) fn confirm(keys: &'static [u8]) -> NextKey {
    NextKey::Confirm(Bytes::from_static(keys))
}

/// Moves the list of options towards this one, which is not on screen.
pub(super) fn reveal(dialog: &Dialog, option: usize) -> NextKey {
    let highlighted = dialog.highlighted.map_or(0, |at| at + 1);
    let key = Bytes::from_static(if option < highlighted { UP } else { DOWN });
    NextKey::Reveal { key, option }
}

/// The text in paste brackets, without anything that a program could take for a key.
pub(super) fn paste(text: &str) -> String {
    term::bracket(&clean(text))
}

/// The text without control characters, which could end the paste or press a key.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

pub(super) fn refuse(reason: impl Into<String>) -> NextKey {
    NextKey::Refuse(reason.into())
}
