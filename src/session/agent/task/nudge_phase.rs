//! How far a nudge has come: what a later step needs of an earlier one. It decides nothing.

use std::time::Instant;

use super::draft_deletion::DraftDeletion;
use super::turn_stop::TurnStop;
use crate::driver::agent::AgentState;
use crate::error::Error;
use crate::session::event::EventSeq;
use crate::session::outcome::NudgeOutcome;

#[derive(Debug)]
pub(super) enum Phase {
    Begin {
        interrupt: bool,
    },
    Check {
        interrupt: bool,
    },
    StopTurn {
        stop: TurnStop,
    },
    /// A draft of coop's own is deleted before the message is pasted.
    Clear {
        deletion: DraftDeletion,
    },
    AwaitEcho {
        pasted: Instant,
    },
    /// The composer shows the message, and takes an Enter only a moment later.
    PressEnter {
        shown: Instant,
    },
    /// Enter was pressed while the composer had this many rows.
    AwaitWitness {
        entered: Instant,
        rows: usize,
        again: bool,
    },
    /// The message is not submitted, and is deleted before the nudge ends.
    TakeBack {
        deletion: DraftDeletion,
        ending: Ending,
    },
}

/// How a nudge ends.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    Outcome(NudgeOutcome),
    Failure(Error),
}

/// Enter was pressed.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) seq: EventSeq,
    pub(super) state_before: AgentState,
    /// When the caller has waited long enough for a witness.
    pub(super) reply_due: Option<Instant>,
}
