//! The driver for the Codex CLI, checked against version 0.166.0. No other module knows this agent.

mod answer;
mod api_error;
mod ask;
mod composer;
mod dialogs;
mod groom;
mod hooks;
mod launch;
mod log;
mod screen;
mod stdout;
mod terminal;
mod turn;

use std::time::Duration;

use serde_json::Value;

use self::terminal::Terminal;
use self::turn::Turn;
use super::evidence::Finding;
use super::launch::{LaunchPlan, LaunchRequest};
use super::prompt::{Answer, Prompt};
use super::screen_reading::{Composer, Dialog, ScreenReading};
use super::{Driver, Habits, Launch, NextKey, Observe, Operate};
use crate::term::{Screen, Signal};

/// The name of Codex in the reports of its status.
const STATUS_APP: &str = "codex";

static HABITS: Habits = Habits {
    // Ctrl-C would clear more, but in an empty composer it quits the program.
    clear_key: b"\x15",
    // A dialog takes keys as soon as it is drawn; this lets the drawing finish.
    dialog_key_delay: Duration::from_millis(100),
    // After its first idle moment Codex is busy again while it starts its MCP servers.
    first_idle_hold: Duration::from_millis(300),
    // While text streams, the screen looks like that of an idle agent.
    idle_screen_is_certain: false,
    plans_after_turn: true,
    status_app: Some(STATUS_APP),
    ..Habits::DEFAULT
};

#[derive(Debug, Default)]
pub(super) struct Codex {
    terminal: Terminal,
    turn: Turn,
}

impl Driver for Codex {
    fn habits(&self) -> &'static Habits {
        &HABITS
    }
}

impl Launch for Codex {
    fn plan(&self, request: &LaunchRequest) -> Result<LaunchPlan, String> {
        launch::plan(request)
    }
}

impl Observe for Codex {
    fn hook(&mut self, event: &str, payload: &Value) -> Vec<Finding> {
        hooks::read(&mut self.turn, &self.terminal, event, payload)
    }

    fn log_line(&mut self, line: &Value) -> Vec<Finding> {
        log::read(&mut self.turn, line)
    }

    fn stdout_line(&mut self, line: &Value) -> Vec<Finding> {
        stdout::read(line)
    }

    fn signal(&mut self, signal: &Signal) -> Vec<Finding> {
        match signal {
            Signal::Title(title) => self.terminal.title(title),
            Signal::ProgramStatus(status) => self.terminal.status(&mut self.turn, status),
            Signal::Progress(_) | Signal::Notification(_) | Signal::Modes(_) => Vec::new(),
        }
    }

    fn read_screen(&self, screen: &Screen) -> ScreenReading {
        screen::read(screen)
    }
}

impl Operate for Codex {
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
