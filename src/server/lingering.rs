//! Closes a connection without losing the response to a request that was not read whole. Closing a
//! socket on which the peer still sends resets it before the response arrives, so coop ends its own
//! side first and reads the rest of what the peer sends, within limits.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Version};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection::Connection;
use super::limits::{LINGER_BYTES, LINGER_TIME, STRANGER_LINGER_BYTES};
use super::wrapped_stream::pass_writes_on;

/// Whether a request of this connection was answered before its body had come.
#[derive(Clone, Default)]
pub(super) struct Unread(Arc<AtomicBool>);

impl Unread {
    /// Watches the body of a request. HTTP/2 ends one stream alone, and its connection goes on.
    pub(super) fn watch(&self, request: Request<Incoming>) -> Request<WatchedBody> {
        let unread = (request.version() < Version::HTTP_2).then(|| self.clone());
        request.map(|body| WatchedBody { body, unread })
    }
}

/// The body of a request, which notes when the handler drops it before its end.
pub(super) struct WatchedBody {
    body: Incoming,
    unread: Option<Unread>,
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        if let Some(unread) = &self.unread
            && !self.body.is_end_stream()
        {
            unread.0.store(true, Ordering::Relaxed);
        }
    }
}

/// A stream whose shutdown reads what the peer still sends, if a request was not read whole.
pub(super) struct LingeringStream<S> {
    stream: S,
    unread: Unread,
    connection: Arc<Connection>,
    /// Set once the own side is closed.
    rest: Option<Rest>,
}

/// What may still be read.
struct Rest {
    bytes: usize,
    deadline: Pin<Box<Sleep>>,
}

impl<S> LingeringStream<S> {
    pub(super) fn new(stream: S, unread: Unread, connection: Arc<Connection>) -> Self {
        Self { stream, unread, connection, rest: None }
    }
}

impl<S: AsyncRead + Unpin> LingeringStream<S> {
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(()) };
        let mut space = [0; 16 << 10];
        loop {
            let mut chunk = ReadBuf::new(&mut space);
            match Pin::new(&mut self.stream).poll_read(cx, &mut chunk) {
                Poll::Pending => return rest.deadline.as_mut().poll(cx),
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(())) => {}
            }
            let size = chunk.filled().len();
            if size == 0 || size > rest.bytes || rest.deadline.is_elapsed() {
                return Poll::Ready(());
            }
            rest.bytes -= size;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LingeringStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringStream<S> {
    pass_writes_on!();

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.rest.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            if !self.unread.0.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
            let deadline = Box::pin(sleep_until(Instant::now() + LINGER_TIME));
            let trusted = self.connection.is_trusted();
            let bytes = if trusted { LINGER_BYTES } else { STRANGER_LINGER_BYTES };
            self.rest = Some(Rest { bytes, deadline });
        }
        self.poll_rest(cx).map(Ok)
    }
}
