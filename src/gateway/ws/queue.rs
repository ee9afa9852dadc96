//! A queue between two halves of a connection, bounded in items and in bytes, so that its memory
//! stays limited when the peer sends much or reads nothing.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

pub(super) struct Sender<T> {
    items: mpsc::Sender<(T, Room)>,
    room: Arc<Semaphore>,
    bytes: u32,
}

pub(super) struct Receiver<T> {
    items: mpsc::Receiver<(T, Room)>,
}

/// The bytes that an item occupies until it was processed.
pub(super) type Room = OwnedSemaphorePermit;

/// The receiver was dropped.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed;

pub(super) fn queue<T>(items: usize, bytes: u32) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(items);
    let room = Arc::new(Semaphore::new(bytes as usize));
    (Sender { items: sender, room, bytes }, Receiver { items: receiver })
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), room: Arc::clone(&self.room), bytes: self.bytes }
    }
}

impl<T> Sender<T> {
    /// Waits for room. An item larger than the whole queue waits until the queue is empty.
    pub(super) async fn send(&self, item: T, size: usize) -> Result<(), Closed> {
        let size = u32::try_from(size).unwrap_or(u32::MAX).min(self.bytes);
        let room = tokio::select! {
            room = Arc::clone(&self.room).acquire_many_owned(size) => room.map_err(|_| Closed)?,
            () = self.items.closed() => return Err(Closed),
        };
        self.items.send((item, room)).await.map_err(|_| Closed)
    }
}

impl<T> Receiver<T> {
    pub(super) async fn recv(&mut self) -> Option<(T, Room)> {
        self.items.recv().await
    }

    /// An item that is already queued.
    pub(super) fn try_recv(&mut self) -> Option<T> {
        self.items.try_recv().ok().map(|(item, _room)| item)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_sender_waits_until_an_item_of_a_full_queue_was_processed() {
        let (sender, mut receiver) = queue(8, 10);
        sender.send("a", 6).await.unwrap();
        assert_eq!(sender.send("b", 6).now_or_never(), None);
        let (item, room) = receiver.recv().await.unwrap();
        assert_eq!(item, "a");
        assert_eq!(sender.send("b", 6).now_or_never(), None);
        drop(room);
        assert_eq!(sender.send("b", 6).now_or_never(), Some(Ok(())));
    }

    #[tokio::test]
    async fn an_item_larger_than_the_queue_waits_for_an_empty_queue() {
        let (sender, mut receiver) = queue(8, 10);
        sender.send("small", 1).await.unwrap();
        assert_eq!(sender.send("huge", usize::MAX).now_or_never(), None);
        assert_eq!(receiver.try_recv(), Some("small"));
        assert_eq!(sender.send("huge", usize::MAX).now_or_never(), Some(Ok(())));
    }

    #[tokio::test]
    async fn sending_to_a_dropped_receiver_fails() {
        let (sender, mut receiver) = queue(8, 10);
        sender.send("a", 10).await.unwrap();
        let (_, _room) = receiver.recv().await.unwrap();
        let sending = sender.send("b", 10);
        drop(receiver);
        assert_eq!(sending.await, Err(Closed));
    }
}
