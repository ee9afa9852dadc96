//! Keeps what is typed to an echoing terminal in step with its echo, because the kernel drops an echo that finds no room.
//! It counts bytes and waits; it must not touch the terminal itself.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How many bytes of echo may be under way. An echo that finds no room in the terminal's output waits in a buffer of 4 KiB,
/// where it takes up to one and a half times its size, and the buffer overflows without a word. This much always fits.
const WINDOW: usize = 2 * 1024;

/// A terminal that has nothing to read and printed nothing for this long has echoed everything that it will ever echo. It is
/// the price of a window that nothing was read for: what a child prints besides the echo is not known otherwise.
const QUIET: Duration = Duration::from_millis(10);

/// The same for a terminal that has printed nothing since the last byte was typed. On a busy machine the kernel may take
/// that long to come to it, and what is forgotten too early is never counted again. Only where output is stopped does no
/// echo come at all.
const PATIENCE: Duration = Duration::from_millis(500);

/// How much of what was typed may not have been echoed yet.
///
/// Output does not say whether it is an echo or the child's. Of a child that repeats its input, as `cat` does, at least half
/// of it is echo; so one byte read stands for half a byte echoed, and silence stands for the rest.
pub(super) struct EchoWindow {
    /// How many bytes of output were read so far.
    taken: watch::Receiver<u64>,
    /// How many of them are settled.
    settled: u64,
    /// Twice the number of bytes whose echo is outstanding.
    unechoed_halves: u64,
    /// When it has been quiet for long enough. It is kept here so that a wait that is cancelled and begun again goes on.
    quiet_at: Instant,
}

impl EchoWindow {
    pub(super) fn new(taken: watch::Receiver<u64>) -> Self {
        Self { taken, settled: 0, unechoed_halves: 0, quiet_at: Instant::now() }
    }

    /// How many bytes may be typed now; waits if that would be none.
    pub(super) async fn room(&mut self, has_unread: impl Fn() -> bool) -> usize {
        loop {
            self.settle();
            let under_way = usize::try_from(self.unechoed_halves / 2).unwrap_or(usize::MAX);
            // The echo of a byte takes two at most, so half of what is left is sure to fit.
            let room = WINDOW.saturating_sub(under_way) / 2;
            if room > 0 {
                return room;
            }
            if has_unread() {
                // Whoever reads will come to it. The sender lives as long as the terminal, and so does its writer.
                let _ = self.taken.changed().await;
            } else if timeout_at(self.quiet_at, self.taken.changed()).await.is_err() && !has_unread() {
                self.unechoed_halves = 0;
            }
        }
    }

    /// Takes note of what has just been typed.
    pub(super) fn typed(&mut self, bytes: &[u8]) {
        self.unechoed_halves += 2 * echoed_length(bytes);
        self.quiet_at = Instant::now() + PATIENCE;
    }

    fn settle(&mut self) {
        let taken = *self.taken.borrow_and_update();
        if taken != self.settled {
            self.unechoed_halves = self.unechoed_halves.saturating_sub(taken - self.settled);
            self.settled = taken;
            self.quiet_at = Instant::now() + QUIET;
        }
    }
}

/// Line ends are printed as two bytes, and so is any other control character, as `^X`.
fn echoed_length(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| if byte.is_ascii_control() { 2 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> (watch::Sender<u64>, EchoWindow) {
        let (sender, receiver) = watch::channel(0);
        (sender, EchoWindow::new(receiver))
    }

    #[tokio::test(start_paused = true)]
    async fn little_is_typed_without_waiting() {
        let (_sender, mut window) = window();
        let start = Instant::now();
        for _ in 0..500 {
            assert!(window.room(|| true).await > 0);
            window.typed(b"key");
        }
        assert_eq!(start, Instant::now());
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_is_under_way_than_fits() {
        let (_sender, mut window) = window();
        let mut typed = 0;
        while let Ok(room) = tokio::time::timeout(QUIET, window.room(|| true)).await {
            window.typed(&vec![b'\n'; room]);
            typed += 2 * room;
        }
        assert!(typed <= WINDOW, "{typed}");
        assert!(typed > WINDOW - 4, "{typed}");
    }

    #[tokio::test(start_paused = true)]
    async fn output_makes_room_for_half_its_size() {
        let (sender, mut window) = window();
        window.typed(&vec![b'x'; WINDOW]);
        sender.send_replace(1000);
        assert_eq!(window.room(|| true).await, 250);
    }

    #[tokio::test(start_paused = true)]
    async fn output_of_before_makes_no_room() {
        let (sender, mut window) = window();
        sender.send_replace(1 << 30);
        window.room(|| true).await;
        window.typed(&vec![b'x'; WINDOW]);
        let waited = tokio::time::timeout(Duration::from_secs(60), window.room(|| true)).await;
        assert!(waited.is_err(), "there is something unread, and nobody reads it");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_after_some_output_makes_room_also_for_a_wait_that_is_often_cancelled() {
        let (sender, mut window) = window();
        window.typed(&vec![b'x'; 2 * WINDOW]);
        sender.send_replace(1);
        let start = Instant::now();
        while tokio::time::timeout(Duration::from_millis(1), window.room(|| false)).await.is_err() {}
        assert!(start.elapsed() <= 2 * QUIET);
    }

    #[tokio::test(start_paused = true)]
    async fn an_echo_that_has_not_begun_is_waited_for_longer() {
        let (_sender, mut window) = window();
        window.typed(&vec![b'x'; WINDOW]);
        let start = Instant::now();
        window.room(|| false).await;
        assert!(start.elapsed() >= PATIENCE, "{:?}", start.elapsed());
    }
}
