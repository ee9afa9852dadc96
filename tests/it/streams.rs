//! Streams and pages: where they begin, how they resume, how they declare gaps, and how they end.

use std::collections::BTreeSet;

use coop_client::{Client, v1};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};
use tonic_health::pb::health_check_response::ServingStatus;
use v1::attach_request::Message as ClientMessage;
use v1::attach_response::Message as ServerMessage;

use crate::support::coop::{Coop, SHELL};
use crate::support::session::{
    Recording, event, exited, refusal, rest, rows, see, status, type_line,
};
use crate::support::sse::{Message, Sse};
use crate::support::{soon, until};

/// Prints ten bytes, then everything that is typed, without an echo.
const TEN_THEN_CAT: [&str; 3] = ["sh", "-c", "stty raw -echo; printf 0123456789; exec cat"];

async fn ten_bytes(flags: &[&str]) -> (Coop, Client) {
    let coop = Coop::with(flags, TEN_THEN_CAT).await;
    let mut client = coop.grpc().await;
    Recording::record(&mut client).await.until_length(10).await;
    (coop, client)
}

async fn type_raw(client: &mut Client, text: &str) {
    let request = v1::SendInputRawRequest { data: text.as_bytes().to_vec().into() };
    client.send_input_raw(request).await.expect("typed");
}

async fn resize(client: &mut Client, cols: i32, rows: i32) {
    client.resize(v1::ResizeRequest { cols, rows }).await.expect("resized");
}

async fn next<T: std::fmt::Debug>(stream: &mut Streaming<T>) -> T {
    soon("a message", stream.message()).await.expect("no error").expect("not the end")
}

// ---- Output ----

#[tokio::test]
async fn output_begins_at_the_requested_offset() {
    let (_coop, mut client) = ten_bytes(&[]).await;
    let epoch = status(&mut client).await.epoch;
    let ask = |from_offset, tail, epoch| v1::StreamOutputRequest { from_offset, tail, epoch };
    let mut whole = Recording::from(&mut client, ask(0, false, None)).await;
    let mut part = Recording::from(&mut client, ask(4, false, None)).await;
    let mut tail = Recording::from(&mut client, ask(0, true, None)).await;
    // With an epoch the request resumes, so `tail` has no effect.
    let mut resumed = Recording::from(&mut client, ask(7, true, Some(epoch))).await;
    let mut other_epoch = Recording::from(&mut client, ask(7, false, Some(epoch + 1))).await;
    assert_eq!((whole.first.epoch, whole.first.offset, whole.first.gap.clone()), (epoch, 0, None));
    assert_eq!((part.first.offset, tail.first.offset, resumed.first.offset), (4, 10, 7));
    let gap = other_epoch.first.gap.clone().expect("an offset of another epoch is a gap");
    assert_eq!(
        (gap.reason.as_str(), gap.from, gap.to, other_epoch.first.offset),
        ("epoch", 7, 0, 0)
    );

    type_raw(&mut client, "abc").await;
    for (recording, text) in [
        (&mut whole, "0123456789abc"),
        (&mut part, "456789abc"),
        (&mut tail, "abc"),
        (&mut resumed, "789abc"),
        (&mut other_epoch, "0123456789abc"),
    ] {
        recording.until_length(text.len()).await;
        assert_eq!((recording.text().as_str(), recording.skipped), (text, 0));
    }
    let refused = client.stream_output(ask(14, false, None)).await.expect_err("beyond the end");
    assert_eq!(
        (refused.code(), refusal(&refused).code.as_str()),
        (Code::InvalidArgument, "BAD_REQUEST")
    );
}

