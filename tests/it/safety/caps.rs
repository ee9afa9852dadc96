//! How many of everything there may be, and what who comes too late is told.

use bytes::{BufMut as _, BytesMut};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::Error as WsError;

use crate::support::coop::{Coop, SHELL};
use crate::support::http::Http;
use crate::support::ws::Socket;
use crate::support::{soon, until};

const CONNECTIONS: usize = 2048;
const UNPROVEN: usize = 64;
const STREAMS: u32 = 256;

#[tokio::test]
async fn the_connection_after_the_last_is_told_that_there_is_no_room() {
    // Both ends need a descriptor for each, and many systems allow no more than 1024 unless asked.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("raised");
    let coop = Coop::with(&["--health-port", "0", "--grpc-port", "0", "--socket", "here.sock"], SHELL).await;
    let mut first = Socket::connect(&coop, "mode=state").await;
    let mut idle = Vec::new();
    while idle.len() < CONNECTIONS - 1 {
        idle.push(std::net::TcpStream::connect(coop.address()).expect("connected"));
    }
    // Coop takes connections in the order in which they came, so this one finds all places taken.
    let mut late = TcpStream::connect(coop.address()).await.expect("connected");
    let mut answer = String::new();
    soon("the refusal", late.read_to_string(&mut answer)).await.expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!((&body["code"], &body["error"]["code"]), (&json!("NOT_READY"), &json!("NOT_READY")), "{body}");
    assert!(body["message"].as_str().is_some_and(|message| message.contains("2048")), "{body}");

    // A full port is full for itself alone.
    let mut probes = coop.health.expect("a health port");
    probes.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    let socket = coop.socket.clone().expect("a socket");
    for (door, http) in [
        ("health", Http::tcp(probes)),
        ("socket", Http::unix(coop.home.path().join(socket))),
        ("private", Http::unix(coop.private_socket())),
    ] {
        assert_eq!(http.get("/api/v1/health").await.status, 200, "{door}");
    }
    let grpc = coop.grpc.expect("a gRPC port");
    assert_eq!(Http::tcp(grpc).get("/api/v1/health").await.code(), "NOT_FOUND");

    first.ask(json!({"type": "ping"})).await.expect("who is in is served");
    let waiting = idle.pop().expect("a connection");
    waiting.set_nonblocking(true).expect("set");
    let mut waiting = TcpStream::from_std(waiting).expect("a stream");
    waiting
        .write_all(b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .expect("sent");
    answer.clear();
    soon("an answer", waiting.read_to_string(&mut answer)).await.expect("text");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(idle);
    until("room again", async || {
        let mut stream = TcpStream::connect(coop.address()).await.ok()?;
        stream.write_all(b"GET /api/v1/health HTTP/1.0\r\nhost: localhost\r\n\r\n").await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        answer.contains(" 200 ").then_some(())
    })
    .await;
}

/// Takes the ten seconds that coop gives, once for all of them.
#[tokio::test]
async fn who_does_not_even_say_what_it_speaks_is_closed_on() {
    let coop = Coop::shell().await;
    let connect = async |sent: &[u8]| {
        let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
        stream.write_all(sent).await.expect("sent");
        stream
    };
    // Who has begun well may be silent afterwards, for much longer than this.
    let mut http1 = connect(b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut start = [0; 13];
    soon("an answer", http1.read_exact(&mut start)).await.expect("an answer");
    assert_eq!(&start, b"HTTP/1.1 200 ");
    let mut begun = BytesMut::from(PREFACE);
    frame(&mut begun, SETTINGS, 0, 0, &[]);
    let mut http2 = connect(&begun).await;

    let mut mute: Vec<Box<dyn AsyncRead + Unpin>> = Vec::new();
    for length in [0, 1, 14, PREFACE.len() - 1] {
        mute.push(Box::new(connect(&PREFACE[..length]).await));
        let mut unix = UnixStream::connect(coop.private_socket()).await.expect("connected");
        unix.write_all(&PREFACE[..length]).await.expect("sent");
        mute.push(Box::new(unix));
    }
    for stream in &mut mute {
        let mut said = Vec::new();
        // A reset is an end too.
        drop(soon("the end", stream.read_to_end(&mut said)).await);
        assert!(said.is_empty(), "{said:?}");
    }

    http1
        .write_all(b"GET /api/v1/nothing HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .expect("sent");
    let mut rest = String::new();
    soon("the second answer", http1.read_to_string(&mut rest)).await.expect("text");
    assert!(rest.contains("HTTP/1.1 404 "), "{rest}");
    let mut ping = BytesMut::new();
    frame(&mut ping, PING, 0, 0, b"are you?");
    http2.write_all(&ping).await.expect("sent");
    loop {
        let (kind, _, payload) = soon("a frame", read_frame(&mut http2)).await;
        assert_ne!(kind, GOAWAY, "{payload:?}");
        if kind == PING && payload == b"are you?" {
            break;
        }
    }
}

/// Both protocols have requests that begin with a P, and it may come alone.
#[tokio::test]
async fn a_beginning_may_come_in_pieces() {
    let coop = Coop::shell().await;
    let put = b"PUT /api/v1/nothing HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
    stream.set_nodelay(true).expect("set");
    for byte in put {
        stream.write_all(&[*byte]).await.expect("sent");
        tokio::task::yield_now().await;
    }
    let mut answer = String::new();
    soon("an answer", stream.read_to_string(&mut answer)).await.expect("text");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");

    let mut begun = BytesMut::from(PREFACE);
    frame(&mut begun, SETTINGS, 0, 0, &[]);
    let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
    stream.set_nodelay(true).expect("set");
    for byte in begun {
        stream.write_all(&[byte]).await.expect("sent");
        tokio::task::yield_now().await;
    }
    assert_eq!(soon("a frame", read_frame(&mut stream)).await.0, SETTINGS);
}

#[tokio::test]
async fn few_sockets_may_wait_for_their_token() {
    let coop = Coop::with(&["--auth-token", "t0ken", "--host", "127.0.0.1"], SHELL).await;
    let mut waiting = Vec::new();
    for _ in 0..UNPROVEN {
        waiting.push(Socket::connect(&coop, "mode=all").await);
    }
    let Err(WsError::Http(refused)) = Socket::try_connect(&coop, "mode=all", &[]).await else {
        panic!("one more was let in");
    };
    assert_eq!(refused.status(), 413);
    let body: Value = serde_json::from_slice(refused.body().as_deref().unwrap_or_default()).expect("JSON");
    assert_eq!(body["code"], "TOO_LARGE");
    // Who brings the token with the upgrade needs no such place, and who shows it later leaves one.
    let headers = [("authorization", "Bearer t0ken")];
    Socket::try_connect(&coop, "mode=state", &headers).await.expect("let in").wait_for("state").await;
    let mut proven = waiting.pop().expect("a socket");
    proven.ask(json!({"type": "auth", "token": "t0ken"})).await.expect("let in");
    until("a place", async || Socket::try_connect(&coop, "mode=all", &[]).await.ok()).await;
}

#[tokio::test]
async fn sockets_that_show_no_token_in_time_are_closed_and_were_told_nothing() {
    let coop = Coop::with(&["--auth-token", "t0ken", "--host", "127.0.0.1"], SHELL).await;
    let mut silent = Socket::connect(&coop, "mode=all").await;
    let mut talkative = Socket::connect(&coop, "mode=all").await;
    talkative.send(json!({"type": "screen_request"})).await;
    let Some(tokio_tungstenite::tungstenite::Message::Close(Some(close))) = talkative.next().await else {
        panic!("a call before the token is answered with a close and nothing else");
    };
    assert_eq!(u16::from(close.code), 4401);
    // Output flows meanwhile, and none of it comes here.
    coop.http().token("t0ken").post("/api/v1/input", json!({"text": "echo secret", "enter": true})).await;
    let Some(tokio_tungstenite::tungstenite::Message::Close(Some(close))) = silent.next().await else {
        panic!("something was pushed before the token");
    };
    assert_eq!(u16::from(close.code), 4401);
}

/// HTTP/2 by hand: a well-behaved client would not open one stream more than it was told to.
#[tokio::test]
async fn one_connection_has_its_share_of_streams() {
    let coop = Coop::shell().await;
    let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
    let mut sent = BytesMut::from(PREFACE);
    frame(&mut sent, SETTINGS, 0, 0, &[]);
    for number in 0..=STREAMS {
        let path = "/api/v1/stream/state";
        let mut fields = BytesMut::from(&[0x82, 0x86, 0x01, 9][..]);
        fields.put_slice(b"localhost");
        fields.put_slice(&[0x04, u8::try_from(path.len()).expect("short")]);
        fields.put_slice(path.as_bytes());
        frame(&mut sent, HEADERS, END_STREAM | END_HEADERS, number * 2 + 1, &fields);
    }
    stream.write_all(&sent).await.expect("sent");
    let mut answered = std::collections::BTreeSet::new();
    let refused = loop {
        let (kind, id, payload) = soon("a frame", read_frame(&mut stream)).await;
        match kind {
            HEADERS => drop(answered.insert(id)),
            RST_STREAM => break (id, payload),
            GOAWAY => panic!("the whole connection was ended: {payload:?}"),
            _ => {}
        }
    };
    assert_eq!(refused, (STREAMS * 2 + 1, REFUSED_STREAM.to_vec()), "only the last is refused");
    assert_eq!(coop.http().get("/api/v1/health").await.status, 200);
    assert_eq!(Http::tcp(coop.address()).get("/api/v1/status").await.status, 200);
}

#[tokio::test]
async fn coop_takes_all_the_descriptors_it_may_and_its_child_gets_no_more_than_it_was_given() {
    let home = tempfile::tempdir().expect("a directory");
    let script = r#"ulimit -Sn 300; exec "$0" --port 0 -- sh -c 'echo limit=$(ulimit -Sn); exec cat'"#;
    let mut process = tokio::process::Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_coop")])
        .env("HOME", home.path())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("coop starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
    soon("the announcement", stdout.read_line(&mut line)).await.expect("a line");
    let place = line.trim().rsplit(' ').next().and_then(|place| place.parse().ok()).expect("an address");
    let http = Http::tcp(place);
    until("the child's limit", async || {
        let text = http.get("/api/v1/screen/text?lines=1").await.text();
        (text == "limit=300\n").then_some(())
    })
    .await;
    let limits = format!("/proc/{}/limits", process.id().expect("it runs"));
    let limits = std::fs::read_to_string(limits).expect("limits");
    let files = limits.lines().find(|line| line.starts_with("Max open files")).expect("the line");
    let numbers: Vec<&str> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "the soft limit is the hard one");
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];

fn frame(out: &mut BytesMut, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.put_uint(payload.len() as u64, 3);
    out.put_slice(&[kind, flags]);
    out.put_u32(stream);
    out.put_slice(payload);
}

/// The kind, the stream and the payload of the next frame.
async fn read_frame(stream: &mut TcpStream) -> (u8, u32, Vec<u8>) {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.expect("a frame");
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.expect("a payload");
    (head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload)
}
