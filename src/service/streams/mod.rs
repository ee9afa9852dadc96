//! The server streams. Each is a cursor of its own into what the session publishes, so a slow
//! reader delays only itself.

mod events;
mod output;
mod screen;

use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio::sync::OwnedSemaphorePermit;
use tonic::Status;

pub(super) use self::events::{EventCursor, Next};
pub(super) use self::output::CHUNK;
use super::Service;
use super::caller::Caller;
use crate::error::{Code, Error};

/// The most streams and waits there may be at once.
pub(crate) const SUBSCRIBERS: usize = 4096;

/// What every streaming handler returns.
pub type ResponseStream<T> = BoxStream<'static, Result<T, Status>>;

/// A position in something that grows while it is read.
pub(super) trait Cursor: Send + 'static {
    type Item: Send + 'static;

    /// Waits for the next item; None ends the stream.
    fn next(&mut self) -> impl Future<Output = Option<Result<Self::Item, Status>>> + Send;
}

/// Turns a cursor into a stream that ends when the cursor does, or after its first error.
pub(super) fn into_stream<C: Cursor>(
    cursor: C,
    permit: OwnedSemaphorePermit,
) -> ResponseStream<C::Item> {
    stream::unfold(Some((cursor, permit)), |state| async move {
        let (mut cursor, permit) = state?;
        let item = cursor.next().await?;
        let rest = item.is_ok().then_some((cursor, permit));
        Some((item, rest))
    })
    .boxed()
}

/// Ends the stream of a caller whose credentials are no longer valid.
pub(super) fn until_revoked<T: Send + 'static>(
    stream: ResponseStream<T>,
    caller: &Caller,
) -> ResponseStream<T> {
    let revoked = caller.revoked.clone();
    let last = stream::once(async move { revoked.is_cancelled() }).filter_map(async |revoked| {
        revoked.then(|| Err(Error::new(Code::Unauthorized, "this token is no longer valid").into()))
    });
    stream.take_until(caller.revoked.clone().cancelled_owned()).chain(last).boxed()
}

impl Service {
    /// Takes one of the limited number of stream permits.
    pub fn subscription(&self) -> Result<OwnedSemaphorePermit, Error> {
        Arc::clone(&self.subscribers).try_acquire_owned().map_err(|_| {
            Error::new(Code::TooLarge, format!("there are {SUBSCRIBERS} streams already"))
        })
    }
}