#[tokio::test]
async fn bytes_that_left_the_ring_are_a_declared_gap() {
    let script = "stty raw -echo; head -c 5000 /dev/zero | tr '\\0' x";
    let coop = Coop::with(&["--ring-size", "1000"], ["sh", "-c", script]).await;
    let mut client = coop.grpc().await;
    exited(&mut client).await;
    let epoch = status(&mut client).await.epoch;
    let ask = |from_offset, epoch| v1::StreamOutputRequest { from_offset, tail: false, epoch };
    // A request from the start, without an epoch, begins at the oldest byte and misses nothing. A
    // request from a later byte, or with an epoch, misses the bytes that left the ring.
    for (request, skipped) in [
        (ask(0, None), 0),
        (ask(1, None), 3999),
        (ask(0, Some(epoch)), 4000),
        (ask(4500, Some(epoch)), 0),
    ] {
        let mut recording = Recording::from(&mut client, request).await;
        recording.until_end().await;
        assert_eq!((recording.skipped, recording.next), (skipped, 5000), "{request:?}");
        assert_eq!(
            recording.first.offset + skipped + recording.bytes.len() as u64,
            5000,
            "{request:?}"
        );
    }

    let http = coop.http();
    let page = http.get("/api/v1/output?offset=10&limit=100").await.json();
    assert_eq!(
        (&page["offset"], &page["next_offset"], &page["total_written"]),
        (&json!(4000), &json!(4100), &json!(5000))
    );
    assert_eq!(page["epoch"], epoch);
    let page = http.get("/api/v1/output?offset=4950").await.json();
    assert_eq!((&page["offset"], &page["next_offset"]), (&json!(4950), &json!(5000)));
    assert_eq!(bytes_of(&page).len(), 50);
    let page = http.get("/api/v1/output?offset=5000").await.json();
    assert_eq!((&page["next_offset"], bytes_of(&page).len()), (&json!(5000), 0));
    for query in ["offset=5001", "limit=0", "limit=-1", "limit=1048577", "offset=-1", "offset=x"] {
        assert_eq!(
            http.get(&format!("/api/v1/output?{query}")).await.code(),
            "BAD_REQUEST",
            "{query}"
        );
    }
}

fn bytes_of(message: &Value) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD
        .decode(message["data"].as_str().expect("text"))
        .expect("base64")
}

// ---- Pages of text ----

#[tokio::test]
async fn scrollback_and_screen_text_come_in_pages() {
    let script = "for i in $(seq 100); do echo line $i; done; printf '\\033[31mred\\033[m'";
    let coop = Coop::with(&["--rows", "10", "--cols", "20"], ["sh", "-c", script]).await;
    let mut client = coop.grpc().await;
    exited(&mut client).await;
    let http = coop.http();
    let page = async |query: &str| http.get(&format!("/api/v1/scrollback?{query}")).await.json();
    let all = page("").await;
    // A hundred lines and the red one: ten of them are on the screen.
    assert_eq!(
        (&all["first_line"], &all["next_line"], &all["total_lines"]),
        (&json!(0), &json!(91), &json!(91))
    );
    assert_eq!((&all["lines"][0], &all["lines"][90]), (&json!("line 1"), &json!("line 91")));
    let last = page("last=2").await;
    assert_eq!((&last["first_line"], &last["lines"]), (&json!(89), &json!(["line 90", "line 91"])));
    assert_eq!(page("last=0").await["lines"], json!([]));
    assert_eq!(page("last=1000").await["lines"].as_array().expect("lines").len(), 91);
    // Read page by page.
    let (mut lines, mut from) = (Vec::new(), 0);
    while from < 91 {
        let part = page(&format!("from_line={from}&limit_bytes=64")).await;
        assert_eq!(part["first_line"], from);
        let some = part["lines"].as_array().expect("lines").clone();
        assert!(!some.is_empty() && some.len() <= 11, "{part}");
        lines.extend(some);
        from = part["next_line"].as_u64().expect("a number");
    }
    assert_eq!(Value::from(lines), all["lines"]);
    assert_eq!(
        page("from_line=90&limit_bytes=1").await["lines"],
        json!(["line 91"]),
        "one line always fits"
    );
    assert_eq!(page("from_line=91").await["lines"], json!([]));
    for query in ["last=-1", "limit_bytes=0", "limit_bytes=2097153", "format=html", "from_line=-1"]
    {
        let answer = http.get(&format!("/api/v1/scrollback?{query}")).await;
        assert_eq!(answer.code(), "BAD_REQUEST", "{query}");
    }

    let text = async |query: &str| http.get(&format!("/api/v1/screen/text?{query}")).await.text();
    let screen = text("").await;
    assert_eq!(screen.lines().count(), 10);
    assert!(screen.starts_with("line 92\n") && screen.ends_with("line 100\nred"), "{screen}");
    assert_eq!(text("lines=2").await, "line 100\nred");
    assert_eq!(text("scrollback=true").await.lines().count(), 101);
    assert!(text("scrollback=true&lines=12").await.starts_with("line 90\n"));
    assert_eq!(http.get("/api/v1/screen/text?lines=-1").await.code(), "BAD_REQUEST");

    let ansi = http.get("/api/v1/screen?format=ansi&cursor=false").await.json();
    assert_eq!(ansi["cursor"], Value::Null);
    assert!(ansi["lines"][9].as_str().expect("text").contains("\u{1b}["), "{ansi}");
    let plain = http.get("/api/v1/screen").await.json();
    assert_eq!(
        (&plain["lines"][9], &plain["cursor"]["row"], &plain["cursor"]["col"]),
        (&json!("red"), &json!(9), &json!(3))
    );
}

