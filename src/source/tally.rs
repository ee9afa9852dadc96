//! What the sources could not use, counted. It decides nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::json_lines::Spoiled;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) hooks: Lines,
    pub(super) wrong_nonce: AtomicU64,
    pub(super) foreign: AtomicU64,
    pub(super) log: Lines,
    pub(super) registry_unread: AtomicU64,
}

/// Lines that gave nothing.
#[derive(Debug, Default)]
pub(super) struct Lines {
    malformed: AtomicU64,
    too_long: AtomicU64,
}

/// What could not be used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub hooks: Spoiled,
    /// Hook calls of another session.
    pub hooks_wrong_nonce: u64,
    /// Hook calls of another process than the session's agent, for example of an agent that it runs itself.
    pub hooks_foreign: u64,
    /// Hook calls that were not taken in time.
    pub hooks_dropped: u64,
    pub log: Spoiled,
    /// Looks at a status file that found no JSON in it.
    pub registry_unread: u64,
}

impl Tally {
    pub(super) fn read(&self, hooks_dropped: u64) -> Counters {
        Counters {
            hooks: self.hooks.read(),
            hooks_wrong_nonce: self.wrong_nonce.load(Relaxed),
            hooks_foreign: self.foreign.load(Relaxed),
            hooks_dropped,
            log: self.log.read(),
            registry_unread: self.registry_unread.load(Relaxed),
        }
    }
}

impl Lines {
    pub(super) fn add(&self, spoiled: Spoiled) {
        self.malformed.fetch_add(spoiled.malformed, Relaxed);
        self.too_long.fetch_add(spoiled.too_long, Relaxed);
    }

    fn read(&self) -> Spoiled {
        Spoiled { malformed: self.malformed.load(Relaxed), too_long: self.too_long.load(Relaxed) }
    }
}

/// One more.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
