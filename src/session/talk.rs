//! What is said to the agent, and what became of it: messages, answers and interrupts, with their outcomes.

use std::time::Duration;

use super::event::EventSeq;
use crate::driver::agent::AgentState;
use crate::driver::prompt::{Answer as PromptAnswer, PromptKind};
use crate::error::{Code, Error};

/// The largest message.
pub const MESSAGE_LIMIT: usize = 1 << 20;
/// How many messages may wait for the agent.
pub const QUEUE_LIMIT: usize = 64;

/// A message for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    pub mode: Mode,
    /// The same key never types twice.
    pub key: Option<String>,
    /// How long the caller waits for a witness; zero is until it is submitted.
    pub confirm: Duration,
}

/// What to do if the agent cannot take a message now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    RejectIfBusy,
    Queue,
    Interrupt,
}

impl Mode {
    /// The mode with this name on the wire; none is the first.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "" | "reject_if_busy" => Some(Self::RejectIfBusy),
            "queue" => Some(Self::Queue),
            "interrupt" => Some(Self::Interrupt),
            _ => None,
        }
    }
}

impl Message {
    /// Refuses what no composer can take.
    pub fn check(text: &str) -> Result<(), Error> {
        if text.trim().is_empty() {
            return Err(Error::bad_request("message is empty"));
        }
        if text.len() > MESSAGE_LIMIT {
            let message = format!("message is larger than {MESSAGE_LIMIT} bytes");
            return Err(Error::new(Code::TooLarge, message));
        }
        let control = text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n'));
        match control {
            None => Ok(()),
            Some(control) => Err(Error::bad_request(format!(
                "message has the control character {:#04x} in it; only tabs and line feeds can be typed",
                u32::from(control)
            ))),
        }
    }
}

/// Why a message or an answer was not typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    AgentBusy,
    DialogOpen,
    DraftInComposer,
    NoPrompt,
}

impl Refusal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AgentBusy => "agent_busy",
            Self::DialogOpen => "dialog_open",
            Self::DraftInComposer => "draft_in_composer",
            Self::NoPrompt => "no_prompt",
        }
    }

    /// What the caller is told.
    pub fn error(self) -> Error {
        match self {
            Self::AgentBusy => {
                Error::new(Code::AgentBusy, "the agent cannot take a message now; wait until it is idle")
            }
            Self::DialogOpen => Error::new(
                Code::AgentBusy,
                "the agent is at a dialog; answer it first, a message would answer it by accident",
            ),
            Self::DraftInComposer => Error::new(
                Code::AgentBusy,
                "somebody's draft stands in the agent's composer; it is not typed over",
            ),
            Self::NoPrompt => Error::new(Code::NoPrompt, "the agent is at no prompt"),
        }
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NudgeOutcome {
    /// An independent witness has it.
    Accepted,
    /// It left the composer.
    Submitted,
    /// Enter was pressed, and the composer may still hold it.
    Unconfirmed,
    Queued,
    Rejected(Refusal),
}

impl NudgeOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Submitted => "submitted",
            Self::Unconfirmed => "unconfirmed",
            Self::Queued => "queued",
            Self::Rejected(_) => "rejected",
        }
    }

    pub fn delivered(self) -> bool {
        match self {
            Self::Accepted | Self::Submitted | Self::Unconfirmed => true,
            Self::Queued | Self::Rejected(_) => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nudged {
    pub id: String,
    pub before: AgentState,
    pub after: AgentState,
    pub outcome: NudgeOutcome,
    /// The event of the submission; the newest one where nothing was submitted.
    pub seq: EventSeq,
}

/// An answer for the prompt that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The prompt it was meant for.
    pub prompt_id: Option<String>,
    pub answer: PromptAnswer,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RespondOutcome {
    /// The dialog went away.
    Answered,
    /// Somebody else answered first.
    Superseded,
    /// It was given, and the dialog still stands.
    Unconfirmed,
}

impl RespondOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Superseded => "superseded",
            Self::Unconfirmed => "unconfirmed",
        }
    }
}

/// How an answer reached the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Hook,
    Keys,
}

impl Channel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Keys => "keys",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Responded {
    Given {
        kind: PromptKind,
        outcome: RespondOutcome,
        via: Channel,
        after: AgentState,
        seq: EventSeq,
    },
    /// No prompt stands.
    NoPrompt {
        state: AgentState,
        seq: EventSeq,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    /// The key was pressed: there was something to stop.
    pub delivered: bool,
    pub before: AgentState,
    pub after: AgentState,
    pub seq: EventSeq,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_typed_is_refused() {
        for text in ["", " \n", "a\x1b[201~b", "bell\x07", "a\rb", "nul\0", "\u{9b}1m"] {
            assert_eq!(Message::check(text).unwrap_err().code, Code::BadRequest, "{text:?}");
        }
        assert_eq!(Message::check(&"x".repeat(MESSAGE_LIMIT + 1)).unwrap_err().code, Code::TooLarge);
        assert!(Message::check("two\nlines\tand a tab 🐔").is_ok());
    }
}
