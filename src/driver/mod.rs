//! Everything that coop knows about agents: the vocabulary, the tracker that turns evidence into
//! one state, and one driver for each agent. Drivers do no I/O and have no clock: observations go
//! in, findings and keys come out, as values. Of the terminal they know only the [`Screen`] value.

pub(crate) mod agent;
mod api_error;
mod claude;
mod codex;
mod draft;
pub(crate) mod evidence;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod gemini;
mod habits;
mod keys;
pub(crate) mod launch;
mod layout;
mod payload;
pub(crate) mod presence;
pub(crate) mod prompt;
pub mod screen_reading;
pub(crate) mod status_records;
pub(crate) mod status_report;
mod summary;
pub mod testing;
mod title;
pub(crate) mod tracker;
pub(crate) mod unknown;
pub(crate) mod usage;
pub(crate) mod visible;

pub use self::habits::Habits;

use bytes::Bytes;
use serde_json::Value;

use self::evidence::Finding;
use self::launch::{LaunchPlan, LaunchRequest};
use self::prompt::{Answer, Prompt};
use self::screen_reading::{Composer, Dialog, ScreenReading};
use crate::term::{Screen, Signal};

/// Creates the driver of one child.
pub type Maker = fn() -> Box<dyn Driver>;

/// Every agent: its name, which is also the name of its program, and the constructor of its driver.
const AGENTS: &[(&str, Maker)] = &[
    ("claude", || Box::new(claude::Claude)),
    ("codex", || Box::new(codex::Codex::default())),
    ("gemini", || Box::new(gemini::Gemini::default())),
];

/// The agent name of a program that has no driver.
pub const UNKNOWN: &str = "unknown";

/// Every name that `--agent` accepts.
pub fn names() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|(name, _)| *name).chain([UNKNOWN])
}

/// The agent with this name.
pub fn named(name: &str) -> Option<&'static str> {
    names().find(|known| *known == name)
}

/// The constructor of the agent's driver, if the agent has one.
pub fn maker(name: &str) -> Option<Maker> {
    AGENTS.iter().find(|(known, _)| *known == name).map(|(_, maker)| *maker)
}

/// Everything that coop knows about one agent.
pub trait Driver: Launch + Observe + Operate + Send {
    fn habits(&self) -> &'static Habits;
}

/// How the agent is started so that coop can observe it.
pub trait Launch {
    /// The changes to the command, and where the agent will write its log and status files.
    fn plan(&self, request: &LaunchRequest) -> Result<LaunchPlan, String>;
}

/// What the agent's output means. A driver implements the sources that its agent has; the screen is
/// always one of them.
pub trait Observe {
    /// A hook of the agent was called with this payload.
    fn hook(&mut self, _event: &str, _payload: &Value) -> Vec<Finding> {
        Vec::new()
    }

    /// The agent wrote a line to its log.
    fn log_line(&mut self, _line: &Value) -> Vec<Finding> {
        Vec::new()
    }

    /// The agent printed a line of JSON.
    fn stdout_line(&mut self, _line: &Value) -> Vec<Finding> {
        Vec::new()
    }

    /// The agent wrote its status file.
    fn registry(&mut self, _file: &Value) -> Vec<Finding> {
        Vec::new()
    }

    /// The agent sent its terminal a title, a progress report or another control sequence.
    fn signal(&mut self, _signal: &Signal) -> Vec<Finding> {
        Vec::new()
    }

    /// Recognises the composer, a dialog and a running turn on the screen.
    fn read_screen(&self, screen: &Screen) -> ScreenReading;
}

/// How messages and answers are typed into the agent.
pub trait Operate {
    /// The text to paste so that the agent takes it for this message and for nothing else.
    fn compose(&self, message: &str) -> String;

    /// Whether the composer holds exactly what was pasted.
    fn holds(&self, composer: &Composer, pasted: &str) -> bool;

    /// Whether the composer holds exactly two texts, one pasted after the other. Agents show a long
    /// paste as a label in brackets.
    fn holds_both(&self, composer: &Composer, first: &str, second: &str) -> bool {
        let part = |draft: &str, cut: bool| Composer { draft: draft.to_owned(), cut, ..*composer };
        self.holds(composer, &format!("{first}{second}"))
            || composer.draft.match_indices('[').any(|(at, _)| {
                let (before, label) = composer.draft.split_at(at);
                self.holds(&part(label, false), second)
                    && self.holds(&part(before, composer.cut), first)
            })
    }

    /// Whether the composer holds only a part of what was pasted.
    fn holds_part(&self, composer: &Composer, pasted: &str) -> bool {
        draft::shows_part(&composer.draft, pasted)
    }

    /// The next key on the way from what the dialog shows to the answer. It is called again after
    /// each visible effect, so it needs no memory.
    fn next_key(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> NextKey;

    /// The reply to the agent's own waiting hook that gives this answer, if a hook can give it.
    fn hook_answer(&self, _prompt: &Prompt, _answer: &Answer) -> Option<Value> {
        None
    }

    /// The answer that coop may give by itself, for example to a set-up dialog.
    fn groom(&self, _prompt: &Prompt, _command: &[String]) -> Option<Answer> {
        None
    }
}

/// A step towards an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextKey {
    /// A key that changes what the dialog shows.
    Press(Bytes),
    /// The key that closes the dialog, or its page. It is not pressed again soon, even if the
    /// dialog is still visible: the second press could reach the next dialog.
    Confirm(Bytes),
    /// A key that moves the list of options, because this option is not on screen.
    Reveal { key: Bytes, option: usize },
    /// This part of the dialog is needed, and the screen has no room for it.
    Unseen(String),
    /// The dialog cannot take this answer, and why.
    Refuse(String),
}
