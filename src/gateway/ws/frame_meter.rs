//! A stream below the frames that reads how long each frame says it is, and takes that from the
//! budget of unfinished input before the frame's content is read. Of the content it reads only the
//! code of a close frame.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use super::super::intake::{Intake, SMALL_MESSAGE, Share};
use super::frames::{Frames, Step};
use crate::error::Error;

/// The most bytes that a client may send before it is authenticated.
pub(in super::super) const UNAUTHENTICATED_LIMIT: usize = 64 << 10;

/// A gateway between the peer and coop got an invalid answer. The code is registered, but
/// tungstenite does not know it, and would call it a violation of the protocol.
pub(super) const BAD_GATEWAY: u16 = 1014;

/// The shares of whole messages that tungstenite has and the connection has not processed.
#[derive(Clone, Default)]
pub(super) struct Finished(Arc<Mutex<Vec<Share>>>);

impl Finished {
    /// The shares of the messages that were read up to now.
    pub(super) fn take(&self) -> Vec<Share> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, share: Share) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(share);
    }
}

/// The stream of one WebSocket.
pub(super) struct FrameMeter<S> {
    io: S,
    intake: Intake,
    /// What a client that is not authenticated may still send.
    allowance: Option<usize>,
    /// Set while no frames are read: after an error the rest is dropped.
    raw: bool,
    /// The peer closes with the code that tungstenite takes for an error.
    closed: bool,
    frames: Frames,
    /// The share of the message that is being read.
    share: Option<Share>,
    /// What the message needs beyond its share before more of it is read.
    wanted: usize,
    waiting: Option<BoxFuture<'static, Result<Share, Error>>>,
    finished: Finished,
    deadline: Pin<Box<Sleep>>,
}

impl<S> FrameMeter<S> {
    /// The stream of a client that is not authenticated.
    pub(super) fn new(io: S, intake: Intake) -> Self {
        let deadline = Box::pin(sleep_until(intake.deadline()));
        Self {
            io,
            intake,
            allowance: Some(UNAUTHENTICATED_LIMIT),
            raw: false,
            closed: false,
            frames: Frames::default(),
            share: None,
            wanted: 0,
            waiting: None,
            finished: Finished::default(),
            deadline,
        }
    }

    /// The client is authenticated.
    pub(super) fn lift_limit(&mut self) {
        self.allowance = None;
        self.intake = self.intake.trusted();
    }

    /// What follows is dropped unread.
    pub(super) fn stop_metering(&mut self) {
        self.allowance = None;
        self.raw = true;
        (self.share, self.wanted, self.waiting) = (None, 0, None);
    }

    pub(super) fn finished(&self) -> Finished {
        self.finished.clone()
    }

    /// Follows the frames in bytes that were read. Returns how many of them tungstenite may see.
    fn follow(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(step) = self.frames.next(&mut rest) {
            match step {
                Step::Announced(length) => self.announced(length)?,
                Step::MessageEnded => {
                    self.wanted = 0;
                    // A small message may wait in the connection's queue at its own cost.
                    if let Some(share) = self.share.take()
                        && share.bytes() > SMALL_MESSAGE
                    {
                        self.finished.put(share);
                    }
                }
                // Without the last byte of the code, the frame is not complete.
                Step::Closed(BAD_GATEWAY) => {
                    self.closed = true;
                    return Ok(bytes.len() - rest.len() - 1);
                }
                Step::Closed(_) => {}
            }
        }
        Ok(bytes.len())
    }

    fn announced(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if self.allowance.is_some() {
            return if length > UNAUTHENTICATED_LIMIT {
                Err(io::ErrorKind::QuotaExceeded.into())
            } else {
                Ok(())
            };
        }
        let held = self.share.as_ref().map_or(0, Share::bytes);
        // tungstenite refuses what is over the limit before it reads it.
        if held.saturating_add(length) > self.intake.limit() {
            return Ok(());
        }
        match &mut self.share {
            Some(share) => share.grow(held + length).map_err(full),
            None => {
                self.share = self.intake.try_take(length);
                self.wanted = if self.share.is_some() { 0 } else { length };
                Ok(())
            }
        }
    }

    /// Waits for the room that the current message needs.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.wanted > 0 {
            let (intake, wanted) = (self.intake.clone(), self.wanted);
            self.waiting = Some(Box::pin(async move { intake.take(wanted).await }));
            self.wanted = 0;
        }
        if let Some(waiting) = &mut self.waiting {
            let share = ready!(waiting.as_mut().poll(cx));
            self.waiting = None;
            self.share = Some(share.map_err(full)?);
            let deadline = self.intake.deadline();
            self.deadline.as_mut().reset(deadline);
        }
        Poll::Ready(Ok(()))
    }
}

/// The peer has closed, and tungstenite must not answer.
fn closed() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

/// The budget has no room.
fn full(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, error.message)
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameMeter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.raw {
            return Pin::new(&mut this.io).poll_read(cx, buf);
        }
        if this.closed {
            return Poll::Ready(Err(closed()));
        }
        if this.allowance == Some(0) {
            return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
        }
        ready!(this.poll_room(cx))?;
        let before = buf.filled().len();
        if Pin::new(&mut this.io).poll_read(cx, buf)?.is_pending() {
            if this.frames.is_within_a_message() {
                ready!(this.deadline.as_mut().poll(cx));
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            return Poll::Pending;
        }
        let read = buf.filled().get(before..).unwrap_or_default();
        this.allowance = this.allowance.map(|left| left.saturating_sub(read.len()));
        let shown = this.follow(read)?;
        if this.closed && shown == 0 {
            return Poll::Ready(Err(closed()));
        }
        buf.set_filled(before + shown);
        let deadline = this.intake.deadline();
        this.deadline.as_mut().reset(deadline);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FrameMeter<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
