//! Reads a stream across lost connections, until the session ends or stdout is closed.
//! It does not know what the stream carries.

use coop_client::Client;
use tokio::time::sleep_until;
use tonic::Streaming;

use super::failure::Failure;
use super::retry::Retry;
use super::{Endpoint, print};
use crate::error::Code;

/// A stream that can be resumed after the last item.
pub(super) trait Feed {
    type Item;

    /// Opens the stream after the last item that was taken.
    async fn open(&self, coop: &mut Client) -> Result<Streaming<Self::Item>, Failure>;

    /// Prints the item, and remembers its position.
    fn take(&mut self, item: Self::Item) -> Result<(), Failure>;

    /// Whether the session has announced its end, so that a lost connection is expected.
    fn is_over(&self) -> bool;
}

pub(super) async fn follow(endpoint: &Endpoint, mut feed: impl Feed) -> Result<(), Failure> {
    let mut stream = feed.open(&mut endpoint.connect().await?).await?;
    let closed = print::output_closed();
    tokio::pin!(closed);
    loop {
        let item = tokio::select! {
            item = stream.message() => item.map_err(Failure::from),
            () = &mut closed => return Err(Failure::OutputClosed),
        };
        match item {
            Ok(Some(item)) => feed.take(item)?,
            Ok(None) => break,
            Err(failure) if feed.is_over() || is_shutdown(&failure) => break,
            Err(failure) => {
                let again = tokio::select! {
                    again = reopen(endpoint, &feed, failure) => again,
                    () = &mut closed => return Err(Failure::OutputClosed),
                };
                stream = match again {
                    Ok(stream) => stream,
                    Err(failure) if is_shutdown(&failure) => break,
                    Err(failure) => return Err(failure),
                };
            }
        }
    }
    print::message("the session has ended");
    Ok(())
}

async fn reopen<F: Feed>(
    endpoint: &Endpoint,
    feed: &F,
    lost: Failure,
) -> Result<Streaming<F::Item>, Failure> {
    if let Some(text) = lost.text().filter(|_| lost.is_transient()) {
        print::message(&format!("trying again: {text}"));
    }
    let (mut retry, mut failure) = (Retry::new(), lost);
    while let Some(next) = retry.next_after(&failure) {
        sleep_until(next).await;
        let attempt = async { feed.open(&mut endpoint.connect().await?).await };
        failure = match attempt.await {
            Ok(stream) => return Ok(stream),
            Err(failure) => failure,
        };
    }
    Err(failure)
}

/// Whether this is how coop ends its streams when it shuts down.
fn is_shutdown(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { code, .. } if code == Code::NotReady.as_str())
}
