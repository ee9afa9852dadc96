//! Reads a stream through lost connections, until the session ends or nobody reads what is printed. What the
//! stream is about is not known here.

use coop_client::Client;
use tokio::time::sleep_until;
use tonic::Streaming;

use super::attempts::Attempts;
use super::failure::Failure;
use super::{Line, print};
use crate::error::Code;

/// A stream that can be taken up where it was left.
pub(super) trait Feed {
    type Item;

    /// Opens it after everything that was taken.
    async fn open(&self, coop: &mut Client) -> Result<Streaming<Self::Item>, Failure>;

    /// Prints what is worth it, and remembers the place.
    fn take(&mut self, item: Self::Item) -> Result<(), Failure>;

    /// Whether the session has said that it ends, so that a lost connection is no surprise.
    fn is_over(&self) -> bool;
}

pub(super) async fn follow(line: &Line, mut feed: impl Feed) -> Result<(), Failure> {
    let mut stream = feed.open(&mut line.connect().await?).await?;
    let unread = print::unread();
    tokio::pin!(unread);
    loop {
        let item = tokio::select! {
            item = stream.message() => item.map_err(Failure::from),
            () = &mut unread => return Err(Failure::Unread),
        };
        match item {
            Ok(Some(item)) => feed.take(item)?,
            Ok(None) => break,
            Err(failure) if feed.is_over() || is_goodbye(&failure) => break,
            Err(failure) => {
                let again = tokio::select! {
                    again = reopen(line, &feed, failure) => again,
                    () = &mut unread => return Err(Failure::Unread),
                };
                stream = match again {
                    Ok(stream) => stream,
                    Err(failure) if is_goodbye(&failure) => break,
                    Err(failure) => return Err(failure),
                };
            }
        }
    }
    print::say("the session has ended");
    Ok(())
}

async fn reopen<F: Feed>(line: &Line, feed: &F, lost: Failure) -> Result<Streaming<F::Item>, Failure> {
    if let Some(text) = lost.text().filter(|_| lost.is_transient()) {
        print::say(&format!("trying again: {text}"));
    }
    let (mut attempts, mut failure) = (Attempts::new(), lost);
    while let Some(next) = attempts.next_after(&failure) {
        sleep_until(next).await;
        let attempt = async { feed.open(&mut line.connect().await?).await };
        failure = match attempt.await {
            Ok(stream) => return Ok(stream),
            Err(failure) => failure,
        };
    }
    Err(failure)
}

/// How coop ends its streams when it goes.
fn is_goodbye(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { code, .. } if code == Code::NotReady.as_str())
}
