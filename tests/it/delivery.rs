//! Input and output arrive whole: typed bytes reach the child, printed bytes reach every reader or
//! are a declared gap, and no slow reader or writer delays another.

use coop_client::{Client, Credentials, v1};
use serde_json::json;
use tonic::Code;

use crate::support::coop::{Coop, SHELL};
use crate::support::session::{
    Recording, child_pid, exited, refusal, rows, see, status, type_line,
};
use crate::support::ws::Socket;
use crate::support::{soon, until};

/// Enough that no buffer on the way can hold it.
const TEN_MEGABYTES: usize = 10_000_000;

/// Lines of random letters: no part looks like another, and none is too long for a terminal.
fn lines(length: usize, mut seed: u64) -> Vec<u8> {
    let mut text = Vec::with_capacity(length + 100);
    while text.len() < length {
        for _word in 0..10 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            text.extend(seed.to_le_bytes().map(|byte| b'0' + byte % 64));
        }
        text.push(b'\n');
    }
    text.truncate(length - 1);
    text.push(b'\n');
    text
}

/// As a terminal prints it.
fn printed(text: &[u8]) -> Vec<u8> {
    text.split_inclusive(|byte| *byte == b'\n')
        .flat_map(|line| match line.strip_suffix(b"\n") {
            Some(body) => [body, b"\r\n"].concat(),
            None => line.to_vec(),
        })
        .collect()
}

/// A child that has printed `ready`; the output before that is cut from the recording.
async fn ready(script: &str, flags: &[&str]) -> (Coop, Client, Recording) {
    let coop = Coop::with(flags, ["sh", "-c", script]).await;
    let mut client = coop.grpc().await;
    let mut recording = Recording::record(&mut client).await;
    recording.until_text("ready").await;
    let end = recording.text().find("ready").expect("it came") + "ready".len();
    recording.bytes.drain(..end);
    (coop, client, recording)
}

async fn send(client: &mut Client, bytes: &[u8]) -> Result<i32, tonic::Status> {
    let request = v1::SendInputRawRequest { data: bytes.to_vec().into() };
    client.send_input_raw(request).await.map(|answer| answer.into_inner().bytes_written)
}

/// Whether `mixed` consists of two interleaved copies of `text`, each in order.
fn is_doubled(mixed: &[u8], text: &[u8]) -> bool {
    // All possible lengths of the longer copy after the bytes so far.
    let mut fronts = vec![0_usize];
    for (taken, byte) in mixed.iter().enumerate() {
        let mut next = Vec::with_capacity(fronts.len() + 1);
        for front in fronts {
            let behind = taken - front;
            if text.get(front) == Some(byte) {
                next.push(front + 1);
            }
            if behind < front && text.get(behind) == Some(byte) && next.last() != Some(&front) {
                next.push(front);
            }
        }
        next.sort_unstable();
        next.dedup();
        fronts = next;
    }
    mixed.len() == 2 * text.len() && !fronts.is_empty()
}

