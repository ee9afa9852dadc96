//! The log of raw output: a ring with absolute offsets, read by any number of cursors.
//! A reader never makes the writer or another reader wait.

mod ring;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use self::ring::Ring;

/// A position in the output of all children of this session; never reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Offset(pub u64);

/// The end of the output so far, and whether more can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    Live(Offset),
    /// The child has exited and its output is complete.
    Ended(Offset),
}

impl Head {
    pub fn offset(self) -> Offset {
        match self {
            Self::Live(offset) | Self::Ended(offset) => offset,
        }
    }
}

/// Bytes that were read, with the offset that they start at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    pub data: Bytes,
    pub offset: Offset,
    /// The number of bytes between the requested offset and the oldest kept byte.
    pub skipped: u64,
}

impl Slice {
    /// The offset after these bytes.
    pub fn next(&self) -> Offset {
        Offset(self.offset.0 + self.data.len() as u64)
    }
}

/// The output log; clones share it.
#[derive(Debug, Clone)]
pub struct OutputLog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ring: Mutex<Ring>,
    head: watch::Sender<Head>,
}

impl OutputLog {
    /// A log that keeps the last `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        let ring = Ring::new(capacity);
        let (head, _) = watch::channel(Head::Live(Offset(0)));
        Self { shared: Arc::new(Shared { ring: Mutex::new(ring), head }) }
    }

    /// Appends output. It is copied, so that nothing larger than the bytes themselves is kept.
    pub fn push(&self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let mut ring = self.ring();
        ring.push(data);
        let head = Offset(ring.head);
        // Published under the lock: a reader that sees the head also finds the bytes.
        self.shared.head.send_modify(|state| match state {
            Head::Live(offset) | Head::Ended(offset) => *offset = head,
        });
    }

    /// Marks the output as complete: readers end once they have read everything.
    pub fn close(&self) {
        self.shared.head.send_modify(|state| *state = Head::Ended(state.offset()));
    }

    /// Marks the output as live again for another child. Offsets continue.
    pub fn reopen(&self) {
        self.shared.head.send_modify(|state| *state = Head::Live(state.offset()));
    }

    /// The offset of the oldest byte that is kept.
    pub fn oldest(&self) -> Offset {
        Offset(self.ring().oldest())
    }

    /// The offset that the next byte will get: the number of all bytes ever written.
    pub fn head(&self) -> Head {
        *self.shared.head.borrow()
    }

    /// Up to `limit` bytes from `offset` on, out of one segment and without a copy. Empty at the
    /// head; an offset beyond the head reads as the head.
    pub fn read(&self, offset: Offset, limit: usize) -> Slice {
        self.ring().read(offset.0, limit)
    }

    /// Up to `limit` bytes from `offset` on, out of as many segments as it takes.
    pub fn read_joined(&self, offset: Offset, limit: usize) -> Slice {
        let (first, rest) = self.segments(offset, limit);
        if rest.is_empty() {
            return first;
        }
        // Only the segments' handles are taken under the lock, so that the writer does not wait for
        // the copy.
        let length = first.data.len() + rest.iter().map(Bytes::len).sum::<usize>();
        let mut joined = Vec::with_capacity(length);
        joined.extend_from_slice(&first.data);
        for segment in &rest {
            joined.extend_from_slice(segment);
        }
        Slice { data: Bytes::from(joined), ..first }
    }

    /// The slice at `offset` and the segments after it, together at most `limit` bytes.
    fn segments(&self, offset: Offset, limit: usize) -> (Slice, Vec<Bytes>) {
        let ring = self.ring();
        let first = ring.read(offset.0, limit);
        let (mut next, mut room) = (first.next().0, limit - first.data.len());
        let mut rest = Vec::new();
        while room > 0 && next < ring.head {
            let more = ring.read(next, room).data;
            if more.is_empty() {
                break;
            }
            next += more.len() as u64;
            room -= more.len();
            rest.push(more);
        }
        (first, rest)
    }

    /// A cursor that reads from `offset` on.
    pub fn reader(&self, offset: Offset) -> OutputReader {
        OutputReader { log: self.clone(), head: self.shared.head.subscribe(), offset }
    }

    /// A receiver of every change of the head, for callers that also wait for other things.
    pub fn subscribe(&self) -> watch::Receiver<Head> {
        self.shared.head.subscribe()
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // No operation on the ring can leave it half changed, so a panic elsewhere while the lock
        // was held does no harm.
        self.shared.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One reader's cursor.
#[derive(Debug)]
pub struct OutputReader {
    log: OutputLog,
    head: watch::Receiver<Head>,
    offset: Offset,
}

impl OutputReader {
    /// The next bytes, at most `limit`; waits for them, and ends with the output. Cancelling the
    /// wait loses nothing.
    pub async fn next(&mut self, limit: usize) -> Option<Slice> {
        loop {
            // The head is read first, so that output after this point counts as a change.
            let head = *self.head.borrow_and_update();
            let slice = self.log.read_joined(self.offset, limit.max(1));
            if !slice.data.is_empty() || slice.skipped > 0 {
                self.offset = slice.next();
                return Some(slice);
            }
            match head {
                Head::Ended(_) => return None,
                Head::Live(_) => self.head.changed().await.ok()?,
            }
        }
    }

    pub fn offset(&self) -> Offset {
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::ring::MERGE_LIMIT;
    use super::*;

    #[test]
    fn small_pushes_are_merged_and_large_ones_are_not() {
        let log = OutputLog::new(1 << 20);
        for _ in 0..100_000 {
            log.push(b"x");
        }
        log.push(&[b'y'; 10_000]);
        log.push(b"z");
        let ring = log.ring();
        assert_eq!(ring.segments.len(), 100_000_usize.div_ceil(MERGE_LIMIT) + 2);
        assert_eq!((ring.head, ring.kept), (110_001, 110_001));
    }

    #[test]
    fn the_ring_keeps_exactly_its_capacity() {
        for capacity in [0, 1, 7, 4096, 10_000] {
            let log = OutputLog::new(capacity);
            let mut written = Vec::new();
            for n in 0..500_usize {
                let data: Vec<u8> =
                    (0..n * 7 % 301).map(|i| b'a' + u8::try_from((n + i) % 26).unwrap()).collect();
                log.push(&data);
                written.extend_from_slice(&data);
                let kept = log.read_joined(Offset(0), usize::MAX);
                let start = written.len().saturating_sub(capacity);
                assert_eq!(kept.data, written[start..]);
                assert_eq!((kept.offset.0, kept.skipped), (start as u64, start as u64));
                assert_eq!(log.oldest().0, start as u64);
                assert_eq!(log.head(), Head::Live(Offset(written.len() as u64)));
            }
            let memory: usize = log.ring().segments.iter().map(|segment| segment.data.len()).sum();
            assert!(memory <= capacity);
        }
    }

    #[test]
    fn a_read_is_bounded_and_returns_its_offset() {
        let log = OutputLog::new(100);
        log.push(b"hello world");
        let slice = log.read(Offset(6), 3);
        assert_eq!(
            (&slice.data[..], slice.offset, slice.skipped, slice.next()),
            (&b"wor"[..], Offset(6), 0, Offset(9))
        );
        let beyond = log.read(Offset(99), 3);
        assert_eq!((beyond.data.len(), beyond.offset, beyond.skipped), (0, Offset(11), 0));
        assert_eq!(log.read(Offset(0), 0).data.len(), 0);
    }

    #[test]
    fn a_read_shares_the_segment() {
        let log = OutputLog::new(1 << 20);
        log.push(&[7; 8000]);
        let (one, two) = (log.read(Offset(0), 8000), log.read(Offset(0), 8000));
        assert_eq!(one.data.as_ptr(), two.data.as_ptr());
    }

    #[tokio::test]
    async fn slow_readers_account_for_every_byte() {
        let log = OutputLog::new(1000);
        let mut readers: Vec<_> = (0..20).map(|_| (log.reader(Offset(0)), 0_u64, 0_u64)).collect();
        for round in 0..200_usize {
            log.push(&vec![u8::try_from(round % 256).unwrap(); 37 + round % 100]);
            for (index, (reader, got, skipped)) in readers.iter_mut().enumerate() {
                if round % (index + 1) == 0 {
                    let slice = reader.next(64).await.unwrap();
                    assert_eq!(slice.offset.0, *got + *skipped + slice.skipped);
                    *got += slice.data.len() as u64;
                    *skipped += slice.skipped;
                }
            }
        }
        log.close();
        let written = log.head().offset().0;
        for (reader, got, skipped) in &mut readers {
            while let Some(slice) = reader.next(64).await {
                *got += slice.data.len() as u64;
                *skipped += slice.skipped;
            }
            assert_eq!(*got + *skipped, written);
            assert_eq!(reader.offset().0, written);
        }
    }

    #[tokio::test]
    async fn readers_wait_end_and_survive_a_restart() {
        let log = OutputLog::new(1000);
        let mut reader = log.reader(Offset(0));
        let (slice, ()) = tokio::join!(reader.next(100), async { log.push(b"one") });
        assert_eq!(slice.unwrap().data, "one");
        log.close();
        assert_eq!(reader.next(100).await, None);
        assert_eq!(log.head(), Head::Ended(Offset(3)));
        log.reopen();
        log.push(b"two");
        let slice = reader.next(100).await.unwrap();
        assert_eq!((&slice.data[..], slice.offset), (&b"two"[..], Offset(3)));
        // Closed and reopened between two reads: the reader does not end.
        log.close();
        log.reopen();
        let (slice, ()) = tokio::join!(reader.next(100), async { log.push(b"three") });
        assert_eq!(slice.unwrap().data, "three");
        // Bytes written before the end are read before the end.
        log.push(b"last");
        log.close();
        assert_eq!(reader.next(100).await.unwrap().data, "last");
        assert_eq!(reader.next(100).await, None);
    }

    #[tokio::test]
    async fn a_reader_ends_when_the_last_bytes_fell_off_unread() {
        let log = OutputLog::new(0);
        let mut reader = log.reader(Offset(0));
        log.push(b"gone");
        log.close();
        let slice = reader.next(10).await.unwrap();
        assert_eq!((slice.data.len(), slice.skipped, slice.next()), (0, 4, Offset(4)));
        assert_eq!(reader.next(10).await, None);
    }
}
