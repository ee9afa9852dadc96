//! Wrong tokens: counts them for each source, says how long the next answer waits, and logs one
//! line for each burst. It does not know what a token is.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::limits::{
    FAILURE_BURST, FAILURE_DELAY, FAILURE_INTERVAL, FAILURE_SOURCES, FREE_FAILURES,
};
use super::source::Source;

/// The failures of all sources.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// `None` stands for all sources beyond the ones that are remembered.
    bursts: Mutex<HashMap<Option<Source>, Burst>>,
}

/// The failures of one source since the first of them.
#[derive(Debug, Clone, Copy)]
struct Burst {
    began: Instant,
    count: u32,
    /// When the last answer was or will be given.
    answered: Instant,
}

impl Failures {
    /// Notes a wrong token. Returns how long its answer must wait.
    pub(super) fn record(&self, source: Source) -> Duration {
        let (burst, before) = self.count(source, Instant::now());
        if burst.count == 1 {
            tracing::warn!(
                from = %source,
                failures_before = before,
                "a wrong token; more of them within {} s are slowed down and not logged",
                FAILURE_BURST.as_secs()
            );
        }
        burst.answered.saturating_duration_since(Instant::now())
    }

    /// Adds a failure to the burst of its source. Returns the burst, and the size of an earlier one
    /// that it replaces.
    fn count(&self, source: Source, now: Instant) -> (Burst, u32) {
        let mut bursts = self.bursts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Some(source);
        if !bursts.contains_key(&key) && bursts.len() >= FAILURE_SOURCES {
            bursts.retain(|_, burst| burst.is_current(now));
        }
        let is_known = bursts.contains_key(&key) || bursts.len() < FAILURE_SOURCES;
        let new = Burst { began: now, count: 0, answered: now };
        let burst = bursts.entry(key.filter(|_| is_known)).or_insert(new);
        let mut before = 0;
        if !burst.is_current(now) {
            before = burst.count;
            *burst = Burst { answered: burst.answered, ..new };
        }
        burst.count = burst.count.saturating_add(1);
        // Where a source goes on, its next burst has no free failures.
        let is_free = burst.count <= FREE_FAILURES && before <= FREE_FAILURES;
        let next = if is_free { now } else { burst.answered.max(now) + FAILURE_INTERVAL };
        burst.answered = next.min(now + FAILURE_DELAY);
        (*burst, before)
    }
}

impl Burst {
    fn is_current(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.began) < FAILURE_BURST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(last: u8) -> Source {
        Source::of(([10, 0, 0, last], 1).into())
    }

    #[tokio::test(start_paused = true)]
    async fn failures_beyond_the_free_ones_wait_longer_and_longer() {
        let failures = Failures::default();
        for _ in 0..FREE_FAILURES {
            assert_eq!(failures.record(source(1)), Duration::ZERO);
        }
        assert_eq!(failures.record(source(1)), FAILURE_INTERVAL);
        assert_eq!(failures.record(source(1)), FAILURE_INTERVAL * 2);
        assert_eq!(failures.record(source(2)), Duration::ZERO, "another source");
        for _ in 0..100 {
            assert!(failures.record(source(1)) <= FAILURE_DELAY);
        }
        assert_eq!(failures.record(source(1)), FAILURE_DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_ends_and_says_how_large_it_was() {
        let failures = Failures::default();
        let now = Instant::now();
        for count in 1..=5 {
            let (burst, before) = failures.count(source(1), now);
            assert_eq!((burst.count, before), (count, 0));
        }
        let (burst, before) = failures.count(source(1), now + FAILURE_BURST);
        assert_eq!((burst.count, before), (1, 5));
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_sources_is_limited() {
        let failures = Failures::default();
        for number in 0..=u16::MAX {
            let [high, low] = number.to_be_bytes();
            failures.count(Source::of(([10, 0, high, low], 1).into()), Instant::now());
        }
        assert_eq!(failures.bursts.lock().unwrap().len(), FAILURE_SOURCES + 1);
    }
}
