//! The accept loops and the life of one connection: HTTP/1.1, HTTP/2 and upgrades on one port,
//! within stated limits, until coop goes.

use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::leftover::Considerate;
use super::listen::UnixDoor;
use super::peer::{Door, Peer};
use super::place::Placed;
use crate::error::{Code, Error};
use crate::gateway::envelope;

/// How many connections one listener may have at once. Each has its own room, so that strangers who
/// fill a port keep nobody from the health port or the Unix sockets.
const CONNECTIONS: usize = 2048;
/// How many calls and streams one HTTP/2 connection may have open.
const STREAMS: u32 = 256;
/// What one HTTP/2 stream may hold back for a slow reader.
const SEND_BUFFER: usize = 16 << 10;
/// How long a client may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take until it is plain which protocol it speaks. Only then do the limits
/// of that protocol begin to hold.
const OPENING: Duration = Duration::from_secs(10);
/// What HTTP/2 begins with, and nothing else does.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long an HTTP/1.1 client may take to say what it wants next.
const HEADERS: Duration = Duration::from_secs(60);
/// A silent HTTP/2 peer is asked this often whether it lives, and given as long to answer.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// After a failed accept, when for example no descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Where connections come in.
pub enum Listener {
    Tcp { listener: TcpListener, tls: Option<TlsAcceptor> },
    Unix { socket: UnixDoor, door: Door },
}

enum Stream {
    Tcp(TcpStream, SocketAddr),
    Unix(UnixStream),
}

impl Listener {
    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp { listener, .. } => {
                listener.accept().await.map(|(stream, from)| Stream::Tcp(stream, from))
            }
            Self::Unix { socket, .. } => {
                socket.listener().accept().await.map(|(stream, _)| Stream::Unix(stream))
            }
        }
    }
}

/// What all connections share.
#[derive(Clone)]
pub struct Server {
    /// Every connection runs here, so that the end can wait for them.
    tracker: TaskTracker,
    /// Set when no more may come, and those that are there should finish.
    closing: CancellationToken,
}

impl Server {
    pub fn new(tracker: TaskTracker) -> Self {
        Self { tracker, closing: CancellationToken::new() }
    }

    /// Accepts nothing more and lets every connection end after what it does now.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// Serves `app` on this listener until closed.
    pub fn serve(&self, listener: Listener, app: Router) {
        let server = self.clone();
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        self.tracker.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    () = server.closing.cancelled() => return,
                };
                match accepted {
                    Ok(stream) => {
                        let place = Arc::clone(&room).try_acquire_owned().ok();
                        server.welcome(stream, place, &listener, &app);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        sleep_until(Instant::now() + ACCEPT_PAUSE).await;
                    }
                }
            }
        });
    }

    fn welcome(
        &self,
        stream: Stream,
        place: Option<OwnedSemaphorePermit>,
        listener: &Listener,
        app: &Router,
    ) {
        let (tls, door) = match listener {
            Listener::Tcp { tls, .. } => (tls.clone(), Door::Tcp { certified: false }),
            Listener::Unix { door, .. } => (None, *door),
        };
        let (server, app) = (self.clone(), app.clone());
        self.tracker.spawn(async move {
            match (stream, place) {
                (Stream::Unix(stream), None) => turn_away(stream).await,
                (Stream::Tcp(stream, _), None) => turn_away(stream).await,
                (Stream::Unix(stream), Some(place)) => {
                    let peer = Peer { from: "the Unix socket".into(), door };
                    server.converse(Placed::new(stream, place), peer, app).await;
                }
                (Stream::Tcp(stream, from), Some(place)) => {
                    // An echo must not wait for the next packet. It fails only if the peer is gone already.
                    drop(stream.set_nodelay(true));
                    server.greet(Placed::new(stream, place), from, tls, app).await;
                }
            }
        });
    }

    async fn greet(
        &self,
        stream: Placed<TcpStream>,
        from: SocketAddr,
        tls: Option<TlsAcceptor>,
        app: Router,
    ) {
        let from = from.to_string().into();
        let Some(tls) = tls else {
            self.converse(stream, Peer { from, door: Door::Tcp { certified: false } }, app).await;
            return;
        };
        match timeout(HANDSHAKE, tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                let certified = stream.get_ref().1.peer_certificates().is_some();
                self.converse(stream, Peer { from, door: Door::Tcp { certified } }, app).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, %from, "no TLS"),
            Err(_) => tracing::debug!(%from, "no TLS handshake in time"),
        }
    }

    async fn converse<S>(&self, stream: S, peer: Peer, app: Router)
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
            Ok(Err(error)) => return tracing::debug!(%error, %from, "a connection broke as it began"),
            Err(_) => return tracing::debug!(%from, "a connection said nothing in time"),
        };
        let tracker = self.tracker.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = Considerate::wrap(request, &tracker).map(Body::new);
            request.extensions_mut().insert(peer.clone());
            app.clone().oneshot(request)
        });
        let builder = protocols();
        let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(error, "a connection broke");
        }
    }
}

/// Waits until the stream has begun with something that can only be HTTP/1.1, with the whole of
/// what HTTP/2 begins with, or with its end; answers it as if nothing had been read yet.
async fn opened<S: AsyncRead + AsyncWrite>(stream: S) -> io::Result<impl AsyncRead + AsyncWrite + Unpin> {
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

fn protocols() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE);
    builder
}

/// Says in plain HTTP that there is no room, whatever the client speaks.
async fn turn_away<S: AsyncWrite + Unpin>(mut stream: S) {
    let error =
        Error::new(Code::NotReady, format!("there are {CONNECTIONS} connections already; try again later"));
    let body = serde_json::Value::Object(envelope(&error)).to_string();
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close";
    let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    // Whoever does not listen is closed on all the same.
    drop(timeout(HANDSHAKE, stream.write_all(answer.as_bytes())).await);
}
