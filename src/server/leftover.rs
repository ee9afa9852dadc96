//! What a request still holds when it has been answered. Closing on a peer that is still sending
//! resets the connection under the answer, so the rest is taken off the line first, within limits.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Version, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// How much is taken off the line at most, and for how long.
const LIMIT: usize = 64 << 20;
const TIME: Duration = Duration::from_secs(5);

/// The body of a request. Whoever lets it go unread need not care for its sender.
pub struct Considerate {
    /// None once it is somebody else's business.
    body: Option<Incoming>,
    drains: Option<TaskTracker>,
}

impl Considerate {
    /// Wraps the body of a request; the tracker owns what is read after its end.
    pub fn wrap(request: Request<Incoming>, tracker: &TaskTracker) -> Request<Self> {
        // HTTP/2 can end one stream by itself, and who waits for `100 Continue` has sent nothing yet.
        let wanted = request.version() < Version::HTTP_2 && !request.headers().contains_key(header::EXPECT);
        let drains = wanted.then(|| tracker.clone());
        request.map(|body| Self { body: Some(body), drains })
    }
}

impl Body for Considerate {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for Considerate {
    fn drop(&mut self) {
        if let (Some(body), Some(tracker)) = (self.body.take(), &self.drains)
            && !body.is_end_stream()
        {
            tracker.spawn(timeout(TIME, drain(body)));
        }
    }
}

async fn drain(mut body: Incoming) {
    let mut left = LIMIT;
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len);
        let Some(rest) = left.checked_sub(size) else { return };
        left = rest;
    }
}
