//! The terminal's only writer: a bounded queue in which no two writes mix.
//!
//! It does no I/O: the session loop takes the next bytes and reports how many the kernel took.
//! Replies to terminal queries go between two writes, never inside one. A task holds the writer
//! with a [`WriterHold`]: while that exists, only the task's own writes go out.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::clock::Now;
use super::replies::{Replies, ReplySender};
use crate::error::{Code, Error};
use crate::term::{PASTE_END, PASTE_START};
use bytes::{Buf as _, Bytes, BytesMut};

/// How long the terminal may accept nothing before a write is dropped.
pub(super) const STALL: Duration = Duration::from_secs(5);
/// How many bytes may wait behind other writes. An empty queue takes a write of any size.
pub(super) const QUEUE_LIMIT: usize = 1 << 20;
/// How many bytes of query replies may wait for a child that asks but does not read.
const QUERY_REPLY_LIMIT: usize = 64 << 10;

/// How many bytes of query replies the child gets in a second; further queries get no reply. A
/// program that probes its terminal needs a tenth of it.
const QUERY_REPLY_RATE: usize = 16 << 10;
const QUERY_REPLY_WINDOW: Duration = Duration::from_secs(1);

/// Programs read bytes that follow an Escape too soon as part of the same key.
const PAUSE_AFTER_ESCAPE: Duration = Duration::from_millis(60);
const ESCAPE: &[u8] = b"\x1b";

/// Bytes to write, and what must still follow if the rest of them is dropped.
#[derive(Debug)]
pub(super) struct Write {
    bytes: Bytes,
    closer: &'static [u8],
}

impl Write {
    pub(super) fn bytes(bytes: Bytes) -> Self {
        Self { bytes, closer: b"" }
    }

    /// Text as the terminal encoded it. A paste that was begun must be ended, or the program
    /// takes the next write for a part of it.
    pub(super) fn text(bytes: Bytes) -> Self {
        let closer =
            if bytes.starts_with(PASTE_START.as_bytes()) { PASTE_END.as_bytes() } else { b"" };
        Self { bytes, closer }
    }
}

/// The right to be the only writer; dropping it releases the writer.
#[derive(Debug)]
#[must_use]
pub(super) struct WriterHold(Arc<()>);

/// A write in the queue.
#[derive(Debug)]
struct Queued {
    rest: Bytes,
    closer: &'static [u8],
    written: usize,
    queued_at: Instant,
    owner: Owner,
    lone_escape: bool,
}

#[derive(Debug)]
enum Owner {
    Client(ReplySender<usize>),
    /// A task gets no reply: it looks at the screen instead.
    Task,
}

/// The queue of writes to one terminal.
#[derive(Debug, Default)]
pub(super) struct Typist {
    queue: VecDeque<Queued>,
    queued_bytes: usize,
    query_replies: BytesMut,
    /// When the current window of replies began, and their bytes since.
    reply_window: Option<(Instant, usize)>,
    last_progress: Option<Instant>,
    /// The hold that was given last; it is dead once its task has dropped it.
    hold: Option<Weak<()>>,
    pause_until: Option<Instant>,
}

impl Typist {
    /// Queues a client's write, or refuses it because too much waits already.
    pub(super) fn submit(
        &mut self,
        now: Now,
        write: Write,
        reply: ReplySender<usize>,
        replies: &mut Replies,
    ) {
        let Write { bytes, closer } = write;
        if !self.queue.is_empty() && self.queued_bytes + bytes.len() > QUEUE_LIMIT {
            let message =
                "the child is not reading its input and the queue is full; try again later";
            let error = Error::new(Code::WriterBusy, message).with("bytes_written", 0);
            replies.add(reply, Err(error));
            return;
        }
        if bytes.is_empty() {
            replies.add(reply, Ok(0));
            return;
        }
        self.queued_bytes += bytes.len();
        self.queue.push_back(Queued::new(now, bytes, closer, Owner::Client(reply)));
    }

    /// Gives the writer to a task. A write that has begun is finished first.
    pub(super) fn hold(&mut self, now: Now) -> WriterHold {
        self.collect_hold(now);
        let hold = WriterHold(Arc::new(()));
        self.hold = Some(Arc::downgrade(&hold.0));
        hold
    }

    /// Takes the writer back from a task that has dropped its hold, and drops the writes of that
    /// task which have not begun. The actor calls this at the end of each turn.
    pub(super) fn collect_hold(&mut self, now: Now) {
        if self.is_held() || self.hold.take().is_none() {
            return;
        }
        // Writes that waited for the task have not waited for the child.
        self.last_progress = Some(now.steady);
        let unwritten = |write: &Queued| write.is_of_task() && write.written == 0;
        let dropped = self.queue.iter().filter(|write| unwritten(write));
        self.queued_bytes -= dropped.map(|write| write.rest.len()).sum::<usize>();
        self.queue.retain(|write| !unwritten(write));
    }

