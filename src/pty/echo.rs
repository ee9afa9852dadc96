//! Limits how much input to an echoing terminal is not echoed yet, because the kernel drops echo
//! when its buffer is full. It counts bytes and waits; it must not touch the terminal itself.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How many bytes of echo may be outstanding. While the terminal's output is full, echo waits in a
/// buffer of 4 KiB, where it takes up to one and a half times its size, and which overflows
/// silently. This much always fits.
const WINDOW: usize = 2 * 1024;

/// A terminal that has no unread output and printed nothing for this long has no echo left. Nothing
/// else shows this, because echo looks like any other output.
const QUIET: Duration = Duration::from_millis(10);

/// The same for a terminal that has printed nothing since the last byte was typed: on a busy
/// machine the kernel may take that long before it echoes. Only a terminal whose output is stopped
/// echoes nothing at all.
const FIRST_ECHO: Duration = Duration::from_millis(500);

/// Counts the input that may not have been echoed yet.
///
/// Output may be echo or come from the child. Of a child that repeats its input, as `cat` does, at
/// least half of the output is echo; so each byte that was read counts as half a byte of echo, and
/// silence counts as the rest.
pub(super) struct EchoWindow {
    /// How many bytes of output were read so far.
    read_count: watch::Receiver<u64>,
    /// How many of them are counted already.
    counted: u64,
    /// Twice the number of bytes whose echo is outstanding.
    unechoed_halves: u64,
    /// When the terminal will have been silent for long enough. It is stored so that a wait that is
    /// cancelled and started again continues.
    quiet_at: Instant,
}

impl EchoWindow {
    pub(super) fn new(read_count: watch::Receiver<u64>) -> Self {
        Self { read_count, counted: 0, unechoed_halves: 0, quiet_at: Instant::now() }
    }

    /// Returns how many bytes may be typed now; waits while that is none.
    pub(super) async fn room(&mut self, has_unread: impl Fn() -> bool) -> usize {
        loop {
            self.count_output();
            let outstanding = usize::try_from(self.unechoed_halves / 2).unwrap_or(usize::MAX);
            // The echo of a byte takes at most two, so half of the rest always fits.
            let room = WINDOW.saturating_sub(outstanding) / 2;
            if room > 0 {
                return room;
            }
            if has_unread() {
                // The reader will read it. The sender lives as long as the terminal, so this never
                // fails.
                let _ = self.read_count.changed().await;
            } else if timeout_at(self.quiet_at, self.read_count.changed()).await.is_err()
                && !has_unread()
            {
                self.unechoed_halves = 0;
            }
        }
    }

    /// Counts input that has just been typed.
    pub(super) fn typed(&mut self, bytes: &[u8]) {
        self.unechoed_halves += 2 * echoed_length(bytes);
        self.quiet_at = Instant::now() + FIRST_ECHO;
    }

    fn count_output(&mut self) {
        let read = *self.read_count.borrow_and_update();
        if read != self.counted {
            self.unechoed_halves = self.unechoed_halves.saturating_sub(read - self.counted);
            self.counted = read;
            self.quiet_at = Instant::now() + QUIET;
        }
    }
}

/// A line end is echoed as two bytes, and so is any other control character, as `^X`.
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
    async fn a_little_input_is_typed_without_waiting() {
        let (_sender, mut window) = window();
        let start = Instant::now();
        for _ in 0..500 {
            assert!(window.room(|| true).await > 0);
            window.typed(b"key");
        }
        assert_eq!(start, Instant::now());
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_echo_is_outstanding_than_fits() {
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
    async fn earlier_output_makes_no_room() {
        let (sender, mut window) = window();
        sender.send_replace(1 << 30);
        window.room(|| true).await;
        window.typed(&vec![b'x'; WINDOW]);
        let waited = tokio::time::timeout(Duration::from_secs(60), window.room(|| true)).await;
        assert!(waited.is_err(), "there is unread output, and no reader");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_after_output_makes_room_also_for_a_wait_that_is_often_cancelled() {
        let (sender, mut window) = window();
        window.typed(&vec![b'x'; 2 * WINDOW]);
        sender.send_replace(1);
        let start = Instant::now();
        while tokio::time::timeout(Duration::from_millis(1), window.room(|| false)).await.is_err() {
        }
        assert!(start.elapsed() <= 2 * QUIET);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_echo_is_waited_for_longer() {
        let (_sender, mut window) = window();
        window.typed(&vec![b'x'; WINDOW]);
        let start = Instant::now();
        window.room(|| false).await;
        assert!(start.elapsed() >= FIRST_ECHO, "{:?}", start.elapsed());
    }
}
