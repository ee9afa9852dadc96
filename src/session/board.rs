//! What the session shows and tells: its published state, its log and its answers, always in
//! that order, so that whoever hears of a change finds it made.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::clock::Now;
use super::event::{Event, EventLog, EventSeq, StateChange, What};
use super::outbox::{Answer, Outbox};
use super::snapshot::Snapshot;
use crate::driver::agent::{Situation, Tier};
use crate::error::Error;
use crate::term::{OutputLog, ScreenSeq};

/// What readers share with the actor.
#[derive(Debug, Clone)]
pub struct Shared {
    pub output: OutputLog,
    pub events: Arc<EventLog>,
    pub snapshot: Arc<ArcSwap<Snapshot>>,
    pub screen_changes: Arc<watch::Sender<ScreenSeq>>,
}

#[derive(Debug)]
pub struct Board {
    shared: Shared,
    /// The next one to be published.
    pub snapshot: Snapshot,
    pub outbox: Outbox,
    /// Happened, and not yet in the log.
    happened: Vec<Event>,
    /// The readers of output are to be told that no more comes.
    output_over: bool,
}

impl Board {
    pub fn new(snapshot: Snapshot, output: OutputLog) -> Self {
        let shared = Shared {
            output,
            events: Arc::default(),
            snapshot: Arc::new(ArcSwap::from_pointee(snapshot.clone())),
            screen_changes: Arc::new(watch::Sender::new(snapshot.screen_seq)),
        };
        Self { shared, snapshot, outbox: Outbox::default(), happened: Vec::new(), output_over: false }
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    pub fn answer<T: Send + 'static>(&mut self, answer: Answer<T>, result: Result<T, Error>) {
        self.outbox.answer(answer, result);
    }

    pub fn log(&mut self, now: Now, what: What) -> EventSeq {
        let seq = EventSeq(self.snapshot.event_seq.0 + 1);
        self.snapshot.event_seq = seq;
        self.happened.push(Event { seq, at_epoch_ms: now.epoch_ms, what });
        seq
    }

    /// This is what the agent is doing now. What is the same as before is no event.
    pub fn agent(&mut self, now: Now, situation: Situation, tier: Tier, cause: &'static str) {
        let before = &self.snapshot.agent;
        if before.situation == situation {
            return;
        }
        let prev = before.situation.state();
        let id = |situation: &Situation| situation.prompt().map(|prompt| prompt.id.clone());
        let began = prev != situation.state() || id(&before.situation) != id(&situation);
        let troubled = before.situation.trouble() != situation.trouble();
        if began || troubled {
            let message = before.facts.message.clone();
            let next = situation.clone();
            let since = self.log(now, What::State(StateChange { prev, next, tier, cause, message }));
            if began {
                let agent = &mut self.snapshot.agent;
                (agent.since, agent.since_epoch_ms, agent.since_steady) = (since, now.epoch_ms, now.steady);
            }
        }
        if let Some(prompt) = situation.prompt() {
            self.log(now, What::Prompt(Arc::clone(prompt)));
        }
        let agent = &mut self.snapshot.agent;
        (agent.situation, agent.tier, agent.cause) = (situation, tier, cause);
    }

    pub fn end_output(&mut self) {
        self.output_over = true;
    }

    pub fn publish(&mut self) {
        self.shared.snapshot.store(Arc::new(self.snapshot.clone()));
        let seq = self.snapshot.screen_seq;
        self.shared.screen_changes.send_if_modified(|shown| std::mem::replace(shown, seq) != seq);
        if !self.happened.is_empty() {
            self.shared.events.extend(self.happened.drain(..));
        }
        if std::mem::take(&mut self.output_over) {
            self.shared.output.close();
        }
        self.outbox.send_all();
    }
}
