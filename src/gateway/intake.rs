//! The budget of unfinished input: the bytes of messages that have been announced or received and
//! cannot be processed yet, over all connections and transports. It knows bytes, and no protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coop_client::MESSAGE_LIMIT;
use http::Extensions;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::error::{Code, Error};

/// What all callers with a token may have unfinished together: two of the largest messages.
pub(crate) const TRUSTED_INPUT: usize = 32 << 20;
/// What all others may have unfinished together: 256 connections with 8 calls of 4 KiB each.
pub(crate) const STRANGER_INPUT: usize = 8 << 20;
/// The part of the budget that large messages leave free, so that keys and nudges of one caller are
/// taken while others upload.
pub(crate) const SMALL_RESERVE: usize = 4 << 20;
/// The largest message that may use that part.
pub(crate) const SMALL_MESSAGE: usize = 64 << 10;
/// How long a caller with a token may send nothing of a message that it has begun, and how long it
/// waits for room in the budget.
pub(crate) const PAUSE: Duration = Duration::from_secs(30);
/// How long a caller without a token may take for a whole message.
pub(crate) const STRANGER_MESSAGE_TIME: Duration = Duration::from_secs(10);

/// The budget of this process.
#[derive(Debug)]
pub struct InputBudget {
    trusted: Arc<Pool>,
    strangers: Arc<Pool>,
}

impl Default for InputBudget {
    fn default() -> Self {
        Self {
            trusted: Pool::new(TRUSTED_INPUT, SMALL_RESERVE),
            strangers: Pool::new(STRANGER_INPUT, 0),
        }
    }
}

#[derive(Debug)]
struct Pool {
    size: usize,
    reserve: usize,
    used: Mutex<usize>,
    freed: Notify,
}

impl Pool {
    fn new(size: usize, reserve: usize) -> Arc<Self> {
        Arc::new(Self { size, reserve, used: Mutex::new(0), freed: Notify::new() })
    }

    /// Takes `more` bytes for a message that then has `whole` bytes in all.
    fn try_take(&self, more: usize, whole: usize) -> bool {
        let reserve = if whole > SMALL_MESSAGE { self.reserve } else { 0 };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = used.checked_add(more).is_some_and(|sum| sum <= self.size - reserve);
        if fits {
            *used += more;
        }
        fits
    }

    fn give_back(&self, bytes: usize) {
        if bytes > 0 {
            *self.used.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
            self.freed.notify_waiters();
        }
    }
}

/// Bytes taken from the budget, given back when dropped.
#[derive(Debug)]
pub struct Share {
    pool: Arc<Pool>,
    bytes: usize,
}

impl Share {
    /// Takes as many bytes more as are needed to have `bytes`. It does not wait: callers that hold
    /// shares while they wait for each other's would wait for ever.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Error> {
        let more = bytes.saturating_sub(self.bytes);
        if !self.pool.try_take(more, bytes) {
            return Err(exhausted());
        }
        self.bytes += more;
        Ok(())
    }

    /// The bytes that it has.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.pool.give_back(self.bytes);
    }
}

/// What one request may send, as the server decided. It is in the extensions of every request.
#[derive(Debug, Clone)]
pub struct Intake {
    budget: Arc<InputBudget>,
    trusted: bool,
    limit: usize,
    begun: Instant,
}

impl Intake {
    /// The intake of a request that begins now, with at most `limit` bytes in a message.
    pub fn new(budget: Arc<InputBudget>, trusted: bool, limit: usize) -> Self {
        Self { budget, trusted, limit, begun: Instant::now() }
    }

    /// The intake of a request. Without the server's entry it has a budget of its own.
    pub fn of(extensions: &Extensions) -> Self {
        let own = || Self::new(Arc::new(InputBudget::default()), true, MESSAGE_LIMIT);
        extensions.get().cloned().unwrap_or_else(own)
    }

    /// The same once the caller has shown a token.
    #[must_use]
    pub fn trusted(&self) -> Self {
        Self { trusted: true, limit: MESSAGE_LIMIT, ..self.clone() }
    }

    /// The most bytes of one message.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// When a message fails that had its last progress now. A caller without a token has one
    /// deadline for the whole of it.
    pub fn deadline(&self) -> Instant {
        if self.trusted { Instant::now() + PAUSE } else { self.begun + STRANGER_MESSAGE_TIME }
    }

