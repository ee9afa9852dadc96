//! One connection from its upgrade to its end: authentication first, then three loops that do not
//! wait for each other. One reads, one makes calls, one writes; bounded queues connect them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout, timeout_at};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::super::intake::Share;
use super::client_frame::{Action, ClientFrame};
use super::frame::{NO_FIELDS, PONG, REPLY, frame};
use super::frame_meter::Finished;
use super::push::{Push, Pushes};
use super::queue::{Receiver, Sender, queue};
use super::socket::{self, End, Socket};
use super::topic::Topics;
use super::worker::Worker;
use super::{Authentication, Settings};
use crate::error::Error;
use crate::service::{Caller, Closing, Service};

/// How long a client may take to send its token.
const AUTH_TIME: Duration = Duration::from_secs(5);
/// The most frames, and the bytes of small ones, that wait for the calls before them.
const QUEUED_FRAMES: usize = 256;
const QUEUED_FRAME_BYTES: u32 = 1 << 20;
/// The most replies, and their bytes, that wait for the client to read.
const QUEUED_REPLIES: usize = 4096;
const QUEUED_REPLY_BYTES: u32 = 1 << 20;
/// The interval of pings, shorter than the silence after which proxies close a connection.
const PING: Duration = Duration::from_secs(20);
/// How long the calls of a client that has disconnected may go on.
const AFTER_DISCONNECT: Duration = Duration::from_secs(10);
/// How long a client that does not read may delay coop's shutdown.
const SHUTDOWN_DELAY: Duration = Duration::from_millis(250);

pub(super) struct Connection {
    pub service: Service,
    pub settings: Settings,
    pub caller: Caller,
    pub topics: Topics,
    /// A lease that the client acquired before and named in the upgrade's header.
    pub lease: Option<String>,
}

/// Whether the upgrade request authenticated the client.
pub(super) enum Entry {
    Authenticated,
    /// Without a token.
    Unauthenticated {
        /// One of the few for such clients.
        _slot: OwnedSemaphorePermit,
        _share: Share,
        /// `None` only where no server is below.
        authentication: Option<Arc<dyn Authentication>>,
    },
}

impl Connection {
    pub(super) async fn run(mut self, mut socket: Socket, entry: Entry) {
        let closing = self.service.closing().clone();
        if let Entry::Unauthenticated { authentication, .. } = &entry
            && let Err(end) =
                self.authenticate(&mut socket, &closing, authentication.as_deref()).await
        {
            return socket::finish(socket, end).await;
        }
        drop(entry);
        socket.get_mut().lift_limit();
        let (socket, end) = Box::pin(self.serve(socket, closing)).await;
        socket::finish(socket, end).await;
    }

    /// Waits for the token. Until then nothing is pushed, and only `ping` is answered.
    async fn authenticate(
        &mut self,
        socket: &mut Socket,
        closing: &Closing,
        authentication: Option<&dyn Authentication>,
    ) -> Result<(), End> {
        let deadline = Instant::now() + AUTH_TIME;
        loop {
            let message = tokio::select! {
                message = timeout_at(deadline, socket.next()) => {
                    message.map_err(|_late| End::unauthorized())?
                }
                () = closing.closed() => return Err(End::shutdown()),
            };
            let text = match message {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Binary(_))) => return Err(End::unauthorized()),
                Some(Ok(
                    Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_),
                )) => {
                    continue;
                }
                Some(Err(error)) => return Err(End::read_error(&error)),
                None => return Err(End::Gone),
            };
            let client_frame = ClientFrame::parse(Bytes::from(text));
            let names = match client_frame.action {
                Ok(Action::Auth { token }) => {
                    let Some(grant) = (self.settings.authenticate)(&self.caller, &token) else {
                        authentication.inspect(|server| server.failed());
                        return Err(End::unauthorized());
                    };
                    self.caller.accept(grant);
                    authentication.inspect(|server| server.succeeded());
                    REPLY
                }
                Ok(Action::Ping) => PONG,
                Ok(Action::Call(..) | Action::Screen | Action::Replay | Action::Lock(_))
                | Err(_) => {
                    return Err(End::unauthorized());
                }
            };
            let reply = frame(names, &client_frame.address.fields(), NO_FIELDS);
            let sent = timeout_at(deadline, socket.send(Message::Text(reply))).await;
            sent.map_err(|_late| End::unauthorized())?.map_err(|_| End::Gone)?;
            if names == REPLY {
                return Ok(());
            }
        }
    }

    async fn serve(self, socket: Socket, closing: Closing) -> (Socket, End) {
        if closing.closed().now_or_never().is_some() {
            return (socket, End::error(&Error::shutting_down()));
        }
        let pushes = match Pushes::open(self.service.clone(), self.topics, &self.caller).await {
            Ok(pushes) => pushes,
            Err(error) => return (socket, End::error(&error)),
        };
        let _client = self.service.clients().connect();
        let revoked = self.caller.revoked.clone();
        let finished = socket.get_ref().finished();
        let (mut sink, mut stream) = socket.split();
        let end = {
            let (frames_in, frames_out) = queue(QUEUED_FRAMES, QUEUED_FRAME_BYTES);
            let (replies_in, replies_out) = queue(QUEUED_REPLIES, QUEUED_REPLY_BYTES);
            let worker = Worker::new(
                self.service,
                self.settings,
                self.caller,
                self.lease,
                replies_in.clone(),
            );
            let reading = read(&mut stream, &finished, frames_in, replies_in);
            let working = until_done(reading, worker.run(frames_out));
            let writing = write(&mut sink, replies_out, pushes);
            tokio::select! {
                end = until_done(writing, working) => end,
                () = overdue(&closing) => End::Gone,
                () = revoked.cancelled() => End::unauthorized(),
            }
        };
        let socket = sink.reunite(stream).expect("both halves are of this socket");
        (socket, end)
    }
}

