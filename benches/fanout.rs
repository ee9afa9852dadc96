//! The cost of readers: one writer, many readers of the output ring, with every byte accounted for.

mod support;

use std::time::{Duration, Instant};

use coop::term::{Offset, OutputLog};
use support::{heading, row};

const BYTES: usize = 64 << 20;
const WRITE: usize = 4096;
/// The output of a fast terminal: this many writes every few milliseconds.
const BURST: usize = 64;
const PAUSE: Duration = Duration::from_millis(5);
const RING: usize = 1 << 20;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    heading(&format!("fan-out: {} MiB through a {} MiB ring", BYTES >> 20, RING >> 20));
    for readers in [1, 10, 100, 1000] {
        runtime.block_on(run(readers));
    }
}

async fn run(readers: usize) {
    let log = OutputLog::new(RING);
    let mut reading = tokio::task::JoinSet::new();
    for _ in 0..readers {
        let mut reader = log.reader(Offset(0));
        reading.spawn(async move {
            let (mut got, mut skipped) = (0, 0);
            while let Some(slice) = reader.next(64 << 10).await {
                got += slice.data.len() as u64;
                skipped += slice.skipped;
            }
            (got, skipped)
        });
    }
    let start = Instant::now();
    let chunk = [b'x'; WRITE];
    let mut pace = tokio::time::interval(PAUSE);
    for n in 0..BYTES / WRITE {
        if n % BURST == 0 {
            pace.tick().await;
        }
        log.push(&chunk);
    }
    let written = start.elapsed();
    log.close();
    let (mut got, mut skipped) = (0, 0);
    while let Some(result) = reading.join_next().await {
        let (one_got, one_skipped) = result.expect("a reader");
        assert_eq!(one_got + one_skipped, BYTES as u64, "every byte is read or declared skipped");
        got += one_got;
        skipped += one_skipped;
    }
    let total = (got + skipped) as f64;
    let speed = (BYTES >> 20) as f64 / written.as_secs_f64();
    row(
        &format!("{readers} readers"),
        &format!("writer {speed:8.0} MiB/s   delivered {:5.1} %", got as f64 / total * 100.0),
    );
}
