//! The one writer: a bounded queue in which no two writes ever mix.
//!
//! Pure: the shell asks for the next bytes and tells how many the kernel took. Answers to
//! terminal queries slip in between two writes, never inside one. An errand can hold the writer:
//! until it lets go, only its own writes go out, and everybody else's wait behind it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::clock::Now;
use super::outbox::{Answer, Outbox};
use crate::error::{Code, Error};
use bytes::{Buf as _, Bytes, BytesMut};

/// How long the terminal may take nothing before a write is given up.
pub const STALL: Duration = Duration::from_secs(5);
/// How much may wait behind other writes. An empty queue takes any one write.
pub const QUEUE_LIMIT: usize = 1 << 20;
/// How many bytes of query replies may wait; a child that asks and never reads gets no more.
const REPLY_LIMIT: usize = 64 << 10;

/// What follows an Escape too soon would be read together with it, as another key.
const AFTER_ESCAPE: Duration = Duration::from_millis(60);
const ESCAPE: &[u8] = b"\x1b";

/// How a bracketed paste begins and ends on the wire.
const PASTE: (&[u8], &[u8]) = (b"\x1b[200~", b"\x1b[201~");

/// Something to write, and what must still follow if its rest is dropped.
#[derive(Debug)]
pub struct Write {
    bytes: Bytes,
    closer: &'static [u8],
}

impl Write {
    pub fn bytes(bytes: Bytes) -> Self {
        Self { bytes, closer: b"" }
    }

    /// Text as the terminal encoded it: a paste that was begun must be ended, or the program
    /// would take whatever is typed next for a part of it.
    pub fn text(bytes: Bytes) -> Self {
        let closer = if bytes.starts_with(PASTE.0) { PASTE.1 } else { b"" };
        Self { bytes, closer }
    }
}

#[derive(Debug)]
struct Job {
    rest: Bytes,
    closer: &'static [u8],
    written: usize,
    queued: Instant,
    owner: Owner,
    lone_escape: bool,
}

/// Whose write it is.
#[derive(Debug)]
enum Owner {
    Client(Answer<usize>),
    /// The errand looks at the screen instead of waiting for an answer.
    Errand,
}

/// The queue of writes to one terminal.
#[derive(Debug, Default)]
pub struct Typist {
    jobs: VecDeque<Job>,
    queued_bytes: usize,
    replies: BytesMut,
    last_progress: Option<Instant>,
    held: bool,
    quiet_until: Option<Instant>,
}

impl Typist {
    /// Queues a write, or refuses it because too much waits already.
    pub fn submit(&mut self, now: Now, write: Write, answer: Answer<usize>, outbox: &mut Outbox) {
        let Write { bytes, closer } = write;
        if !self.jobs.is_empty() && self.queued_bytes + bytes.len() > QUEUE_LIMIT {
            let message = "the child is not reading its input and the queue is full; try again later";
            outbox.answer(answer, Err(Error::new(Code::WriterBusy, message).with("bytes_written", 0)));
            return;
        }
        if bytes.is_empty() {
            outbox.answer(answer, Ok(0));
            return;
        }
        self.queued_bytes += bytes.len();
        self.jobs.push_back(Job::new(now, bytes, closer, Owner::Client(answer)));
    }

    /// Takes the writer for an errand. What is being written is finished first.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Gives the writer back. Those who waited for it have waited for the errand, not for the child.
    pub fn release(&mut self, now: Now) {
        if std::mem::take(&mut self.held) {
            self.last_progress = Some(now.steady);
            let unwritten = |job: &Job| matches!(job.owner, Owner::Errand) && job.written == 0;
            self.queued_bytes -=
                self.jobs.iter().filter(|job| unwritten(job)).map(|job| job.rest.len()).sum::<usize>();
            self.jobs.retain(|job| !unwritten(job));
        }
    }

