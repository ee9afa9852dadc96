//! The outcomes of nudges, answers to prompts, and interrupts.

use super::by::By;
use super::event::EventSeq;
use crate::driver::agent::AgentState;
use crate::driver::prompt::PromptKind;
use crate::error::{Code, Error};

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

    /// The error that a caller gets.
    pub fn error(self) -> Error {
        let (code, message) = match self {
            Self::AgentBusy => {
                (Code::AgentBusy, "the agent cannot take a message now; wait until it is idle")
            }
            Self::DialogOpen => (
                Code::AgentBusy,
                "the agent is at a dialog; answer it first, a message would answer it by accident",
            ),
            Self::DraftInComposer => (
                Code::AgentBusy,
                "the agent's composer holds a draft that coop did not type; it is not overwritten",
            ),
            Self::NoPrompt => (Code::NoPrompt, "the agent is at no prompt"),
        };
        Error::new(code, message)
    }
}

/// The outcome of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NudgeOutcome {
    /// An independent witness reports the message.
    Accepted,
    /// The message left the composer.
    Submitted,
    /// Enter was pressed, and the composer may still hold the message.
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
pub struct NudgeReply {
    pub id: String,
    pub before: AgentState,
    pub after: AgentState,
    pub outcome: NudgeOutcome,
    /// The event of the submission; the newest event if nothing was submitted.
    pub seq: EventSeq,
    /// What coop typed and did not submit may be in the composer.
    pub left_in_composer: bool,
}

/// The outcome of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RespondOutcome {
    /// The dialog closed.
    Answered,
    /// The dialog was answered by other means first.
    Superseded,
    /// The answer was given, and the dialog is still open.
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
pub enum RespondReply {
    Given {
        kind: PromptKind,
        outcome: RespondOutcome,
        via: Channel,
        /// Who answered first, if another caller did and that is known.
        superseded_by: Option<By>,
        after: AgentState,
        seq: EventSeq,
    },
    /// The agent is at no prompt.
    NoPrompt { state: AgentState, seq: EventSeq },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterruptOutcome {
    /// The turn is over, by the agent's own account or by its screen.
    Stopped,
    NothingToStop,
    /// The turn goes on though the key was pressed.
    StillWorking,
}

impl InterruptOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::NothingToStop => "nothing_to_stop",
            Self::StillWorking => "still_working",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptReply {
    pub outcome: InterruptOutcome,
    /// The interrupt key was pressed, because a turn was running.
    pub delivered: bool,
    pub before: AgentState,
    pub after: AgentState,
    pub seq: EventSeq,
}
