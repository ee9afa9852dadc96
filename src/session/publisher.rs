//! What the session publishes: its snapshot, its event log and its replies, always in that order,
//! so that a client that learns of a change can already read it.

use std::sync::Arc;
use std::time::Instant;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::watch;

use super::by::By;
use super::clock::Now;
use super::command::ScreenView;
use super::event::{Event, EventKind, EventLog, EventSeq, StateChange};
use super::replies::{Replies, ReplySender};
use super::snapshot::Snapshot;
use crate::driver::agent::{Situation, Tier};
use crate::error::Error;
use crate::term::{OutputLog, Screen, ScreenSeq};

/// What the actor shares with all readers.
#[derive(Debug, Clone)]
pub(super) struct Published {
    pub(super) output: OutputLog,
    pub(super) events: Arc<EventLog>,
    pub(super) snapshot: Arc<ArcSwap<Snapshot>>,
    /// The last screen that a reader asked for, shared by all readers. It is current while its
    /// number is the snapshot's.
    pub(super) screen: Arc<ArcSwapOption<TakenScreen>>,
    pub(super) screen_changes: Arc<watch::Sender<ScreenSeq>>,
}

/// A screen, when it was taken, and the newest event then.
#[derive(Debug)]
pub(super) struct TakenScreen {
    pub(super) screen: Arc<Screen>,
    pub(super) event_seq: EventSeq,
    pub(super) at: Instant,
}

#[derive(Debug)]
pub(super) struct Publisher {
    published: Published,
    /// The snapshot that is published next.
    pub(super) snapshot: Snapshot,
    pub(super) replies: Replies,
    /// Events of this turn, not yet in the log.
    new_events: Vec<Event>,
    output_ended: bool,
}

impl Publisher {
    pub(super) fn new(snapshot: Snapshot, output: OutputLog) -> Self {
        let published = Published {
            output,
            events: Arc::default(),
            snapshot: Arc::new(ArcSwap::from_pointee(snapshot.clone())),
            screen: Arc::default(),
            screen_changes: Arc::new(watch::Sender::new(snapshot.screen_seq)),
        };
        Self {
            published,
            snapshot,
            replies: Replies::default(),
            new_events: Vec::new(),
            output_ended: false,
        }
    }

    pub(super) fn published(&self) -> &Published {
        &self.published
    }

    pub(super) fn reply<T: Send + 'static>(
        &mut self,
        reply: ReplySender<T>,
        result: Result<T, Error>,
    ) {
        self.replies.add(reply, result);
    }

    /// Appends an event that no caller caused to the log, and returns its number.
    pub(super) fn log(&mut self, now: Now, kind: EventKind) -> EventSeq {
        self.append(now, None, kind)
    }

    /// Appends an event that this caller caused.
    pub(super) fn log_by(&mut self, now: Now, by: &By, kind: EventKind) -> EventSeq {
        self.append(now, Some(by.clone()), kind)
    }

    fn append(&mut self, now: Now, by: Option<By>, kind: EventKind) -> EventSeq {
        let seq = EventSeq(self.snapshot.event_seq.0 + 1);
        self.snapshot.event_seq = seq;
        self.new_events.push(Event { seq, at_epoch_ms: now.epoch_ms, by, kind });
        seq
    }

    /// Sets the agent's situation, and logs what changed about it.
    pub(super) fn set_situation(
        &mut self,
        now: Now,
        situation: Situation,
        tier: Tier,
        cause: &'static str,
    ) {
        let before = &self.snapshot.agent;
        if before.situation == situation {
            return;
        }
        let prev = before.situation.state();
        let prompt_id = |situation: &Situation| situation.prompt().map(|prompt| prompt.id.clone());
        let is_new =
            prev != situation.state() || prompt_id(&before.situation) != prompt_id(&situation);
        let other_error = before.situation.api_error() != situation.api_error();
        if is_new || other_error {
            let message = before.facts.message.clone();
            let next = situation.clone();
            let change = StateChange { prev, next, tier, cause, message };
            let since = self.log(now, EventKind::State(change));
            if is_new {
                let agent = &mut self.snapshot.agent;
                (agent.since, agent.since_epoch_ms, agent.since_steady) =
                    (since, now.epoch_ms, now.steady);
            }
        }
        if let Some(prompt) = situation.prompt() {
            self.log(now, EventKind::Prompt(Arc::clone(prompt)));
        }
        let agent = &mut self.snapshot.agent;
        (agent.situation, agent.tier, agent.cause) = (situation, tier, cause);
    }

    /// Shares the current screen with all readers.
    pub(super) fn share_screen(&self, now: Now, screen: Arc<Screen>) -> ScreenView {
        let event_seq = self.snapshot.event_seq;
        let view = ScreenView { screen: Arc::clone(&screen), event_seq };
        let taken = TakenScreen { screen, event_seq, at: now.steady };
        self.published.screen.store(Some(Arc::new(taken)));
        view
    }

    /// Closes the output for its readers when this turn is published.
    pub(super) fn end_output(&mut self) {
        self.output_ended = true;
    }

    pub(super) fn publish(&mut self) {
        self.published.snapshot.store(Arc::new(self.snapshot.clone()));
        let seq = self.snapshot.screen_seq;
        self.published
            .screen_changes
            .send_if_modified(|shown| std::mem::replace(shown, seq) != seq);
        if !self.new_events.is_empty() {
            self.published.events.extend(self.new_events.drain(..));
        }
        if std::mem::take(&mut self.output_ended) {
            self.published.output.close();
        }
        self.replies.send_all();
    }
}
