//! Attach: one person's terminal. What stands on the screen comes first, then everything both
//! ways; typing never waits for output, nor output for typing.

use std::collections::VecDeque;

use coop_client::v1;
use coop_client::v1::attach_request::Message as Asked;
use coop_client::v1::attach_response::Message as Told;
use futures_util::future::BoxFuture;
use tonic::{Request, Status, Streaming};

use super::Service;
use super::caller::Caller;
use super::convert;
use super::streams::{Answers, CHUNK, Cursor, EventCursor, Next, answers};
use super::terminal::{lease_ttl, shown_lease};
use crate::error::Error;
use crate::session::Session;
use crate::session::command::Typing;
use crate::session::event::{Event, EventSeq, What};
use crate::session::lease::{Granted, LeaseId};
use crate::term::{OutputReader, Slice};

impl Service {
    pub(super) async fn attached(
        &self,
        request: Request<Streaming<v1::AttachRequest>>,
    ) -> Result<Answers<v1::AttachResponse>, Error> {
        let permit = self.subscription()?;
        let dump = self.session.dump().await?;
        let attached = Attached {
            lease: HeldLease { session: self.session.clone(), id: None },
            shown: shown_lease(&request),
            holder: Caller::of(request.extensions()).from.to_string(),
            reader: self.session.output().reader(dump.offset),
            events: self.event_cursor(dump.event_seq),
            drawn: dump.event_seq,
            wants_state: false,
            told: VecDeque::from([Told::Snapshot(convert::attach_snapshot(dump, self.session.epoch_ms()))]),
            doing: None,
            asked: Some(request.into_inner()),
            over: false,
            session: self.session.clone(),
        };
        Ok(answers(attached, permit))
    }
}

/// A lease that ends with the stream that took it.
struct HeldLease {
    session: Session,
    id: Option<LeaseId>,
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.session.drop_lease(id);
        }
    }
}

/// What came of something the client asked for.
enum Done {
    Nothing,
    Leased(Granted),
    Released,
}

type Doing = BoxFuture<'static, Result<Done, Error>>;

struct Attached {
    session: Session,
    lease: HeldLease,
    /// A lease that was taken elsewhere and shown at the start.
    shown: Option<LeaseId>,
    holder: String,
    reader: OutputReader,
    events: EventCursor,
    /// Events up to here are part of the last snapshot that was sent.
    drawn: EventSeq,
    wants_state: bool,
    told: VecDeque<Told>,
    /// What was asked last and is not done yet; the next thing asked waits for it.
    doing: Option<Doing>,
    /// None once the client has said its last.
    asked: Option<Streaming<v1::AttachRequest>>,
    over: bool,
}

impl Cursor for Attached {
    type Item = v1::AttachResponse;

    async fn next(&mut self) -> Option<Result<v1::AttachResponse, Status>> {
        loop {
            if let Some(message) = self.told.pop_front() {
                return Some(Ok(v1::AttachResponse { message: Some(message) }));
            }
            if self.over {
                return None;
            }
            tokio::select! {
                result = finish(&mut self.doing), if self.doing.is_some() => self.done(result),
                asked = hear(&mut self.asked), if self.doing.is_none() && self.asked.is_some() => match asked {
                    Ok(Some(message)) => self.begin(message),
                    // Half a close: the client has no more to say and goes on listening.
                    Ok(None) => self.asked = None,
                    Err(status) => return Some(Err(Error::of_request(&status).into())),
                },
                slice = self.reader.next(CHUNK) => match slice {
                    Some(slice) if slice.skipped > 0 => self.catch_up().await,
                    Some(slice) => self.told.push_back(Told::Output(output(slice))),
                    None => self.say_goodbye(),
                },
                next = self.events.next() => match next {
                    Next::Event(event) if event.seq > self.drawn => {
                        self.tell(&event);
                        if let What::Resize(_) = event.what {
                            // The client's terminal folds the old lines in its own way, not in ours.
                            self.catch_up().await;
                        }
                    }
                    Next::Event(_) | Next::Heartbeat(_) => {}
                    // A resize or a restart may have been missed; a snapshot shows what came of it.
                    Next::Gap(_) => self.catch_up().await,
                    Next::Closed => self.over = true,
                },
            }
        }
    }
}

impl Attached {
    fn begin(&mut self, asked: v1::AttachRequest) {
        if let Some(Asked::Open(open)) = &asked.message {
            self.wants_state = open.state;
        }
        self.doing = asked.message.and_then(|message| self.work_for(message));
    }

