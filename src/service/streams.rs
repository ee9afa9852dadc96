//! The server streams: each is a cursor of its own into what the session publishes, so that a
//! slow reader delays and loses nothing but its own.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use coop_client::v1;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until, timeout_at};
use tonic::Status;

use super::Service;
use super::closing::Closing;
use super::convert::{self, Format};
use crate::error::{Code, Error};
use crate::session::Session;
use crate::session::clock::Now;
use crate::session::event::{Event, EventSeq, What};
use crate::term::{Offset, OutputReader, ScreenSeq};

/// A stream of answers, as every streaming handler returns it.
pub type Answers<T> = BoxStream<'static, Result<T, Status>>;

/// The most bytes in one message of output: large enough to be cheap, small enough that a probe
/// does not wait long while many readers are served.
pub(super) const CHUNK: usize = 16 << 10;
/// No frame follows another to the same reader sooner; what changes in between is folded.
const FRAME: Duration = Duration::from_millis(33);
/// A silent stream says that it lives at least this often.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Events taken from the log at a time.
const BATCH: usize = 64;

/// Turns a cursor into a stream that ends when the cursor does, or with its first error.
pub(super) fn answers<C: Cursor>(cursor: C, permit: OwnedSemaphorePermit) -> Answers<C::Item> {
    stream::unfold(Some((cursor, permit)), |state| async move {
        let (mut cursor, permit) = state?;
        let item = cursor.next().await?;
        let rest = item.is_ok().then_some((cursor, permit));
        Some((item, rest))
    })
    .boxed()
}

/// A place in something that goes on.
pub(super) trait Cursor: Send + 'static {
    type Item: Send + 'static;

    fn next(&mut self) -> impl Future<Output = Option<Result<Self::Item, Status>>> + Send;
}

impl Service {
    pub(super) fn output_stream(
        &self,
        request: &v1::StreamOutputRequest,
    ) -> Result<Answers<v1::OutputChunk>, Error> {
        let (log, epoch) = (self.session.output(), self.session.epoch_ms());
        let foreign = request.epoch.filter(|asked| *asked != epoch);
        // A browser that reconnects repeats its `tail` beside the place it had got to.
        let (from, gap) = if request.tail && request.epoch.is_none() {
            (log.head().offset(), None)
        } else if foreign.is_some() {
            (log.oldest(), Some(convert::epoch_gap(request.from_offset, log.oldest().0)))
        } else if request.epoch.is_some() && request.from_offset == 0 {
            // It comes back with nothing read yet, so whatever has left the ring is a loss to be declared.
            (Offset(0), None)
        } else {
            (self.offset_within(request.from_offset)?, None)
        };
        let first = v1::OutputChunk { offset: from.0, next_offset: from.0, epoch, gap, ..Default::default() };
        let cursor = OutputCursor { first: Some(first), reader: log.reader(from) };
        Ok(answers(cursor, self.subscription()?))
    }

    pub(super) fn screen_stream(
        &self,
        request: &v1::StreamScreenRequest,
    ) -> Result<Answers<v1::ScreenSnapshot>, Error> {
        let cursor = ScreenCursor {
            session: self.session.clone(),
            format: Format::try_from(request.format)?,
            changes: self.session.screen_changes(),
            last: None,
            closing: self.closing.clone(),
        };
        Ok(answers(cursor, self.subscription()?))
    }

    pub(super) fn state_stream(
        &self,
        request: &v1::StreamStateRequest,
    ) -> Result<Answers<v1::AgentStateEvent>, Error> {
        let snapshot = self.session.snapshot();
        let mut opening = convert::state_snapshot(&snapshot, self.session.epoch_ms());
        let position = self.position(request.since_seq, request.epoch, snapshot.event_seq)?;
        if let Some(gap) = position.gap {
            opening.gap = Some(gap);
        } else if request.since_seq > 0 {
            // What follows are the transitions since then; the snapshot says where they lead.
            opening.seq = request.since_seq;
        }
        let from_now_on = request.since_seq == 0 && opening.gap.is_none();
        let after = if from_now_on { snapshot.event_seq } else { position.after };
        let cursor = StateCursor { opening: Some(opening), events: self.event_cursor(after) };
        Ok(answers(cursor, self.subscription()?))
    }

