//! Signals that are on their way to the child, and the callers that wait for them. The backend
//! sends them in order; each result is an input.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;

use futures_util::future::BoxFuture;

use super::actor::Input;
use super::replies::ReplySender;
use crate::error::{Code, Error};

/// How many signals may wait until they are sent.
const LIMIT: usize = 64;

#[derive(Default)]
pub(super) struct PendingSignals(VecDeque<PendingSignal>);

struct PendingSignal {
    sent: BoxFuture<'static, Result<(), Error>>,
    /// Without a caller there is no reply.
    reply: Option<ReplySender<()>>,
}

impl PendingSignals {
    /// Sends a signal; beyond the limit it is refused instead.
    pub(super) fn push(
        &mut self,
        send: impl FnOnce() -> BoxFuture<'static, Result<(), Error>>,
        reply: Option<ReplySender<()>>,
    ) {
        if self.0.len() < LIMIT {
            self.0.push_back(PendingSignal { sent: send(), reply });
        } else if let Some(reply) = reply {
            // Sending fails if the caller has stopped waiting, which is not an error.
            drop(reply.send(Err(too_many())));
        }
    }

    /// The result of the oldest signal. Cancelling loses nothing.
    pub(super) async fn next(&mut self) -> Input {
        let Some(oldest) = self.0.front_mut() else { match pending::<Infallible>().await {} };
        let result = (&mut oldest.sent).await;
        let reply = self.0.pop_front().and_then(|oldest| oldest.reply);
        Input::Signalled { result, reply }
    }
}

fn too_many() -> Error {
    Error::new(Code::Timeout, format!("{LIMIT} earlier signals have not been sent yet; try again"))
}
