//! Not lost, not stuck: whatever is typed arrives, whatever is printed is read or declared missing,
//! and nobody who does not read or does not write can hold up anybody else.

use coop_client::{Client, Credentials, v1};
use serde_json::json;
use tonic::Code;

use crate::support::coop::{Coop, SHELL};
use crate::support::session::{Tape, child_pid, exited, refusal, rows, see, status, type_line};
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

/// A child that has said `ready`; what it says before is cut from the tape.
async fn ready(script: &str, flags: &[&str]) -> (Coop, Client, Tape) {
    let coop = Coop::with(flags, ["sh", "-c", script]).await;
    let mut client = coop.grpc().await;
    let mut tape = Tape::record(&mut client).await;
    tape.until_text("ready").await;
    let end = tape.text().find("ready").expect("it came") + "ready".len();
    tape.bytes.drain(..end);
    (coop, client, tape)
}

async fn send(client: &mut Client, bytes: &[u8]) -> Result<i32, tonic::Status> {
    let request = v1::SendInputRawRequest { data: bytes.to_vec().into() };
    client.send_input_raw(request).await.map(|answer| answer.into_inner().bytes_written)
}

/// Whether `mixed` is two copies of `text`, each in order, the second behind the first.
fn is_doubled(mixed: &[u8], text: &[u8]) -> bool {
    // All the numbers of bytes that the copy in front may have come to so far.
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
    let (_coop, mut client, mut tape) = ready("printf ready; exec cat", &["--ring-size", "33554432"]).await;
    let text = lines(TEN_MEGABYTES, 1);
    let expected = printed(&text);
    let mut writer = client.clone();
    let pasted = text.clone();
    let writing = tokio::spawn(async move { send(&mut writer, &pasted).await });
    // The echo and what cat prints, in whatever order the kernel mixes them.
    tape.until_length(2 * expected.len()).await;
    assert_eq!(writing.await.expect("joined").expect("written"), 10_000_000);
    assert_eq!(tape.skipped, 0, "the ring is larger than the output");
    assert!(is_doubled(&tape.bytes, &expected));
    assert_eq!(status(&mut client).await.bytes_written, 10_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_megabytes_pasted_into_a_raw_cat_come_back_in_order() {
    let script = "stty raw -echo; printf ready; exec cat";
    let (_coop, mut client, mut tape) = ready(script, &["--ring-size", "33554432"]).await;
    let text = lines(TEN_MEGABYTES, 2);
    let pasted = text.clone();
    let writing = tokio::spawn(async move { send(&mut client, &pasted).await });
    tape.until_length(text.len()).await;
    assert_eq!(writing.await.expect("joined").expect("written"), 10_000_000);
    assert!(tape.bytes == text, "what came back differs");
}

/// Here nothing but the echo is printed, and what the child read is in a file: both are exact.
async fn typed_and_echoed(modes: &str, print: fn(&[u8]) -> Vec<u8>) {
    let script = format!("stty {modes}; printf ready; exec cat > typed");
    let (coop, mut client, mut tape) = ready(&script, &["--ring-size", "4194304"]).await;
    let text = lines(500_000, 3);
    assert_eq!(send(&mut client, &text).await.expect("written"), 500_000);
    let expected = print(&text);
    tape.until_length(expected.len()).await;
    assert!(tape.bytes == expected, "the echo differs");
    let file = coop.home.path().join("typed");
    until("the child to read it all", async || {
        (std::fs::metadata(&file).expect("a file").len() == 500_000).then_some(())
    })
    .await;
    assert!(std::fs::read(&file).expect("a file") == text, "what was read differs");
}

#[tokio::test]
async fn a_canonical_child_reads_every_line_and_every_echo_is_printed() {
    typed_and_echoed("sane", printed).await;
}

#[tokio::test]
async fn a_raw_child_reads_every_byte_and_every_echo_is_printed() {
    typed_and_echoed("raw echo -echoctl", <[u8]>::to_vec).await;
}

#[tokio::test]
async fn a_canonical_child_gets_lines() {
    let (coop, mut client, _tape) = ready("printf ready; exec cat > lines", &[]).await;
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
    let (mut coop, mut client, mut tape) = ready(script, &[]).await;
    let mut stuck = client.clone();
    let stuck = tokio::spawn(async move { send(&mut stuck, &[b'x'; 100_000]).await });
    until("some of it to be taken", async || (status(&mut client).await.bytes_written > 0).then_some(()))
        .await;

    // The queue has room for a little, and says at once when it has none.
    let full = send(&mut client, &vec![b'y'; 1 << 20]).await.expect_err("the queue is full");
    assert_eq!(full.code(), Code::ResourceExhausted);
    assert_eq!(refusal(&full).code, "WRITER_BUSY");
    assert_eq!(refusal(&full).metadata["bytes_written"], "0");
    let answer = coop.http().post("/api/v1/input", json!({"text": "z".repeat(1 << 20)})).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (409, "WRITER_BUSY"));
    assert!(!stuck.is_finished(), "the first write still waits");

    // Meanwhile everything else goes on.
    assert!(rows(&mut client).await.iter().any(|row| row == "ready"));
    let resize = v1::ResizeRequest { cols: 80, rows: 24 };
    client.resize(resize).await.expect("resized");
    let mut late = Tape::record(&mut client).await;
    late.until_text("ready").await;
    let winch = v1::SendSignalRequest { signal: "WINCH".to_owned() };
    assert!(client.send_signal(winch).await.expect("signalled").into_inner().delivered);
    assert!(!stuck.is_finished(), "the first write still waits");

    // After five seconds without progress the write is given up, and says how far it came.
    let refused = soon("the write to be given up", stuck).await.expect("joined").expect_err("given up");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    let reason = refusal(&refused);
    assert_eq!(reason.code, "WRITER_BUSY");
    let taken = status(&mut client).await.bytes_written;
    assert_eq!(reason.metadata["bytes_written"], taken.to_string());
    assert!(taken < 100_000, "the kernel took everything");

    // A write that waits does not delay the end, and is told of it.
    let mut last = client.clone();
    let last = tokio::spawn(async move { send(&mut last, b"more").await });
    until("the write to wait", async || {
        let status = status(&mut client).await;
        status.last_input_epoch_ms.is_some().then_some(())
    })
    .await;
    client.shutdown(v1::ShutdownRequest { grace_ms: None }).await.expect("accepted");
    let refused = last.await.expect("joined").expect_err("nobody read it");
    assert!(["NOT_READY", "EXITED"].contains(&refusal(&refused).code.as_str()), "{refused:?}");
    tape.until_end().await;
    assert_eq!(coop.ended().await.code(), Some(129), "hung up on");
}

#[tokio::test]
async fn a_signal_ends_a_child_whose_input_is_stuck() {
    let (_coop, mut client, _tape) = ready("stty raw -echo; printf ready; exec sleep 300", &[]).await;
    let mut stuck = client.clone();
    let stuck = tokio::spawn(async move { send(&mut stuck, &[b'x'; 100_000]).await });
    until("some of it to be taken", async || (status(&mut client).await.bytes_written > 0).then_some(()))
        .await;
    let kill = v1::SendSignalRequest { signal: "KILL".to_owned() };
    client.send_signal(kill).await.expect("signalled");
    assert_eq!(exited(&mut client).await, (None, Some(9)));
    let refused = stuck.await.expect("joined").expect_err("the child is gone");
    assert_eq!((refused.code(), refusal(&refused).code.as_str()), (Code::NotFound, "EXITED"));
}

// ---- Many readers ----

/// Seven digits and a blank, 2.5 million times: every byte says where it stands.
const FLOOD: u64 = 20_000_000;

/// Waits for a key, then prints the records.
const FLOODER: &str = "stty raw -echo; printf ready; head -c 1 >/dev/null; seq -w -s ' ' 1 2500000";

/// What stands at this place of the flood.
fn record_byte(place: u64) -> u8 {
    let record = format!("{:07}{}", place / 8 + 1, if place + 1 == FLOOD { '\n' } else { ' ' });
    record.as_bytes()[usize::try_from(place % 8).expect("small")]
}

/// Reads to the end without keeping anything; answers bytes got and bytes missed.
async fn swallow(mut tape: Tape, start: u64) -> (u64, u64) {
    let mut got = tape.bytes.len() as u64;
    while let Some(chunk) = tape.chunk().await {
        got += chunk.data.len() as u64;
        // Where the bytes stand is what their offset says.
        for index in [0, chunk.data.len() / 2, chunk.data.len().saturating_sub(1)] {
            let place = (chunk.offset + index as u64).checked_sub(start).filter(|place| *place < FLOOD);
            if let (Some(byte), Some(place)) = (chunk.data.get(index), place) {
                assert_eq!(*byte, record_byte(place), "at {place}");
            }
        }
    }
    (got, tape.skipped)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_readers_get_every_byte_or_are_told_in_bounded_memory() {
    let (coop, mut client, first) = ready(FLOODER, &[]).await;
    let start = first.next;
    let mut reading = tokio::task::JoinSet::new();
    // Half of them share one connection, the others have one each.
    let shared = coop.grpc().await;
    for _ in 0..50 {
        reading.spawn(swallow(Tape::record(&mut shared.clone()).await, start));
        reading.spawn(swallow(Tape::record(&mut coop.grpc().await).await, start));
    }
    drop(first);
    send(&mut client, b"x").await.expect("written");
    let mut missed = 0;
    while let Some(read) = reading.join_next().await {
        let (got, skipped) = read.expect("a reader without a complaint");
        assert_eq!(got + skipped, start + FLOOD, "got {got}, missed {skipped}");
        missed += skipped;
    }
    assert_eq!(status(&mut client).await.bytes_read, start + FLOOD);
    let peak = coop.peak_memory();
    println!("100 readers: peak {peak} KiB, {} MB declared missing in all", missed / 1_000_000);
    assert!(peak < 64 << 10, "{peak} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_stops_harms_nobody_and_is_told_what_it_missed() {
    let (coop, mut client, first) = ready(FLOODER, &[]).await;
    let start = first.next;
    let mut idle_client = coop.grpc().await;
    let idle = Tape::record(&mut idle_client).await;
    let reading = tokio::spawn(swallow(first, start));
    send(&mut client, b"x").await.expect("written");
    let (got, skipped) = reading.await.expect("joined");
    assert_eq!("ready".len() as u64 + got + skipped, start + FLOOD, "the other one reads on");
    assert_eq!(exited(&mut client).await, (Some(0), None), "and the child came to its end");

    let (got, skipped) = swallow(idle, start).await;
    assert_eq!(got + skipped, start + FLOOD);
    assert!(skipped > 0, "no memory holds 20 MB for a reader that does not read");
}

// ---- Many writers ----

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clients_never_write_into_each_other() {
    const BLOCK: usize = 10_000;
    const EACH: usize = 30;
    let (coop, client, mut tape) = ready("stty raw -echo; printf ready; exec cat", &[]).await;
    let mut writing = tokio::task::JoinSet::new();
    let clients = [client.clone(), coop.grpc().await, client];
    for (letter, mut client) in (b'a'..).zip(clients) {
        writing.spawn(async move {
            for _ in 0..EACH {
                assert_eq!(send(&mut client, &[letter; BLOCK]).await.expect("written"), BLOCK as i32);
            }
        });
    }
    tape.until_length(3 * EACH * BLOCK).await;
    while let Some(written) = writing.join_next().await {
        written.expect("written");
    }
    let mut counts = [0; 3];
    for block in tape.bytes.chunks(BLOCK) {
        assert!(block.iter().all(|byte| *byte == block[0]), "a block of two writers");
        counts[usize::from(block[0] - b'a')] += 1;
    }
    assert_eq!(counts, [EACH; 3]);
}

/// Asks for the terminal's state after everything it reads, and keeps what it reads.
const ASKER: &str = r"
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
async fn replies_to_queries_stand_between_writes_and_never_inside() {
    let coop = Coop::run(["python3", "-c", ASKER]).await;
    let mut client = coop.grpc().await;
    Tape::record(&mut client).await.until_text("ready").await;
    let mut writing = tokio::task::JoinSet::new();
    for mut client in [client.clone(), coop.grpc().await] {
        writing.spawn(async move {
            for _ in 0..30 {
                send(&mut client, &[&b"<"[..], &[b'x'; 9000], b">"].concat()).await.expect("written");
            }
        });
    }
    while let Some(written) = writing.join_next().await {
        written.expect("written");
    }
    assert_eq!(exited(&mut client).await, (Some(0), None), "every question was answered");
    let seen = std::fs::read_to_string(coop.home.path().join("seen")).expect("a file");
    let asked = std::fs::read_to_string(coop.home.path().join("asked")).expect("a file");
    assert_eq!(seen.matches("\x1b[0n").count().to_string(), asked, "one answer to each question");
    let blocks = seen.replace("\x1b[0n", "|");
    let inside = blocks.split('|').filter(|part| !part.is_empty());
    for part in inside {
        assert!(part.starts_with('<') && part.ends_with('>'), "a reply stands inside a write: {part:.40}…");
    }
    assert_eq!(blocks.matches('<').count(), 60);
}

// ---- The lease ----

#[tokio::test]
async fn the_holder_alone_writes_whatever_the_others_speak() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    let request = v1::AcquireLeaseRequest { ttl_ms: Some(60_000), holder: Some("ada".to_owned()) };
    let lease = client.acquire_lease(request).await.expect("free").into_inner();
    let mut holder =
        coop.grpc_as(Credentials { lease: Some(lease.lease_id.clone()), ..Default::default() }).await;

    let refused = send(&mut client, b"x").await.expect_err("somebody holds it");
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
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (409, "WRITER_BUSY"), "{path}");
        assert!(answer.text().contains("ada"), "the answer names the holder: {}", answer.text());
    }
    let mut socket = Socket::connect(&coop, "mode=state").await;
    let error = socket.ask(json!({"type": "input", "text": "x"})).await.expect_err("held");
    assert_eq!(error["code"], "WRITER_BUSY");
    let error = socket.ask(json!({"type": "lock", "action": "acquire"})).await.expect_err("held");
    assert_eq!(error["code"], "WRITER_BUSY");
    assert_eq!(status(&mut client).await.bytes_written, 0, "nobody wrote a byte");

    // Reads and signals need no lease.
    rows(&mut client).await;
    let winch = v1::SendSignalRequest { signal: "WINCH".to_owned() };
    client.send_signal(winch).await.expect("signals pass by");

    // The holder writes, over any transport.
    type_line(&mut holder, "echo a''b").await;
    see(&mut client, "ab").await;
    let held = http.header("coop-lease", &lease.lease_id);
    assert_eq!(held.post("/api/v1/input", json!({"text": "echo c''d", "enter": true})).await.status, 200);
    see(&mut client, "cd").await;

    assert!(!http.delete("/api/v1/lease/nonsense").await.json()["released"].as_bool().expect("a bool"));
    assert!(http.delete(&format!("/api/v1/lease/{}", lease.lease_id)).await.json()["released"] == true);
    type_line(&mut client, "echo e''f").await;
    see(&mut client, "ef").await;
}

