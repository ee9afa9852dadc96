//! The budget of unfinished input, and what counts as a subscriber, for callers with a token.

use bytes::BytesMut;
use futures_util::SinkExt as _;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tonic::Code;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::grpc::Grpc;
use crate::support::h2::{END_HEADERS, END_STREAM, GET, HEADERS, fields, flood, frame, opening};
use crate::support::ws::Socket;
use crate::support::{soon, until};

const LARGE: usize = 15 << 20;

/// Begins a message of 15 MiB and sends all of it but its end, as far as coop reads it.
async fn unfinished(address: std::net::SocketAddr) -> TcpStream {
    let mut request =
        format!("ws://{address}/ws?mode=state").into_client_request().expect("a request");
    let token = "Bearer a-token-for-reading".parse().expect("a header");
    request.headers_mut().insert("authorization", token);
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_send_buffer_size(64 << 10).expect("a small buffer");
    let stream = socket.connect(address).await.expect("connected");
    let (mut socket, _) = soon("the upgrade", client_async(request, stream)).await.expect("open");
    socket.flush().await.expect("open");
    let mut stream = socket.into_inner();
    let mut header = vec![0x81, 0x80 | 127];
    header.extend_from_slice(&(LARGE as u64).to_be_bytes());
    header.extend_from_slice(&[0; 4]);
    stream.write_all(&header).await.expect("sent");
    let piece = vec![b' '; 1 << 20];
    for _ in 0..14 {
        stream.write_all(&piece).await.expect("sent");
    }
    stream
}

#[tokio::test]
async fn unfinished_sockets_of_a_read_token_stay_within_the_budget() {
    let setup = Setup::new(
        ["--port", "0", "--host", "127.0.0.1", "--auth-token-file", "tokens"]
            .iter()
            .chain(&["--"])
            .chain(&SHELL),
    );
    let file = setup.home().join("tokens");
    std::fs::write(&file, "a-token-for-everything\na-token-for-reading read\n").expect("written");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("private");
    let coop = setup.start().await;
    let mut sockets = JoinSet::new();
    for _ in 0..100 {
        sockets.spawn(unfinished(coop.address()));
    }
    // One of them has room in the budget, and the others wait for it.
    let _first = soon("a message that is read", sockets.join_next()).await.expect("one");
    let http = coop.http().token("a-token-for-everything");
    let answer = http.post("/api/v1/input", json!({"text": "echo $((40+2))", "enter": true})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let headers = [("authorization", "Bearer a-token-for-reading")];
    let mut socket = Socket::try_connect(&coop, "mode=state", &headers).await.expect("open");
    socket.ask(json!({"type": "ping"})).await.expect("an answer");
    assert_eq!(sockets.len(), 99);
    let peak = coop.peak_memory();
    assert!(peak < 80 << 10, "coop held {peak} KiB");
    drop(sockets);
    // The budget is free again.
    let large = json!({"text": "x".repeat(LARGE), "enter": false});
    let answer = http.call(http::Method::PUT, "/api/v1/env/LARGE", large.to_string().into()).await;
    assert_ne!(answer.status, 413, "{}", answer.text());
}

#[tokio::test]
async fn waits_and_health_streams_are_subscribers() {
    let coop = Coop::shell().await;
    let mut streams = opening();
    for number in 0..256 {
        let stream = fields(GET, "/api/v1/stream/state");
        frame(&mut streams, HEADERS, END_HEADERS | END_STREAM, number * 2 + 1, &stream);
    }
    let mut held = Vec::new();
    for _ in 0..16 {
        held.push(flood(coop.address(), BytesMut::clone(&streams)).await.expect("open"));
    }
    let refused = until("all subscribers", async || {
        let answer = coop.http().get("/api/v1/agent/wait?state=working&timeout_ms=0").await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (413, "TOO_LARGE"));
    let grpc = Grpc::tcp(coop.address()).await;
    let status = grpc.call("/grpc.health.v1.Health/Watch", b"").await.expect_err("too many");
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    drop(held);
    until("room", async || grpc.call("/grpc.health.v1.Health/Watch", b"").await.ok()).await;
}
