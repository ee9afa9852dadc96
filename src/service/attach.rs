//! Attach: a terminal for a user. The screen comes first, then messages in both directions; input
//! never waits for output, nor output for input.

use std::collections::VecDeque;

use coop_client::v1;
use coop_client::v1::attach_request::Message as ClientMessage;
use coop_client::v1::attach_response::Message as ServerMessage;
use futures_util::future::BoxFuture;
use tonic::{Request, Status, Streaming};

use super::audit::{AuditLog, Entry};
use super::caller::Caller;
use super::convert;
use super::streams::{CHUNK, Cursor, EventCursor, Next, ResponseStream, into_stream};
use super::terminal::lease_of;
use super::wire_error::request_error;
use super::{Rpc, Service};
use crate::error::Error;
use crate::session::Session;
use crate::session::command::Typing;
use crate::session::event::{Event, EventKind, EventSeq};
use crate::session::lease::{Granted, LeaseId};
use crate::term::OutputReader;

impl Service {
    pub(super) async fn attached(
        &self,
        request: Request<Streaming<v1::AttachRequest>>,
    ) -> Result<ResponseStream<v1::AttachResponse>, Error> {
        let permit = self.subscription()?;
        let dump = self.session.dump().await?;
        let mut caller = Caller::of(request.extensions());
        caller.by = caller.by.at_terminal();
        let session = self.session.by(caller.by.clone());
        let cursor = AttachCursor {
            own_lease: OwnLease { session: session.clone(), id: None },
            header_lease: lease_of(&request),
            output: self.session.output().reader(dump.offset),
            events: self.event_cursor(dump.event_seq),
            snapshot_seq: dump.event_seq,
            wants_state: false,
            outgoing: VecDeque::from([ServerMessage::Snapshot(convert::attach_snapshot(
                dump,
                self.session.epoch_ms(),
            ))]),
            running: None,
            caller,
            audit: self.audit.clone(),
            entry: None,
            incoming: Some(request.into_inner()),
            ended: false,
            session,
        };
        Ok(into_stream(cursor, permit))
    }
}

/// A lease that is released with the stream that took it.
struct OwnLease {
    session: Session,
    id: Option<LeaseId>,
}

impl Drop for OwnLease {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.session.drop_lease(id);
        }
    }
}

/// The result of a client's message.
enum Outcome {
    Done,
    Leased(Granted),
    Released,
}

type Work = BoxFuture<'static, Result<Outcome, Error>>;

struct AttachCursor {
    session: Session,
    own_lease: OwnLease,
    /// A lease that the client took before and named in the request's metadata.
    header_lease: Option<LeaseId>,
    output: OutputReader,
    events: EventCursor,
    /// The last snapshot contains the events up to this one.
    snapshot_seq: EventSeq,
    wants_state: bool,
    outgoing: VecDeque<ServerMessage>,
    /// The client's last message, while it is being handled; the next one waits for it.
    running: Option<Work>,
    caller: Caller,
    audit: AuditLog,
    /// The record of the message that is being handled.
    entry: Option<Entry>,
    /// None once the client has closed its side.
    incoming: Option<Streaming<v1::AttachRequest>>,
    ended: bool,
}

impl Cursor for AttachCursor {
    type Item = v1::AttachResponse;

    async fn next(&mut self) -> Option<Result<v1::AttachResponse, Status>> {
        loop {
            if let Some(message) = self.outgoing.pop_front() {
                return Some(Ok(convert::attach_response(message)));
            }
            if self.ended {
                return None;
            }
            let reads = self.running.is_none() && self.incoming.is_some();
            tokio::select! {
                result = finish(&mut self.running), if self.running.is_some() => {
                    self.finished(result);
                }
                request = next_message(&mut self.incoming), if reads => match request {
                    Ok(Some(request)) => self.start(request),
                    // The client sends nothing more, but still reads.
                    Ok(None) => self.incoming = None,
                    Err(status) => return Some(Err(request_error(&status).into())),
                },
                slice = self.output.next(CHUNK) => match slice {
                    Some(slice) if slice.skipped > 0 => self.push_snapshot().await,
                    Some(slice) => {
                        self.outgoing.push_back(ServerMessage::Output(convert::chunk(slice)));
                    }
                    None => self.push_exit(),
                },
                next = self.events.next() => match next {
                    Next::Event(event) if event.seq > self.snapshot_seq => {
                        self.push_event(&event);
                        if let EventKind::Resize(_) = event.kind {
                            // The client's terminal may wrap the old lines differently.
                            self.push_snapshot().await;
                        }
                    }
                    Next::Event(_) | Next::Heartbeat(_) => {}
                    // The missed events may include a resize or a restart.
                    Next::Gap(_) => self.push_snapshot().await,
                    Next::Closed => self.ended = true,
                },
            }
        }
    }
}

