//! The session's ordered log of everything but bytes, kept in bounded memory.
//!
//! Readers are cursors: a snapshot names the head it was taken at, and reading on from there
//! misses nothing. Whoever falls behind the oldest event kept is told how much is missing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::talk::{Channel, NudgeOutcome, RespondOutcome};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::driver::prompt::{Prompt, PromptId};
use crate::driver::usage::Usage;
use crate::pty::Exit;
use crate::term::{Offset, Size};

/// How many events are kept for readers that come back.
pub const KEPT: usize = 4096;

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
    pub what: What,
}

/// Something that happened to the session.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    State(StateChange),
    /// A prompt stands, or there is more to the one that stood.
    Prompt(Arc<Prompt>),
    Nudge(NudgeEvent),
    Respond(RespondEvent),
    /// What all children have used by now.
    Usage(Usage),
    Exit {
        exit: Exit,
        generation: Generation,
    },
    Restart(Restart),
    Resize(Size),
    Shutdown(ShutdownReason),
}

/// The agent went from one state to another, and why coop says so.
#[derive(Debug, Clone, PartialEq)]
pub struct StateChange {
    pub prev: AgentState,
    pub next: Situation,
    pub tier: Tier,
    pub cause: &'static str,
    /// What the agent said last.
    pub message: Option<Arc<str>>,
}

/// Something became of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct NudgeEvent {
    pub id: String,
    pub outcome: NudgeOutcome,
    /// Why it was not typed, where coop itself gave up on it.
    pub failure: Option<String>,
}

/// Something became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RespondEvent {
    pub id: PromptId,
    pub outcome: RespondOutcome,
    pub via: Channel,
}

/// A new child took the place of the one before.
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

/// Why coop goes.
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

/// What a reader gets: possibly a hole, then events in order.
#[derive(Debug, PartialEq)]
pub struct Batch {
    /// The events from `from` up to, not including, `to` are no longer kept.
    pub missed: Option<Missed>,
    pub events: Vec<Arc<Event>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed {
    pub from: EventSeq,
    pub to: EventSeq,
}

/// The log. Only the session appends; anyone reads.
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
    /// Adds events whose numbers go on from the head.
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

    /// Wakes whenever the head moves.
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
            what: What::Shutdown(ShutdownReason::Api),
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
    fn what_is_no_longer_kept_is_declared() {
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
