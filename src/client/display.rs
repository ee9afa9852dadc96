//! Writes to the local terminal from a thread of its own, so that one that takes nothing (a
//! stopped terminal, a slow line) stops neither the keyboard nor anything else.

use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How many pieces may wait; the session's output waits behind them, at coop.
const WAITING: usize = 4;
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

enum Piece {
    Bytes(Vec<u8>),
    /// Answered once everything before it is written.
    Flush(oneshot::Sender<()>),
}

/// The way to stdout.
pub(super) struct Display {
    pieces: mpsc::Sender<Piece>,
}

/// Nobody takes what is written any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unseen;

impl Display {
    /// The thread lives as long as the process: it may be stuck in a write that never ends.
    pub(super) fn start() -> io::Result<Self> {
        let (pieces, waiting) = mpsc::channel(WAITING);
        let _detached = thread::Builder::new().name("display".to_owned()).spawn(|| show(waiting))?;
        Ok(Self { pieces })
    }

    /// Waits for room, then takes the bytes; nothing is taken if this is given up.
    pub(super) async fn show(&self, bytes: &mut Vec<u8>) -> Result<(), Unseen> {
        let room = self.pieces.reserve().await.map_err(|SendError(())| Unseen)?;
        room.send(Piece::Bytes(std::mem::take(bytes)));
        Ok(())
    }

    /// Does the last thing and waits until all is written, but not for long.
    pub(super) async fn with_last_words(&self, last: impl Future<Output = ()>) {
        let (done, written) = oneshot::channel();
        let flushed = async {
            last.await;
            if self.pieces.send(Piece::Flush(done)).await.is_ok() {
                // The thread has ended if nobody answers: there is nothing more to write then.
                drop(written.await);
            }
        };
        // Not written in time is as good as not read.
        drop(timeout(LAST_WORDS, flushed).await);
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
