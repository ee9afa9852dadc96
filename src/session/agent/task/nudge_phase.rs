//! How far a nudge has come: what a later step needs of an earlier one. It decides nothing.

use std::time::Instant;

use super::turn_stop::TurnStop;
use crate::driver::agent::AgentState;
use crate::session::event::EventSeq;

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
    Clear {
        presses: u32,
        last: Instant,
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
}

/// Enter was pressed.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) seq: EventSeq,
    pub(super) state_before: AgentState,
    /// When the caller has waited long enough for a witness.
    pub(super) reply_due: Option<Instant>,
}
