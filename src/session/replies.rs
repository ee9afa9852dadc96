//! Replies that wait until the state that they report is published: a caller that has its reply
//! sees the new state in everything it reads next.

use tokio::sync::oneshot;

use crate::error::Error;

/// Where a command's reply goes. A caller that stops waiting does not cancel its command.
pub(super) type ReplySender<T> = oneshot::Sender<Result<T, Error>>;

/// The replies of one turn of the actor.
#[derive(Default)]
pub(super) struct Replies {
    waiting: Vec<Box<dyn FnOnce() + Send>>,
}

impl Replies {
    pub(super) fn add<T: Send + 'static>(
        &mut self,
        reply: ReplySender<T>,
        result: Result<T, Error>,
    ) {
        // Sending fails if the caller has stopped waiting, which is not an error.
        self.waiting.push(Box::new(move || drop(reply.send(result))));
    }

    pub(super) fn send_all(&mut self) {
        for send in self.waiting.drain(..) {
            send();
        }
    }
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replies").field("waiting", &self.waiting.len()).finish()
    }
}