#[tokio::test]
async fn a_lease_is_renewed_by_showing_it_and_ends_without_use() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    let short = v1::AcquireLeaseRequest { ttl_ms: Some(1000), holder: None };
    let lease = client.acquire_lease(short.clone()).await.expect("free").into_inner();
    let mut holder =
        coop.grpc_as(Credentials { lease: Some(lease.lease_id.clone()), ..Default::default() }).await;
    let longer = v1::AcquireLeaseRequest { ttl_ms: Some(60_000), holder: None };
    let renewed = holder.acquire_lease(longer).await.expect("its own").into_inner();
    assert_eq!(renewed.lease_id, lease.lease_id);
    assert!(renewed.expires_at_epoch_ms >= lease.expires_at_epoch_ms + 50_000, "{renewed:?} after {lease:?}");
    for ttl_ms in [Some(0), Some(-1), Some(300_001)] {
        let request = v1::AcquireLeaseRequest { ttl_ms, holder: None };
        assert_eq!(refusal(&holder.acquire_lease(request).await.expect_err("absurd")).code, "BAD_REQUEST");
    }
    holder.acquire_lease(short).await.expect("its own");
    until("the lease to run out", async || send(&mut client, b" ").await.ok()).await;
}

#[tokio::test]
async fn a_lease_ends_with_the_connection_that_took_it() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    let mut socket = Socket::connect(&coop, "mode=state").await;
    socket.ask(json!({"type": "lock", "action": "acquire"})).await.expect("free");
    socket.ask(json!({"type": "input", "text": " "})).await.expect("the holder needs to show nothing");
    assert_eq!(refusal(&send(&mut client, b" ").await.expect_err("held")).code, "WRITER_BUSY");
    drop(socket);
    until("the lease to end with its socket", async || send(&mut client, b" ").await.ok()).await;
    assert!(child_pid(&mut client).await > 0);
}
