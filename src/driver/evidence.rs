//! What drivers return for each observation: claims about what the agent does, and other facts.
//!
//! A claim is an edge: it says that something changed at a moment, not that it is still so.

use super::agent::{ApiError, Parked, Tier};
use super::prompt::Ask;
use super::summary::one_line;
use super::usage::UsageReport;

/// A part of what one observation means.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    Evidence(Evidence),
    Fact(Fact),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub tier: Tier,
    pub claim: Claim,
    /// The kind of observation, as a fixed short name such as `hook:Stop`.
    pub cause: &'static str,
    /// The observation itself, for people, on one line.
    pub detail: String,
    /// When it happened, if the source says so; otherwise the time of the observation counts.
    pub at_epoch_ms: Option<u64>,
}

/// What a source says that the agent is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// A turn began, with this message if the source has it.
    TurnStarted {
        text: Option<String>,
    },
    /// A turn is running.
    Working,
    /// The agent retries a request to its API after this error.
    Retrying(ApiError),
    /// The source says explicitly that the turn is over.
    TurnEnded,
    /// No turn makes progress: the agent is idle or at a dialog.
    NotWorking,
    /// The agent seems to be done, but the source does not say so; the grace timer decides.
    SeemsIdle,
    /// The turn ended in an error.
    Failed(ApiError),
    Parked(Parked),
    /// A dialog opens and asks this.
    Asked(Box<Ask>),
    /// A dialog opens; of the tool's input, the ask has only a summary.
    AskedInPart(Box<Ask>),
    /// A dialog is open, and the source does not say which.
    AtDialog,
}

/// Information that does not say what the agent is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The id of the agent's conversation, and the path of its log.
    Conversation {
        id: String,
        transcript: Option<String>,
    },
    PermissionMode(String),
    Cwd(String),
    /// The agent's latest message.
    Message(String),
    /// The agent is about to use a tool, whose dialog would ask this if one opened.
    ToolUse(Box<Ask>),
    Usage(UsageReport),
}

impl Finding {
    pub fn new(tier: Tier, cause: &'static str, claim: Claim, detail: &str) -> Self {
        Self::Evidence(Evidence { tier, claim, cause, detail: one_line(detail), at_epoch_ms: None })
    }

    /// The same finding, with the time that the source gives.
    pub fn at(mut self, epoch_ms: Option<u64>) -> Self {
        if let Self::Evidence(evidence) = &mut self {
            evidence.at_epoch_ms = epoch_ms;
        }
        self
    }

    pub fn tool_use(ask: Ask) -> Self {
        Self::Fact(Fact::ToolUse(Box::new(ask)))
    }
}
