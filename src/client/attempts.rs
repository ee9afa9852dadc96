//! When a lost connection is tried again, and when it is given up. It does not know how one is made.

use std::time::Duration;

use tokio::time::Instant;

use super::failure::Failure;

/// How long a lost connection is worth the wait.
const GIVE_UP: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Attempts {
    deadline: Instant,
    pause: Duration,
}

impl Attempts {
    pub(super) fn new() -> Self {
        Self { deadline: Instant::now() + GIVE_UP, pause: FIRST_PAUSE }
    }

    /// When to try again after this failure; never, if that would not help or it took too long already.
    pub(super) fn next_after(&mut self, failure: &Failure) -> Option<Instant> {
        let next = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        (failure.is_transient() && next <= self.deadline).then_some(next)
    }
}
