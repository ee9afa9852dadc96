//! Input: how it reaches the child, and how much of it may wait.

use super::*;

/// Numbered lines of about `size` bytes, so that a missing piece differs from a moved one.
fn lines(size: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(size + 64);
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.extend_from_slice(format!("line {number} of a long paste\n").as_bytes());
    }
    text
}

fn as_printed(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes()
}

/// Types everything while another task reads `expected` bytes.
async fn exchange(session: Session, text: Vec<u8>, expected: usize) -> (Session, Vec<u8>) {
    let Session { child, mut reader, mut writer, control, seen } = session;
    let mut reading = JoinSet::new();
    reading.spawn(async move {
        let mut output = Vec::with_capacity(expected);
        while output.len() < expected {
            let Some(bytes) = reader.read().await.expect("readable") else { break };
            output.extend_from_slice(&bytes);
        }
        (reader, output)
    });
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let count = within("room for input", writer.write(rest)).await.expect("writable");
        rest = &rest[count..];
    }
    let read = within("the whole output", reading.join_next()).await;
    let (reader, output) = read.expect("one task").expect("no panic");
    (Session { child, reader, writer, control, seen }, output)
}

async fn ready(fixture: &Fixture, script: &str) -> Session {
    let mut session = fixture.shell(script);
    session.until("ready").await;
    session.until("\n").await;
    session
}

/// The output has both copies of the text in interleaved pieces, so every byte value occurs twice
/// as often.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_megabytes_pasted_into_an_echoing_cat_come_back_whole() {
    let fixture = Fixture::new().await;
    let session = ready(&fixture, "echo ready; exec cat").await;
    let text = lines(10_000_000);
    let printed = as_printed(&text);
    let (session, output) = exchange(session, text, 2 * printed.len()).await;
    let count = |bytes: &[u8]| {
        let mut counts = [0u64; 256];
        for &byte in bytes {
            counts[usize::from(byte)] += 1;
        }
        counts
    };
    assert_eq!(count(&output), count(&printed).map(|count| 2 * count));
    fixture.end(&session).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_echo_alone_is_exact() {
    let fixture = Fixture::new().await;
    let session = ready(&fixture, "echo ready; exec cat >/dev/null").await;
    let text = lines(500_000);
    let printed = as_printed(&text);
    let (session, output) = exchange(session, text, printed.len()).await;
    assert!(output == printed, "the echo differs from what was typed");
    fixture.end(&session).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raw_child_gets_and_returns_every_byte() {
    let fixture = Fixture::new().await;
    let session = ready(&fixture, "stty raw -echo; echo ready; exec cat").await;
    let mut text = lines(4_000_000);
    text.extend((0..=255u8).cycle().take(100_000));
    let (session, output) = exchange(session, text.clone(), text.len()).await;
    assert!(output == text, "the output differs from what was typed");
    fixture.end(&session).await;
}

/// A byte-wise reader leaves the kernel's buffers full almost all the time, so a lost wake-up
/// would show.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_gets_every_byte() {
    let fixture = Fixture::new().await;
    let session = ready(&fixture, "stty raw -echo; echo ready; exec dd bs=1 2>/dev/null").await;
    let text = lines(100_000);
    let (session, output) = exchange(session, text.clone(), text.len()).await;
    assert!(output == text, "the output differs from what was typed");
    fixture.end(&session).await;
}

#[tokio::test]
async fn a_child_that_never_reads_blocks_only_the_writer() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "stty raw -echo; trap 'echo alive' USR1; echo ready; \
         while :; do sleep 1000 & wait $!; done",
    );
    session.until("ready").await;
    let text = vec![b'x'; 1 << 20];
    let mut typed = 0;
    let stuck = async {
        while typed < text.len() {
            typed += session.writer.write(&text[typed..]).await.expect("writable");
        }
    };
    // A test cannot show that a write never returns, only that it has not returned by now.
    assert!(timeout(Duration::from_millis(300), stuck).await.is_err(), "a megabyte vanished");
    assert!((1..65_536).contains(&typed), "{typed} bytes were taken");
    session.child.signal("USR1".parse().expect("a signal")).await.expect("sent");
    session.until("alive").await;
    session.control.resize(WindowSize { cols: 90, rows: 30 }).expect("resized");
    fixture.end(&session).await;
}

/// A caller that selects between writing and reading cancels the write at every read, and a child
/// that never stops printing must not make it wait for ever.
#[tokio::test]
async fn a_flood_does_not_starve_a_writer_that_is_cancelled_by_it() {
    let fixture = Fixture::new().await;
    let mut session = ready(&fixture, "yes & echo ready; exec cat >/dev/null").await;
    let text = lines(20_000);
    let mut rest = text.as_slice();
    within("room for input", async {
        while !rest.is_empty() {
            tokio::select! {
                count = session.writer.write(rest) => rest = &rest[count.expect("writable")..],
                bytes = session.reader.read() => assert!(bytes.expect("readable").is_some()),
            }
        }
    })
    .await;
    fixture.end(&session).await;
}
