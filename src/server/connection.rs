//! What the server knows of one open connection: whether it has shown a token, its open calls, and
//! when it must end if it has shown none. It knows neither protocol nor token.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};

use super::limits::{STRANGER_CALL_TIME, STRANGER_EXCESS, STRANGER_IDLE};
use super::source::Source;
use super::strangers::Strangers;
use crate::gateway::InputBudget;

/// The state of a connection, which the registry of strangers shares.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    trusted: bool,
    evicted: bool,
    calls: usize,
    /// Health streams, which may stay open.
    watches: usize,
    /// When the open calls began, or the last one ended.
    since: Instant,
}

impl State {
    pub(super) fn new(trusted: bool) -> Self {
        Self { trusted, evicted: false, calls: 0, watches: 0, since: Instant::now() }
    }

    /// When a connection in this state must end; `None` if it may stay.
    fn expires(&self) -> Option<Instant> {
        let time = if self.calls == 0 { STRANGER_IDLE } else { STRANGER_CALL_TIME };
        (!self.trusted && self.watches == 0).then(|| self.since + time)
    }

    /// Whether a new connection may replace this one. One without open calls is preferred.
    pub(super) fn is_replaceable(&self) -> bool {
        !self.evicted && !self.trusted && self.watches == 0
    }

    pub(super) fn is_idle(&self) -> bool {
        self.calls == 0
    }

    pub(super) fn evict(&mut self) {
        self.evicted = true;
    }
}

/// One connection. Clones of its `Arc` are in its stream and in its requests.
#[derive(Debug)]
pub(super) struct Connection {
    strangers: Arc<Strangers>,
    source: Source,
    /// Its entry in the registry.
    id: u64,
    state: Arc<watch::Sender<State>>,
    /// Its part of the memory of strangers, until it has shown a token.
    room: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Connection {
    pub(super) fn new(
        strangers: Arc<Strangers>,
        source: Source,
        id: u64,
        state: Arc<watch::Sender<State>>,
        room: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { strangers, source, id, state, room: Mutex::new(room) }
    }

    /// The connection has shown a token: the limits for strangers do not apply to it any more.
    pub(super) fn trust(&self) {
        let changed =
            self.state.send_if_modified(|state| !std::mem::replace(&mut state.trusted, true));
        if changed {
            self.strangers.forget(self.id);
            drop(self.room.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.state.borrow().trusted
    }

    /// The calls that are open, as long as it has not shown a token.
    pub(super) fn calls(&self) -> usize {
        self.state.borrow().calls
    }

    /// Counts a call. The calls of a connection that has shown a token are not counted.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Call> {
        if self.is_trusted() {
            return None;
        }
        self.state.send_modify(|state| {
            state.calls += 1;
            if state.calls == 1 {
                state.since = Instant::now();
            }
        });
        Some(Call { connection: Arc::clone(self) })
    }

    /// Marks a health stream, which may stay open without a token. `None` if there are too many.
    pub(super) fn watch(self: &Arc<Self>) -> Option<Watch> {
        if self.is_trusted() {
            return Some(Watch { connection: None, _permit: None });
        }
        let permit = self.strangers.watch()?;
        self.state.send_modify(|state| state.watches += 1);
        Some(Watch { connection: Some(Arc::clone(self)), _permit: Some(permit) })
    }

    /// Waits until the connection has had no call for too long without a token.
    pub(super) async fn expired(&self) {
        let mut state = self.state.subscribe();
        loop {
            let expires = state.borrow_and_update().expires();
            let Some(expires) = expires else {
                // The sender is our own.
                _ = state.changed().await;
                continue;
            };
            tokio::select! {
                () = sleep_until(expires) => return,
                _ = state.changed() => {}
            }
        }
    }

    /// Waits until the calls are few enough to read more of them.
    pub(super) async fn has_fewer_calls(&self) {
        let mut state = self.state.subscribe();
        let is_fewer = |state: &State| state.trusted || state.calls <= STRANGER_EXCESS;
        // The sender is our own.
        _ = state.wait_for(is_fewer).await;
    }

    /// Ends the connection at once.
    pub(super) fn end(&self) {
        self.state.send_modify(State::evict);
    }

    /// Waits until the connection is ended, or another one has taken its place.
    pub(super) async fn evicted(&self) {
        let mut state = self.state.subscribe();
        // The sender is our own.
        _ = state.wait_for(|state| state.evicted).await;
    }

    /// Notes that a wrong token came over this connection. Returns how long the answer must wait,
    /// which is not at all if a valid one came before.
    pub(super) fn auth_failed(&self) -> Duration {
        let delay = self.strangers.failures().record(self.source);
        if self.is_trusted() { Duration::ZERO } else { delay }
    }

    pub(super) fn budget(&self) -> &Arc<InputBudget> {
        self.strangers.budget()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.strangers.forget(self.id);
    }
}

/// An open call of a connection that has not shown a token.
#[derive(Debug)]
pub(super) struct Call {
    connection: Arc<Connection>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.connection.state.send_modify(|state| {
            state.calls -= 1;
            if state.calls == 0 {
                state.since = Instant::now();
            }
        });
    }
}

/// An open health stream.
#[derive(Debug)]
pub(super) struct Watch {
    connection: Option<Arc<Connection>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.state.send_modify(|state| {
                state.watches -= 1;
                state.since = Instant::now();
            });
        }
    }
}
