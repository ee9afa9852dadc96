//! The replies to the program's queries about the terminal.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Engine;
use crate::term::tokenizer::Terminator;

/// The reports of a program's status that coop understands: those of revision 0.4.
const STATUS_SUPPORT: &str =
    "states=idle,working,done,blocked,error:kinds=permission,question,auth";

impl Engine {
    pub(in crate::term) fn reply(&mut self, reply: std::fmt::Arguments<'_>) {
        let mut text = String::new();
        let written = text.write_fmt(reply);
        // Writing into a String cannot fail.
        debug_assert!(written.is_ok());
        self.fed.replies.extend_from_slice(text.as_bytes());
    }

    pub(in crate::term) fn device_attributes(&mut self) {
        // A VT220 with colours.
        self.reply(format_args!("\x1b[?62;22c"));
    }

    pub(in crate::term) fn report_version(&mut self) {
        let version = Arc::clone(&self.version);
        self.reply(format_args!("\x1bP>|coop {version}\x1b\\"));
    }

    /// The reply to a program that asks whether its status (OSC 7501) is of use. It ends as the
    /// query does.
    pub(in crate::term) fn report_status_support(&mut self, end: Terminator) {
        let end = end.as_str();
        self.reply(format_args!("\x1b]7501;?:{STATUS_SUPPORT}{end}"));
    }

    /// Row and column as the program counts them: from 1, and from the margin in origin mode.
    pub(in crate::term) fn reported_cursor(&self) -> (usize, usize) {
        let cursor = self.avt.cursor();
        let top = if self.drawing.origin { *self.margins.start() } else { 0 };
        let left = if self.drawing.origin { self.row_start() } else { 0 };
        let col = (cursor.col + 1).min(usize::from(self.size.cols()));
        (cursor.row.saturating_sub(top) + 1, col.saturating_sub(left).max(1))
    }

    pub(in crate::term) fn report_mode(&mut self, private: bool, mode: u16) {
        let prefix = if private { "?" } else { "" };
        let value = match self.mode(private, mode) {
            // Emoji sequences are always drawn as one.
            None if private && mode == 2027 => 3,
            Some(true) => 1,
            Some(false) => 2,
            None => 0,
        };
        self.reply(format_args!("\x1b[{prefix}{mode};{value}$y"));
    }

    /// The reply to a request for a setting (DECRQSS); for an unknown one it repeats nothing.
    pub(in crate::term) fn report_setting(&mut self, setting: &[u8]) {
        let value = match setting {
            b"m" => {
                let mut text = String::new();
                self.rendition.write_params(&mut text);
                text + "m"
            }
            b"r" => format!("{};{}r", self.margins.start() + 1, self.margins.end() + 1),
            b"s" => format!("{};{}s", self.sides.start() + 1, self.sides.end() + 1),
            b"\"q" => format!("{}\"q", u8::from(self.protect)),
            // A VT220 with 7-bit controls.
            b"\"p" => "62;1\"p".to_owned(),
            _ => {
                self.reply(format_args!("\x1bP0$r\x1b\\"));
                return;
            }
        };
        self.reply(format_args!("\x1bP1$r{value}\x1b\\"));
    }
}
