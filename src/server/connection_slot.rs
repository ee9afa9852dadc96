//! One of a listener's limited connection slots, held for exactly as long as the connection is
//! open, also after an upgrade, when the accept loop no longer owns it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;

use super::connection::Connection;
use super::wrapped_stream::pass_writes_on;

/// A stream and the slot that it takes.
pub(super) struct SlottedStream<S> {
    stream: S,
    /// Released with the stream.
    _slot: OwnedSemaphorePermit,
    _connection: Arc<Connection>,
}

impl<S> SlottedStream<S> {
    pub(super) fn new(stream: S, slot: OwnedSemaphorePermit, connection: Arc<Connection>) -> Self {
        Self { stream, _slot: slot, _connection: connection }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SlottedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SlottedStream<S> {
    pass_writes_on!();

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
