//! The driver for programs without their own driver. It recognises their state by patterns for
//! their screen, which come with `--agent-config`, and by what they report themselves (OSC 7501);
//! it has no other source and knows no program.
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
//! Each pattern is a regular expression for one line; only the last `lines` non-empty lines are
//! read. The program is idle only if its composer has the cursor, and messages are typed only
//! there. A `working` line in this window means that the program works; for a program that leaves
//! such lines behind, use fewer `lines`.

mod answer;
mod patterns;
mod screen;
mod status;

#[cfg(test)]
mod tests;

pub(crate) use patterns::Patterns;
pub(crate) use status::claim;

use std::sync::Arc;
use std::time::Duration;

use super::agent::Tier;
use super::draft::visible;
use super::evidence::Finding;
use super::launch::{LaunchPlan, LaunchRequest};
use super::prompt::{Answer, Prompt};
use super::screen_reading::{Composer, Dialog, ScreenReading};
use super::status_report::{StatusMessage, parse};
use super::{Driver, Habits, Launch, NextKey, Observe, Operate};
use crate::term::{Screen, Signal};

static HABITS: Habits = Habits {
    // The key with which a terminal stops a program; a program without a handler exits.
    interrupt_key: b"\x03",
    // The key that deletes a line in a terminal, and in most line editors.
    clear_key: b"\x15",
    // Many programs take an Enter right after a paste for a part of it.
    enter_delay: Duration::from_millis(150),
    // A program may draw its question before it reads what is typed.
    dialog_key_delay: Duration::from_millis(100),
    // The patterns describe the idle screen.
    idle_screen_is_certain: true,
    types_plain_text: true,
    ..Habits::DEFAULT
};

#[derive(Debug)]
pub(crate) struct Unknown {
    patterns: Arc<Patterns>,
}

impl Unknown {
    pub(crate) fn new(patterns: Arc<Patterns>) -> Self {
        Self { patterns }
    }
}

impl Driver for Unknown {
    fn habits(&self) -> &'static Habits {
        &HABITS
    }
}

impl Launch for Unknown {
    /// The command is run as it was given.
    fn plan(&self, request: &LaunchRequest) -> Result<LaunchPlan, String> {
        let hooks_unavailable = Some("only patterns for the program's screen are known".to_owned());
        Ok(LaunchPlan { args: request.args.to_vec(), hooks_unavailable, ..LaunchPlan::default() })
    }
}

impl Observe for Unknown {
    fn signal(&mut self, signal: &Signal) -> Vec<Finding> {
        let Signal::ProgramStatus(text) = signal else { return Vec::new() };
        match parse(text) {
            Ok(StatusMessage::Report(report)) if report.id.is_none() => {
                let (cause, claim) = claim(&report);
                vec![Finding::new(Tier::ProgramStatus, cause, claim, &report.to_string())]
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn read_screen(&self, screen: &Screen) -> ScreenReading {
        screen::read(&self.patterns, screen)
    }
}

impl Operate for Unknown {
    fn compose(&self, message: &str) -> String {
        message.to_owned()
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        visible(&composer.draft).eq(visible(pasted))
    }

    fn next_key(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
        answer::next_key(prompt, answer, dialog)
    }
}