    pub(super) fn event_stream(
        &self,
        request: &v1::StreamEventsRequest,
    ) -> Result<Answers<v1::Event>, Error> {
        let types: Vec<String> = request.types.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        if let Some(unknown) = types.iter().find(|name| !convert::EVENT_TYPES.contains(&name.as_str())) {
            let known = convert::EVENT_TYPES.join(", ");
            return Err(Error::bad_request(format!("there is no event type {unknown:?}; there are {known}")));
        }
        let head = self.session.snapshot().event_seq;
        let position = self.position(request.since_seq, request.epoch, head)?;
        let mut opening = VecDeque::from([heartbeat(position.after, self.session.epoch_ms())]);
        if let Some(gap) = position.gap {
            opening.push_back(gap_event(gap, self.session.epoch_ms()));
        }
        let cursor = EventsCursor { opening, types, events: self.event_cursor(position.after) };
        Ok(answers(cursor, self.subscription()?))
    }

    pub(super) fn event_cursor(&self, after: EventSeq) -> EventCursor {
        EventCursor {
            session: self.session.clone(),
            after,
            head: self.session.events().subscribe(),
            ready: VecDeque::new(),
            heartbeat_at: Instant::now() + HEARTBEAT,
            closing: self.closing.clone(),
        }
    }

    /// Where a reader that comes back goes on.
    fn position(&self, since: u64, epoch: Option<u64>, head: EventSeq) -> Result<Position, Error> {
        if epoch.is_some_and(|asked| asked != self.session.epoch_ms()) {
            let gap = convert::epoch_gap(since, 1);
            return Ok(Position { after: EventSeq(0), gap: Some(gap) });
        }
        if since > head.0 {
            return Err(Error::bad_request(format!(
                "since_seq {since} is beyond the newest event, {}",
                head.0
            )));
        }
        Ok(Position { after: EventSeq(since), gap: None })
    }

    /// A place among the readers, of which there is a limited number.
    pub(super) fn subscription(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.subscribers).try_acquire_owned().map_err(|_| {
            Error::new(Code::TooLarge, format!("there are {} streams already", super::SUBSCRIBERS))
        })
    }
}

struct Position {
    after: EventSeq,
    gap: Option<v1::Gap>,
}

struct OutputCursor {
    first: Option<v1::OutputChunk>,
    reader: OutputReader,
}

impl Cursor for OutputCursor {
    type Item = v1::OutputChunk;

    async fn next(&mut self) -> Option<Result<v1::OutputChunk, Status>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let slice = self.reader.next(CHUNK).await?;
        Some(Ok(v1::OutputChunk {
            offset: slice.offset.0,
            skipped: slice.skipped,
            next_offset: slice.next().0,
            data: slice.data,
            ..Default::default()
        }))
    }
}

struct ScreenCursor {
    session: Session,
    format: Format,
    changes: watch::Receiver<ScreenSeq>,
    /// None before the first frame.
    last: Option<Frame>,
    closing: Closing,
}

impl Cursor for ScreenCursor {
    type Item = v1::ScreenSnapshot;

