//! The limits on connections, sockets and streams, and the error beyond each.

use bytes::BytesMut;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::Error as WsError;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::h2::{
    END_HEADERS, END_STREAM, GET, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, fields,
    frame, read_frame,
};
use crate::support::http::Http;
use crate::support::ws::Socket;
use crate::support::{soon, until};

const CONNECTIONS: usize = 2048;
const UNAUTHENTICATED: usize = 64;
const STREAMS: u32 = 256;

#[tokio::test]
async fn a_connection_over_the_limit_is_refused_with_an_error() {
    // Both ends need a descriptor for each connection, and the usual soft limit is 1024.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("raised");
    let coop =
        Coop::with(&["--health-port", "0", "--grpc-port", "0", "--socket", "here.sock"], SHELL)
            .await;
    let mut first = Socket::connect(&coop, "mode=state").await;
    let mut idle = Vec::new();
    while idle.len() < CONNECTIONS - 1 {
        idle.push(std::net::TcpStream::connect(coop.address()).expect("connected"));
    }
    // Coop accepts connections in order, so this one is beyond the limit.
    let mut late = TcpStream::connect(coop.address()).await.expect("connected");
    let mut answer = String::new();
    soon("the refusal", late.read_to_string(&mut answer)).await.expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    let body: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(
        (&body["code"], &body["error"]["code"]),
        (&json!("NOT_READY"), &json!("NOT_READY")),
        "{body}"
    );
    assert!(body["message"].as_str().is_some_and(|message| message.contains("2048")), "{body}");

    // The limit is for each listener: the others still accept connections.
    let mut probes = coop.health.expect("a health port");
    probes.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    let socket = coop.socket.clone().expect("a socket");
    for (listener, http) in [
        ("health", Http::tcp(probes)),
        ("socket", Http::unix(coop.home.path().join(socket))),
        ("private", Http::unix(coop.private_socket())),
    ] {
        assert_eq!(http.get("/api/v1/health").await.status, 200, "{listener}");
    }
    let grpc = coop.grpc.expect("a gRPC port");
    assert_eq!(Http::tcp(grpc).get("/api/v1/health").await.code(), "NOT_FOUND");

    first.ask(json!({"type": "ping"})).await.expect("an open connection is served");
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

/// Takes ten seconds, the time after which coop closes such connections.
#[tokio::test]
async fn a_connection_that_sends_no_protocol_is_closed() {
    let coop = Coop::shell().await;
    let connect = async |sent: &[u8]| {
        let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
        stream.write_all(sent).await.expect("sent");
        stream
    };
    // A connection that has sent a protocol may be silent for longer.
    let mut http1 = connect(b"GET /api/v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut start = [0; 13];
    soon("an answer", http1.read_exact(&mut start)).await.expect("an answer");
    assert_eq!(&start, b"HTTP/1.1 200 ");
    let mut begun = BytesMut::from(PREFACE);
    frame(&mut begun, SETTINGS, 0, 0, &[]);
    let mut http2 = connect(&begun).await;

    let mut silent: Vec<Box<dyn AsyncRead + Unpin>> = Vec::new();
    for length in [0, 1, 14, PREFACE.len() - 1] {
        silent.push(Box::new(connect(&PREFACE[..length]).await));
        let mut unix = UnixStream::connect(coop.private_socket()).await.expect("connected");
        unix.write_all(&PREFACE[..length]).await.expect("sent");
        silent.push(Box::new(unix));
    }
    for stream in &mut silent {
        let mut answer = Vec::new();
        // The connection may also be reset.
        drop(soon("the end", stream.read_to_end(&mut answer)).await);
        assert!(answer.is_empty(), "{answer:?}");
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

/// Requests of HTTP/1.1 and HTTP/2 may begin with a P, and it may arrive alone.
#[tokio::test]
async fn the_first_bytes_may_arrive_one_by_one() {
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
async fn the_number_of_unauthenticated_sockets_is_limited() {
    let coop = Coop::with(&["--auth-token", "t0ken", "--host", "127.0.0.1"], SHELL).await;
    let mut waiting = Vec::new();
    for _ in 0..UNAUTHENTICATED {
        waiting.push(Socket::connect(&coop, "mode=all").await);
    }
    let Err(WsError::Http(refused)) = Socket::try_connect(&coop, "mode=all", &[]).await else {
        panic!("a socket over the limit was accepted");
    };
    assert_eq!(refused.status(), 413);
    let body: Value =
        serde_json::from_slice(refused.body().as_deref().unwrap_or_default()).expect("JSON");
    assert_eq!(body["code"], "TOO_LARGE");
    // A socket with the token in its upgrade does not count, nor does one that has authenticated.
    let headers = [("authorization", "Bearer t0ken")];
    Socket::try_connect(&coop, "mode=state", &headers)
        .await
        .expect("authenticated")
        .wait_for("state")
        .await;
    let mut authenticated = waiting.pop().expect("a socket");
    authenticated.ask(json!({"type": "auth", "token": "t0ken"})).await.expect("authenticated");
    until("a free slot", async || Socket::try_connect(&coop, "mode=all", &[]).await.ok()).await;
}

#[tokio::test]
async fn sockets_without_a_token_are_closed_and_get_nothing() {
    let coop = Coop::with(&["--auth-token", "t0ken", "--host", "127.0.0.1"], SHELL).await;
    let mut silent = Socket::connect(&coop, "mode=all").await;
    let mut calling = Socket::connect(&coop, "mode=all").await;
    calling.send(json!({"type": "screen_request"})).await;
    let Some(tokio_tungstenite::tungstenite::Message::Close(Some(close))) = calling.next().await
    else {
        panic!("a call before the token is answered with a close and nothing else");
    };
    assert_eq!(u16::from(close.code), 4401);
    // The session prints output meanwhile, which the socket must not get.
    coop.http()
        .token("t0ken")
        .post("/api/v1/input", json!({"text": "echo secret", "enter": true}))
        .await;
    let Some(tokio_tungstenite::tungstenite::Message::Close(Some(close))) = silent.next().await
    else {
        panic!("something was pushed before the token");
    };
    assert_eq!(u16::from(close.code), 4401);
}

/// Writes HTTP/2 frames itself: a correct client does not open more streams than the server allows.
#[tokio::test]
async fn the_streams_of_one_connection_are_limited() {
    let coop = Coop::shell().await;
    let mut stream = TcpStream::connect(coop.address()).await.expect("connected");
    let mut sent = BytesMut::from(PREFACE);
    frame(&mut sent, SETTINGS, 0, 0, &[]);
    for number in 0..=STREAMS {
        let fields = fields(GET, "/api/v1/stream/state");
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
    assert_eq!(
        refused,
        (STREAMS * 2 + 1, REFUSED_STREAM.to_vec()),
        "only the last stream is refused"
    );
    assert_eq!(coop.http().get("/api/v1/health").await.status, 200);
    assert_eq!(Http::tcp(coop.address()).get("/api/v1/status").await.status, 200);
}

/// A coop with this limit of descriptors, in the words of `ulimit`.
async fn limited(limit: &str, command: &[&str]) -> Coop {
    let script = format!("ulimit {limit}; exec \"$@\"");
    let args = ["--port", "0", "--"].iter().chain(command);
    Setup::through(&["bash", "-c", &script, "bash"], args).start().await
}

#[tokio::test]
async fn coop_raises_its_descriptor_limit_and_the_child_keeps_the_old_one() {
    let command = ["sh", "-c", "echo limit=$(ulimit -Sn); exec cat"];
    let coop = limited("-Sn 300", &command).await;
    until("the child's limit", async || {
        let text = coop.http().get("/api/v1/screen/text?lines=1").await.text();
        (text == "limit=300").then_some(())
    })
    .await;
    let limits = format!("/proc/{}/limits", coop.pid());
    let limits = std::fs::read_to_string(limits).expect("limits");
    let files = limits.lines().find(|line| line.starts_with("Max open files")).expect("the line");
    let numbers: Vec<&str> = files.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "the soft limit is the hard one");
}

/// Connections leave descriptors free: with every slot taken, the child is replaced as always.
#[tokio::test]
async fn connections_leave_descriptors_for_the_session() {
    let coop = limited("-n 256", &["cat"]).await;
    let mut kept = TcpStream::connect(coop.address()).await.expect("connected");
    let mut idle = Vec::new();
    for _ in 0..300 {
        idle.push(TcpStream::connect(coop.address()).await.expect("connected"));
    }
    let request = "POST /api/v1/session/restart HTTP/1.1\r\nhost: localhost\r\n\
                   content-length: 2\r\nconnection: close\r\n\r\n{}";
    kept.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    soon("the restart", kept.read_to_string(&mut answer)).await.expect("text");
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
}

const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];
