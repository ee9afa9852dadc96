//! The session's ordered log of everything but bytes, kept in bounded memory.
//!
//! A reader is a cursor: a snapshot names its newest event, and a reader that continues from there
//! misses nothing. A reader that falls behind the oldest kept event learns how many it missed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::by::By;
use super::outcome::{Channel, InterruptOutcome, NudgeOutcome, RespondOutcome};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::driver::prompt::{Prompt, PromptId};
use crate::driver::usage::Usage;
use crate::pty::{Exit, Signal};
use crate::term::{Offset, Size};

/// How many events are kept for readers that reconnect.
const KEPT: usize = 4096;

/// The number of an event: counted from 1, never reused while this coop lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventSeq(pub u64);

/// Counts the children of a session, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(pub u64);

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: EventSeq,
    pub at_epoch_ms: u64,
    /// Who caused it, if a caller or coop itself did.
    pub by: Option<By>,
    pub kind: EventKind,
}

/// Something that happened to the session.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    State(StateChange),
    /// The agent is at a prompt, or more is known about it.
    Prompt(Arc<Prompt>),
    Nudge(NudgeEvent),
    Respond(RespondEvent),
    Interrupt(InterruptEvent),
    Lease(LeaseEvent),
    Signal(Signal),
    /// The environment of the next child was changed.
    Env {
        action: EnvAction,
        key: String,
    },
    /// What all children have used so far.
    Usage(Usage),
    Exit {
        exit: Exit,
        generation: Generation,
    },
    Restart(Restart),
    Resize(Size),
    Shutdown(ShutdownReason),
}

/// The agent's new state, and the evidence for it.
#[derive(Debug, Clone, PartialEq)]
pub struct StateChange {
    pub prev: AgentState,
    pub next: Situation,
    pub tier: Tier,
    pub cause: &'static str,
    /// The agent's last message.
    pub message: Option<Arc<str>>,
}

/// The outcome of a nudge.
#[derive(Debug, Clone, PartialEq)]
pub struct NudgeEvent {
    pub id: String,
    pub outcome: NudgeOutcome,
    /// Why the message was not typed, if coop cancelled it.
    pub failure: Option<String>,
}

/// The outcome of an answer to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct RespondEvent {
    pub id: PromptId,
    pub outcome: RespondOutcome,
    pub via: Channel,
    /// Who answered first, if another caller did and that is known.
    pub superseded_by: Option<By>,
}

/// The outcome of an interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct InterruptEvent {
    pub outcome: InterruptOutcome,
    pub before: AgentState,
    pub after: AgentState,
}

/// A change of the lease.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaseEvent {
    pub action: LeaseAction,
    pub holder: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAction {
    Acquired { expires_at_epoch_ms: u64 },
    Released,
    Expired,
}

impl LeaseAction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acquired { .. } => "acquired",
            Self::Released => "released",
            Self::Expired => "expired",
        }
    }
}

/// What happened to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvAction {
    Put,
    Delete,
}

impl EnvAction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }
}

/// A new child replaced the previous one.
#[derive(Debug, Clone, PartialEq)]
pub struct Restart {
    pub generation: Generation,
    pub offset: Offset,
    pub pid: i32,
    pub reason: RestartReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartReason {
    Restart,
    Switch,
}

impl RestartReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Switch => "switch",
        }
    }
}

/// Why coop shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownReason {
    Api,
    Signal,
    IdleTimeout,
    ChildExit,
}

impl ShutdownReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Signal => "signal",
            Self::IdleTimeout => "idle_timeout",
            Self::ChildExit => "child_exit",
        }
    }
}

/// What a reader gets: possibly a gap, then events in order.
#[derive(Debug, PartialEq)]
pub struct Batch {
    /// The events from `from` up to, but not including, `to` are no longer kept.
    pub missed: Option<Missed>,
    pub events: Vec<Arc<Event>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed {
    pub from: EventSeq,
    pub to: EventSeq,
}

/// The log. Only the session appends to it.
#[derive(Debug)]
pub struct EventLog {
    kept: Mutex<VecDeque<Arc<Event>>>,
    head: watch::Sender<EventSeq>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self { kept: Mutex::default(), head: watch::Sender::new(EventSeq::default()) }
    }
}

impl EventLog {
    /// Appends events whose numbers continue from the head.
    pub fn extend(&self, events: impl IntoIterator<Item = Event>) {
        let newest = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            for event in events {
                if kept.len() == KEPT {
                    kept.pop_front();
                }
                kept.push_back(Arc::new(event));
            }
            kept.back().map(|event| event.seq)
        };
        if let Some(newest) = newest {
            self.head.send_if_modified(|head| std::mem::replace(head, newest) != newest);
        }
    }

    /// The newest event's number; 0 before the first.
    pub fn head(&self) -> EventSeq {
        *self.head.borrow()
    }

    /// Wakes when the head moves.
    pub fn subscribe(&self) -> watch::Receiver<EventSeq> {
        self.head.subscribe()
    }

    /// Up to `limit` events after `seq`.
    pub fn read_after(&self, seq: EventSeq, limit: usize) -> Batch {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(oldest) = kept.front().map(|event| event.seq) else {
            return Batch { missed: None, events: Vec::new() };
        };
        let wanted = EventSeq(seq.0.saturating_add(1));
        let missed = (wanted < oldest).then_some(Missed { from: wanted, to: oldest });
        let start = usize::try_from(wanted.0.saturating_sub(oldest.0)).unwrap_or(usize::MAX);
        Batch { missed, events: kept.iter().skip(start).take(limit).cloned().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: usize) -> EventLog {
        let log = EventLog::default();
        log.extend((1..=count as u64).map(|seq| Event {
            seq: EventSeq(seq),
            at_epoch_ms: seq,
            by: None,
            kind: EventKind::Shutdown(ShutdownReason::Api),
        }));
        log
    }

    fn seqs(batch: &Batch) -> Vec<u64> {
        batch.events.iter().map(|event| event.seq.0).collect()
    }

    #[test]
    fn reading_on_from_a_cursor_misses_nothing() {
        let log = filled(5);
        assert_eq!(seqs(&log.read_after(EventSeq(0), 3)), [1, 2, 3]);
        assert_eq!(seqs(&log.read_after(EventSeq(3), 3)), [4, 5]);
        assert_eq!(log.read_after(EventSeq(5), 3), Batch { missed: None, events: vec![] });
        assert_eq!(log.head(), EventSeq(5));
    }

    #[test]
    fn a_reader_learns_which_events_are_no_longer_kept() {
        let log = filled(KEPT + 10);
        let batch = log.read_after(EventSeq(4), 1);
        assert_eq!(batch.missed, Some(Missed { from: EventSeq(5), to: EventSeq(11) }));
        assert_eq!(seqs(&batch), [11]);
        assert_eq!(log.read_after(EventSeq(10), 1).missed, None);
    }

    #[test]
    fn a_cursor_beyond_the_head_reads_nothing() {
        let log = filled(2);
        assert_eq!(log.read_after(EventSeq(u64::MAX), 9), Batch { missed: None, events: vec![] });
    }
}
