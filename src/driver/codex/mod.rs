//! The Codex CLI, as version 0.166.0 really behaves. Nobody outside this folder knows anything about it.

mod answer;
mod ask;
mod composer;
mod dialogs;
mod groom;
mod hooks;
mod launch;
mod log;
mod notes;
mod screen;
mod stdout;
mod terminal;
mod trouble;

use std::time::Duration;

use serde_json::Value;

use self::notes::Notes;
use self::terminal::Terminal;
use super::evidence::Finding;
use super::launch::{Order, Outfit};
use super::prompt::{Answer, Prompt};
use super::sight::{Composer, Dialog, Sight};
use super::{Driver, Move};
use crate::term::{Screen, Signal};

/// A dialog takes keys as soon as it is drawn; this only lets the drawing end.
const GUARD: Duration = Duration::from_millis(100);

/// When it is ready it works for a moment more: it starts its servers.
const SETTLING: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
pub struct Codex {
    terminal: Terminal,
    notes: Notes,
}

impl Driver for Codex {
    fn outfit(&self, order: &Order) -> Result<Outfit, String> {
        launch::outfit(order)
    }

    fn hook(&mut self, event: &str, payload: &Value) -> Vec<Finding> {
        hooks::read(&mut self.notes, &self.terminal, event, payload)
    }

    fn log_line(&mut self, line: &Value) -> Vec<Finding> {
        log::read(&mut self.notes, line)
    }

    fn stdout_line(&mut self, line: &Value) -> Vec<Finding> {
        stdout::read(line)
    }

    fn signal(&mut self, signal: &Signal) -> Vec<Finding> {
        match signal {
            Signal::Title(title) => self.terminal.title(title),
            Signal::ProgramStatus(status) => self.terminal.status(&mut self.notes, status),
            Signal::Progress(_) | Signal::Notification(_) | Signal::Modes(_) => Vec::new(),
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

    /// Ctrl-C would clear more, but with nothing left to clear it ends the program.
    fn clear(&self) -> &'static [u8] {
        b"\x15"
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

    /// While text streams, the screen is that of an idle agent.
    fn sure_idle_screen(&self) -> bool {
        false
    }

    fn plans_after_turn(&self) -> bool {
        true
    }

    fn settling(&self) -> Duration {
        SETTLING
    }
}
