//! The accept loops, and the life of one connection: HTTP/1.1, HTTP/2 and upgrades on one port,
//! within limits, until coop shuts down.

use std::convert::Infallible;
use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use futures_util::future::{Either, ready};
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::admission::check_calls;
use super::connection_slot::SlottedStream;
use super::guard::{Policy, refuse};
use super::held_body;
use super::limits::{
    self, ACCEPT_PAUSE, GOODBYE, HANDSHAKE, HEADERS, KEEP_ALIVE, OPENING, REFUSALS, SEND_BUFFER,
    STRANGER_HEADERS, STRANGER_WINDOW, STRANGERS, STRANGERS_PER_SOURCE, STREAMS,
};
use super::lingering::{LingeringStream, Unread};
use super::listen::UnixSocket;
use super::paced::PacedStream;
use super::peer::{Peer, Transport};
use super::source::Source;
use super::strangers::{Room, Strangers};
use super::tls::Tls;
use crate::error::{Code, Error};
use crate::gateway::envelope;
use crate::session::by::By;

/// The start of every HTTP/2 connection, and of no other.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A bound listener.
pub(crate) enum Listener {
    Tcp {
        listener: TcpListener,
        tls: Option<Tls>,
    },
    /// Without TLS, and with places of its own for clients that show no token.
    Health {
        listener: TcpListener,
    },
    Unix {
        socket: UnixSocket,
        transport: Transport,
    },
}

enum Stream {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}

impl Listener {
    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp { listener, .. } | Self::Health { listener } => {
                listener.accept().await.map(|(stream, from)| Stream::Tcp(stream, from))
            }
            Self::Unix { socket, .. } => {
                socket.listener().accept().await.map(|(stream, _)| Stream::Unix(stream))
            }
        }
    }
}

/// The state that all connections share.
#[derive(Clone)]
pub(crate) struct Server {
    /// Every connection runs here, so that the shutdown can wait for them.
    tracker: TaskTracker,
    /// Cancelled when no more connections are accepted and the open ones should finish.
    closing: CancellationToken,
    policy: Arc<Policy>,
    strangers: Arc<Strangers>,
    /// Those of the health port.
    probes: Arc<Strangers>,
    /// How many connections each listener may have.
    connections: usize,
    /// Limits the connections that are told that there is no room.
    refusals: Arc<Semaphore>,
}

impl Server {
    /// A server with this many listeners that may open this many descriptors.
    pub(crate) fn new(
        tracker: TaskTracker,
        policy: Arc<Policy>,
        listeners: usize,
        descriptors: Option<u64>,
    ) -> Self {
        let connections = limits::connections(descriptors, listeners);
        // Strangers take at most half of the connections.
        let strangers = Strangers::new(
            STRANGERS.min(connections.div_ceil(2)),
            STRANGERS_PER_SOURCE.min(connections.div_ceil(2)),
        );
        Self {
            tracker,
            closing: CancellationToken::new(),
            policy,
            probes: Arc::new(strangers.beside()),
            strangers: Arc::new(strangers),
            connections,
            refusals: Arc::new(Semaphore::new(REFUSALS)),
        }
    }