#[test]
fn the_check_for_two_copies_can_fail() {
    assert!(is_doubled(b"aabbcc", b"abc"));
    assert!(is_doubled(b"abcabc", b"abc"));
    assert!(is_doubled(b"abacbc", b"abc"));
    assert!(!is_doubled(b"abccba", b"abc"));
    assert!(!is_doubled(b"abcab", b"abc"));
    assert!(!is_doubled(b"abbacc", b"abc"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_megabytes_pasted_into_an_echoing_cat_come_back_whole() {
    let (_coop, mut client, mut recording) =
        ready("printf ready; exec cat", &["--ring-size", "33554432"]).await;
    let text = lines(TEN_MEGABYTES, 1);
    let expected = printed(&text);
    let mut writer = client.clone();
    let pasted = text.clone();
    let writing = tokio::spawn(async move { send(&mut writer, &pasted).await });
    // The echo and the output of cat, interleaved by the kernel.
    recording.until_length(2 * expected.len()).await;
    assert_eq!(writing.await.expect("joined").expect("written"), 10_000_000);
    assert_eq!(recording.skipped, 0, "the ring is larger than the output");
    assert!(is_doubled(&recording.bytes, &expected));
    assert_eq!(status(&mut client).await.bytes_written, 10_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_megabytes_pasted_into_a_raw_cat_come_back_in_order() {
    let script = "stty raw -echo; printf ready; exec cat";
    let (_coop, mut client, mut recording) = ready(script, &["--ring-size", "33554432"]).await;
    let text = lines(TEN_MEGABYTES, 2);
    let pasted = text.clone();
    let writing = tokio::spawn(async move { send(&mut client, &pasted).await });
    recording.until_length(text.len()).await;
    assert_eq!(writing.await.expect("joined").expect("written"), 10_000_000);
    assert!(recording.bytes == text, "the output differs from the input");
}

/// Types text and checks the echo, which is the only output, and the file with what the child read.
async fn check_input_and_echo(modes: &str, print: fn(&[u8]) -> Vec<u8>) {
    let script = format!("stty {modes}; printf ready; exec cat > typed");
    let (coop, mut client, mut recording) = ready(&script, &["--ring-size", "4194304"]).await;
    let text = lines(500_000, 3);
    assert_eq!(send(&mut client, &text).await.expect("written"), 500_000);
    let expected = print(&text);
    recording.until_length(expected.len()).await;
    assert!(recording.bytes == expected, "the echo differs");
    let file = coop.home.path().join("typed");
    until("the child to read it all", async || {
        (std::fs::metadata(&file).expect("a file").len() == 500_000).then_some(())
    })
    .await;
    assert!(std::fs::read(&file).expect("a file") == text, "the child read something else");
}

#[tokio::test]
async fn a_canonical_child_reads_every_line_and_every_echo_is_printed() {
    check_input_and_echo("sane", printed).await;
}

#[tokio::test]
async fn a_raw_child_reads_every_byte_and_every_echo_is_printed() {
    check_input_and_echo("raw echo -echoctl", <[u8]>::to_vec).await;
}

#[tokio::test]
async fn a_canonical_child_gets_lines() {
    let (coop, mut client, _recording) = ready("printf ready; exec cat > lines", &[]).await;
    let request = v1::SendInputRequest { text: "one\ntwo\r\nthree".to_owned(), enter: true };
    assert_eq!(client.send_input(request).await.expect("typed").into_inner().bytes_written, 14);
    let file = coop.home.path().join("lines");
    until("the lines", async || {
        (std::fs::read_to_string(&file).expect("a file") == "one\ntwo\nthree\n").then_some(())
    })
    .await;
}

// ---- A child that never reads ----

#[tokio::test]
async fn a_child_that_never_reads_gives_back_pressure_and_nothing_else_waits() {
    let script = "stty raw -echo; printf 'ready\\r\\n'; exec sleep 300";
    let (mut coop, mut client, mut recording) = ready(script, &[]).await;
    let mut stuck = client.clone();
    let stuck = tokio::spawn(async move { send(&mut stuck, &[b'x'; 100_000]).await });
    until("some of it to be taken", async || {
        (status(&mut client).await.bytes_written > 0).then_some(())
    })
    .await;

    // A write that does not fit into the queue is refused at once.
    let full = send(&mut client, &vec![b'y'; 1 << 20]).await.expect_err("the queue is full");
    assert_eq!(full.code(), Code::ResourceExhausted);
    assert_eq!(refusal(&full).code, "WRITER_BUSY");
    assert_eq!(refusal(&full).metadata["bytes_written"], "0");
    let answer = coop.http().post("/api/v1/input", json!({"text": "z".repeat(1 << 20)})).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (409, "WRITER_BUSY"));
    assert!(!stuck.is_finished(), "the first write still waits");

    // Everything else works while the write waits.
    assert!(rows(&mut client).await.iter().any(|row| row == "ready"));
    let resize = v1::ResizeRequest { cols: 80, rows: 24 };
    client.resize(resize).await.expect("resized");
    let mut late = Recording::record(&mut client).await;
    late.until_text("ready").await;
    let winch = v1::SendSignalRequest { signal: "WINCH".to_owned() };
    assert!(client.send_signal(winch).await.expect("signalled").into_inner().delivered);
    assert!(!stuck.is_finished(), "the first write still waits");

    // After five seconds without progress the write fails, and reports how much was written.
    let refused = soon("the write to fail", stuck).await.expect("joined").expect_err("no progress");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let reason = refusal(&refused);
    assert_eq!(reason.code, "WRITER_BUSY");
    let taken = status(&mut client).await.bytes_written;
    assert_eq!(reason.metadata["bytes_written"], taken.to_string());
    assert!(taken < 100_000, "the kernel took everything");

    // A waiting write does not delay the shutdown, and fails when the child ends.
    let mut last = client.clone();
    let last = tokio::spawn(async move { send(&mut last, b"more").await });
    until("the write to wait", async || {
        let status = status(&mut client).await;
        status.last_input_epoch_ms.is_some().then_some(())
    })
    .await;
    client.shutdown(v1::ShutdownRequest { grace_ms: None }).await.expect("accepted");
    let refused = last.await.expect("joined").expect_err("the child did not read it");
    assert!(["NOT_READY", "EXITED"].contains(&refusal(&refused).code.as_str()), "{refused:?}");
    recording.until_end().await;
    assert_eq!(coop.ended().await.code(), Some(129), "the child ends by SIGHUP");
}

#[tokio::test]
async fn a_signal_ends_a_child_whose_input_is_stuck() {
    let (_coop, mut client, _recording) =
        ready("stty raw -echo; printf ready; exec sleep 300", &[]).await;
    let mut stuck = client.clone();
    let stuck = tokio::spawn(async move { send(&mut stuck, &[b'x'; 100_000]).await });
    until("some of it to be taken", async || {
        (status(&mut client).await.bytes_written > 0).then_some(())
    })
    .await;
    let kill = v1::SendSignalRequest { signal: "KILL".to_owned() };
    client.send_signal(kill).await.expect("signalled");
    assert_eq!(exited(&mut client).await, (None, Some(9)));
    let refused = stuck.await.expect("joined").expect_err("the child is gone");
    assert_eq!((refused.code(), refusal(&refused).code.as_str()), (Code::NotFound, "EXITED"));
}

// ---- Many readers ----

/// Seven digits and a blank, 2.5 million times: every byte shows its position.
const FLOOD: u64 = 20_000_000;

/// Waits for a key, then prints the records.
const FLOODING_CHILD: &str =
    "stty raw -echo; printf ready; head -c 1 >/dev/null; seq -w -s ' ' 1 2500000";

/// The byte at this position of the flood.
fn record_byte(position: u64) -> u8 {
    let record =
        format!("{:07}{}", position / 8 + 1, if position + 1 == FLOOD { '\n' } else { ' ' });
    record.as_bytes()[usize::try_from(position % 8).expect("small")]
}

/// Reads to the end without keeping anything; returns the bytes received and the bytes missed.
async fn read_to_end(mut recording: Recording, start: u64) -> (u64, u64) {
    let mut got = recording.bytes.len() as u64;
    while let Some(chunk) = recording.chunk().await {
        got += chunk.data.len() as u64;
        // The bytes belong to the offset of their chunk.
        for index in [0, chunk.data.len() / 2, chunk.data.len().saturating_sub(1)] {
            let position = (chunk.offset + index as u64)
                .checked_sub(start)
                .filter(|position| *position < FLOOD);
            if let (Some(byte), Some(position)) = (chunk.data.get(index), position) {
                assert_eq!(*byte, record_byte(position), "at {position}");
            }
        }
    }
    (got, recording.skipped)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_readers_get_every_byte_or_a_gap_in_bounded_memory() {
    let (coop, mut client, first) = ready(FLOODING_CHILD, &[]).await;
    let start = first.next;
    let mut reading = tokio::task::JoinSet::new();
    // Half of the readers share one connection, the others have one each.
    let shared = coop.grpc().await;
    for _ in 0..50 {
        reading.spawn(read_to_end(Recording::record(&mut shared.clone()).await, start));
        reading.spawn(read_to_end(Recording::record(&mut coop.grpc().await).await, start));
    }
    drop(first);
    send(&mut client, b"x").await.expect("written");
    let mut missed = 0;
    while let Some(read) = reading.join_next().await {
        let (got, skipped) = read.expect("the reader succeeded");
        assert_eq!(got + skipped, start + FLOOD, "got {got}, missed {skipped}");
        missed += skipped;
    }
    assert_eq!(status(&mut client).await.bytes_read, start + FLOOD);
    let peak = coop.peak_memory();
    println!("100 readers: peak {peak} KiB, {} MB declared missing in all", missed / 1_000_000);
    assert!(peak < 64 << 10, "{peak} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_stops_delays_no_other_and_gets_a_gap() {
    let (coop, mut client, first) = ready(FLOODING_CHILD, &[]).await;
    let start = first.next;
    let mut idle_client = coop.grpc().await;
    let idle = Recording::record(&mut idle_client).await;
    let reading = tokio::spawn(read_to_end(first, start));
    send(&mut client, b"x").await.expect("written");
    let (got, skipped) = reading.await.expect("joined");
    assert_eq!(
        "ready".len() as u64 + got + skipped,
        start + FLOOD,
        "the other reader is not delayed"
    );
    assert_eq!(exited(&mut client).await, (Some(0), None), "the child is not delayed");

    let (got, skipped) = read_to_end(idle, start).await;
    assert_eq!(got + skipped, start + FLOOD);
    assert!(skipped > 0, "coop does not keep 20 MB for a reader that does not read");
}

// ---- Many writers ----

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_writes_of_two_clients_do_not_mix() {
    const BLOCK: usize = 10_000;
    const EACH: usize = 30;
    let (coop, client, mut recording) = ready("stty raw -echo; printf ready; exec cat", &[]).await;
    let mut writing = tokio::task::JoinSet::new();
    let clients = [client.clone(), coop.grpc().await, client];
    for (letter, mut client) in (b'a'..).zip(clients) {
        writing.spawn(async move {
            for _ in 0..EACH {
                assert_eq!(
                    send(&mut client, &[letter; BLOCK]).await.expect("written"),
                    BLOCK as i32
                );
            }
        });
    }
    recording.until_length(3 * EACH * BLOCK).await;
    while let Some(written) = writing.join_next().await {
        written.expect("written");
    }
    let mut counts = [0; 3];
    for block in recording.bytes.chunks(BLOCK) {
        assert!(block.iter().all(|byte| *byte == block[0]), "two writes are mixed");
        counts[usize::from(block[0] - b'a')] += 1;
    }
    assert_eq!(counts, [EACH; 3]);
}

/// Queries the terminal after each read, and writes everything that it read to a file.
const QUERYING_CHILD: &str = r"
import os, sys, termios, tty
tty.setraw(0)
os.write(1, b'ready')
asked, seen = 0, b''
while seen.count(b'>') < 60 or seen.count(b'\x1b[0n') < asked:
    seen += os.read(0, 4096)
    if seen.count(b'>') < 60:
        os.write(1, b'\x1b[5n\x1b[5n\x1b[5n')
        asked += 3
open('seen', 'wb').write(seen)
open('asked', 'w').write(str(asked))
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_to_queries_go_between_writes() {
    let coop = Coop::run(["python3", "-c", QUERYING_CHILD]).await;
    let mut client = coop.grpc().await;
    Recording::record(&mut client).await.until_text("ready").await;
    let mut writing = tokio::task::JoinSet::new();
    for mut client in [client.clone(), coop.grpc().await] {
        writing.spawn(async move {
            for _ in 0..30 {
                send(&mut client, &[&b"<"[..], &[b'x'; 9000], b">"].concat())
                    .await
                    .expect("written");
            }
        });
    }
    while let Some(written) = writing.join_next().await {
        written.expect("written");
    }
    assert_eq!(exited(&mut client).await, (Some(0), None), "every query was answered");
    let seen = std::fs::read_to_string(coop.home.path().join("seen")).expect("a file");
    let asked = std::fs::read_to_string(coop.home.path().join("asked")).expect("a file");
    assert_eq!(seen.matches("\x1b[0n").count().to_string(), asked, "one answer to each query");
    let blocks = seen.replace("\x1b[0n", "|");
    let inside = blocks.split('|').filter(|part| !part.is_empty());
    for part in inside {
        assert!(
            part.starts_with('<') && part.ends_with('>'),
            "a reply is inside a write: {part:.40}…"
        );
    }
    assert_eq!(blocks.matches('<').count(), 60);
}

// ---- The lease ----

#[tokio::test]
async fn only_the_lease_holder_writes_on_any_transport() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    let request = v1::AcquireLeaseRequest { ttl_ms: Some(60_000), holder: Some("ada".to_owned()) };
    let lease = client.acquire_lease(request).await.expect("free").into_inner();
    let mut holder = coop
        .grpc_as(Credentials { lease: Some(lease.lease_id.clone()), ..Default::default() })
        .await;

    let refused = send(&mut client, b"x").await.expect_err("another client has the lease");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let reason = refusal(&refused);
    assert_eq!((reason.code.as_str(), reason.metadata["holder"].as_str()), ("WRITER_BUSY", "ada"));
    let remaining: u64 = reason.metadata["remaining_ms"].parse().expect("a number");
    assert!((1..=60_000).contains(&remaining), "{remaining}");
    let keys = v1::SendKeysRequest { keys: vec!["a".to_owned()] };
    assert_eq!(refusal(&client.send_keys(keys).await.expect_err("held")).code, "WRITER_BUSY");
    let resize = v1::ResizeRequest { cols: 80, rows: 24 };
    assert_eq!(refusal(&client.resize(resize).await.expect_err("held")).code, "WRITER_BUSY");
    let again = client.acquire_lease(v1::AcquireLeaseRequest::default()).await.expect_err("held");
    assert_eq!(refusal(&again).code, "WRITER_BUSY");

    let http = coop.http();
    for (path, body) in [
        ("/api/v1/input", json!({"text": "x"})),
        ("/api/v1/input/raw", json!({"data": "eA=="})),
        ("/api/v1/input/keys", json!({"keys": ["x"]})),
        ("/api/v1/resize", json!({"cols": 80, "rows": 24})),
        ("/api/v1/lease", json!({})),
    ] {
        let answer = http.post(path, body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (409, "WRITER_BUSY"),
            "{path}"
        );
        assert!(answer.text().contains("ada"), "the answer names the holder: {}", answer.text());
    }
    let mut socket = Socket::connect(&coop, "mode=state").await;
    let error = socket.ask(json!({"type": "input", "text": "x"})).await.expect_err("held");
    assert_eq!(error["code"], "WRITER_BUSY");
    let error = socket.ask(json!({"type": "lock", "action": "acquire"})).await.expect_err("held");
    assert_eq!(error["code"], "WRITER_BUSY");
    assert_eq!(status(&mut client).await.bytes_written, 0, "no byte was written");

    // Reads and signals need no lease.
    rows(&mut client).await;
    let winch = v1::SendSignalRequest { signal: "WINCH".to_owned() };
    client.send_signal(winch).await.expect("signals need no lease");

    // The holder writes, over any transport.
    type_line(&mut holder, "echo a''b").await;
    see(&mut client, "ab").await;
    let held = http.header("coop-lease", &lease.lease_id);
    assert_eq!(
        held.post("/api/v1/input", json!({"text": "echo c''d", "enter": true})).await.status,
        200
    );
    see(&mut client, "cd").await;

    assert!(
        !http.delete("/api/v1/lease/nonsense").await.json()["released"].as_bool().expect("a bool")
    );
    assert!(
        http.delete(&format!("/api/v1/lease/{}", lease.lease_id)).await.json()["released"] == true
    );
    type_line(&mut client, "echo e''f").await;
    see(&mut client, "ef").await;
}

#[tokio::test]
async fn a_lease_is_renewed_by_use_and_expires_without() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    let short = v1::AcquireLeaseRequest { ttl_ms: Some(1000), holder: None };
    let lease = client.acquire_lease(short.clone()).await.expect("free").into_inner();
    let mut holder = coop
        .grpc_as(Credentials { lease: Some(lease.lease_id.clone()), ..Default::default() })
        .await;
    let longer = v1::AcquireLeaseRequest { ttl_ms: Some(60_000), holder: None };
    let renewed = holder.acquire_lease(longer).await.expect("the holder may renew").into_inner();
    assert_eq!(renewed.lease_id, lease.lease_id);
    assert!(
        renewed.expires_at_epoch_ms >= lease.expires_at_epoch_ms + 50_000,
        "{renewed:?} after {lease:?}"
    );
    for ttl_ms in [Some(0), Some(-1), Some(300_001)] {
        let request = v1::AcquireLeaseRequest { ttl_ms, holder: None };
        assert_eq!(
            refusal(&holder.acquire_lease(request).await.expect_err("out of range")).code,
            "BAD_REQUEST"
        );
    }
    holder.acquire_lease(short).await.expect("the holder may renew");
    until("the lease to run out", async || send(&mut client, b" ").await.ok()).await;
}

#[tokio::test]
async fn a_lease_ends_with_the_connection_that_took_it() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    let mut socket = Socket::connect(&coop, "mode=state").await;
    socket.ask(json!({"type": "lock", "action": "acquire"})).await.expect("free");
    socket
        .ask(json!({"type": "input", "text": " "}))
        .await
        .expect("a socket that holds the lease needs no header");
    assert_eq!(refusal(&send(&mut client, b" ").await.expect_err("held")).code, "WRITER_BUSY");
    drop(socket);
    until("the lease to end with its socket", async || send(&mut client, b" ").await.ok()).await;
    assert!(child_pid(&mut client).await > 0);
}
