//! Time as a value: the session is told what time it is and never asks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One moment on both clocks: the steady one for deadlines, the wall's for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    pub steady: Instant,
    pub epoch_ms: u64,
}

impl Now {
    /// Reads both clocks; only the async shell calls it.
    pub fn read() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { steady: Instant::now(), epoch_ms: millis(since_1970) }
    }

    /// The moment `duration` later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self { steady: self.steady + duration, epoch_ms: self.epoch_ms + millis(duration) }
    }
}

/// Whole milliseconds, as the wire counts them.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
