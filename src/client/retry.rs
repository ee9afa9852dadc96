//! Decides when to reconnect after a lost connection, and when to give up. It does not connect.

use std::time::Duration;

use tokio::time::Instant;

use super::failure::Failure;

/// How long to try before giving up.
const GIVE_UP: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Retry {
    deadline: Instant,
    pause: Duration,
}

impl Retry {
    pub(super) fn new() -> Self {
        Self { deadline: Instant::now() + GIVE_UP, pause: FIRST_PAUSE }
    }

    /// When to try again after this failure; `None` if a retry cannot help or the time is over.
    pub(super) fn next_after(&mut self, failure: &Failure) -> Option<Instant> {
        let next = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        (failure.is_transient() && next <= self.deadline).then_some(next)
    }
}
