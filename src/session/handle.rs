//! How everybody else talks to the session: commands go in, values come out, and what is
//! published can be read without asking.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::board::Shared;
use super::command::{Command, Dump, Explanation, Replaced, Typing, View};
use super::event::{EventLog, RestartReason, ShutdownReason};
use super::lease::{Granted, LeaseId};
use super::outbox::Answer;
use super::page::{Page, PageRequest};
use super::recipe::Change;
use super::snapshot::Snapshot;
use super::talk::{Interrupted, Message, Nudged, Reply, Responded};
use crate::error::Error;
use crate::pty::Signal;
use crate::term::{OutputLog, ScreenSeq, Size};

/// A handle to the session; clones are the same session.
#[derive(Debug, Clone)]
pub struct Session {
    commands: mpsc::Sender<Command>,
    shared: Shared,
    epoch_ms: u64,
}

impl Session {
    pub(super) fn new(commands: mpsc::Sender<Command>, shared: Shared, epoch_ms: u64) -> Self {
        Self { commands, shared, epoch_ms }
    }

    /// When this coop started: it tells one coop's numbers from another's.
    pub fn epoch_ms(&self) -> u64 {
        self.epoch_ms
    }

    /// The newest published state; takes no lock.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    pub fn output(&self) -> &OutputLog {
        &self.shared.output
    }

    pub fn events(&self) -> &Arc<EventLog> {
        &self.shared.events
    }

    /// Wakes whenever the screen has changed.
    pub fn screen_changes(&self) -> watch::Receiver<ScreenSeq> {
        self.shared.screen_changes.subscribe()
    }

    /// Types; answers how many bytes that were once the kernel has taken them all.
    pub async fn type_in(&self, typing: Typing, lease: Option<LeaseId>) -> Result<usize, Error> {
        self.ask(|answer| Command::Type { typing, lease, answer }).await
    }

    pub async fn resize(&self, size: Size, lease: Option<LeaseId>) -> Result<(), Error> {
        self.ask(|answer| Command::Resize { size, lease, answer }).await
    }

    pub async fn signal(&self, signal: Signal) -> Result<(), Error> {
        self.ask(|answer| Command::Signal { signal, answer }).await
    }

    /// Takes the terminal, or keeps it for whoever shows the id that holds it.
    pub async fn acquire_lease(
        &self,
        shown: Option<LeaseId>,
        holder: String,
        ttl: Duration,
    ) -> Result<Granted, Error> {
        let fresh = LeaseId(format!("{}-{}", self.epoch_ms, uuid::Uuid::new_v4().simple()));
        self.ask(|answer| Command::AcquireLease { shown, fresh, holder, ttl, answer }).await
    }

    pub async fn release_lease(&self, id: LeaseId) -> Result<bool, Error> {
        self.ask(|answer| Command::ReleaseLease { id, answer }).await
    }

    /// Releases without waiting, for a client that has just gone. If the session is too busy
    /// to hear it, the lease runs out by itself.
    pub fn drop_lease(&self, id: LeaseId) {
        let (answer, _) = oneshot::channel();
        drop(self.commands.try_send(Command::ReleaseLease { id, answer }));
    }

    /// Says something to the agent; answers what became of it.
    pub async fn nudge(&self, message: Message, lease: Option<LeaseId>) -> Result<Nudged, Error> {
        self.ask(|answer| Command::Nudge { message, lease, answer }).await
    }

    /// Answers the agent's prompt.
    pub async fn respond(&self, reply: Reply, lease: Option<LeaseId>) -> Result<Responded, Error> {
        self.ask(|answer| Command::Respond { reply, lease, answer }).await
    }

    /// Stops the agent's turn.
    pub async fn interrupt(&self, lease: Option<LeaseId>) -> Result<Interrupted, Error> {
        self.ask(|answer| Command::Interrupt { lease, answer }).await
    }

    /// Why the agent's state is what it is.
    pub async fn explain(&self) -> Result<Explanation, Error> {
        self.ask(|answer| Command::Explain { answer }).await
    }

    pub async fn view(&self) -> Result<View, Error> {
        self.ask(|answer| Command::View { answer }).await
    }

    pub async fn scrollback(&self, page: PageRequest) -> Result<Page, Error> {
        self.ask(|answer| Command::Scrollback { page, answer }).await
    }

    pub async fn dump(&self) -> Result<Dump, Error> {
        self.ask(|answer| Command::Dump { answer }).await
    }

    /// Ends the child and starts another; answers when that one runs. A command that cannot be
    /// found must not cost the child that runs.
    pub async fn replace(
        &self,
        change: Change,
        reason: RestartReason,
        grace: Duration,
    ) -> Result<Replaced, Error> {
        let snapshot = self.snapshot();
        let launch = snapshot.recipe.with(change.clone()).launch(snapshot.size);
        launch.resolve().map_err(|error| Error::bad_request(error.to_string()))?;
        self.ask(|answer| Command::Replace { change, reason, grace, answer }).await
    }

    /// The environment of the next child.
    pub async fn env(&self) -> Result<Arc<BTreeMap<String, String>>, Error> {
        self.ask(|answer| Command::GetEnv { answer }).await
    }

    pub async fn put_env(&self, key: String, value: String) -> Result<(), Error> {
        self.ask(|answer| Command::PutEnv { key, value, answer }).await
    }

    pub async fn delete_env(&self, key: String) -> Result<(), Error> {
        self.ask(|answer| Command::DeleteEnv { key, answer }).await
    }

    /// Begins to end everything; the second time it skips the grace.
    pub async fn shut_down(&self, reason: ShutdownReason, grace: Duration) -> Result<(), Error> {
        self.ask(|answer| Command::Shutdown { reason, grace, answer }).await
    }

    async fn ask<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        self.commands.send(command(answer)).await.map_err(|_| Error::shutting_down())?;
        answered.await.map_err(|_| Error::shutting_down())?
    }
}
