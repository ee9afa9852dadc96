//! Claude Code, as version 2.1.325 really behaves. Nobody outside this folder knows anything about it.

mod answer;
mod ask;
mod choices;
mod composer;
mod dialogs;
mod groom;
mod hooks;
mod launch;
mod log;
mod questions;
#[cfg(test)]
mod recorded;
mod registry;
mod screen;
mod spoken;
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

/// Keys within the first 200 ms after a dialog became visible were seen to be dropped.
const GUARD: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
pub struct Claude;

impl Driver for Claude {
    fn outfit(&self, order: &Order) -> Result<Outfit, String> {
        launch::outfit(order)
    }

    fn hook(&mut self, event: &str, payload: &Value) -> Vec<Finding> {
        hooks::read(event, payload)
    }

    fn log_line(&mut self, line: &Value) -> Vec<Finding> {
        log::read(line)
    }

    fn stdout_line(&mut self, line: &Value) -> Vec<Finding> {
        stdout::read(line)
    }

    fn registry(&mut self, file: &Value) -> Vec<Finding> {
        registry::read(file)
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

    fn clear(&self) -> &'static [u8] {
        b"\x1b"
    }

    fn hook_answer(&self, prompt: &Prompt, answer: &Answer) -> Option<Value> {
        answer::by_hook(prompt, answer)
    }

    fn next_move(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move {
        answer::next_move(prompt, answer, dialog)
    }

    fn groom(&self, prompt: &Prompt, command: &[String]) -> Option<Answer> {
        groom::answer(prompt, command)
    }

    fn guard(&self) -> Duration {
        GUARD
    }

    fn sure_idle_screen(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
