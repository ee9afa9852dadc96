//! The streams of the event log: all events, and the agent's state alone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use coop_client::{EventType, v1};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tonic::Status;

use super::super::closing::Closing;
use super::super::{Service, convert};
use super::{Cursor, ResponseStream, into_stream};
use crate::error::Error;
use crate::session::Session;
use crate::session::event::{Event, EventKind, EventSeq};

/// A stream without events sends a heartbeat at least this often.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// The most events taken from the log at a time.
const BATCH: usize = 64;

impl Service {
    pub(in crate::service) fn state_stream(
        &self,
        request: &v1::StreamStateRequest,
    ) -> Result<ResponseStream<v1::AgentStateEvent>, Error> {
        let snapshot = self.session.snapshot();
        let mut opening = convert::state_snapshot(&snapshot, self.session.epoch_ms());
        let position = self.position(request.since_seq, request.epoch, snapshot.event_seq)?;
        if let Some(gap) = position.gap {
            opening.gap = Some(gap);
        } else if request.since_seq > 0 {
            // The transitions since then follow, and lead to the state of this snapshot.
            opening.seq = request.since_seq;
        }
        let from_now_on = request.since_seq == 0 && opening.gap.is_none();
        let after = if from_now_on { snapshot.event_seq } else { position.after };
        let cursor = StateCursor { opening: Some(opening), events: self.event_cursor(after) };
        Ok(into_stream(cursor, self.subscription()?))
    }

    pub(in crate::service) fn event_stream(
        &self,
        request: &v1::StreamEventsRequest,
    ) -> Result<ResponseStream<v1::Event>, Error> {
        let types = request.types.iter().map(|name| event_type(name)).collect::<Result<_, _>>()?;
        let head = self.session.snapshot().event_seq;
        let position = self.position(request.since_seq, request.epoch, head)?;
        let epoch = self.session.epoch_ms();
        let mut opening = VecDeque::from([convert::heartbeat(position.after, epoch)]);
        opening.extend(position.gap.map(|gap| convert::gap_event(gap, epoch)));
        let cursor = EventsCursor { opening, types, events: self.event_cursor(position.after) };
        Ok(into_stream(cursor, self.subscription()?))
    }

    pub(in crate::service) fn event_cursor(&self, after: EventSeq) -> EventCursor {
        EventCursor {
            session: self.session.clone(),
            after,
            head: self.session.events().subscribe(),
            ready: VecDeque::new(),
            heartbeat_at: Instant::now() + HEARTBEAT,
            closing: self.closing.clone(),
        }
    }

    /// Where a reader that reconnects goes on.
    fn position(&self, since: u64, epoch: Option<u64>, head: EventSeq) -> Result<Position, Error> {
        if epoch.is_some_and(|given| given != self.session.epoch_ms()) {
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
}

fn event_type(name: &str) -> Result<EventType, Error> {
    let name = name.trim().to_ascii_lowercase();
    EventType::parse(&name).ok_or_else(|| {
        let known: Vec<_> = EventType::ALL.iter().map(|kind| kind.as_str()).collect();
        let known = known.join(", ");
        Error::bad_request(format!("there is no event type {name:?}; there are {known}"))
    })
}

struct Position {
    after: EventSeq,
    gap: Option<v1::Gap>,
}

/// Reads the log from a position on. Converting the events is left to the stream.
pub(in crate::service) struct EventCursor {
    session: Session,
    after: EventSeq,
    head: watch::Receiver<EventSeq>,
    ready: VecDeque<Arc<Event>>,
    heartbeat_at: Instant,
    closing: Closing,
}

pub(in crate::service) enum Next {
    Event(Arc<Event>),
    Gap(v1::Gap),
    Heartbeat(EventSeq),
    Closed,
}

impl EventCursor {
    pub(in crate::service) async fn next(&mut self) -> Next {
        loop {
            if self.heartbeat_at <= Instant::now() {
                self.postpone_heartbeat();
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
                // The events in the log come before the end.
                biased;
                changed = timeout_at(self.heartbeat_at, self.head.changed()) => match changed {
                    // A new event, or time for a heartbeat: the next iteration finds out.
                    Ok(Ok(())) | Err(_) => {}
                    Ok(Err(_)) => return Next::Closed,
                },
                () = self.closing.closed() => return Next::Closed,
            }
        }
    }

    /// Called when the reader was sent something. An event that a filter drops does not count,
    /// because the reader sees only silence.
    fn postpone_heartbeat(&mut self) {
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
                Next::Event(event) => match &event.kind {
                    EventKind::State(change) => {
                        self.events.postpone_heartbeat();
                        Some(Ok(convert::state_event(&event, change, epoch)))
                    }
                    EventKind::Prompt(_)
                    | EventKind::Nudge(_)
                    | EventKind::Respond(_)
                    | EventKind::Interrupt(_)
                    | EventKind::Lease(_)
                    | EventKind::Signal(_)
                    | EventKind::Env { .. }
                    | EventKind::Usage(_)
                    | EventKind::Exit { .. }
                    | EventKind::Restart(_)
                    | EventKind::Resize(_)
                    | EventKind::Shutdown(_) => continue,
                },
                Next::Gap(gap) => Some(Ok(convert::state_gap(gap, epoch))),
                Next::Heartbeat(after) => Some(Ok(convert::state_heartbeat(after, epoch))),
                Next::Closed => Closing::final_error(),
            };
        }
    }
}

struct EventsCursor {
    opening: VecDeque<v1::Event>,
    /// Empty means all.
    types: Vec<EventType>,
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
                    let kind = convert::event_type(&event.kind);
                    if !self.types.is_empty() && !self.types.contains(&kind) {
                        continue;
                    }
                    self.events.postpone_heartbeat();
                    Some(Ok(convert::event(&event, epoch)))
                }
                Next::Gap(gap) => Some(Ok(convert::gap_event(gap, epoch))),
                Next::Heartbeat(after) => Some(Ok(convert::heartbeat(after, epoch))),
                Next::Closed => Closing::final_error(),
            };
        }
    }
}
