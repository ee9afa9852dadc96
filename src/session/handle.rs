//! The session as everything else sees it: commands go in, values come out, and published state is
//! read without a command.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::by::By;
use super::child_spec::SpecChange;
use super::command::{Command, Dump, Explanation, Replaced, ScreenView, Sent, Typing};
use super::event::{EventLog, RestartReason, ShutdownReason};
use super::lease::{Granted, LeaseId};
use super::outcome::{InterruptReply, NudgeReply, RespondReply};
use super::publisher::Published;
use super::replies::ReplySender;
use super::request::{NudgeRequest, RespondRequest};
use super::scrollback_page::{ScrollbackPage, ScrollbackRequest};
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::pty::Signal;
use crate::source::{CounterReader, SourceCounters};
use crate::term::{OutputLog, ScreenSeq, Size};

/// A handle to the session; its clones are handles to the same session.
#[derive(Debug, Clone)]
pub struct Session {
    commands: mpsc::Sender<Sent>,
    published: Published,
    source_counters: Option<CounterReader>,
    epoch_ms: u64,
    /// Who sends the commands of this handle.
    by: By,
}

impl Session {
    pub(super) fn new(
        commands: mpsc::Sender<Sent>,
        published: Published,
        source_counters: Option<CounterReader>,
        epoch_ms: u64,
    ) -> Self {
        Self { commands, published, source_counters, epoch_ms, by: By::Coop }
    }

    /// A handle whose commands come from this caller.
    #[must_use]
    pub fn by(&self, by: By) -> Self {
        Self { by, ..self.clone() }
    }

    /// When this coop started; it distinguishes this coop's numbers from another's.
    pub fn epoch_ms(&self) -> u64 {
        self.epoch_ms
    }

