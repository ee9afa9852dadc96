//! Reads little at a time from a connection that has shown no token, pauses in between, and stops
//! while it has too many calls open. A few kilobytes can hold hundreds of requests,
//! and each would become a task before the first of them is refused.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection::Connection;
use super::limits::{STRANGER_EXCESS, STRANGER_OPENING, STRANGER_PAUSE, STRANGER_READ};
use super::wrapped_stream::pass_writes_on;

/// A stream that is read slowly until its connection has shown a token.
pub(super) struct PacedStream<S> {
    stream: S,
    connection: Arc<Connection>,
    /// How many bytes were read.
    read: usize,
    /// Nothing is read before this, so that the calls that were read get their answers first.
    pause: Pin<Box<Sleep>>,
    /// Waits until fewer calls are open.
    waiting: Option<BoxFuture<'static, ()>>,
}

impl<S> PacedStream<S> {
    pub(super) fn new(stream: S, connection: Arc<Connection>) -> Self {
        let pause = Box::pin(sleep_until(Instant::now()));
        Self { stream, connection, read: 0, pause, waiting: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PacedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.connection.is_trusted() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        // HTTP/2 polls again for each request that it has read, and keeps them all until a read
        // has to wait. So it is not enough to be pending once.
        if self.read >= STRANGER_OPENING {
            ready!(self.pause.as_mut().poll(cx));
        }
        if self.connection.calls() > STRANGER_EXCESS {
            let connection = Arc::clone(&self.connection);
            let fewer = || {
                Box::pin(async move { connection.has_fewer_calls().await })
                    as BoxFuture<'static, ()>
            };
            let waiting = self.waiting.get_or_insert_with(fewer);
            ready!(waiting.as_mut().poll(cx));
        }
        self.waiting = None;
        let mut space = [0; STRANGER_READ];
        let size = space.len().min(buffer.remaining());
        let mut little = ReadBuf::new(space.get_mut(..size).unwrap_or_default());
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut little))?;
        buffer.put_slice(little.filled());
        self.read = self.read.saturating_add(little.filled().len());
        self.pause.as_mut().reset(Instant::now() + STRANGER_PAUSE);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PacedStream<S> {
    pass_writes_on!();

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
