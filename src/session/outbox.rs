//! Answers that wait until what they speak of can be seen: a caller that has its answer must
//! find the new state wherever it looks next.

use tokio::sync::oneshot;

use crate::error::Error;

/// Where an answer goes. A caller that has gone does not stop what it asked for.
pub type Answer<T> = oneshot::Sender<Result<T, Error>>;

#[derive(Default)]
pub struct Outbox {
    waiting: Vec<Box<dyn FnOnce() + Send>>,
}

impl Outbox {
    pub fn answer<T: Send + 'static>(&mut self, answer: Answer<T>, result: Result<T, Error>) {
        // The caller may have gone meanwhile; nobody is left to tell then.
        self.waiting.push(Box::new(move || drop(answer.send(result))));
    }

    pub fn send_all(&mut self) {
        for send in self.waiting.drain(..) {
            send();
        }
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").field("waiting", &self.waiting.len()).finish()
    }
}