    /// The newest published state; takes no lock.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.published.snapshot.load_full()
    }

    pub fn output(&self) -> &OutputLog {
        &self.published.output
    }

    pub fn events(&self) -> &Arc<EventLog> {
        &self.published.events
    }

    /// Wakes when the screen changes.
    pub fn screen_changes(&self) -> watch::Receiver<ScreenSeq> {
        self.published.screen_changes.subscribe()
    }

    /// Types, and returns the number of bytes once the kernel has taken all of them.
    pub async fn type_in(&self, typing: Typing, lease: Option<LeaseId>) -> Result<usize, Error> {
        self.call(|reply| Command::Type { typing, lease, reply }).await
    }

    pub async fn resize(&self, size: Size, lease: Option<LeaseId>) -> Result<(), Error> {
        self.call(|reply| Command::Resize { size, lease, reply }).await
    }

    pub async fn signal(&self, signal: Signal) -> Result<(), Error> {
        self.call(|reply| Command::Signal { signal, reply }).await
    }

    /// Takes the lease, or renews it for the caller that holds it.
    pub async fn acquire_lease(
        &self,
        shown: Option<LeaseId>,
        holder: Option<String>,
        ttl: Duration,
    ) -> Result<Granted, Error> {
        let fresh = LeaseId(format!("{}-{}", self.epoch_ms, uuid::Uuid::new_v4().simple()));
        self.call(|reply| Command::AcquireLease { shown, fresh, holder, ttl, reply }).await
    }

    pub async fn release_lease(&self, id: LeaseId) -> Result<bool, Error> {
        self.call(|reply| Command::ReleaseLease { id, reply }).await
    }

    /// Releases the lease of a client that has disconnected, without waiting. If the command queue
    /// is full, the lease expires by itself.
    pub fn drop_lease(&self, id: LeaseId) {
        let (reply, _) = oneshot::channel();
        let command = Command::ReleaseLease { id, reply };
        drop(self.commands.try_send(Sent { by: self.by.clone(), command }));
    }

    /// Types a message into the agent.
    pub async fn nudge(
        &self,
        request: NudgeRequest,
        lease: Option<LeaseId>,
    ) -> Result<NudgeReply, Error> {
        self.call(|reply| Command::Nudge { request, lease, reply }).await
    }

    /// Answers the agent's prompt.
    pub async fn respond(
        &self,
        request: RespondRequest,
        lease: Option<LeaseId>,
    ) -> Result<RespondReply, Error> {
        self.call(|reply| Command::Respond { request, lease, reply }).await
    }

    /// Stops the agent's turn.
    pub async fn interrupt(&self, lease: Option<LeaseId>) -> Result<InterruptReply, Error> {
        self.call(|reply| Command::Interrupt { lease, reply }).await
    }

    /// Why the agent's state is what it is.
    pub async fn explain(&self) -> Result<Explanation, Error> {
        self.call(|reply| Command::Explain { reply }).await
    }

    /// What coop could not use of the agent's hooks, log and status files so far.
    pub(crate) fn source_counters(&self) -> SourceCounters {
        self.source_counters.as_ref().map(CounterReader::read).unwrap_or_default()
    }

    /// The screen as it is now. An unchanged screen is read without a turn of the actor.
    pub async fn screen(&self) -> Result<ScreenView, Error> {
        // The snapshot has both numbers, and is loaded first: if the screen has the snapshot's
        // number, it is the screen at that event.
        let snapshot = self.snapshot();
        if let Some(taken) = self.published.screen.load_full()
            && taken.screen.seq() == snapshot.screen_seq
        {
            let screen = Arc::clone(&taken.screen);
            return Ok(ScreenView { screen, event_seq: snapshot.event_seq });
        }
        self.call(|reply| Command::Screen { reply }).await
    }

    /// A screen for one frame of a stream, newer than the one that the stream has `shown`. While
    /// the screen keeps changing, all streams share a screen that is at most one frame old.
    pub async fn frame(
        &self,
        frame: Duration,
        shown: Option<ScreenSeq>,
    ) -> Result<ScreenView, Error> {
        if let Some(taken) = self.published.screen.load_full()
            && Some(taken.screen.seq()) > shown
            && Instant::now().saturating_duration_since(taken.at) < frame
        {
            return Ok(ScreenView {
                screen: Arc::clone(&taken.screen),
                event_seq: taken.event_seq,
            });
        }
        self.screen().await
    }

    pub async fn scrollback(&self, request: ScrollbackRequest) -> Result<ScrollbackPage, Error> {
        self.call(|reply| Command::Scrollback { request, reply }).await
    }

    pub async fn dump(&self) -> Result<Dump, Error> {
        self.call(|reply| Command::Dump { reply }).await
    }

    /// Terminates the child and starts another; returns when that one runs. A command that cannot
    /// be found is refused before the running child is touched.
    pub async fn replace(
        &self,
        change: SpecChange,
        reason: RestartReason,
        grace: Duration,
    ) -> Result<Replaced, Error> {
        let snapshot = self.snapshot();
        let launch = snapshot.child_spec.with(change.clone()).launch(snapshot.size);
        launch.resolve().map_err(|error| Error::bad_request(error.to_string()))?;
        self.call(|reply| Command::Replace { change, reason, grace, reply }).await
    }

    /// The environment of the next child.
    pub async fn env(&self) -> Result<Arc<BTreeMap<String, String>>, Error> {
        self.call(|reply| Command::GetEnv { reply }).await
    }

    pub async fn put_env(&self, key: String, value: String) -> Result<(), Error> {
        self.call(|reply| Command::PutEnv { key, value, reply }).await
    }

    pub async fn delete_env(&self, key: String) -> Result<(), Error> {
        self.call(|reply| Command::DeleteEnv { key, reply }).await
    }

    /// Begins to end the child and the session; a second call skips the grace.
    pub async fn shut_down(&self, reason: ShutdownReason, grace: Duration) -> Result<(), Error> {
        self.call(|reply| Command::Shutdown { reason, grace, reply }).await
    }

    async fn call<T>(&self, command: impl FnOnce(ReplySender<T>) -> Command) -> Result<T, Error> {
        let (reply, received) = oneshot::channel();
        let sent = Sent { by: self.by.clone(), command: command(reply) };
        self.commands.send(sent).await.map_err(|_| Error::shutting_down())?;
        received.await.map_err(|_| Error::shutting_down())?
    }
}
