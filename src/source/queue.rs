//! The queue of observations between the sources and the session. It is bounded by their number
//! and by the memory that they take, since one line of a log can be megabytes. It must not know
//! what they mean.

use std::mem::size_of;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::Observation;

/// How many observations may wait.
pub(crate) const OBSERVATIONS: usize = 256;
/// How much memory those that wait may take. A larger one waits until it is the only one.
pub(crate) const OBSERVATION_BYTES: usize = 16 << 20;

/// What a node of a JSON object takes, which has place for eleven fields and is at least half full.
const NODE: usize = 11 * (size_of::<String>() + size_of::<Value>()) + 16;
const FIELDS: usize = 6;

/// A new queue for this many observations.
pub fn observations(most: usize) -> (ObservationSender, Observations) {
    let (sender, receiver) = mpsc::channel(most);
    let room = Arc::new(Semaphore::new(OBSERVATION_BYTES));
    (ObservationSender { sender, room }, Observations { receiver })
}

/// An observation, and the room that it takes until it is received.
#[derive(Debug)]
struct Waiting {
    observation: Observation,
    _room: OwnedSemaphorePermit,
}

/// The end of the sources. Clones fill the same queue.
#[derive(Debug, Clone)]
pub struct ObservationSender {
    sender: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// The end of the session.
#[derive(Debug)]
pub struct Observations {
    receiver: mpsc::Receiver<Waiting>,
}

/// The session does not receive any more.
#[derive(Debug, thiserror::Error)]
#[error("the session receives no observations any more")]
pub(super) struct ReceiverClosed;

impl ObservationSender {
    /// Waits for a place, and puts the observation there. Nothing is sent if this is dropped
    /// before its end.
    pub(super) async fn send(&self, observation: Observation) -> Result<(), ReceiverClosed> {
        let size = observation.size().min(OBSERVATION_BYTES);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(size);
        // The receiver may be dropped while there is no room.
        let room = tokio::select! {
            room = room => room.map_err(|_| ReceiverClosed)?,
            () = self.sender.closed() => return Err(ReceiverClosed),
        };
        let place = self.sender.reserve().await.map_err(|_| ReceiverClosed)?;
        place.send(Waiting { observation, _room: room });
        Ok(())
    }
}

impl Observations {
    /// Waits for the next observation; `None` if no source is left.
    pub async fn recv(&mut self) -> Option<Observation> {
        self.receiver.recv().await.map(|waiting| waiting.observation)
    }

    /// The next observation, if one waits.
    pub(crate) fn try_recv(&mut self) -> Option<Observation> {
        self.receiver.try_recv().ok().map(|waiting| waiting.observation)
    }
}

impl Observation {
    /// About how much memory it takes.
    fn size(&self) -> usize {
        let inside = match self {
            Self::Hook(call) => call.event.len() + size(&call.payload),
            Self::LogLine(value) => size(value),
            Self::LogGrew => 0,
            Self::Registry(file) => size(&file.value),
        };
        size_of::<Waiting>() + inside
    }
}

/// What a value takes outside of itself.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.capacity(),
        Value::Array(list) => {
            list.capacity() * size_of::<Value>() + list.iter().map(size).sum::<usize>()
        }
        Value::Object(fields) => {
            let inside = |(name, value): (&String, &Value)| name.capacity() + size(value);
            fields.len().div_ceil(FIELDS) * NODE + fields.iter().map(inside).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;
    use tokio::task::unconstrained;

    use super::*;

    /// An observation of about this size.
    fn line(size: usize) -> Observation {
        Observation::LogLine("x".repeat(size).into())
    }

    /// Sends until the queue is full; returns how many it took.
    fn fill(sender: &ObservationSender, size: usize) -> usize {
        // Without the runtime's budget, which lets a task wait now and then.
        let sent = |_: &usize| unconstrained(sender.send(line(size))).now_or_never().is_some();
        (0..2 * OBSERVATIONS).take_while(sent).count()
    }

    #[tokio::test]
    async fn large_observations_wait_for_room_and_small_ones_for_a_place() {
        let (sender, mut received) = observations(OBSERVATIONS);
        assert_eq!(fill(&sender, 1 << 20), 15, "16 with their own size are too many");
        let next = sender.send(line(1 << 20));
        let mut next = std::pin::pin!(next);
        assert!(next.as_mut().now_or_never().is_none());
        assert!(received.recv().await.is_some());
        next.await.unwrap();
        while received.try_recv().is_some() {}
        assert_eq!(fill(&sender, 1), OBSERVATIONS);
    }

    #[tokio::test]
    async fn one_that_is_larger_than_all_the_room_comes_alone() {
        let (sender, mut received) = observations(OBSERVATIONS);
        sender.send(line(2 * OBSERVATION_BYTES)).await.unwrap();
        assert!(sender.send(line(0)).now_or_never().is_none());
        assert!(received.recv().await.is_some());
        sender.send(line(0)).await.unwrap();
        assert!(sender.send(line(OBSERVATION_BYTES)).now_or_never().is_none());
    }

    #[tokio::test]
    async fn a_sender_that_waits_for_room_sees_the_end_of_the_receiver() {
        let (sender, received) = observations(OBSERVATIONS);
        fill(&sender, OBSERVATION_BYTES);
        let waiting = sender.send(line(1));
        let mut waiting = std::pin::pin!(waiting);
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(received);
        assert!(waiting.await.is_err());
    }

    #[test]
    fn many_small_values_count_with_what_they_take() {
        let objects = vec![json!({"a": {}}); 1000];
        assert!(size(&json!(objects)) > 1000 * (NODE + size_of::<Value>()));
        let fields: serde_json::Map<_, _> = (0..600).map(|n| (n.to_string(), json!(n))).collect();
        assert!(size(&Value::Object(fields)) > 600 * (size_of::<String>() + size_of::<Value>()));
    }
}
