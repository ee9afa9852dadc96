//! The cost of rendering: bytes into coop's terminal, with scrollback and terminal queries,
//! compared with avt alone; and the cost of a snapshot.

mod support;

use std::time::{Duration, Instant};

use coop::term::{Size, Terminal};
use support::{heading, micros, mixed, row};

const BYTES: usize = 32 << 20;
const CHUNK: usize = 4096;
const ROUNDS: usize = 3;

fn main() {
    heading(&format!(
        "feed: {} MiB in {CHUNK}-byte pieces at 200x50, best of {ROUNDS}",
        BYTES >> 20
    ));
    let plain: Vec<u8> =
        b"the quick brown fox jumps over the lazy dog, and the line goes on for a while yet\r\n"
            .iter()
            .copied()
            .cycle()
            .take(BYTES)
            .collect();
    for (name, stream) in [("plain text", plain), ("mixed text and ANSI", mixed(BYTES))] {
        let speed = |time: Duration| (stream.len() >> 20) as f64 / time.as_secs_f64();
        let (avt, coop) = (speed(best(|| feed_avt(&stream))), speed(best(|| feed_coop(&stream))));
        row(name, &format!("coop {coop:6.1} MiB/s   avt {avt:6.1} MiB/s   {:.2} x", coop / avt));
    }
    let mut terminal = Terminal::new(Size::new(200, 50).expect("a size"), 1000, "bench");
    terminal.feed(&mixed(1 << 16));
    let start = Instant::now();
    let count = 10_000;
    for _ in 0..count {
        terminal.feed(b"x");
        std::hint::black_box(terminal.screen());
    }
    row("a key and a snapshot", &format!("{:.1} us", micros(start.elapsed()) / f64::from(count)));
}

fn best(mut run: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| run()).min().unwrap_or_default()
}

fn feed_coop(stream: &[u8]) -> Duration {
    let mut terminal = Terminal::new(Size::new(200, 50).expect("a size"), 10_000, "bench");
    let start = Instant::now();
    for chunk in stream.chunks(CHUNK) {
        terminal.feed(chunk);
    }
    std::hint::black_box(terminal.screen());
    start.elapsed()
}

/// avt alone, without scrollback and without replies to queries.
fn feed_avt(stream: &[u8]) -> Duration {
    let text = String::from_utf8_lossy(stream).into_owned();
    let mut terminal = avt::Terminal::new(200, 50).expect("a size");
    let start = Instant::now();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end =
            (0..=CHUNK.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
        let (piece, tail) = rest.split_at(end);
        terminal.feed([piece]);
        rest = tail;
    }
    std::hint::black_box(&terminal);
    start.elapsed()
}
