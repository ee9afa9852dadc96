//! The connections that have shown no token, where one is configured: how many there may be, and
//! which of them makes room for a new one. It does not know what they send.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::connection::{Connection, State};
use super::failures::Failures;
use super::limits::{STRANGER_WATCHES, STRANGERS_ENDING};
use super::source::Source;
use crate::gateway::InputBudget;

/// The strangers of some listeners, and what all connections share.
#[derive(Debug)]
pub(super) struct Strangers {
    most: usize,
    most_per_source: usize,
    open: Mutex<Open>,
    watches: Arc<Semaphore>,
    /// For every connection that has memory, also one that was replaced and has not ended.
    rooms: Arc<Semaphore>,
    budget: Arc<InputBudget>,
    failures: Arc<Failures>,
}

/// The right to accept one more connection.
#[derive(Debug)]
pub(super) struct Room(Option<OwnedSemaphorePermit>);

impl Room {
    /// For a listener whose clients need no token.
    pub(super) const UNLIMITED: Self = Self(None);
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// In the order in which they came.
    connections: BTreeMap<u64, (Source, Arc<watch::Sender<State>>)>,
}

impl Strangers {
    pub(super) fn new(most: usize, most_per_source: usize) -> Self {
        Self {
            most,
            most_per_source,
            open: Mutex::default(),
            watches: Arc::new(Semaphore::new(STRANGER_WATCHES)),
            rooms: Arc::new(Semaphore::new(most + STRANGERS_ENDING)),
            budget: Arc::default(),
            failures: Arc::default(),
        }
    }

    /// The strangers of other listeners, with places of their own in the same process.
    pub(super) fn beside(&self) -> Self {
        Self {
            budget: Arc::clone(&self.budget),
            failures: Arc::clone(&self.failures),
            ..Self::new(self.most, self.most_per_source)
        }
    }

    /// A connection that needs no token.
    pub(super) fn trusted(self: &Arc<Self>, source: Source) -> Arc<Connection> {
        let state = Arc::new(watch::Sender::new(State::new(true)));
        Arc::new(Connection::new(Arc::clone(self), source, u64::MAX, state, None))
    }

    /// Waits until the memory of one more connection is free.
    pub(super) async fn room(&self) -> Room {
        // The semaphore is never closed.
        Room(Arc::clone(&self.rooms).acquire_owned().await.ok())
    }

    /// A connection that has to show a token. If there are too many, it replaces the oldest one, if
    /// possible one without open calls: of its own source if that has too many, else of the source
    /// that has the most. A client with a token shows it at once, and is replaced no more. `None`
    /// if none can be replaced.
    pub(super) fn admit(self: &Arc<Self>, source: Source, room: Room) -> Option<Arc<Connection>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.of(source) >= self.most_per_source {
            open.replace_one_of(source)?;
        } else if open.connections.len() >= self.most {
            let sources = open.by_number();
            sources.into_iter().find_map(|source| open.replace_one_of(source))?;
        }
        let id = open.next;
        open.next += 1;
        let state = Arc::new(watch::Sender::new(State::new(false)));
        open.connections.insert(id, (source, Arc::clone(&state)));
        Some(Arc::new(Connection::new(Arc::clone(self), source, id, state, room.0)))
    }

    /// The connection has ended or shown a token.
    pub(super) fn forget(&self, id: u64) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).connections.remove(&id);
    }

    /// One of the health streams that strangers may hold open.
    pub(super) fn watch(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.watches).try_acquire_owned().ok()
    }

    pub(super) fn failures(&self) -> &Failures {
        &self.failures
    }

    pub(super) fn budget(&self) -> &Arc<InputBudget> {
        &self.budget
    }
}

impl Open {
    fn of(&self, source: Source) -> usize {
        self.connections.values().filter(|(from, _)| *from == source).count()
    }

    /// The sources, the one with the most connections first.
    fn by_number(&self) -> Vec<Source> {
        let mut numbers: HashMap<Source, usize> = HashMap::new();
        for (source, _) in self.connections.values() {
            *numbers.entry(*source).or_default() += 1;
        }
        let mut sources: Vec<Source> = numbers.keys().copied().collect();
        sources.sort_by_key(|source| std::cmp::Reverse(numbers.get(source).copied()));
        sources
    }