// ---- The screen ----

#[tokio::test]
async fn the_screen_comes_at_once_and_then_as_it_changes() {
    let coop = Coop::run([
        "sh",
        "-c",
        "stty -echo; printf '\\033]0;title\\007ready'; read x; seq 5000; cat",
    ])
    .await;
    let mut client = coop.grpc().await;
    see(&mut client, "ready").await;
    let mut screens = client
        .stream_screen(v1::StreamScreenRequest::default())
        .await
        .expect("a stream")
        .into_inner();
    let first = next(&mut screens).await;
    assert_eq!(
        (first.lines[0].as_str(), first.cols, first.rows, first.title.as_str()),
        ("ready", 200, 50, "title")
    );
    assert_eq!((first.epoch, first.alt_screen), (status(&mut client).await.epoch, false));
    type_line(&mut client, "").await;
    let mut frames = vec![first];
    while frames.last().is_none_or(|frame| frame.lines[48] != "5000") {
        frames.push(next(&mut screens).await);
    }
    assert!(frames.windows(2).all(|two| two[0].sequence < two[1].sequence), "each frame is newer");
    let last = frames.last().expect("a frame");
    assert!(frames.len() < 2500, "{} frames for 5000 lines: changes are merged", frames.len());
    let now =
        client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert_eq!((&now.lines, now.sequence), (&last.lines, last.sequence));

    resize(&mut client, 40, 5).await;
    until("the new size", async || {
        let frame = next(&mut screens).await;
        (frame.cols == 40 && frame.rows == 5 && frame.lines.len() == 5).then_some(())
    })
    .await;
    let unknown = client
        .stream_screen(v1::StreamScreenRequest { format: 7 })
        .await
        .expect_err("no such format");
    assert_eq!(refusal(&unknown).code, "BAD_REQUEST");
}

// ---- State and events ----

#[tokio::test]
async fn the_stream_has_the_state_first_and_then_every_transition() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let epoch = status(&mut client).await.epoch;
    let ask = |since_seq, epoch| v1::StreamStateRequest { since_seq, epoch };
    let mut live = client.stream_state(ask(0, None)).await.expect("a stream").into_inner();
    let first = next(&mut live).await;
    assert_eq!(
        (first.kind.as_str(), first.prev.as_str(), first.next.as_str()),
        ("snapshot", "", "unknown")
    );
    assert_eq!((first.epoch, first.seq), (epoch, 1));
    client.restart_session(v1::RestartSessionRequest { force: true }).await.expect("restarted");
    client.send_signal(v1::SendSignalRequest { signal: "KILL".to_owned() }).await.expect("killed");
    let mut moves = Vec::new();
    for _ in 0..3 {
        let change = next(&mut live).await;
        assert_eq!(change.kind, "transition");
        moves.push((change.seq, change.prev, change.next));
    }
    let names: Vec<_> =
        moves.iter().map(|(_, prev, next)| (prev.as_str(), next.as_str())).collect();
    assert_eq!(
        names,
        [("unknown", "restarting"), ("restarting", "unknown"), ("unknown", "exited")]
    );

    // A client that resumes gets what it missed, and no more.
    let mut back =
        client.stream_state(ask(moves[0].0, Some(epoch))).await.expect("a stream").into_inner();
    let snapshot = next(&mut back).await;
    assert_eq!((snapshot.kind.as_str(), snapshot.next.as_str()), ("snapshot", "exited"));
    for (seq, ..) in &moves[1..] {
        assert_eq!(next(&mut back).await.seq, *seq);
    }
    let mut other_epoch =
        client.stream_state(ask(99, Some(1))).await.expect("a stream").into_inner();
    assert_eq!(next(&mut other_epoch).await.gap.expect("a gap").reason, "epoch");
    let refused = client.stream_state(ask(99, None)).await.expect_err("beyond the end");
    assert_eq!(refusal(&refused).code, "BAD_REQUEST");
}