    /// Accepts no more connections, and lets every open one finish its current requests.
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }

    /// Serves `app` on this listener until closed.
    pub(crate) fn serve(&self, listener: Listener, app: Router) {
        let server = self.clone();
        let slots = Arc::new(Semaphore::new(self.connections));
        self.tracker.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = server.next(&listener) => accepted,
                    () = server.closing.cancelled() => return,
                };
                match accepted {
                    Ok((stream, room)) => {
                        let slot = Arc::clone(&slots).try_acquire_owned().ok();
                        server.accepted(stream, slot, room, &listener, &app);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        sleep_until(Instant::now() + ACCEPT_PAUSE).await;
                    }
                }
            }
        });
    }

    /// The next connection, when there is room for it.
    async fn next(&self, listener: &Listener) -> io::Result<(Stream, Room)> {
        let room = match listener {
            Listener::Tcp { .. } => self.strangers.room().await,
            Listener::Health { .. } => self.probes.room().await,
            Listener::Unix { transport: Transport::Private, .. } => Room::UNLIMITED,
            Listener::Unix { .. } => self.strangers.room().await,
        };
        Ok((listener.accept().await?, room))
    }

    fn accepted(
        &self,
        stream: Stream,
        slot: Option<OwnedSemaphorePermit>,
        room: Room,
        listener: &Listener,
        app: &Router,
    ) {
        let (tls, transport, strangers) = match listener {
            Listener::Tcp { tls, .. } => {
                (tls.clone(), Transport::Tcp { certificate: None }, &self.strangers)
            }
            Listener::Health { .. } => (None, Transport::Tcp { certificate: None }, &self.probes),
            Listener::Unix { transport, .. } => (None, *transport, &self.strangers),
        };
        let (source, from, by) = match &stream {
            Stream::Tcp(_, from) => {
                let by = By::Address(Some(from.ip().to_canonical()));
                (Source::of(*from), from.to_string().into(), by)
            }
            Stream::Unix(stream) => (Source::Unix, "the Unix socket".into(), user_of(stream)),
        };
        let connection = if self.policy.trusts(transport) || transport == Transport::Private {
            Some(strangers.trusted(source))
        } else {
            strangers.admit(source, room)
        };
        let (server, app) = (self.clone(), app.clone());
        self.tracker.spawn(async move {
            let (Some(slot), Some(connection)) = (slot, connection) else {
                return server.reject(stream).await;
            };
            let peer = Peer { from, transport, by, connection: Arc::clone(&connection) };
            tokio::select! {
                () = server.serve_stream(stream, slot, peer, tls, app) => {}
                () = connection.evicted() => {
                    tracing::debug!("a connection without a token made room for another");
                }
            }
        });
    }

    async fn serve_stream(
        &self,
        stream: Stream,
        slot: OwnedSemaphorePermit,
        peer: Peer,
        tls: Option<Tls>,
        app: Router,
    ) {
        let connection = Arc::clone(&peer.connection);
        match stream {
            Stream::Unix(stream) => {
                let stream = SlottedStream::new(stream, slot, connection);
                self.serve_connection(stream, peer, app).await;
            }
            Stream::Tcp(stream, _) => {
                // An echo must not wait for the next packet. It fails only if the peer has
                // disconnected.
                drop(stream.set_nodelay(true));
                let stream = SlottedStream::new(stream, slot, connection);
                match tls {
                    None => self.serve_connection(stream, peer, app).await,
                    Some(tls) => self.handshake(stream, peer, &tls, app).await,
                }
            }
        }
    }

    async fn handshake(
        &self,
        stream: SlottedStream<TcpStream>,
        mut peer: Peer,
        tls: &Tls,
        app: Router,
    ) {
        let from = Arc::clone(&peer.from);
        match timeout(HANDSHAKE, tls.acceptor().accept(stream)).await {
            Ok(Ok(stream)) => {
                if let Some((level, by)) = tls.certified(stream.get_ref().1.peer_certificates()) {
                    peer.transport = Transport::Tcp { certificate: Some(level) };
                    peer.by = by;
                }
                if self.policy.trusts(peer.transport) {
                    peer.connection.trust();
                }
                self.serve_connection(stream, peer, app).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, %from, "the TLS handshake failed"),
            Err(_) => tracing::debug!(%from, "the TLS handshake took too long"),
        }
    }

    async fn serve_connection<S>(&self, stream: S, peer: Peer, app: Router)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let from = Arc::clone(&peer.from);
        let opened = tokio::select! {
            opened = timeout(OPENING, opened(stream)) => opened,
            () = self.closing.cancelled() => return,
        };
        let stream = match opened {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                return tracing::debug!(%error, %from, "a connection failed before a request");
            }
            Err(_) => return tracing::debug!(%from, "a connection sent no request in time"),
        };
        let unread = Unread::default();
        let (known, policy) = (Arc::clone(&peer.connection), Arc::clone(&self.policy));
        let stream = LingeringStream::new(stream, unread.clone(), Arc::clone(&known));
        let stream = PacedStream::new(stream, Arc::clone(&known));
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let call = peer.connection.begin();
            let checked = check_calls(&policy, &peer.connection, request.headers());
            let answer = match checked {
                Ok(()) => {
                    let mut request = unread.watch(request).map(Body::new);
                    request.extensions_mut().insert(peer.clone());
                    Either::Left(Box::pin(app.clone().oneshot(request)))
                }
                Err(error) => Either::Right(ready(Ok(refuse(request.headers(), error)))),
            };
            async move {
                let response = answer.await?;
                Ok::<_, Infallible>(match call {
                    Some(call) => held_body::hold(response, call),
                    None => response,
                })
            }
        });
        let builder = protocols(known.is_trusted());
        let mut connection =
            pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            () = known.expired() => {
                connection.as_mut().graceful_shutdown();
                timeout(GOODBYE, connection).await.unwrap_or(Ok(()))
            }
        };
        if let Err(error) = result {
            tracing::debug!(error, "a connection failed");
        }
    }

    /// Responds that no slot is free, in HTTP/1.1 because the client's protocol is not known yet.
    async fn reject(&self, stream: Stream) {
        let Ok(_permit) = self.refusals.try_acquire() else { return };
        let error = Error::new(
            Code::NotReady,
            format!("there are {} connections already; try again later", self.connections),
        );
        let body = serde_json::Value::Object(envelope(&error)).to_string();
        let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
                    connection: close";
        let response = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let sending = async {
            match stream {
                Stream::Tcp(mut stream, _) => stream.write_all(response.as_bytes()).await,
                Stream::Unix(mut stream) => stream.write_all(response.as_bytes()).await,
            }
        };
        // The connection is closed even if the client does not read the response.
        drop(timeout(HANDSHAKE, sending).await);
    }
}

/// The user of the process at the other end.
fn user_of(stream: &UnixStream) -> By {
    match stream.peer_cred() {
        Ok(credentials) => By::Uid(credentials.uid()),
        Err(_) => By::Address(None),
    }
}

/// Waits for the first bytes of the stream: until they can only be HTTP/1.1, are the whole preface
/// of HTTP/2, or the stream ends. Returns the stream with these bytes still to be read.
async fn opened<S: AsyncRead + AsyncWrite>(
    stream: S,
) -> io::Result<impl AsyncRead + AsyncWrite + Unpin> {
    let (mut incoming, outgoing) = tokio::io::split(stream);
    let mut first = Vec::with_capacity(PREFACE.len());
    while first.len() < PREFACE.len() && PREFACE.starts_with(&first) {
        let missing = PREFACE.len() - first.len();
        if (&mut incoming).take(missing as u64).read_buf(&mut first).await? == 0 {
            break;
        }
    }
    Ok(tokio::io::join(Cursor::new(first).chain(incoming), outgoing))
}

/// The protocols, with smaller buffers for a client that has to show a token: they are fixed before
/// its first request.
fn protocols(trusted: bool) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE);
    if !trusted {
        builder.http1().max_buf_size(STRANGER_HEADERS as usize);
        builder
            .http2()
            .initial_stream_window_size(STRANGER_WINDOW)
            .initial_connection_window_size(STRANGER_WINDOW)
            .max_header_list_size(STRANGER_HEADERS);
    }
    builder
}
