//! Takes the messages of gRPC calls from the budget of unfinished input: it reads the prefix that
//! announces a message before tonic does, which reserves memory for all of it. It knows no method.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http_body::{Body as HttpBody, Frame};
use tokio::time::{Sleep, sleep_until};
use tonic::Status;

use crate::error::Error;
use crate::gateway::{Intake, Share};
use crate::service::{Rpc, Streaming};

/// The length of the prefix: one byte of flags and four of length.
const PREFIX: usize = 5;

/// The layer, which stands behind the one that decodes grpc-web.
pub(super) async fn meter(request: Request, next: Next) -> Response {
    let intake = Intake::of(request.extensions());
    // Only a client that sends a stream may pause between its messages.
    let streams = Rpc::from_path(request.uri().path())
        .map_or(request.uri().path().starts_with("/grpc.reflection."), |rpc| {
            rpc.method().streaming == Streaming::Both
        });
    next.run(request.map(|body| Body::new(MeteredBody::new(body, intake, streams)))).await
}

/// The body of a gRPC request. It passes a message on once the budget has room for it.
struct MeteredBody {
    body: Body,
    intake: Intake,
    streams: bool,
    /// Received and not passed on yet.
    received: Bytes,
    /// The beginning of the next message's prefix.
    prefix: BytesMut,
    /// What is still to come of the current message, and its share of the budget.
    missing: usize,
    share: Option<Share>,
    waiting: Option<BoxFuture<'static, Result<Share, Error>>>,
    deadline: Pin<Box<Sleep>>,
}

impl MeteredBody {
    fn new(body: Body, intake: Intake, streams: bool) -> Self {
        let deadline = Box::pin(sleep_until(intake.deadline()));
        Self {
            body,
            intake,
            streams,
            received: Bytes::new(),
            prefix: BytesMut::new(),
            missing: 0,
            share: None,
            waiting: None,
            deadline,
        }
    }

    /// The next bytes to pass on of those that were received.
    fn pass_on(&mut self) -> Option<Bytes> {
        if self.missing > 0 {
            let size = self.missing.min(self.received.len());
            self.missing -= size;
            if self.missing == 0 {
                self.share = None;
            }
            return (size > 0).then(|| self.received.split_to(size));
        }
        let whole = if self.prefix.is_empty() { whole_messages(&self.received) } else { 0 };
        if whole > 0 {
            return Some(self.received.split_to(whole));
        }
        let size = (PREFIX - self.prefix.len()).min(self.received.len());
        self.prefix.put(self.received.split_to(size));
        let announced = announced(&self.prefix)?;
        let intake = self.intake.clone();
        self.missing = announced;
        self.waiting = Some(Box::pin(async move { intake.take(announced).await }));
        None
    }

    fn is_within_a_message(&self) -> bool {
        self.missing > 0 || !self.prefix.is_empty()
    }
}

/// The length in a prefix.
fn announced(prefix: &[u8]) -> Option<usize> {
    let [_flags, length @ ..] = prefix.first_chunk::<PREFIX>()?;
    Some(u32::from_be_bytes(*length) as usize)
}

/// The length of the messages at the beginning that are complete: they need no budget.
fn whole_messages(mut bytes: &[u8]) -> usize {
    let all = bytes.len();
    while let Some(length) = announced(bytes).and_then(|length| length.checked_add(PREFIX))
        && length <= bytes.len()
    {
        bytes.advance(length);
    }
    all - bytes.len()
}

impl HttpBody for MeteredBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                let share = ready!(waiting.as_mut().poll(cx));
                self.waiting = None;
                self.share = Some(share?);
                if self.missing == 0 {
                    self.share = None;
                }
                let prefix = std::mem::take(&mut self.prefix).freeze();
                return Poll::Ready(Some(Ok(Frame::data(prefix))));
            }
            if !self.received.is_empty() {
                if let Some(bytes) = self.pass_on() {
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                continue;
            }
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        let deadline = self.intake.deadline();
                        self.deadline.as_mut().reset(deadline);
                        self.received = data;
                    }
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Some(Err(Status::from_error(Box::new(error)))));
                }
                // An unfinished prefix is passed on, so that tonic says that the message is cut.
                Poll::Ready(None) if !self.prefix.is_empty() => {
                    let prefix = std::mem::take(&mut self.prefix).freeze();
                    return Poll::Ready(Some(Ok(Frame::data(prefix))));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    if !self.streams || self.is_within_a_message() {
                        ready!(self.deadline.as_mut().poll(cx));
                        return Poll::Ready(Some(Err(self.intake.stalled().into())));
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.received.is_empty()
            && self.prefix.is_empty()
            && self.waiting.is_none()
            && self.body.is_end_stream()
    }
}