    /// Ends the oldest connection of this source, if possible one without open calls.
    fn replace_one_of(&mut self, source: Source) -> Option<()> {
        let id = self.evict(source, State::is_idle).or_else(|| self.evict(source, |_| true))?;
        self.connections.remove(&id);
        Some(())
    }

    fn evict(&self, source: Source, fits: impl Fn(&State) -> bool) -> Option<u64> {
        let mut of_source = self.connections.iter().filter(|(_, (from, _))| *from == source);
        let evicted = of_source.find(|(_, (_, state))| {
            state.send_if_modified(|state| {
                let found = state.is_replaceable() && fits(state);
                if found {
                    state.evict();
                }
                found
            })
        });
        evicted.map(|(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::server::limits::{STRANGER_CALL_TIME, STRANGER_IDLE};

    fn source(last: u8) -> Source {
        Source::of(([10, 0, 0, last], 1).into())
    }

    fn admit(strangers: &Arc<Strangers>, source: Source) -> Option<Arc<Connection>> {
        strangers.admit(source, Room::UNLIMITED)
    }

    fn is_evicted(connection: &Connection) -> bool {
        connection.evicted().now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_replaces_the_oldest_idle_one_of_the_largest_source() {
        let strangers = Arc::new(Strangers::new(4, 3));
        let other = admit(&strangers, source(2)).unwrap();
        let [first, second, third] = [(); 3].map(|()| admit(&strangers, source(1)).unwrap());
        let call = first.begin().unwrap();
        let fourth = admit(&strangers, source(1)).unwrap();
        assert!(is_evicted(&second), "the oldest has a call open");
        let fifth = admit(&strangers, source(3)).unwrap();
        assert!(is_evicted(&third) && !is_evicted(&other));
        drop(call);
        let sixth = admit(&strangers, source(1)).unwrap();
        assert!(is_evicted(&first) && !is_evicted(&fourth) && !is_evicted(&fifth));
        drop(sixth);
        assert!(admit(&strangers, source(4)).is_some() && !is_evicted(&fourth));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_protect_a_connection_for_a_while_and_health_streams_for_good() {
        let strangers = Arc::new(Strangers::new(1, 1));
        let busy = admit(&strangers, source(1)).unwrap();
        let _call = busy.begin().unwrap();
        let watch = busy.watch().unwrap();
        tokio::time::advance(STRANGER_CALL_TIME * 2).await;
        assert!(busy.expired().now_or_never().is_none());
        assert!(admit(&strangers, source(1)).is_none());
        drop(watch);
        tokio::time::advance(STRANGER_IDLE).await;
        assert!(busy.expired().now_or_never().is_none());
        tokio::time::advance(STRANGER_CALL_TIME).await;
        busy.expired().await;
        assert!(admit(&strangers, source(1)).is_some() && is_evicted(&busy));
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_ends_every_limit() {
        let strangers = Arc::new(Strangers::new(1, 1));
        let known = admit(&strangers, source(1)).unwrap();
        known.trust();
        let second = admit(&strangers, source(1)).unwrap();
        assert!(!is_evicted(&known) && known.begin().is_none());
        tokio::time::advance(STRANGER_IDLE).await;
        assert!(known.expired().now_or_never().is_none());
        second.expired().await;
    }

    #[tokio::test(start_paused = true)]
    async fn replaced_connections_count_until_they_have_ended() {
        let strangers = Arc::new(Strangers::new(2, 2));
        let mut open = Vec::new();
        for _ in 0..2 + STRANGERS_ENDING {
            let room = strangers.room().await;
            open.push(strangers.admit(source(1), room).unwrap());
        }
        assert!(is_evicted(&open[0]) && strangers.room().now_or_never().is_none());
        drop(open.remove(0));
        let room = strangers.room().now_or_never().unwrap();
        assert!(strangers.room().now_or_never().is_none());
        drop(room);
        // What has shown a token is not counted.
        open.push(strangers.admit(source(1), strangers.room().await).unwrap());
        assert!(strangers.room().now_or_never().is_none());
        open.last().unwrap().trust();
        assert!(strangers.room().now_or_never().is_some());
    }
}