    /// Queues a write of the errand that holds the writer, before everybody who waits.
    pub fn errand(&mut self, now: Now, write: Write) {
        let Write { bytes, closer } = write;
        let first = self.jobs.iter().take_while(|job| job.goes_while_held()).count();
        self.queued_bytes += bytes.len();
        self.jobs.insert(first, Job::new(now, bytes, closer, Owner::Errand));
    }

    /// Whether everything the errand wrote has been taken.
    pub fn errand_done(&self) -> bool {
        !self.jobs.iter().any(|job| matches!(job.owner, Owner::Errand)) && self.quiet_until.is_none()
    }

    /// Queues the terminal's own answer to a query of the program.
    pub fn answer_query(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() <= REPLY_LIMIT {
            self.replies.extend_from_slice(bytes);
        }
    }

    /// The bytes to write next.
    pub fn next(&self) -> Option<&[u8]> {
        if self.quiet_until.is_some() {
            return None;
        }
        match self.front() {
            Some(job) if job.written > 0 || self.replies.is_empty() => Some(&job.rest),
            Some(_) | None => (!self.replies.is_empty()).then_some(&self.replies),
        }
    }

    /// The write whose turn it is.
    fn front(&self) -> Option<&Job> {
        self.jobs.front().filter(|job| !self.held || job.goes_while_held())
    }

    /// The kernel took `count` of the bytes that [`next`](Self::next) showed.
    pub fn wrote(&mut self, now: Now, count: usize, outbox: &mut Outbox) {
        self.last_progress = Some(now.steady);
        let held = self.held;
        match self.jobs.front_mut().filter(|job| !held || job.goes_while_held()) {
            Some(job) if job.written > 0 || self.replies.is_empty() => {
                let count = count.min(job.rest.len());
                job.rest.advance(count);
                job.written += count;
                self.queued_bytes -= count;
                if job.rest.is_empty()
                    && let Some(job) = self.jobs.pop_front()
                {
                    self.quiet_until = job.lone_escape.then_some(now.steady + AFTER_ESCAPE);
                    job.owner.answer(Ok(job.written), outbox);
                }
            }
            Some(_) | None => self.replies.advance(count.min(self.replies.len())),
        }
    }

    /// When the oldest write will have waited too long, or the next one may go.
    pub fn deadline(&self) -> Option<Instant> {
        let stall = self.front().map(|job| self.stalls_at(job));
        [stall, self.quiet_until].into_iter().flatten().min()
    }

    /// Ends what has lasted long enough: the quiet after an Escape, and the writes that have seen no progress for [`STALL`].
    pub fn keep_time(&mut self, now: Now, outbox: &mut Outbox) {
        self.quiet_until.take_if(|until| *until <= now.steady);
        while let Some(job) = self.front()
            && self.stalls_at(job) <= now.steady
        {
            let message = "the child has read nothing for 5 s; the rest was dropped";
            let error = Error::new(Code::WriterBusy, message);
            if job.written > 0 {
                // What is left of a paste that is as good as done is its own end.
                let done = job.rest.len() <= job.closer.len();
                let end = if done { job.rest.clone() } else { Bytes::from_static(job.closer) };
                self.replies.extend_from_slice(&end);
            }
            self.drop_front(|written| error.with("bytes_written", written), outbox);
        }
    }

    /// Answers every waiting write with the same error: the child is gone.
    pub fn fail_all(&mut self, error: &Error, outbox: &mut Outbox) {
        while !self.jobs.is_empty() {
            self.drop_front(|written| error.clone().with("bytes_written", written), outbox);
        }
        self.replies.clear();
        self.quiet_until = None;
    }

    fn drop_front(&mut self, error: impl FnOnce(usize) -> Error, outbox: &mut Outbox) {
        if let Some(job) = self.jobs.pop_front() {
            self.queued_bytes -= job.rest.len();
            job.owner.answer(Err(error(job.written)), outbox);
        }
    }

    fn stalls_at(&self, job: &Job) -> Instant {
        self.last_progress.map_or(job.queued, |progress| progress.max(job.queued)) + STALL
    }
}

