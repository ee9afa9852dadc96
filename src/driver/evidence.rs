//! What drivers make of what was observed: claims about the agent, and facts beside them.
//!
//! A claim is an edge: it says that something changed, never that it is still so.

use super::agent::{Parked, Tier, Trouble};
use super::prompt::Ask;
use super::usage::Spent;
use super::wording::one_line;

/// What one observation means.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    Evidence(Evidence),
    Fact(Fact),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub tier: Tier,
    pub claim: Claim,
    /// Why, in a few words that are the same each time, for example `hook:Stop`.
    pub cause: &'static str,
    /// What was seen, for people, on one line.
    pub seen: String,
    /// When the source itself says that it happened; otherwise it happened when it was heard of.
    pub at_epoch_ms: Option<u64>,
}

/// What the agent is said to be doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// A turn began, with this text where the source has it.
    TurnStarted {
        text: Option<String>,
    },
    /// A turn is running.
    Working,
    /// The agent tries its API again.
    Retrying(Trouble),
    /// The turn is over, and said so.
    TurnEnded,
    /// No turn is running: the agent is idle or at a dialog.
    NotWorking,
    /// The agent looks as if it had nothing more to say; the grace timer decides.
    Quiet,
    /// The turn ended in an error.
    Failed(Trouble),
    Parked(Parked),
    /// A dialog opens, and this is what it asks.
    Asked(Box<Ask>),
    /// A dialog stands, and the source does not know which.
    Waiting,
}

/// Something worth knowing that says nothing of what the agent is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The agent's conversation and where its log is.
    Conversation {
        id: String,
        transcript: Option<String>,
    },
    PermissionMode(String),
    Cwd(String),
    /// What the agent said last.
    Message(String),
    /// A tool is about to be used, and this is what its dialog would ask if it had one.
    ToolUse(Box<Ask>),
    Spent(Spent),
}

impl Finding {
    pub fn new(tier: Tier, cause: &'static str, claim: Claim, seen: &str) -> Self {
        Self::Evidence(Evidence { tier, claim, cause, seen: one_line(seen), at_epoch_ms: None })
    }

    /// The same, with the moment that the source itself gives.
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
