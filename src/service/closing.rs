//! Ends the streams when coop shuts down.

use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::error::Error;

/// Set once the session has ended; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Closing {
    token: CancellationToken,
}

impl Closing {
    /// Ends every stream.
    pub fn close(&self) {
        self.token.cancel();
    }

    /// Waits for [`Self::close`].
    pub async fn closed(&self) {
        self.token.cancelled().await;
    }

    /// The last item of a stream that ends because coop is shutting down.
    pub(super) fn final_error<T>() -> Option<Result<T, Status>> {
        Some(Err(Error::shutting_down().into()))
    }
}