    fn pool(&self) -> &Arc<Pool> {
        if self.trusted { &self.budget.trusted } else { &self.budget.strangers }
    }

    /// Takes bytes for a message, if there is room for it now.
    pub fn try_take(&self, bytes: usize) -> Option<Share> {
        let pool = self.pool();
        pool.try_take(bytes, bytes).then(|| Share { pool: Arc::clone(pool), bytes })
    }

    /// Takes bytes for a message. A caller with a token waits for room, others are refused.
    pub async fn take(&self, bytes: usize) -> Result<Share, Error> {
        if bytes > self.limit {
            return Err(self.too_large());
        }
        let deadline = self.deadline();
        loop {
            let freed = self.pool().freed.notified();
            match self.try_take(bytes) {
                Some(share) => return Ok(share),
                None if !self.trusted => return Err(exhausted()),
                None => timeout_at(deadline, freed).await.map_err(|_| exhausted())?,
            }
        }
    }

    /// The error for a message over the limit.
    pub fn too_large(&self) -> Error {
        Error::new(Code::TooLarge, format!("the body is larger than {} bytes", self.limit))
    }

    /// The error for a message whose rest does not come.
    pub fn stalled(&self) -> Error {
        let limit = if self.trusted { PAUSE } else { STRANGER_MESSAGE_TIME };
        Error::new(
            Code::Timeout,
            format!("the rest of the body did not come within {} s", limit.as_secs()),
        )
    }
}

/// The error when the budget has no room.
fn exhausted() -> Error {
    Error::new(
        Code::TooLarge,
        "coop is reading as many unfinished requests as it may hold; send it again later",
    )
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn intakes() -> (Intake, Intake) {
        let budget = Arc::new(InputBudget::default());
        let trusted = Intake::new(Arc::clone(&budget), true, MESSAGE_LIMIT);
        (trusted, Intake::new(budget, false, 4096))
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_with_a_token_waits_for_room() {
        let (intake, _) = intakes();
        let first = intake.take(MESSAGE_LIMIT).await.unwrap();
        assert_eq!(intake.take(MESSAGE_LIMIT).now_or_never().map(|taken| taken.is_ok()), None);
        let (taken, ()) = tokio::join!(intake.take(MESSAGE_LIMIT), async { drop(first) });
        let _second = taken.unwrap();
        assert_eq!(intake.take(MESSAGE_LIMIT).await.unwrap_err().code, Code::TooLarge);
    }

    #[tokio::test]
    async fn small_messages_are_taken_beside_large_ones() {
        let (intake, _) = intakes();
        let _large = intake.try_take(MESSAGE_LIMIT).unwrap();
        let _rest = intake.try_take(TRUSTED_INPUT - SMALL_RESERVE - MESSAGE_LIMIT).unwrap();
        assert!(intake.try_take(SMALL_MESSAGE + 1).is_none());
        let small: Vec<_> = std::iter::from_fn(|| intake.try_take(SMALL_MESSAGE)).collect();
        assert_eq!(small.len(), SMALL_RESERVE / SMALL_MESSAGE);
    }

    #[tokio::test]
    async fn strangers_have_a_budget_of_their_own_and_do_not_wait() {
        let (trusted, stranger) = intakes();
        let shares: Vec<_> = std::iter::from_fn(|| stranger.try_take(4096)).collect();
        assert_eq!(shares.len(), STRANGER_INPUT / 4096);
        assert_eq!(stranger.take(1).await.unwrap_err().code, Code::TooLarge);
        assert!(trusted.try_take(MESSAGE_LIMIT).is_some());
        assert_eq!(stranger.take(4097).await.unwrap_err().code, Code::TooLarge);
        drop(shares);
        assert!(stranger.try_take(4096).is_some());
    }

    #[tokio::test]
    async fn a_share_grows_within_the_budget_and_is_given_back() {
        let (intake, _) = intakes();
        let mut share = intake.try_take(10).unwrap();
        share.grow(20).unwrap();
        share.grow(5).unwrap();
        assert_eq!(share.bytes(), 20);
        assert_eq!(share.grow(TRUSTED_INPUT).unwrap_err().code, Code::TooLarge);
        drop(share);
        assert_eq!(*intake.budget.trusted.used.lock().unwrap(), 0);
    }
}