    fn work_for(&self, asked: Asked) -> Option<Doing> {
        match asked {
            Asked::Open(open) => open.size.map(|size| self.resize(size.cols, size.rows)),
            Asked::Resize(size) => Some(self.resize(size.cols, size.rows)),
            Asked::Input(bytes) => {
                let (session, lease) = (self.session.clone(), self.lease());
                Some(Box::pin(async move {
                    session.type_in(Typing::Raw(bytes), lease).await?;
                    Ok(Done::Nothing)
                }))
            }
            Asked::Lease(v1::AttachLease { acquire: true, ttl_ms }) => {
                let (session, shown, holder) = (self.session.clone(), self.lease(), self.holder.clone());
                Some(Box::pin(async move {
                    Ok(Done::Leased(session.acquire_lease(shown, holder, lease_ttl(ttl_ms)?).await?))
                }))
            }
            Asked::Lease(v1::AttachLease { acquire: false, .. }) => {
                let (session, lease) = (self.session.clone(), self.lease());
                Some(Box::pin(async move {
                    if let Some(id) = lease {
                        session.release_lease(id).await?;
                    }
                    Ok(Done::Released)
                }))
            }
        }
    }

    fn lease(&self) -> Option<LeaseId> {
        self.lease.id.clone().or_else(|| self.shown.clone())
    }

    fn resize(&self, cols: i32, rows: i32) -> Doing {
        let (session, lease) = (self.session.clone(), self.lease());
        Box::pin(async move {
            session.resize(convert::size_from_wire(cols, rows)?, lease).await?;
            Ok(Done::Nothing)
        })
    }

    fn done(&mut self, result: Result<Done, Error>) {
        match result {
            Ok(Done::Nothing) => {}
            Ok(Done::Leased(granted)) => {
                self.lease.id = Some(granted.id.clone());
                self.told.push_back(Told::Lease(v1::AcquireLeaseResponse {
                    lease_id: granted.id.0,
                    expires_at_epoch_ms: granted.expires_at_epoch_ms,
                }));
            }
            Ok(Done::Released) => self.lease.id = None,
            Err(error) => self.told.push_back(Told::Error(v1::AttachError {
                code: error.code.as_str().to_owned(),
                message: error.message,
            })),
        }
    }

    fn tell(&mut self, event: &Event) {
        match &event.what {
            What::Resize(size) => self.told.push_back(Told::Resize(convert::terminal_size(*size))),
            What::Restart(restart) => self.told.push_back(Told::Restart(convert::restart_event(restart))),
            What::State(change) if self.wants_state => {
                let state = convert::state_event(event, change, self.session.epoch_ms());
                self.told.push_back(Told::State(state));
            }
            // The exit is told after the last output.
            What::State(_)
            | What::Prompt(_)
            | What::Nudge(_)
            | What::Respond(_)
            | What::Usage(_)
            | What::Exit { .. }
            | What::Shutdown(_) => {}
        }
    }

    /// The client's screen may differ from ours, so it draws it anew from what ours is now.
    async fn catch_up(&mut self) {
        match self.session.dump().await {
            Ok(dump) => {
                self.reader = self.session.output().reader(dump.offset);
                self.drawn = dump.event_seq;
                self.told.push_back(Told::Snapshot(convert::attach_snapshot(dump, self.session.epoch_ms())));
            }
            Err(_) => self.over = true,
        }
    }

    fn say_goodbye(&mut self) {
        self.over = true;
        let snapshot = self.session.snapshot();
        let exit = snapshot.process.exit().map(|exit| convert::exit_event(exit, snapshot.generation));
        self.told.extend(exit.map(Told::Exit));
    }
}

fn output(slice: Slice) -> v1::OutputChunk {
    v1::OutputChunk {
        offset: slice.offset.0,
        next_offset: slice.next().0,
        data: slice.data,
        ..Default::default()
    }
}

async fn finish(doing: &mut Option<Doing>) -> Result<Done, Error> {
    let result = match doing {
        Some(work) => work.await,
        None => Ok(Done::Nothing),
    };
    *doing = None;
    result
}

async fn hear(asked: &mut Option<Streaming<v1::AttachRequest>>) -> Result<Option<v1::AttachRequest>, Status> {
    match asked {
        Some(stream) => stream.message().await,
        None => Ok(None),
    }
}
