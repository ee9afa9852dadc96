//! Writes to stdout from a thread of its own, so that a terminal that does not read (stopped, or on
//! a slow line) blocks neither the keyboard nor anything else.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How many pieces may wait; further output waits at coop.
const WAITING: usize = 4;
/// How long writing the last bytes may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

enum Piece {
    Bytes(Vec<u8>),
    /// Confirmed once everything before it is written.
    Flush(oneshot::Sender<()>),
}

/// The writer of stdout.
pub(super) struct Display {
    pieces: mpsc::Sender<Piece>,
}

/// Stdout was closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutputClosed;

impl Display {
    /// The thread lives as long as the process: it may be stuck in a write that never ends.
    pub(super) fn start() -> io::Result<Self> {
        let (pieces, waiting) = mpsc::channel(WAITING);
        let _detached =
            thread::Builder::new().name("display".to_owned()).spawn(|| show(waiting))?;
        Ok(Self { pieces })
    }

    /// Waits for room, then takes the bytes. Cancelling takes nothing.
    pub(super) async fn show(&self, bytes: &mut Vec<u8>) -> Result<(), OutputClosed> {
        let room = self.pieces.reserve().await.map_err(|SendError(())| OutputClosed)?;
        room.send(Piece::Bytes(std::mem::take(bytes)));
        Ok(())
    }

    /// Awaits `last`, then waits a limited time until everything is written.
    pub(super) async fn flush_after(&self, last: impl Future<Output = ()>) {
        let (done, written) = oneshot::channel();
        let flushed = async {
            last.await;
            if self.pieces.send(Piece::Flush(done)).await.is_ok() {
                // An error means that the thread has ended, because stdout was closed.
                drop(written.await);
            }
        };
        // Bytes that are not written in time are lost.
        drop(timeout(FLUSH_TIMEOUT, flushed).await);
    }
}

fn show(mut waiting: mpsc::Receiver<Piece>) {
    while let Some(piece) = waiting.blocking_recv() {
        match piece {
            Piece::Bytes(bytes) => {
                let mut stdout = io::stdout().lock();
                if stdout.write_all(&bytes).and_then(|()| stdout.flush()).is_err() {
                    return;
                }
            }
            Piece::Flush(done) => drop(done.send(())),
        }
    }
}
