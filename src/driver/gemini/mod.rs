//! The driver for Gemini CLI, checked against version 0.61.0. No other module knows this agent.

mod answer;
mod api_error;
mod ask;
mod composer;
mod dialogs;
mod frame;
mod groom;
mod hooks;
mod launch;
mod log;
mod screen;
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
    // Ctrl-C counts towards quitting only in an empty composer, where coop does not press it.
    clear_key: b"\x03",
    // An Enter within 40 ms of a paste is a line break, and one before the paste was read is lost.
    enter_delay: Duration::from_millis(150),
    // A dialog takes keys once it is drawn; their effect follows a moment later.
    dialog_key_delay: Duration::from_millis(100),
    // The title shows when a turn is done; before that, Gemini has been observed to lose a paste.
    turn_end_delay: Duration::from_secs(2),
    // The composer shows the same hint while a turn runs.
    idle_screen_is_certain: false,
    // Gemini does not report its status yet; the reports of other programs do not count.
    status_app: Some("gemini-cli"),
    ..Habits::DEFAULT
};

#[derive(Debug, Default)]
pub(super) struct Gemini {
    hooks: hooks::Hooks,
    log: log::Log,
    stdout: stdout::Stdout,
}

impl Driver for Gemini {
    fn habits(&self) -> &'static Habits {
        &HABITS
    }
}

impl Launch for Gemini {
    fn plan(&self, request: &LaunchRequest) -> Result<LaunchPlan, String> {
        launch::plan(request)
    }
}

impl Observe for Gemini {
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
            Signal::Progress(_)
            | Signal::Notification(_)
            | Signal::ProgramStatus(_)
            | Signal::Modes(_) => Vec::new(),
        }
    }

    fn read_screen(&self, screen: &Screen) -> ScreenReading {
        screen::read(screen)
    }
}

impl Operate for Gemini {
    fn compose(&self, message: &str) -> String {
        composer::compose(message)
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        composer::holds(composer, pasted)
    }

    fn next_key(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey {
        answer::next_key(prompt, answer, dialog)
    }

    fn groom(&self, prompt: &Prompt, _command: &[String]) -> Option<Answer> {
        groom::answer(prompt)
    }
}

#[cfg(test)]
mod tests;
