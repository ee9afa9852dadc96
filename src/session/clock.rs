//! Time as a value: the actor gets the time with each input and never reads a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One moment on both clocks: the steady clock for deadlines, the wall clock for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Now {
    pub steady: Instant,
    pub epoch_ms: u64,
}

impl Now {
    /// Reads both clocks; in the session, only the session loop calls it.
    pub(crate) fn read() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { steady: Instant::now(), epoch_ms: millis(since_1970) }
    }

    /// The moment `duration` later.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn after(self, duration: Duration) -> Self {
        Self { steady: self.steady + duration, epoch_ms: self.epoch_ms + millis(duration) }
    }
}

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
