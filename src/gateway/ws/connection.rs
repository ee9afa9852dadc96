//! One connection from its upgrade to its end: proof first, then three loops that never wait for
//! each other. One hears, one works, one talks, and only bounded queues lie between them.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout, timeout_at};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::Settings;
use super::ask::{Ask, Deed};
use super::frame::{Address, NO_FIELDS, PONG, REPLY, frame};
use super::push::{Push, Pushes};
use super::queue::{Receiver, Sender, queue};
use super::socket::{self, End, FRAME_LIMIT, Socket};
use super::topic::Topics;
use super::work::Worker;
use crate::error::Error;
use crate::service::{Caller, Closing, Service};

/// How long a client may take to show its token.
const AUTH_TIME: Duration = Duration::from_secs(5);
/// Frames that may wait for the work before them, and their bytes.
const ASKS: usize = 256;
const ASK_BYTES: u32 = FRAME_LIMIT;
/// Answers that may wait for a client to read, and their bytes.
const REPLIES: usize = 4096;
const REPLY_BYTES: u32 = 1 << 20;
/// Silence long enough for a proxy to cut it is broken before.
const PING: Duration = Duration::from_secs(20);
/// How long what was asked may go on being done for a client that has left.
const AFTERLIFE: Duration = Duration::from_secs(10);
/// How long a client that does not read may hold up the end of coop.
const GOODBYE: Duration = Duration::from_millis(250);

pub struct Connection {
    pub service: Service,
    pub settings: Settings,
    pub caller: Caller,
    pub topics: Topics,
    /// A lease that was taken elsewhere.
    pub shown_lease: Option<String>,
}

/// How a client came in.
pub enum Entry {
    Proven,
    /// Without a token, on one of the few places there are for that.
    Unproven(OwnedSemaphorePermit),
}

impl Connection {
    pub async fn run(mut self, mut socket: Socket, entry: Entry) {
        let closing = self.service.closing().clone();
        if let Entry::Unproven(_place) = entry
            && let Err(end) = self.prove(&mut socket, &closing).await
        {
            return socket::finish(socket, end).await;
        }
        socket.get_mut().lift_limit();
        let (socket, end) = Box::pin(self.serve(socket, closing)).await;
        socket::finish(socket, end).await;
    }

    /// Waits for the token. Until then nothing is told, and nothing else can be asked.
    async fn prove(&mut self, socket: &mut Socket, closing: &Closing) -> Result<(), End> {
        let deadline = Instant::now() + AUTH_TIME;
        loop {
            let message = tokio::select! {
                message = timeout_at(deadline, socket.next()) => message.map_err(|_late| End::unauthorized())?,
                () = closing.closed() => return Err(End::shutdown()),
            };
            let text = match message {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Binary(_))) => return Err(End::unauthorized()),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))) => {
                    continue;
                }
                Some(Err(error)) => return Err(End::of_reading(&error)),
                None => return Err(End::Gone),
            };
            let ask = Ask::parse(Bytes::from(text));
            let names = match ask.deed {
                Ok(Deed::Auth { token }) => {
                    self.caller.level = (self.settings.authenticate)(&token).ok_or_else(End::unauthorized)?;
                    REPLY
                }
                Ok(Deed::Ping) => PONG,
                Ok(Deed::Call(..) | Deed::Replay | Deed::Lock(_)) | Err(_) => return Err(End::unauthorized()),
            };
            let answer = frame(names, &ask.address.fields(), NO_FIELDS);
            let sent = timeout_at(deadline, socket.send(Message::Text(answer))).await;
            sent.map_err(|_late| End::unauthorized())?.map_err(|_| End::Gone)?;
            if names == REPLY {
                return Ok(());
            }
        }
    }

    async fn serve(self, socket: Socket, closing: Closing) -> (Socket, End) {
        if closing.closed().now_or_never().is_some() {
            return (socket, End::refused(&Error::shutting_down()));
        }
        let pushes = match Pushes::open(self.service.clone(), self.topics, &self.caller).await {
            Ok(pushes) => pushes,
            Err(error) => return (socket, End::refused(&error)),
        };
        let _client = self.service.clients().connect();
        let (mut sink, mut stream) = socket.split();
        let end = {
            let (asks, asked) = queue(ASKS, ASK_BYTES);
            let (replies, said) = queue(REPLIES, REPLY_BYTES);
            let worker =
                Worker::new(self.service, self.settings, self.caller, self.shown_lease, replies.clone());
            let heeding = until_done(hear(&mut stream, asks, replies), worker.run(asked));
            let talking = talk(&mut sink, said, pushes);
            tokio::select! {
                end = until_done(talking, heeding) => end,
                () = overdue(&closing) => End::Gone,
            }
        };
        let socket = sink.reunite(stream).expect("both halves are of this socket");
        (socket, end)
    }
}

/// Hears or talks on one side and works on the other, until one of them ends the connection. What a
/// client asked before it left is still done.
async fn until_done(conversing: impl Future<Output = End>, working: impl Future<Output = End>) -> End {
    let mut working = pin!(working);
    tokio::select! {
        end = conversing => match end {
            End::Gone => timeout(AFTERLIFE, working).await.unwrap_or(End::Gone),
            End::Close { .. } => end,
        },
        end = &mut working => end,
    }
}

/// Reads what the client sends. Reading stops while too much waits to be done.
async fn hear(stream: &mut SplitStream<Socket>, asks: Sender<Ask>, replies: Sender<Utf8Bytes>) -> End {
    loop {
        let ask = match stream.next().await {
            Some(Ok(Message::Text(text))) => Ask::parse(Bytes::from(text)),
            Some(Ok(Message::Binary(_))) => Ask::binary(),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_))) => continue,
            Some(Err(error)) => return End::of_reading(&error),
            None => return End::Gone,
        };
        let heard = match ask.deed {
            // Whether the connection lives must not depend on what the child does with its input.
            Ok(Deed::Ping) => {
                let pong = pong(&ask.address);
                let size = pong.len();
                replies.send(pong, size).await
            }
            Ok(Deed::Call(..) | Deed::Replay | Deed::Lock(_) | Deed::Auth { .. }) | Err(_) => {
                let size = ask.text.len();
                asks.send(ask, size).await
            }
        };
        if heard.is_err() {
            return End::Gone;
        }
    }
}

fn pong(address: &Address) -> Utf8Bytes {
    frame(PONG, &address.fields(), NO_FIELDS)
}

/// The only writer. Answers and pushes take turns as they come.
async fn talk(
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
    sleep_until(Instant::now() + GOODBYE).await;
}
