//! The last bytes of the output, as segments with absolute offsets. It does not know its readers.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{Offset, Slice};

/// Small pushes are merged into the last segment up to this size, so that a million echoed bytes
/// do not become a million segments.
pub(super) const MERGE_LIMIT: usize = 4096;

/// The kept bytes. Segments are immutable, so a reader's clone of one stays valid and copies
/// nothing.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) segments: VecDeque<Segment>,
    pub(super) head: u64,
    pub(super) kept: usize,
    capacity: usize,
}

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) offset: u64,
    pub(super) data: Bytes,
}

impl Ring {
    pub(super) fn new(capacity: usize) -> Self {
        Self { segments: VecDeque::new(), head: 0, kept: 0, capacity }
    }

    pub(super) fn oldest(&self) -> u64 {
        self.segments.front().map_or(self.head, |segment| segment.offset)
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        self.head += data.len() as u64;
        self.kept += data.len();
        match self.segments.back_mut() {
            Some(last) if last.data.len() + data.len() <= MERGE_LIMIT => {
                last.data = Bytes::from([&last.data, data].concat());
            }
            Some(_) | None => {
                let offset = self.head - data.len() as u64;
                self.segments.push_back(Segment { offset, data: Bytes::copy_from_slice(data) });
            }
        }
        self.trim();
    }

    /// Drops the oldest bytes beyond the capacity. A segment that is cut keeps its memory until all
    /// of it is dropped, so the memory is bounded by the capacity and one push.
    fn trim(&mut self) {
        while self.kept > self.capacity {
            let excess = self.kept - self.capacity;
            let Some(first) = self.segments.front_mut() else { return };
            if first.data.len() <= excess {
                self.kept -= first.data.len();
                self.segments.pop_front();
            } else {
                first.data = first.data.slice(excess..);
                first.offset += excess as u64;
                self.kept -= excess;
            }
        }
    }

    pub(super) fn read(&self, asked: u64, limit: usize) -> Slice {
        let offset = asked.clamp(self.oldest(), self.head);
        let skipped = offset.saturating_sub(asked);
        let index = self.segments.partition_point(|segment| segment.offset <= offset);
        let data = index.checked_sub(1).and_then(|index| self.segments.get(index)).map_or_else(
            Bytes::new,
            |segment| {
                let start = usize::try_from(offset - segment.offset)
                    .unwrap_or(usize::MAX)
                    .min(segment.data.len());
                let end = start.saturating_add(limit).min(segment.data.len());
                segment.data.slice(start..end)
            },
        );
        Slice { data, offset: Offset(offset), skipped }
    }
}
