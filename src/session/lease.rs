//! The lease: one client's right to be the only one that writes. It does no I/O and gets
//! the time as an argument.

use std::time::{Duration, Instant};

use super::by::By;
use super::clock::{Now, millis};
use crate::error::{Code, Error};

/// How long an unused lease lasts, unless the caller says otherwise.
pub(crate) const DEFAULT_TTL: Duration = Duration::from_secs(30);
/// The durations that a caller may ask for.
pub(crate) const TTL_RANGE: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(300);

/// Proof of holding the lease. It cannot be guessed, because a caller that shows it may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseId(pub String);

/// What a caller that acquired the lease gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    pub id: LeaseId,
    pub expires_at_epoch_ms: u64,
    /// The caller held the lease already.
    pub renewed: bool,
}

#[derive(Debug)]
struct Held {
    id: LeaseId,
    by: By,
    /// The name that the holder gave itself.
    name: Option<String>,
    ttl: Duration,
    expires: Instant,
}

/// The lease, held or free.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    held: Option<Held>,
}

impl Lease {
    /// Takes the lease under the `fresh` id, or renews it for a caller that shows the held id.
    pub(crate) fn acquire(
        &mut self,
        now: Now,
        shown: Option<&LeaseId>,
        fresh: LeaseId,
        (by, name): (By, Option<String>),
        ttl: Duration,
    ) -> Result<Granted, Error> {
        self.check(now, shown)?;
        let (id, renewed) = match self.held.take() {
            Some(held) => (held.id, true),
            None => (fresh, false),
        };
        self.held = Some(Held { id: id.clone(), by, name, ttl, expires: now.steady + ttl });
        Ok(Granted { id, expires_at_epoch_ms: now.epoch_ms + millis(ttl), renewed })
    }

    /// Ends the lease if `id` holds it; returns who held it.
    pub(crate) fn release(&mut self, id: &LeaseId) -> Option<By> {
        self.held.take_if(|held| held.id == *id).map(|held| held.by)
    }

    /// Ends the lease if its time is over; returns who held it.
    pub(crate) fn expire(&mut self, now: Now) -> Option<By> {
        self.held.take_if(|held| held.expires <= now.steady).map(|held| held.by)
    }

    /// When the lease ends without use.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.held.as_ref().map(|held| held.expires)
    }

    /// Whether a caller that shows this id may write. A write by the holder renews the lease.
    pub(crate) fn check(&mut self, now: Now, shown: Option<&LeaseId>) -> Result<(), Error> {
        self.expire(now);
        match &mut self.held {
            None => Ok(()),
            Some(held) if shown == Some(&held.id) => {
                held.expires = now.steady + held.ttl;
                Ok(())
            }
            Some(held) => {
                let remaining = millis(held.expires.saturating_duration_since(now.steady));
                let by = held.by.to_string();
                let holder = match &held.name {
                    Some(name) => format!("{name} ({by})"),
                    None => by.clone(),
                };
                let message = format!("{holder} holds the terminal for {remaining} ms more");
                Err(Error::new(Code::WriterBusy, message)
                    .with("by", &by)
                    .with("holder", held.name.as_ref().unwrap_or(&by))
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

    fn take(
        lease: &mut Lease,
        now: Now,
        shown: Option<&LeaseId>,
        fresh: &str,
    ) -> Result<Granted, Error> {
        lease.acquire(now, shown, id(fresh), (By::Uid(7), Some(fresh.to_owned())), DEFAULT_TTL)
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
            [
                ("by".into(), "uid:7".into()),
                ("holder".into(), "a".into()),
                ("remaining_ms".into(), "20000".into())
            ]
        );
        assert!(take(&mut lease, start, Some(&id("b")), "b").is_err());
        assert!(lease.check(start.after(DEFAULT_TTL), None).is_ok());
    }

    #[test]
    fn writing_and_reacquiring_renew_the_lease() {
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
        assert_eq!(lease.release(&id("b")), None);
        assert_eq!(lease.release(&held), Some(By::Uid(7)));
        assert_eq!(lease.release(&held), None);
        assert!(lease.check(start, None).is_ok());
    }

    #[test]
    fn a_holder_without_a_name_of_its_own_is_named_by_what_it_is() {
        let (mut lease, start) = (Lease::default(), Now::read());
        let by = By::Token(Some(super::super::by::Name::new("ada")));
        lease.acquire(start, None, id("a"), (by, None), DEFAULT_TTL).unwrap();
        let refused = lease.check(start, None).unwrap_err();
        assert_eq!(refused.message, "token:ada holds the terminal for 30000 ms more");
        assert!(refused.metadata.contains(&("holder".into(), "token:ada".into())));
    }

    #[test]
    fn an_expired_lease_tells_who_held_it_once() {
        let (mut lease, start) = (Lease::default(), Now::read());
        take(&mut lease, start, None, "a").unwrap();
        assert_eq!(lease.deadline(), Some(start.steady + DEFAULT_TTL));
        assert_eq!(lease.expire(start), None);
        assert_eq!(lease.expire(start.after(DEFAULT_TTL)), Some(By::Uid(7)));
        assert_eq!(lease.expire(start.after(DEFAULT_TTL)), None);
        assert_eq!(lease.deadline(), None);
    }
}