async fn events(
    client: &mut Client,
    since_seq: u64,
    types: &[&str],
    epoch: Option<u64>,
) -> Streaming<v1::Event> {
    let types = types.iter().map(|name| (*name).to_owned()).collect();
    let request = v1::StreamEventsRequest { since_seq, types, epoch };
    soon("a stream", client.stream_events(request)).await.expect("a stream").into_inner()
}

#[tokio::test]
async fn events_come_in_order_from_the_requested_number_and_of_the_requested_types() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let epoch = status(&mut client).await.epoch;
    for cols in [100, 101, 102] {
        resize(&mut client, cols, 30).await;
    }
    client.send_signal(v1::SendSignalRequest { signal: "KILL".to_owned() }).await.expect("killed");
    exited(&mut client).await;

    let mut all = events(&mut client, 0, &[], None).await;
    let opening = next(&mut all).await;
    assert_eq!((opening.r#type.as_str(), opening.seq, opening.epoch), ("heartbeat", 0, epoch));
    let mut seen = Vec::new();
    for seq in 1..=7 {
        let event = next(&mut all).await;
        assert_eq!((event.seq, event.epoch), (seq, epoch));
        seen.push(event.r#type);
    }
    assert_eq!(seen, ["state", "resize", "resize", "resize", "signal", "state", "exit"]);

    let mut later = events(&mut client, 3, &[], Some(epoch)).await;
    assert_eq!(next(&mut later).await.seq, 3, "the heartbeat that opens the stream");
    assert_eq!(next(&mut later).await.seq, 4);

    // A hole that the filter makes is no gap.
    let mut some = events(&mut client, 0, &["resize", " Exit "], None).await;
    assert_eq!(next(&mut some).await.r#type, "heartbeat");
    let mut seqs = Vec::new();
    for _ in 0..4 {
        seqs.push(next(&mut some).await.seq);
    }
    assert_eq!(seqs, [2, 3, 4, 7]);

    let mut other_epoch = events(&mut client, 77, &["exit"], Some(epoch - 1)).await;
    assert_eq!(next(&mut other_epoch).await.r#type, "heartbeat");
    let gap = next(&mut other_epoch).await;
    let Some(v1::event::Payload::Gap(gap)) = gap.payload else { panic!("{gap:?}") };
    assert_eq!((gap.reason.as_str(), gap.to), ("epoch", 1));
    assert_eq!(next(&mut other_epoch).await.r#type, "exit");

    for request in [
        v1::StreamEventsRequest { types: vec!["nonsense".to_owned()], ..Default::default() },
        v1::StreamEventsRequest { since_seq: 8, ..Default::default() },
    ] {
        let refused = client.stream_events(request).await.expect_err("refused");
        assert_eq!(
            (refused.code(), refusal(&refused).code.as_str()),
            (Code::InvalidArgument, "BAD_REQUEST")
        );
    }
}

#[tokio::test]
async fn a_stream_of_rare_events_sends_heartbeats_while_others_happen() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let mut rare = events(&mut client, 0, &["exit"], None).await;
    assert_eq!(next(&mut rare).await.seq, 0);
    let mut cols = 100;
    let heartbeat = until("a heartbeat", async || {
        cols = 201 - cols;
        resize(&mut client, cols, 30).await;
        let waited =
            tokio::time::timeout(std::time::Duration::from_millis(500), rare.message()).await;
        waited.ok().map(|message| message.expect("no error").expect("not the end"))
    })
    .await;
    assert_eq!(heartbeat.r#type, "heartbeat");
    assert!(heartbeat.seq > 1, "it has the number of the last event that was left out");
}

// ---- Attach, and a flood of events ----

struct Attached {
    keyboard: mpsc::Sender<v1::AttachRequest>,
    responses: Streaming<v1::AttachResponse>,
    snapshot: v1::AttachSnapshot,
}

impl Attached {
    async fn open(client: &mut Client) -> Self {
        let (keyboard, asked) = mpsc::channel(64);
        let mut responses =
            client.attach(ReceiverStream::new(asked)).await.expect("a stream").into_inner();
        let Some(ServerMessage::Snapshot(snapshot)) = next(&mut responses).await.message else {
            panic!("no snapshot first")
        };
        Self { keyboard, responses, snapshot }
    }

    async fn ask(&self, message: ClientMessage) {
        self.keyboard
            .send(v1::AttachRequest { message: Some(message) })
            .await
            .expect("the stream is open");
    }

    async fn next(&mut self) -> ServerMessage {
        next(&mut self.responses).await.message.expect("a message")
    }

    /// The next message that `pick` picks; others are passed over.
    async fn find<T>(&mut self, pick: impl Fn(ServerMessage) -> Option<T>) -> T {
        loop {
            if let Some(found) = pick(self.next().await) {
                return found;
            }
        }
    }

    async fn output_with(&mut self, text: &str) {
        let mut seen = String::new();
        while !seen.contains(text) {
            if let ServerMessage::Output(chunk) = self.next().await {
                seen += &String::from_utf8_lossy(&chunk.data);
            }
        }
    }
}

fn input(text: &str) -> ClientMessage {
    ClientMessage::Input(text.as_bytes().to_vec().into())
}

fn size(cols: i32, rows: i32) -> ClientMessage {
    ClientMessage::Resize(v1::ResizeRequest { cols, rows })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_are_no_longer_kept_are_declared() {
    const RESIZES: i32 = 5000;
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let epoch = status(&mut client).await.epoch;
    let http = coop.http();
    let sse_id = Sse::open(&http, "/api/v1/events").await.wait_for("state").await.id();
    for turn in 0..RESIZES {
        client.resize(v1::ResizeRequest { cols: 10 + turn % 2, rows: 5 }).await.expect("resized");
    }
    let head = status(&mut client).await.event_seq;
    assert_eq!(head, 1 + RESIZES as u64);
    let oldest = head - 4096 + 1;

    let mut late = events(&mut client, 1, &[], Some(epoch)).await;
    assert_eq!(next(&mut late).await.seq, 1);
    let gap = next(&mut late).await;
    let Some(v1::event::Payload::Gap(hole)) = gap.payload else { panic!("{gap:?}") };
    assert_eq!(
        (hole.reason.as_str(), hole.from, hole.to, gap.seq),
        ("overrun", 2, oldest, oldest - 1)
    );
    for seq in oldest..=head {
        assert_eq!(next(&mut late).await.seq, seq);
    }
    // Resumed after the gap, nothing is missing; a filter does not hide the gap.
    let mut resumed = events(&mut client, gap.seq, &[], Some(epoch)).await;
    assert_eq!(next(&mut resumed).await.r#type, "heartbeat");
    assert_eq!(next(&mut resumed).await.seq, oldest);
    let mut filtered = events(&mut client, 1, &["exit"], Some(epoch)).await;
    next(&mut filtered).await;
    assert_eq!(next(&mut filtered).await.r#type, "gap");
    let mut sse = Sse::open(&http.header("last-event-id", &sse_id), "/api/v1/events").await;
    let gap = sse.wait_for("gap").await;
    assert_eq!((&gap.data["gap"]["from"], &gap.data["gap"]["to"]), (&json!(2), &json!(oldest)));
}

#[tokio::test]
async fn attach_sends_the_screen_and_then_works_in_both_directions() {
    let coop = Coop::run(SHELL).await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo be''fore").await;
    see(&mut client, "before").await;
    let mut attached = Attached::open(&mut client).await;
    let status_now = status(&mut client).await;
    let snapshot = attached.snapshot.clone();
    assert_eq!(
        (snapshot.cols, snapshot.rows, snapshot.generation, snapshot.epoch),
        (200, 50, 1, status_now.epoch)
    );
    assert_eq!(
        (snapshot.offset, snapshot.event_seq),
        (status_now.bytes_read, status_now.event_seq)
    );
    assert!(String::from_utf8_lossy(&snapshot.dump).contains("before"));
    assert!(snapshot.modes.expect("modes").cursor_visible);

    attached
        .ask(ClientMessage::Open(v1::AttachOpen {
            size: Some(v1::TerminalSize { cols: 91, rows: 17 }),
            state: true,
        }))
        .await;
    let resized = attached
        .find(|message| if let ServerMessage::Resize(size) = message { Some(size) } else { None })
        .await;
    assert_eq!((resized.cols, resized.rows), (91, 17));
    attached.ask(input("stty size\r")).await;
    attached.output_with("17 91").await;
    // The stream has the changes by other clients too.
    resize(&mut client, 80, 24).await;
    let resized = attached
        .find(|message| if let ServerMessage::Resize(size) = message { Some(size) } else { None })
        .await;
    assert_eq!((resized.cols, resized.rows), (80, 24));
    attached.ask(size(0, 24)).await;
    let error = attached
        .find(|message| if let ServerMessage::Error(error) = message { Some(error) } else { None })
        .await;
    assert_eq!(error.code, "BAD_REQUEST", "a refusal does not end the stream");

    // The lease belongs to the stream.
    attached.ask(ClientMessage::Lease(v1::AttachLease { acquire: true, ttl_ms: None })).await;
    let lease = attached
        .find(|message| if let ServerMessage::Lease(lease) = message { Some(lease) } else { None })
        .await;
    assert!(!lease.lease_id.is_empty());
    let request = v1::SendInputRequest { text: "x".to_owned(), enter: false };
    assert_eq!(
        refusal(&client.send_input(request.clone()).await.expect_err("held")).code,
        "WRITER_BUSY"
    );
    let mut other = Attached::open(&mut client).await;
    other.ask(input("x")).await;
    let error = other
        .find(|message| if let ServerMessage::Error(error) = message { Some(error) } else { None })
        .await;
    assert_eq!(error.code, "WRITER_BUSY");
    attached.ask(input("echo ow''ner\r")).await;
    attached.output_with("owner").await;
    attached.ask(ClientMessage::Lease(v1::AttachLease { acquire: false, ttl_ms: None })).await;
    until("the lease to be free", async || client.send_input(request.clone()).await.ok()).await;
    attached.ask(ClientMessage::Lease(v1::AttachLease { acquire: true, ttl_ms: None })).await;
    attached
        .find(|message| if let ServerMessage::Lease(lease) = message { Some(lease) } else { None })
        .await;
    drop(attached);
    until("the lease to end with its stream", async || {
        client.send_input(request.clone()).await.ok()
    })
    .await;
}

#[tokio::test]
async fn attach_continues_over_a_restart_and_ends_with_the_exit() {
    let coop = Coop::run(["sh", "-c", "stty -echo; echo up; read line; exit 4"]).await;
    let mut client = coop.grpc().await;
    see(&mut client, "up").await;
    let mut attached = Attached::open(&mut client).await;
    attached.ask(ClientMessage::Open(v1::AttachOpen { size: None, state: true })).await;
    client.restart_session(v1::RestartSessionRequest { force: true }).await.expect("restarted");
    let restart = attached
        .find(
            |message| {
                if let ServerMessage::Restart(restart) = message { Some(restart) } else { None }
            },
        )
        .await;
    assert_eq!((restart.generation, restart.reason.as_str()), (2, "restart"));
    see(&mut client, "up").await;
    // The client closes its sending side, and still receives.
    attached.ask(input("\r")).await;
    let Attached { keyboard, mut responses, .. } = attached;
    drop(keyboard);
    let (messages, status) = rest(&mut responses).await;
    assert!(status.is_none(), "{status:?}");
    let last = messages.last().and_then(|message| message.message.clone());
    assert_eq!(
        last,
        Some(ServerMessage::Exit(v1::ExitEvent { code: Some(4), signal: None, generation: 2 }))
    );

    // Attaching after the exit gives the last screen and the exit.
    let mut late = Attached::open(&mut client).await;
    assert!(String::from_utf8_lossy(&late.snapshot.dump).contains("up"));
    assert!(matches!(late.next().await, ServerMessage::Exit(_)));
    assert!(late.responses.message().await.expect("no error").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attached_client_that_fell_behind_gets_a_new_snapshot() {
    let script = "stty raw -echo; printf up; head -c 1 >/dev/null; seq -s ' ' 1 1000000; printf 'the\\r\\nend'; cat";
    let coop = Coop::with(&["--ring-size", "65536"], ["sh", "-c", script]).await;
    let mut client = coop.grpc().await;
    see(&mut client, "up").await;
    let mut attached = Attached::open(&mut coop.grpc().await).await;
    type_raw(&mut client, "x").await;
    see(&mut client, "end").await;
    // The client begins to read only now: it gets buffered output, a new snapshot, and the output
    // after that.
    let mut expected = attached.snapshot.offset;
    let mut drawing = Vec::new();
    let mut snapshots = 0;
    let end = status(&mut client).await.bytes_read;
    while expected < end {
        match attached.next().await {
            ServerMessage::Output(chunk) => {
                assert_eq!(
                    chunk.offset, expected,
                    "output is continuous from the last snapshot on"
                );
                expected = chunk.next_offset;
                drawing.extend_from_slice(&chunk.data);
            }
            ServerMessage::Snapshot(snapshot) => {
                assert!(snapshot.offset > expected, "the snapshot skips output");
                expected = snapshot.offset;
                drawing = snapshot.dump.to_vec();
                snapshots += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(snapshots > 0, "7 MB do not fit into the buffers");
    let mut terminal = avt::Terminal::new(200, 50).expect("a terminal");
    terminal.feed(String::from_utf8_lossy(&drawing).as_ref());
    let drawn: Vec<_> =
        terminal.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect();
    assert_eq!(drawn, rows(&mut client).await, "drawing the output gives the screen");
    attached.ask(input("typed")).await;
    attached.output_with("typed").await;
}

// ---- Server-sent events ----

#[tokio::test]
async fn a_browser_resumes_events_without_loss_or_repetition() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let epoch = status(&mut client).await.epoch;
    let http = coop.http();
    let mut sse = Sse::open(&http, "/api/v1/events?types=resize,exit").await;
    let opening = sse.next().await.expect("an event");
    assert_eq!((opening.event.as_str(), opening.id()), ("heartbeat", format!("{epoch}-0")));
    let mut last = opening.id();
    let mut seqs = Vec::new();
    for turn in 0..20 {
        resize(&mut client, 50 + turn, 20).await;
        let message = sse.wait_for("resize").await;
        assert_eq!(message.data["resize"], json!({"cols": 50 + turn, "rows": 20}));
        assert_eq!(message.id(), format!("{epoch}-{}", message.data["seq"]));
        seqs.push(message.data["seq"].as_u64().expect("a number"));
        last = message.id();
        if turn % 5 == 4 {
            // The connection is lost, and something happens meanwhile.
            drop(sse);
            resize(&mut client, 10, 10).await;
            sse =
                Sse::open(&http.header("last-event-id", &last), "/api/v1/events?types=resize,exit")
                    .await;
            assert_eq!(
                sse.next().await.expect("an event").id(),
                last,
                "the heartbeat has the same number"
            );
            let missed = sse.wait_for("resize").await;
            assert_eq!(missed.data["resize"]["cols"], 10);
            seqs.push(missed.data["seq"].as_u64().expect("a number"));
            last = missed.id();
        }
    }
    let distinct: BTreeSet<_> = seqs.iter().collect();
    assert!(seqs.is_sorted() && distinct.len() == 24, "{seqs:?}");
    let other_epoch = format!("{}-3", epoch + 5);
    let mut sse = Sse::open(&http.header("last-event-id", &other_epoch), "/api/v1/events").await;
    assert_eq!(sse.wait_for("gap").await.data["gap"]["reason"], "epoch");
    assert_eq!(sse.next().await.expect("an event").data["seq"], 1);
    assert!(!last.is_empty());
}

#[tokio::test]
async fn a_browser_resumes_output_and_gets_its_end() {
    let coop = Coop::run(["sh", "-c", "stty raw -echo; printf up; exec cat"]).await;
    let mut client = coop.grpc().await;
    see(&mut client, "up").await;
    let epoch = status(&mut client).await.epoch;
    let http = coop.http();
    let mut seen: Vec<u8> = Vec::new();
    let mut sse = Sse::open(&http, "/api/v1/stream/output").await;
    let mut last = String::new();
    for turn in 0..5 {
        type_raw(&mut client, &format!("<{turn}>")).await;
        while !seen.ends_with(format!("<{turn}>").as_bytes()) {
            let Message { id, data, .. } = sse.wait_for("output").await;
            seen.extend(bytes_of(&data));
            last = id.expect("an id");
            assert_eq!(last, format!("{epoch}-{}", data["next_offset"]));
        }
        drop(sse);
        type_raw(&mut client, "!").await;
        sse = Sse::open(&http.header("last-event-id", &last), "/api/v1/stream/output?tail=true")
            .await;
    }
    while !seen.ends_with(b"!") {
        seen.extend(bytes_of(&sse.wait_for("output").await.data));
    }
    assert_eq!(String::from_utf8_lossy(&seen), "up<0>!<1>!<2>!<3>!<4>!");
    client.send_signal(v1::SendSignalRequest { signal: "KILL".to_owned() }).await.expect("killed");
    let end = sse.wait_for("end").await;
    assert_eq!(end.id(), format!("{epoch}-end"));
    assert!(sse.next().await.is_none());
    let again = http.header("last-event-id", &end.id()).get("/api/v1/stream/output").await;
    assert_eq!((again.status.as_u16(), again.body.len()), (204, 0));
}

#[tokio::test]
async fn a_stream_that_cannot_begin_returns_a_plain_error() {
    let coop = Coop::run(["cat"]).await;
    let http = coop.http();
    for path in [
        "events?types=nonsense",
        "events?since_seq=999",
        "events?since_seq=x",
        "stream/output?from_offset=999",
        "stream/screen?format=html",
        "stream/state?since_seq=999",
    ] {
        let answer = http.get(&format!("/api/v1/{path}")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "BAD_REQUEST"),
            "{path}"
        );
        assert_eq!(answer.headers["content-type"], "application/json", "{path}");
    }
    let answer = http.get("/api/v1/stream/transcripts").await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "NO_DRIVER"));
}

// ---- Waiting, and health ----

#[tokio::test]
async fn waiting_for_a_state_matches_times_out_or_fails_after_the_exit() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let http = coop.http();
    let wait = async |query: &str| http.get(&format!("/api/v1/agent/wait?{query}")).await;
    let at_once = wait("state=idle,unknown").await.json();
    assert_eq!((&at_once["matched"], &at_once["state"]), (&json!(true), &json!("unknown")));
    assert_eq!(at_once["agent"]["state"], "unknown");
    assert_eq!(wait("state=idle&state=unknown&stable_ms=1").await.json()["matched"], true);
    for query in [
        "state=idle&timeout_ms=20",
        "state=idle&timeout_ms=0",
        "state=unknown&stable_ms=600000&timeout_ms=20",
    ] {
        let expired = wait(query).await.json();
        assert_eq!(
            (&expired["matched"], &expired["state"]),
            (&json!(false), &json!("unknown")),
            "{query}"
        );
    }
    for query in [
        "",
        "state=",
        "state=nonsense",
        "state=idle&timeout_ms=600001",
        "state=idle&timeout_ms=-1",
        "state=idle&stable_ms=-1",
    ] {
        assert_eq!(wait(query).await.code(), "BAD_REQUEST", "{query}");
    }

    // Only a state that begins after the given event counts.
    let seq = status(&mut client).await.event_seq;
    assert_eq!(
        wait(&format!("state=unknown&after_seq={seq}&timeout_ms=20")).await.json()["matched"],
        false
    );
    let waiting = {
        let http = http.clone();
        tokio::spawn(async move {
            http.get(&format!("/api/v1/agent/wait?state=unknown&after_seq={seq}")).await.json()
        })
    };
    client.restart_session(v1::RestartSessionRequest { force: true }).await.expect("restarted");
    let matched = waiting.await.expect("joined");
    assert_eq!(matched["matched"], true);
    assert!(matched["agent"]["since_seq"].as_u64() > Some(seq), "{matched}");
    assert_eq!(
        wait(&format!("state=unknown&after_seq={}&epoch=1", seq + 99)).await.json()["matched"],
        true
    );

    let [for_idle, for_exit] = ["idle", "exited"].map(|state| {
        let http = http.clone();
        tokio::spawn(async move { http.get(&format!("/api/v1/agent/wait?state={state}")).await })
    });
    client.send_signal(v1::SendSignalRequest { signal: "KILL".to_owned() }).await.expect("killed");
    assert_eq!(for_exit.await.expect("joined").json()["matched"], true);
    let late = for_idle.await.expect("joined");
    assert_eq!((late.status.as_u16(), late.code().as_str()), (410, "EXITED"));
    assert_eq!(wait("state=idle").await.code(), "EXITED");
}

#[tokio::test]
async fn the_health_service_shows_when_the_child_is_ready() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let mut ready = coop.health_watch("ready").await;
    // On a busy machine coop serves before its child has started.
    while next(&mut ready).await.status() != ServingStatus::Serving {}
    for name in ["", "coop.v1.Coop"] {
        assert_eq!(
            next(&mut coop.health_watch(name).await).await.status(),
            ServingStatus::Serving,
            "{name}"
        );
    }
    // Events that do not change the readiness send nothing.
    resize(&mut client, 10, 10).await;
    resize(&mut client, 11, 11).await;
    client.send_signal(v1::SendSignalRequest { signal: "KILL".to_owned() }).await.expect("killed");
    exited(&mut client).await;
    assert_eq!(next(&mut ready).await.status(), ServingStatus::NotServing);
    client.restart_session(v1::RestartSessionRequest { force: true }).await.expect("restarted");
    assert_eq!(next(&mut ready).await.status(), ServingStatus::Serving);
    assert!(!rows(&mut client).await.is_empty());
    let mut all = events(&mut client, 0, &[], None).await;
    event(&mut all, "restart").await;
}