impl AttachCursor {
    /// Begins to handle a message. Messages are handled one after the other, so every earlier one
    /// was handled before.
    fn start(&mut self, request: v1::AttachRequest) {
        let Some(message) = request.message else { return };
        self.entry = self.record(&message);
        match message {
            ClientMessage::Open(open) => {
                self.wants_state = open.state;
                self.running = open.size.map(|size| self.resize(size.cols, size.rows));
            }
            ClientMessage::Resize(size) => self.running = Some(self.resize(size.cols, size.rows)),
            ClientMessage::Input(bytes) => {
                let (session, lease) = (self.session.clone(), self.lease());
                self.running = Some(Box::pin(async move {
                    session.type_in(Typing::Raw(bytes), lease).await?;
                    Ok(Outcome::Done)
                }));
            }
            ClientMessage::Lease(v1::AttachLease { acquire: true, ttl_ms }) => {
                let (session, held) = (self.session.clone(), self.lease());
                self.running = Some(Box::pin(async move {
                    let ttl = convert::lease_ttl(ttl_ms)?;
                    Ok(Outcome::Leased(session.acquire_lease(held, None, ttl).await?))
                }));
            }
            ClientMessage::Lease(v1::AttachLease { acquire: false, .. }) => {
                let (session, lease) = (self.session.clone(), self.lease());
                self.running = Some(Box::pin(async move {
                    if let Some(id) = lease {
                        session.release_lease(id).await?;
                    }
                    Ok(Outcome::Released)
                }));
            }
            ClientMessage::Barrier(barrier) => {
                self.outgoing.push_back(ServerMessage::Barrier(barrier));
            }
        }
    }

    /// Begins the record of a message that writes.
    fn record(&self, message: &ClientMessage) -> Option<Entry> {
        let (action, bytes) = match message {
            ClientMessage::Input(bytes) => ("input", Some(bytes.len())),
            ClientMessage::Resize(_) => ("resize", None),
            ClientMessage::Open(open) if open.size.is_some() => ("resize", None),
            ClientMessage::Lease(lease) if lease.acquire => ("acquire_lease", None),
            ClientMessage::Lease(_) => ("release_lease", None),
            ClientMessage::Open(_) | ClientMessage::Barrier(_) => return None,
        };
        let mut entry = self.audit.entry(&self.caller, Rpc::Attach.method().name)?;
        entry.set("action", Some(action));
        entry.set("bytes", bytes);
        Some(entry)
    }

    fn lease(&self) -> Option<LeaseId> {
        self.own_lease.id.clone().or_else(|| self.header_lease.clone())
    }

    fn resize(&self, cols: i32, rows: i32) -> Work {
        let (session, lease) = (self.session.clone(), self.lease());
        Box::pin(async move {
            session.resize(convert::size_from_wire(cols, rows)?, lease).await?;
            Ok(Outcome::Done)
        })
    }

    fn finished(&mut self, result: Result<Outcome, Error>) {
        if let Some(entry) = self.entry.take() {
            entry.finish(&result);
        }
        match result {
            Ok(Outcome::Done) => {}
            Ok(Outcome::Leased(granted)) => {
                self.own_lease.id = Some(granted.id.clone());
                self.outgoing.push_back(ServerMessage::Lease(convert::lease(granted)));
            }
            Ok(Outcome::Released) => self.own_lease.id = None,
            Err(error) => {
                self.outgoing.push_back(ServerMessage::Error(convert::attach_error(error)));
            }
        }
    }

    fn push_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Resize(size) => {
                self.outgoing.push_back(ServerMessage::Resize(convert::terminal_size(*size)));
            }
            EventKind::Restart(restart) => {
                self.outgoing.push_back(ServerMessage::Restart(convert::restart_event(restart)));
            }
            EventKind::State(change) if self.wants_state => {
                let state = convert::state_event(event, change, self.session.epoch_ms());
                self.outgoing.push_back(ServerMessage::State(state));
            }
            // The exit follows the last output.
            EventKind::State(_)
            | EventKind::Prompt(_)
            | EventKind::Nudge(_)
            | EventKind::Respond(_)
            | EventKind::Interrupt(_)
            | EventKind::Lease(_)
            | EventKind::Signal(_)
            | EventKind::Env { .. }
            | EventKind::Usage(_)
            | EventKind::Exit { .. }
            | EventKind::Shutdown(_) => {}
        }
    }

    /// Sends the whole screen again, because the client's may differ from it.
    async fn push_snapshot(&mut self) {
        match self.session.dump().await {
            Ok(dump) => {
                self.output = self.session.output().reader(dump.offset);
                self.snapshot_seq = dump.event_seq;
                self.outgoing.push_back(ServerMessage::Snapshot(convert::attach_snapshot(
                    dump,
                    self.session.epoch_ms(),
                )));
            }
            Err(_) => self.ended = true,
        }
    }

    /// Ends the stream with the child's exit.
    fn push_exit(&mut self) {
        self.ended = true;
        let snapshot = self.session.snapshot();
        let exit =
            snapshot.process.exit().map(|exit| convert::exit_event(exit, snapshot.generation));
        self.outgoing.extend(exit.map(ServerMessage::Exit));
    }
}

async fn finish(running: &mut Option<Work>) -> Result<Outcome, Error> {
    let result = match running {
        Some(work) => work.await,
        None => Ok(Outcome::Done),
    };
    *running = None;
    result
}

async fn next_message(
    incoming: &mut Option<Streaming<v1::AttachRequest>>,
) -> Result<Option<v1::AttachRequest>, Status> {
    match incoming {
        Some(stream) => stream.message().await,
        None => Ok(None),
    }
}
