//! A program that no driver knows, driven by patterns of its screen that come with `--agent-config`. Nothing but its
//! screen tells of it, and nothing about any program is known here.
//!
//! ```json
//! {"screen": {
//!   "composer": "^> ?(.*)$",
//!   "working": ["^Working"],
//!   "prompt": ["\\(y/n\\)$"],
//!   "error": ["^Error: "],
//!   "lines": 5
//! }}
//! ```
//!
//! Each pattern is a regular expression for one line; the last `lines` lines with something on them are looked at. Only a
//! composer that has the cursor is idle, and only there a message is typed. A `working` line in sight means that the
//! program works, wherever it stands: one that leaves such lines behind wants fewer `lines`.

mod answer;
mod patterns;
mod screen;

#[cfg(test)]
mod tests;

pub use patterns::Patterns;

use std::sync::Arc;
use std::time::Duration;

use super::draft::visible;
use super::launch::{Order, Outfit};
use super::prompt::{Answer, Prompt};
use super::sight::{Composer, Dialog, Sight};
use super::{Driver, Move};
use crate::term::Screen;

/// A program may draw its question before it reads what is typed.
const GUARD: Duration = Duration::from_millis(100);
/// Many programs take an Enter right behind a paste for a part of it.
const SETTLE: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub struct Unknown {
    patterns: Arc<Patterns>,
}

impl Unknown {
    pub fn new(patterns: Arc<Patterns>) -> Self {
        Self { patterns }
    }
}

impl Driver for Unknown {
    /// The command is run as it was given.
    fn outfit(&self, order: &Order) -> Result<Outfit, String> {
        let unheard = Some("the program is known by patterns of its screen alone".to_owned());
        Ok(Outfit { args: order.args.to_vec(), unheard, ..Outfit::default() })
    }

    fn see(&self, screen: &Screen) -> Sight {
        screen::see(&self.patterns, screen)
    }

    fn compose(&self, message: &str) -> String {
        message.to_owned()
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        visible(&composer.draft).eq(visible(pasted))
    }

    /// What a terminal stops a program with; one that does not expect it ends.
    fn interrupt(&self) -> &'static [u8] {
        b"\x03"
    }

    /// What takes back a line in a terminal, and in most editors of lines.
    fn clear(&self) -> &'static [u8] {
        b"\x15"
    }

    fn next_move(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
        answer::next_move(prompt, answer, dialog)
    }

    fn guard(&self) -> Duration {
        GUARD
    }

    fn settle(&self) -> Duration {
        SETTLE
    }

    fn types_plainly(&self) -> bool {
        true
    }

    /// It is what the patterns are for.
    fn sure_idle_screen(&self) -> bool {
        true
    }
}