impl Job {
    fn new(now: Now, bytes: Bytes, closer: &'static [u8], owner: Owner) -> Self {
        let lone_escape = bytes == ESCAPE;
        Self { rest: bytes, closer, written: 0, queued: now.steady, owner, lone_escape }
    }

    fn goes_while_held(&self) -> bool {
        self.written > 0 || matches!(self.owner, Owner::Errand)
    }
}

impl Owner {
    fn answer(self, result: Result<usize, Error>, outbox: &mut Outbox) {
        match self {
            Self::Client(answer) => outbox.answer(answer, result),
            Self::Errand => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    type Waiting = oneshot::Receiver<Result<usize, Error>>;

    /// A typist whose answers go out at once.
    #[derive(Default)]
    struct Desk {
        typist: Typist,
        outbox: Outbox,
    }

    impl Desk {
        fn submit(&mut self, now: Now, bytes: &'static [u8]) -> Waiting {
            let (answer, waiting) = oneshot::channel();
            self.typist.submit(now, Write::text(Bytes::from_static(bytes)), answer, &mut self.outbox);
            self.outbox.send_all();
            waiting
        }

        fn wrote(&mut self, now: Now, count: usize) {
            self.typist.wrote(now, count, &mut self.outbox);
            self.outbox.send_all();
        }

        fn give_up(&mut self, now: Now) {
            self.typist.keep_time(now, &mut self.outbox);
            self.outbox.send_all();
        }
    }

    #[test]
    fn writes_go_out_in_order_and_report_their_length() {
        let (mut desk, now) = (Desk::default(), Now::read());
        let mut first = desk.submit(now, b"hello");
        let mut second = desk.submit(now, b"x");
        assert_eq!(desk.typist.next(), Some(&b"hello"[..]));
        desk.wrote(now, 2);
        assert_eq!(desk.typist.next(), Some(&b"llo"[..]));
        assert!(first.try_recv().is_err());
        desk.wrote(now, 3);
        assert_eq!(first.try_recv().unwrap(), Ok(5));
        desk.wrote(now, 1);
        assert_eq!(second.try_recv().unwrap(), Ok(1));
        assert_eq!(desk.typist.next(), None);
    }

    #[test]
    fn a_query_reply_never_lands_inside_a_write() {
        let (mut desk, now) = (Desk::default(), Now::read());
        let _first = desk.submit(now, b"ab");
        let _second = desk.submit(now, b"cd");
        desk.wrote(now, 1);
        desk.typist.answer_query(b"\x1b[1;1R");
        assert_eq!(desk.typist.next(), Some(&b"b"[..]));
        desk.wrote(now, 1);
        assert_eq!(desk.typist.next(), Some(&b"\x1b[1;1R"[..]));
        desk.wrote(now, 3);
        assert_eq!(desk.typist.next(), Some(&b";1R"[..]));
        desk.wrote(now, 3);
        assert_eq!(desk.typist.next(), Some(&b"cd"[..]));
    }

    #[test]
    fn a_stalled_child_gives_back_pressure() {
        let (mut desk, start) = (Desk::default(), Now::read());
        let mut stuck = desk.submit(start, b"abc");
        desk.wrote(start.after(Duration::from_secs(1)), 1);
        let mut behind = desk.submit(start.after(Duration::from_secs(3)), b"d");
        desk.give_up(start.after(Duration::from_secs(5)));
        assert!(stuck.try_recv().is_err(), "progress was one second in");
        assert_eq!(desk.typist.deadline(), Some(start.after(Duration::from_secs(6)).steady));
        desk.give_up(start.after(Duration::from_secs(6)));
        let error = stuck.try_recv().unwrap().unwrap_err();
        assert_eq!((error.code, error.metadata[0].1.as_str()), (Code::WriterBusy, "1"));
        assert!(behind.try_recv().is_err(), "it has only waited three seconds");
        desk.give_up(start.after(Duration::from_secs(8)));
        assert!(behind.try_recv().unwrap().is_err());
    }

    #[test]
    fn a_paste_that_is_given_up_is_ended_before_anything_else() {
        let (mut desk, start) = (Desk::default(), Now::read());
        let _stuck = desk.submit(start, b"\x1b[200~one\rtwo\x1b[201~\r");
        desk.wrote(start, 9);
        let _next = desk.submit(start.after(Duration::from_secs(4)), b"ls\r");
        desk.give_up(start.after(STALL));
        assert_eq!(desk.typist.next(), Some(&b"\x1b[201~"[..]));
        desk.wrote(start.after(STALL), 6);
        assert_eq!(desk.typist.next(), Some(&b"ls\r"[..]));
    }

    #[test]
    fn the_queue_is_bounded_but_an_empty_one_takes_anything() {
        static BIG: [u8; QUEUE_LIMIT + 1] = [b'x'; QUEUE_LIMIT + 1];
        let (mut desk, now) = (Desk::default(), Now::read());
        let mut big = desk.submit(now, &BIG);
        assert!(big.try_recv().is_err(), "accepted, still waiting");
        let mut refused = desk.submit(now, b"more");
        assert_eq!(refused.try_recv().unwrap().unwrap_err().code, Code::WriterBusy);
    }

    #[test]
    fn an_errand_goes_before_those_who_wait_and_after_what_was_begun() {
        let (mut desk, now) = (Desk::default(), Now::read());
        let _begun = desk.submit(now, b"ab");
        desk.wrote(now, 1);
        let mut human = desk.submit(now, b"human");
        desk.typist.hold();
        desk.typist.errand(now, Write::bytes(Bytes::from_static(b"one")));
        desk.typist.errand(now, Write::bytes(Bytes::from_static(b"two")));
        assert_eq!(desk.typist.next(), Some(&b"b"[..]));
        desk.wrote(now, 1);
        assert_eq!(desk.typist.next(), Some(&b"one"[..]));
        desk.wrote(now, 3);
        assert!(!desk.typist.errand_done());
        desk.wrote(now, 3);
        assert!(desk.typist.errand_done());
        assert_eq!(
            (desk.typist.next(), desk.typist.deadline()),
            (None, None),
            "the errand still holds the writer"
        );
        let later = now.after(Duration::from_secs(8));
        desk.typist.release(later);
        desk.give_up(later);
        assert!(human.try_recv().is_err(), "it has not waited for the child");
        assert_eq!(desk.typist.next(), Some(&b"human"[..]));
    }

    #[test]
    fn what_an_errand_left_unwritten_goes_with_it() {
        let (mut desk, now) = (Desk::default(), Now::read());
        desk.typist.hold();
        desk.typist.errand(now, Write::bytes(Bytes::from_static(b"never")));
        desk.typist.release(now);
        assert_eq!(desk.typist.next(), None);
        let mut after = desk.submit(now, b"x");
        desk.wrote(now, 1);
        assert_eq!(after.try_recv().unwrap(), Ok(1));
    }

    #[test]
    fn nothing_follows_a_lone_escape_at_once() {
        let (mut desk, now) = (Desk::default(), Now::read());
        let _escape = desk.submit(now, b"\x1b");
        let _next = desk.submit(now, b"[A");
        desk.wrote(now, 1);
        desk.typist.answer_query(b"\x1b[1;1R");
        assert_eq!(desk.typist.next(), None);
        assert_eq!(desk.typist.deadline(), Some(now.after(AFTER_ESCAPE).steady));
        desk.give_up(now.after(AFTER_ESCAPE));
        assert_eq!(desk.typist.next(), Some(&b"\x1b[1;1R"[..]));
    }

    #[test]
    fn nothing_is_kept_for_a_later_child() {
        let (mut desk, now) = (Desk::default(), Now::read());
        let mut waiting = desk.submit(now, b"rm -rf");
        desk.typist.answer_query(b"reply");
        desk.typist.fail_all(&Error::exited(), &mut desk.outbox);
        desk.outbox.send_all();
        assert_eq!(waiting.try_recv().unwrap().unwrap_err().code, Code::Exited);
        assert_eq!(desk.typist.next(), None);
    }
}