    async fn next(&mut self) -> Option<Result<v1::ScreenSnapshot, Status>> {
        if let Some(Frame { shown, next_at }) = self.last {
            tokio::select! {
                // A change may be part of the frame that was sent while it was being announced.
                changed = self.changes.wait_for(|seq| *seq > shown) => {
                    if changed.is_err() {
                        return Closing::last_word();
                    }
                }
                () = self.closing.closed() => return Closing::last_word(),
            }
            sleep_until(next_at).await;
        }
        let next_at = Instant::now() + FRAME;
        match self.session.view().await {
            Ok(view) => {
                self.last = Some(Frame { shown: view.screen.seq(), next_at });
                Some(Ok(convert::screen_snapshot(&view, self.format, self.session.epoch_ms())))
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}

/// What a reader of screens has got, and when it may get more.
#[derive(Clone, Copy)]
struct Frame {
    shown: ScreenSeq,
    next_at: Instant,
}

/// Reads the log on from a place; what it finds is for the others to dress.
pub(super) struct EventCursor {
    session: Session,
    after: EventSeq,
    head: watch::Receiver<EventSeq>,
    ready: VecDeque<Arc<Event>>,
    heartbeat_at: Instant,
    closing: Closing,
}

pub(super) enum Next {
    Event(Arc<Event>),
    Gap(v1::Gap),
    Heartbeat(EventSeq),
    Closed,
}

impl EventCursor {
    pub(super) async fn next(&mut self) -> Next {
        loop {
            if self.heartbeat_at <= Instant::now() {
                self.spoke();
                return Next::Heartbeat(self.after);
            }
            if let Some(event) = self.ready.pop_front() {
                self.after = event.seq;
                return Next::Event(event);
            }
            self.head.mark_unchanged();
            let batch = self.session.events().read_after(self.after, BATCH);
            self.ready = batch.events.into();
            if let Some(missed) = batch.missed {
                return Next::Gap(convert::overrun(missed));
            }
            if !self.ready.is_empty() {
                continue;
            }
            tokio::select! {
                // What is in the log is told before the end is.
                biased;
                changed = timeout_at(self.heartbeat_at, self.head.changed()) => match changed {
                    // Whether something came or it was quiet for too long: the next look tells.
                    Ok(Ok(())) | Err(_) => {}
                    Ok(Err(_)) => return Next::Closed,
                },
                () = self.closing.closed() => return Next::Closed,
            }
        }
    }

    /// The reader was sent something. What is read and then filtered out does not count: the reader
    /// cannot tell it from silence.
    fn spoke(&mut self) {
        self.heartbeat_at = Instant::now() + HEARTBEAT;
    }

    fn epoch(&self) -> u64 {
        self.session.epoch_ms()
    }
}

struct StateCursor {
    opening: Option<v1::AgentStateEvent>,
    events: EventCursor,
}

impl Cursor for StateCursor {
    type Item = v1::AgentStateEvent;

    async fn next(&mut self) -> Option<Result<v1::AgentStateEvent, Status>> {
        if let Some(opening) = self.opening.take() {
            return Some(Ok(opening));
        }
        let epoch = self.events.epoch();
        loop {
            return match self.events.next().await {
                Next::Event(event) => match &event.what {
                    What::State(change) => {
                        self.events.spoke();
                        Some(Ok(convert::state_event(&event, change, epoch)))
                    }
                    What::Prompt(_)
                    | What::Nudge(_)
                    | What::Respond(_)
                    | What::Usage(_)
                    | What::Exit { .. }
                    | What::Restart(_)
                    | What::Resize(_)
                    | What::Shutdown(_) => continue,
                },
                Next::Gap(gap) => Some(Ok(v1::AgentStateEvent {
                    seq: gap.to.saturating_sub(1),
                    kind: "gap".to_owned(),
                    gap: Some(gap),
                    epoch,
                    ..Default::default()
                })),
                Next::Heartbeat(head) => Some(Ok(v1::AgentStateEvent {
                    seq: head.0,
                    at_epoch_ms: Now::read().epoch_ms,
                    kind: "heartbeat".to_owned(),
                    epoch,
                    ..Default::default()
                })),
                Next::Closed => Closing::last_word(),
            };
        }
    }
}

struct EventsCursor {
    opening: VecDeque<v1::Event>,
    /// Empty is everything.
    types: Vec<String>,
    events: EventCursor,
}

impl Cursor for EventsCursor {
    type Item = v1::Event;

    async fn next(&mut self) -> Option<Result<v1::Event, Status>> {
        if let Some(opening) = self.opening.pop_front() {
            return Some(Ok(opening));
        }
        let epoch = self.events.epoch();
        loop {
            return match self.events.next().await {
                Next::Event(event) => {
                    let kind = convert::event_type(&event.what);
                    if !self.types.is_empty() && !self.types.iter().any(|wanted| wanted == kind) {
                        continue;
                    }
                    self.events.spoke();
                    Some(Ok(convert::event(&event, epoch)))
                }
                Next::Gap(gap) => Some(Ok(gap_event(gap, epoch))),
                Next::Heartbeat(head) => Some(Ok(heartbeat(head, epoch))),
                Next::Closed => Closing::last_word(),
            };
        }
    }
}

/// Its number is the last event that the reader has: resuming there repeats and misses nothing.
fn heartbeat(after: EventSeq, epoch: u64) -> v1::Event {
    let at_epoch_ms = Now::read().epoch_ms;
    v1::Event { seq: after.0, epoch, at_epoch_ms, r#type: "heartbeat".to_owned(), payload: None }
}

/// A gap carries the number just before what follows it, so that resuming there misses nothing.
fn gap_event(gap: v1::Gap, epoch: u64) -> v1::Event {
    v1::Event {
        seq: gap.to.saturating_sub(1),
        epoch,
        r#type: "gap".to_owned(),
        payload: Some(v1::event::Payload::Gap(gap)),
        ..Default::default()
    }
}
