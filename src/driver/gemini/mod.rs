//! Gemini CLI, as version 0.61.0 really behaves. Nobody outside this folder knows anything about it.

mod answer;
mod ask;
mod composer;
mod dialogs;
mod frame;
mod groom;
mod hooks;
mod launch;
mod log;
#[cfg(test)]
mod recorded;
mod screen;
mod stdout;
mod title;
mod trouble;

use std::time::Duration;

use serde_json::Value;

use super::evidence::Finding;
use super::launch::{Order, Outfit};
use super::prompt::{Answer, Prompt};
use super::sight::{Composer, Dialog, Sight};
use super::{Driver, Move};
use crate::term::{Screen, Signal};

/// A dialog takes keys once it is drawn; what it does with them follows a moment later.
const GUARD: Duration = Duration::from_millis(100);
/// An Enter within 40 ms of a paste is a line break, and one before the paste was taken in is lost.
const SETTLE: Duration = Duration::from_millis(150);
/// Its title tells when it is done, and until then it was seen to lose a paste.
const DONE: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub struct Gemini {
    hooks: hooks::Hooks,
    log: log::Log,
    stdout: stdout::Stdout,
}

impl Driver for Gemini {
    fn outfit(&self, order: &Order) -> Result<Outfit, String> {
        launch::outfit(order)
    }

    fn hook(&mut self, event: &str, payload: &Value) -> Vec<Finding> {
        if event == "BeforeAgent" {
            self.log.turn_began();
        }
        self.hooks.read(event, payload)
    }

    fn log_line(&mut self, line: &Value) -> Vec<Finding> {
        self.log.read(line)
    }

    fn stdout_line(&mut self, line: &Value) -> Vec<Finding> {
        self.stdout.read(line)
    }

    fn signal(&mut self, signal: &Signal) -> Vec<Finding> {
        match signal {
            Signal::Title(title) => title::read(title),
            Signal::Progress(_) | Signal::Notification(_) | Signal::ProgramStatus(_) | Signal::Modes(_) => {
                Vec::new()
            }
        }
    }

    fn see(&self, screen: &Screen) -> Sight {
        screen::see(screen)
    }

    fn compose(&self, message: &str) -> String {
        composer::compose(message)
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        composer::holds(composer, pasted)
    }

    fn interrupt(&self) -> &'static [u8] {
        b"\x1b"
    }

    /// It would count towards leaving only in an empty composer, where nobody presses it.
    fn clear(&self) -> &'static [u8] {
        b"\x03"
    }

    fn next_move(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
        answer::next_move(prompt, answer, dialog)
    }

    fn groom(&self, prompt: &Prompt, _command: &[String]) -> Option<Answer> {
        groom::answer(prompt)
    }

    fn guard(&self) -> Duration {
        GUARD
    }

    fn settle(&self) -> Duration {
        SETTLE
    }

    fn done(&self) -> Duration {
        DONE
    }

    /// The composer shows the same hint while a turn runs.
    fn sure_idle_screen(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
