//! The driver for Claude Code, checked against version 2.1.325. No other module knows this agent.

mod answer;
mod api_error;
mod ask;
mod choices;
mod composer;
mod dialogs;
mod groom;
mod hooks;
mod launch;
mod log;
mod questions;
mod registry;
mod screen;
mod screen_reader;
mod status;
mod stdout;
mod title;

use std::time::Duration;

use serde_json::Value;

use super::evidence::Finding;
use super::launch::{LaunchPlan, LaunchRequest};
use super::prompt::{Answer, Prompt};
use super::screen_reading::{Composer, Dialog, ScreenReading};
use super::{Driver, Habits, Launch, NextKey, Observe, Operate};
use crate::term::{Screen, Signal};

static HABITS: Habits = Habits {
    clear_key: b"\x1b",
    // Claude has been observed to drop keys within the first 200 ms of a dialog.
    dialog_key_delay: Duration::from_millis(300),
    idle_screen_is_certain: true,
    status_app: Some(status::APP),
    ..Habits::DEFAULT
};

#[derive(Debug, Default)]
pub(super) struct Claude;

impl Driver for Claude {
    fn habits(&self) -> &'static Habits {
        &HABITS
    }
}

impl Launch for Claude {
    fn plan(&self, request: &LaunchRequest) -> Result<LaunchPlan, String> {
        launch::plan(request)
    }
}

impl Observe for Claude {
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
            Signal::ProgramStatus(report) => status::read(report),
            Signal::Progress(_) | Signal::Notification(_) | Signal::Modes(_) => Vec::new(),
        }
    }

    fn read_screen(&self, screen: &Screen) -> ScreenReading {
        screen::read(screen)
    }
}

impl Operate for Claude {
    fn compose(&self, message: &str) -> String {
        composer::compose(message)
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        composer::holds(composer, pasted)
    }

    fn next_key(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
        answer::next_key(prompt, answer, dialog)
    }

    fn hook_answer(&self, prompt: &Prompt, answer: &Answer) -> Option<Value> {
        answer::by_hook(prompt, answer)
    }

    fn groom(&self, prompt: &Prompt, command: &[String]) -> Option<Answer> {
        groom::answer(prompt, command)
    }
}

#[cfg(test)]
mod tests;
