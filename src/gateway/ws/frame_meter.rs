//! A stream below the frames that reads how long each frame says it is, and takes that from the
//! budget of unfinished input before the frame's content is read. It does not parse content.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use super::super::intake::{Intake, SMALL_MESSAGE, Share};
use crate::error::Error;

/// The most bytes that a client may send before it is authenticated.
pub(in super::super) const UNAUTHENTICATED_LIMIT: usize = 64 << 10;

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

    /// Follows the frames in bytes that were read.
    fn follow(&mut self, bytes: &[u8]) -> io::Result<()> {
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
            }
        }
        Ok(())
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
        this.follow(read)?;
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

/// What the bytes of a stream of frames tell.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A frame of a message begins, with this many bytes.
    Announced(u64),
    MessageEnded,
}

/// Finds the frames in a stream of bytes.
#[derive(Debug, Default)]
struct Frames {
    header: Vec<u8>,
    /// What is still to come of the current frame, if its header was read.
    missing: Option<u64>,
    /// The message has more frames.
    unfinished: bool,
}

/// The longest header: two bytes, eight of length, four of mask.
const LONGEST_HEADER: usize = 14;

impl Frames {
    fn is_within_a_message(&self) -> bool {
        self.unfinished || self.missing.is_some() || !self.header.is_empty()
    }

    /// Reads up to the next step; `None` if there is none in these bytes.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<Step> {
        loop {
            if let Some(missing) = self.missing {
                let here = missing.min(bytes.len() as u64);
                *bytes = bytes.get(usize::try_from(here).unwrap_or(usize::MAX)..)?;
                if here < missing {
                    self.missing = Some(missing - here);
                    return None;
                }
                self.missing = None;
                let (is_data, is_last) = self.kind();
                self.header.clear();
                if is_data {
                    self.unfinished = !is_last;
                    if is_last {
                        return Some(Step::MessageEnded);
                    }
                }
            }
            while self.missing.is_none() {
                let (byte, rest) = bytes.split_first()?;
                *bytes = rest;
                self.header.push(*byte);
                self.missing = self.length();
            }
            if self.kind().0 {
                return self.missing.map(Step::Announced);
            }
        }
    }

    /// Whether the current frame is part of a message, and the last part.
    fn kind(&self) -> (bool, bool) {
        let first = self.header.first().copied().unwrap_or_default();
        (first & 0x0f < 8, first & 0x80 != 0)
    }

    /// The length of the frame's content, once its whole header was read.
    fn length(&self) -> Option<u64> {
        let second = *self.header.get(1)?;
        let mask = if second & 0x80 == 0 { 0 } else { 4 };
        let (size, length) = match second & 0x7f {
            126 => (4, u64::from(u16::from_be_bytes(*self.header.get(2..)?.first_chunk()?))),
            127 => (10, u64::from_be_bytes(*self.header.get(2..)?.first_chunk()?)),
            short => (2, u64::from(short)),
        };
        debug_assert!(self.header.len() <= LONGEST_HEADER);
        (self.header.len() >= size + mask).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

    use super::*;

    fn bytes(frame: Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.format(&mut bytes).unwrap();
        bytes
    }

    fn data(code: Data, size: usize, last: bool) -> Vec<u8> {
        bytes(Frame::message(vec![0x81; size], OpCode::Data(code), last))
    }

    #[test]
    fn frames_are_found_whole_and_byte_by_byte() {
        let ping = bytes(Frame::ping(vec![1; 9]));
        let stream = [
            data(Data::Text, 3, true),
            ping.clone(),
            data(Data::Binary, 126, false),
            ping,
            data(Data::Continue, 70_000, true),
            data(Data::Text, 0, true),
        ]
        .concat();
        let expected = [
            Step::Announced(3),
            Step::MessageEnded,
            Step::Announced(126),
            Step::Announced(70_000),
            Step::MessageEnded,
            Step::Announced(0),
            Step::MessageEnded,
        ];
        for size in [1, 2, 3, 1000, stream.len()] {
            let (mut frames, mut steps) = (Frames::default(), Vec::new());
            for mut chunk in stream.chunks(size) {
                while let Some(step) = frames.next(&mut chunk) {
                    steps.push(step);
                }
            }
            assert_eq!(steps, expected, "in pieces of {size}");
            assert!(!frames.is_within_a_message());
        }
    }
}