    fn is_held(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.strong_count() > 0)
    }

    /// Queues a write of the task that holds the writer, before all others.
    pub(super) fn write_for(&mut self, _hold: &WriterHold, now: Now, write: Write) {
        let Write { bytes, closer } = write;
        let first = self.queue.iter().take_while(|write| write.goes_while_held()).count();
        self.queued_bytes += bytes.len();
        self.queue.insert(first, Queued::new(now, bytes, closer, Owner::Task));
    }

    /// Drops what tasks have written so far and the kernel has not taken. A paste that was begun is
    /// ended.
    pub(super) fn drop_task_writes(&mut self) {
        let begun = self.queue.front().filter(|write| write.written > 0 && write.is_of_task());
        if let Some(end) = begun.map(Queued::end) {
            self.query_replies.extend_from_slice(&end);
        }
        let dropped = self.queue.iter().filter(|write| write.is_of_task());
        self.queued_bytes -= dropped.map(|write| write.rest.len()).sum::<usize>();
        self.queue.retain(|write| !write.is_of_task());
    }

    /// Whether the kernel has taken everything that the task wrote.
    pub(super) fn task_writes_done(&self) -> bool {
        !self.queue.iter().any(Queued::is_of_task) && self.pause_until.is_none()
    }

    /// Queues the terminal's replies to queries of the program, as far as the limits let it.
    pub(super) fn reply_to_query(&mut self, now: Now, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let current = self
            .reply_window
            .filter(|(began, _)| now.steady.duration_since(*began) < QUERY_REPLY_WINDOW);
        let (began, sent) = current.unwrap_or((now.steady, 0));
        let fits = self.query_replies.len() + bytes.len() <= QUERY_REPLY_LIMIT;
        if fits && sent + bytes.len() <= QUERY_REPLY_RATE {
            self.query_replies.extend_from_slice(bytes);
            self.reply_window = Some((began, sent + bytes.len()));
        } else {
            self.reply_window = Some((began, sent));
        }
    }

    /// The bytes to write next.
    pub(super) fn next(&self) -> Option<&[u8]> {
        if self.pause_until.is_some() {
            return None;
        }
        match self.front() {
            Some(write) if write.written > 0 || self.query_replies.is_empty() => Some(&write.rest),
            Some(_) | None => (!self.query_replies.is_empty()).then_some(&self.query_replies),
        }
    }

    /// The write whose turn it is.
    fn front(&self) -> Option<&Queued> {
        self.queue.front().filter(|write| write.goes_while_held() || !self.is_held())
    }

    /// The kernel took `count` of the bytes that [`next`](Self::next) returned.
    pub(super) fn wrote(&mut self, now: Now, count: usize, replies: &mut Replies) {
        self.last_progress = Some(now.steady);
        let held = self.is_held();
        match self.queue.front_mut().filter(|write| !held || write.goes_while_held()) {
            Some(write) if write.written > 0 || self.query_replies.is_empty() => {
                let count = count.min(write.rest.len());
                write.rest.advance(count);
                write.written += count;
                self.queued_bytes -= count;
                if write.rest.is_empty()
                    && let Some(write) = self.queue.pop_front()
                {
                    self.pause_until = write.lone_escape.then_some(now.steady + PAUSE_AFTER_ESCAPE);
                    write.owner.reply(Ok(write.written), replies);
                }
            }
            Some(_) | None => self.query_replies.advance(count.min(self.query_replies.len())),
        }
    }

    /// When the oldest write stalls, or the pause after an Escape ends.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let stall = self.front().map(|write| self.stalls_at(write));
        [stall, self.pause_until].into_iter().flatten().min()
    }

    /// Ends the pause after an Escape, and drops writes that made no progress for [`STALL`].
    pub(super) fn handle_deadlines(&mut self, now: Now, replies: &mut Replies) {
        self.pause_until.take_if(|until| *until <= now.steady);
        while let Some(write) = self.front()
            && self.stalls_at(write) <= now.steady
        {
            let message = "the child has read nothing for 5 s; the rest was dropped";
            let error = Error::new(Code::WriterBusy, message);
            if write.written > 0 {
                let end = write.end();
                self.query_replies.extend_from_slice(&end);
            }
            self.drop_front(|written| error.with("bytes_written", written), replies);
        }
    }

    /// Fails every waiting write with the same error: the child is gone.
    pub(super) fn fail_all(&mut self, error: &Error, replies: &mut Replies) {
        while !self.queue.is_empty() {
            self.drop_front(|written| error.clone().with("bytes_written", written), replies);
        }
        self.query_replies.clear();
        self.pause_until = None;
    }

    fn drop_front(&mut self, error: impl FnOnce(usize) -> Error, replies: &mut Replies) {
        if let Some(write) = self.queue.pop_front() {
            self.queued_bytes -= write.rest.len();
            write.owner.reply(Err(error(write.written)), replies);
        }
    }

    fn stalls_at(&self, write: &Queued) -> Instant {
        let queued_at = write.queued_at;
        self.last_progress.map_or(queued_at, |progress| progress.max(queued_at)) + STALL
    }
}

impl Queued {
    fn new(now: Now, bytes: Bytes, closer: &'static [u8], owner: Owner) -> Self {
        let lone_escape = bytes == ESCAPE;
        Self { rest: bytes, closer, written: 0, queued_at: now.steady, owner, lone_escape }
    }

    fn goes_while_held(&self) -> bool {
        self.written > 0 || self.is_of_task()
    }

    fn is_of_task(&self) -> bool {
        matches!(self.owner, Owner::Task)
    }

    /// What must still follow if the rest of a write that has begun is dropped. If only the end of
    /// the paste is missing, or a part of it, that part is enough.
    fn end(&self) -> Bytes {
        let only_end_left = self.rest.len() <= self.closer.len();
        if only_end_left { self.rest.clone() } else { Bytes::from_static(self.closer) }
    }
}

impl Owner {
    fn reply(self, result: Result<usize, Error>, replies: &mut Replies) {
        match self {
            Self::Client(reply) => replies.add(reply, result),
            Self::Task => {}
        }
    }
}

#[cfg(test)]
mod tests;
