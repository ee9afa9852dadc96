//! Who has the terminal for themselves. Pure: told the time, it says who may write.

use std::time::{Duration, Instant};

use super::clock::{Now, millis};
use crate::error::{Code, Error};

/// How long a lease lasts without use unless the caller says otherwise.
pub const DEFAULT_TTL: Duration = Duration::from_secs(30);
/// The times a caller may ask for.
pub const TTL_RANGE: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(300);

/// Proof of holding the terminal. Unguessable, since whoever shows it may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseId(pub String);

/// What somebody got who asked for the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    pub id: LeaseId,
    pub expires_at_epoch_ms: u64,
}

#[derive(Debug)]
struct Held {
    id: LeaseId,
    holder: String,
    ttl: Duration,
    expires: Instant,
}

/// The lease, held or free.
#[derive(Debug, Default)]
pub struct Lease {
    held: Option<Held>,
}

impl Lease {
    /// Takes the lease under `fresh` id, or renews it for whoever shows the id that holds it.
    pub fn acquire(
        &mut self,
        now: Now,
        shown: Option<&LeaseId>,
        fresh: LeaseId,
        holder: String,
        ttl: Duration,
    ) -> Result<Granted, Error> {
        self.check(now, shown)?;
        let id = match self.held.take() {
            Some(held) => held.id,
            None => fresh,
        };
        self.held = Some(Held { id: id.clone(), holder, ttl, expires: now.steady + ttl });
        Ok(Granted { id, expires_at_epoch_ms: now.epoch_ms + millis(ttl) })
    }

    /// Ends the lease if `id` holds it.
    pub fn release(&mut self, id: &LeaseId) -> bool {
        self.held.take_if(|held| held.id == *id).is_some()
    }

    /// Whether a write that shows this id may go ahead. A write by the holder renews.
    pub fn check(&mut self, now: Now, shown: Option<&LeaseId>) -> Result<(), Error> {
        self.held.take_if(|held| held.expires <= now.steady);
        match &mut self.held {
            None => Ok(()),
            Some(held) if shown == Some(&held.id) => {
                held.expires = now.steady + held.ttl;
                Ok(())
            }
            Some(held) => {
                let remaining = millis(held.expires.saturating_duration_since(now.steady));
                let message = format!("{} holds the terminal for {remaining} ms more", held.holder);
                Err(Error::new(Code::WriterBusy, message)
                    .with("holder", &held.holder)
                    .with("remaining_ms", remaining))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> LeaseId {
        LeaseId(name.to_owned())
    }

    fn take(lease: &mut Lease, now: Now, shown: Option<&LeaseId>, fresh: &str) -> Result<Granted, Error> {
        lease.acquire(now, shown, id(fresh), fresh.to_owned(), DEFAULT_TTL)
    }

    #[test]
    fn only_the_holder_writes_until_it_expires() {
        let (mut lease, start) = (Lease::default(), Now::read());
        assert!(lease.check(start, None).is_ok());
        let granted = take(&mut lease, start, None, "a").unwrap();
        assert_eq!(granted.expires_at_epoch_ms, start.epoch_ms + 30_000);
        let refused = lease.check(start.after(Duration::from_secs(10)), None).unwrap_err();
        assert_eq!(refused.code, Code::WriterBusy);
        assert_eq!(
            refused.metadata,
            [("holder".into(), "a".into()), ("remaining_ms".into(), "20000".into())]
        );
        assert!(take(&mut lease, start, Some(&id("b")), "b").is_err());
        assert!(lease.check(start.after(DEFAULT_TTL), None).is_ok());
    }

    #[test]
    fn use_and_reacquiring_renew() {
        let (mut lease, start) = (Lease::default(), Now::read());
        let held = take(&mut lease, start, None, "a").unwrap().id;
        let later = start.after(Duration::from_secs(29));
        assert!(lease.check(later, Some(&held)).is_ok());
        assert!(lease.check(later.after(Duration::from_secs(29)), None).is_err());
        assert_eq!(
            take(&mut lease, later.after(Duration::from_secs(29)), Some(&held), "new").unwrap().id,
            held
        );
    }

    #[test]
    fn release_needs_the_id() {
        let (mut lease, start) = (Lease::default(), Now::read());
        let held = take(&mut lease, start, None, "a").unwrap().id;
        assert!(!lease.release(&id("b")));
        assert!(lease.release(&held));
        assert!(!lease.release(&held));
        assert!(lease.check(start, None).is_ok());
    }
}