/// Reads or writes on one side and works on the other, until one of them ends the connection. The
/// calls of a client that has disconnected are still made.
async fn until_done(transfer: impl Future<Output = End>, work: impl Future<Output = End>) -> End {
    let mut work = pin!(work);
    tokio::select! {
        end = transfer => match end {
            End::Gone => timeout(AFTER_DISCONNECT, work).await.unwrap_or(End::Gone),
            End::Close { .. } => end,
        },
        end = &mut work => end,
    }
}

/// A frame, and what it has of the budget of unfinished input until it was processed.
pub(super) type Queued = (ClientFrame, Vec<Share>);

/// Reads the client's frames. Reading stops while too many frames are queued.
async fn read(
    stream: &mut SplitStream<Socket>,
    finished: &Finished,
    frames: Sender<Queued>,
    replies: Sender<Utf8Bytes>,
) -> End {
    loop {
        let client_frame = match stream.next().await {
            Some(Ok(Message::Text(text))) => ClientFrame::parse(Bytes::from(text)),
            Some(Ok(Message::Binary(_))) => ClientFrame::binary(),
            Some(Ok(
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_),
            )) => continue,
            Some(Err(error)) => return End::read_error(&error),
            None => return End::Gone,
        };
        let queued = match client_frame.action {
            // Answered at once: a child that does not read its input must not delay a ping.
            Ok(Action::Ping) => {
                drop(finished.take());
                let pong = frame(PONG, &client_frame.address.fields(), NO_FIELDS);
                let size = pong.len();
                replies.send(pong, size).await
            }
            Ok(
                Action::Call(..)
                | Action::Screen
                | Action::Replay
                | Action::Lock(_)
                | Action::Auth { .. },
            )
            | Err(_) => {
                let shares = finished.take();
                // A large frame is in the budget of all connections, and not in the queue's own.
                let size = if shares.is_empty() { client_frame.text.len() } else { 0 };
                frames.send((client_frame, shares), size).await
            }
        };
        if queued.is_err() {
            return End::Gone;
        }
    }
}

/// The only writer of the socket. Replies and pushes are sent as they come.
async fn write(
    sink: &mut SplitSink<Socket, Message>,
    mut replies: Receiver<Utf8Bytes>,
    mut pushes: Pushes,
) -> End {
    let mut ping = interval_at(Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        let message = tokio::select! {
            Some((reply, _room)) = replies.recv() => Message::Text(reply),
            push = pushes.next() => match push {
                Push::Frame(frame) => Message::Text(frame),
                Push::Over(end) => break end,
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        if sink.send(message).await.is_err() {
            return End::Gone;
        }
    };
    while let Some(reply) = replies.try_recv() {
        if sink.send(Message::Text(reply)).await.is_err() {
            return End::Gone;
        }
    }
    end
}

async fn overdue(closing: &Closing) {
    closing.closed().await;
    sleep_until(Instant::now() + SHUTDOWN_DELAY).await;
}
