//! How streams learn that coop goes, and what they say then.

use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::error::Error;

/// Set once the session is over; clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Closing {
    token: CancellationToken,
}

impl Closing {
    /// Lets every stream end.
    pub fn close(&self) {
        self.token.cancel();
    }

    pub async fn closed(&self) {
        self.token.cancelled().await;
    }

    /// The item that a stream ends with then, so that no end is unexplained.
    pub fn last_word<T>() -> Option<Result<T, Status>> {
        Some(Err(Error::shutting_down().into()))
    }
}
