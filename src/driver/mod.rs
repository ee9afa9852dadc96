//! What coop knows of agents. Drivers do no I/O and have no clock: observations go in, findings come out, and what
//! is to be typed is a value. They see the screen as a value and nothing else of the terminal.

pub mod agent;
#[cfg(test)]
mod answered;
pub mod claude;
pub mod codex;
pub mod draft;
pub mod evidence;
pub mod fixture;
pub mod gemini;
pub mod keys;
pub mod launch;
#[cfg(test)]
mod launched;
pub mod layout;
pub mod payload;
pub mod prompt;
#[cfg(test)]
mod recorded;
pub mod sight;
pub mod stamp;
pub mod tracker;
pub mod trouble;
pub mod unknown;
pub mod usage;
pub mod wording;

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use self::evidence::Finding;
use self::launch::{Order, Outfit};
use self::prompt::{Answer, Prompt};
use self::sight::{Composer, Dialog, Sight};
use crate::term::{Screen, Signal};

/// Makes the driver of one child.
pub type Maker = fn() -> Box<dyn Driver>;

/// Every agent by its name, which is also what its program is called, and what makes its driver.
const AGENTS: &[(&str, Maker)] = &[
    ("claude", || Box::new(claude::Claude)),
    ("codex", || Box::new(codex::Codex::default())),
    ("gemini", || Box::new(gemini::Gemini::default())),
];

/// What a program is that no driver knows.
pub const UNKNOWN: &str = "unknown";

/// Every name that an agent can be given by.
pub fn names() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().map(|(name, _)| *name).chain([UNKNOWN])
}

/// The agent with this name.
pub fn named(name: &str) -> Option<&'static str> {
    names().find(|known| *known == name)
}

/// What makes the agent's driver, if there is one.
pub fn maker(name: &str) -> Option<Maker> {
    AGENTS.iter().find(|(known, _)| *known == name).map(|(_, maker)| *maker)
}

/// Everything coop knows about one agent. What an agent does not have, its driver need not mention.
pub trait Driver: Send {
    /// What is changed about the command so that the agent can be heard, and where it will leave its traces.
    fn outfit(&self, order: &Order) -> Result<Outfit, String>;

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

    /// The agent's status file was written.
    fn registry(&mut self, _file: &Value) -> Vec<Finding> {
        Vec::new()
    }

    /// The agent told its terminal something.
    fn signal(&mut self, _signal: &Signal) -> Vec<Finding> {
        Vec::new()
    }

    fn see(&self, screen: &Screen) -> Sight;

    /// The message as it must be pasted so that it is taken for a message and for nothing else.
    fn compose(&self, message: &str) -> String;

    /// Whether the composer holds exactly what was pasted.
    fn holds(&self, composer: &Composer, pasted: &str) -> bool;

    /// What stops a turn.
    fn interrupt(&self) -> &'static [u8];

    /// What takes back a draft, one press after the other with a look at the screen in between.
    fn clear(&self) -> &'static [u8];

    /// The answer as the agent's own waiting hook takes it, where it can carry this one.
    fn hook_answer(&self, _prompt: &Prompt, _answer: &Answer) -> Option<Value> {
        None
    }

    /// The next key on the way from what is on screen to the answer. It is asked again after each
    /// visible effect, so it needs to remember nothing.
    fn next_move(&self, prompt: &Prompt, answer: &Answer, dialog: &Dialog) -> Move;

    /// What to answer without asking anybody, if this may be answered so.
    fn groom(&self, _prompt: &Prompt, _command: &[String]) -> Option<Answer> {
        None
    }

    /// How long a dialog ignores keys after it has become visible.
    fn guard(&self) -> Duration;

    /// How long Enter must wait after the message is seen in the composer.
    fn settle(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether a message of one line may be typed as it is while the program takes no pastes.
    fn types_plainly(&self) -> bool {
        false
    }

    /// Whether its idle screen cannot be mistaken for that of a running turn.
    fn sure_idle_screen(&self) -> bool;

    /// Whether it proposes a plan once the turn is over, not in the middle of one.
    fn plans_after_turn(&self) -> bool {
        false
    }

    /// How long it must be idle for the first time to be believed.
    fn settling(&self) -> Duration {
        Duration::ZERO
    }

    /// How long it may take to be done after its last hook, if nothing else tells. What is typed meanwhile, it takes for
    /// part of the turn, or loses.
    fn done(&self) -> Duration {
        Duration::from_millis(300)
    }
}

/// A step towards an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    Press(Bytes),
    /// The key after which the dialog, or its page, goes away. Whatever it shows until then, it is not pressed
    /// again soon: the next one could land somewhere else.
    Take(Bytes),
    /// The dialog cannot take this answer, and why.
    Refuse(String),
}
