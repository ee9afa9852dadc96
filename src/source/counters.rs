//! Counts what the sources could not use. It decides nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::json_lines::RejectedLines;

/// What the sources of one session could not use so far: a value, taken at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceCounters {
    pub hooks: RejectedLines,
    /// Hook calls with the nonce of another session.
    pub hooks_wrong_nonce: u64,
    /// Hook calls of another process than the session's agent, for example of an agent that it runs
    /// itself.
    pub hooks_of_other_processes: u64,
    /// Hook calls that coop did not take in time, or that were too large.
    pub hooks_dropped: u64,
    pub log: RejectedLines,
    /// Reads of a status file that did not contain the process's status as JSON.
    pub registry_malformed: u64,
}

impl SourceCounters {
    /// Returns each counter with its name.
    pub fn entries(&self) -> [(&'static str, u64); 8] {
        [
            ("hooks_malformed", self.hooks.malformed),
            ("hooks_too_long", self.hooks.too_long),
            ("hooks_wrong_nonce", self.hooks_wrong_nonce),
            ("hooks_of_other_processes", self.hooks_of_other_processes),
            ("hooks_dropped", self.hooks_dropped),
            ("log_malformed", self.log.malformed),
            ("log_too_long", self.log.too_long),
            ("registry_malformed", self.registry_malformed),
        ]
    }
}

/// Reads the counters of one session's sources.
#[derive(Debug, Clone)]
pub struct CounterReader {
    counters: Arc<AtomicCounters>,
    /// Its length is the number of calls that their hooks have dropped.
    dropped: PathBuf,
}

impl CounterReader {
    pub(super) fn new(counters: Arc<AtomicCounters>, dropped: PathBuf) -> Self {
        Self { counters, dropped }
    }

    /// Takes no lock, and reads the length of one file.
    pub fn read(&self) -> SourceCounters {
        let dropped = self.dropped.metadata().map_or(0, |file| file.len());
        self.counters.read(dropped)
    }
}

/// The counters that the tasks of the sources share.
#[derive(Debug, Default)]
pub(super) struct AtomicCounters {
    pub(super) hooks: AtomicLines,
    pub(super) hooks_wrong_nonce: AtomicU64,
    pub(super) hooks_of_other_processes: AtomicU64,
    pub(super) log: AtomicLines,
    pub(super) registry_malformed: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct AtomicLines {
    malformed: AtomicU64,
    too_long: AtomicU64,
}

impl AtomicCounters {
    fn read(&self, hooks_dropped: u64) -> SourceCounters {
        SourceCounters {
            hooks: self.hooks.read(),
            hooks_wrong_nonce: self.hooks_wrong_nonce.load(Relaxed),
            hooks_of_other_processes: self.hooks_of_other_processes.load(Relaxed),
            hooks_dropped,
            log: self.log.read(),
            registry_malformed: self.registry_malformed.load(Relaxed),
        }
    }
}

impl AtomicLines {
    pub(super) fn add(&self, rejected: RejectedLines) {
        self.malformed.fetch_add(rejected.malformed, Relaxed);
        self.too_long.fetch_add(rejected.too_long, Relaxed);
    }

    fn read(&self) -> RejectedLines {
        RejectedLines {
            malformed: self.malformed.load(Relaxed),
            too_long: self.too_long.load(Relaxed),
        }
    }
}

pub(super) fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_read_and_has_an_entry() {
        let counters = AtomicCounters::default();
        counters.hooks.add(RejectedLines { malformed: 1, too_long: 2 });
        counters.hooks_wrong_nonce.store(3, Relaxed);
        increment(&counters.hooks_of_other_processes);
        counters.log.add(RejectedLines { malformed: 6, too_long: 7 });
        counters.registry_malformed.store(8, Relaxed);
        let values = counters.read(5).entries().map(|(_, value)| value);
        assert_eq!(values, [1, 2, 3, 1, 5, 6, 7, 8]);
    }
}
