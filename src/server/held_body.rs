//! A response that keeps a value until its last byte was sent or it is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

/// Keeps `held` as long as the response's body lives.
pub(super) fn hold<H: Send + Unpin + 'static>(response: Response, held: H) -> Response {
    response.map(|body| Body::new(HeldBody { body, _held: held }))
}

struct HeldBody<H> {
    body: Body,
    _held: H,
}

impl<H: Unpin> HttpBody for HeldBody<H> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
