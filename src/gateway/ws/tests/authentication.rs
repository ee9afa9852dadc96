//! Upgrade, authentication, and the end of connections.

use coop_client::v1::{self, coop_server::Coop as _};
use futures_util::poll;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Request;

use super::*;
use crate::pty::tests::ALONE;
use crate::session::DEFAULT_GRACE;
use crate::session::event::ShutdownReason;

const QUIET: &str = "exec cat";

fn unauthenticated() -> Setup {
    Setup { level: Level::Unauthenticated, ..Setup::new("echo secret; exec cat") }
}

#[tokio::test]
async fn nothing_is_pushed_before_the_token() {
    let server = unauthenticated().start().await;
    let mut client = server.client("").await;
    server.printed("secret").await;
    client.send(json!({"type": "ping", "request_id": 1})).await;
    assert_eq!(
        client.next().await,
        json!({"type": "pong", "event": "pong", "to": "ping", "request_id": 1})
    );
    assert_eq!(server.service.clients().count(), 0);
    client.send(json!({"type": "auth", "token": TOKEN, "request_id": 2})).await;
    assert_eq!(
        client.next().await,
        json!({"type": "reply", "event": "reply", "to": "auth", "request_id": 2})
    );
    assert_eq!(client.next().await["type"], "state");
    assert!(client.until_type("screen").await["lines"].to_string().contains("secret"));
    assert_eq!(client.request(json!({"type": "health:get"}), 3).await["ws_clients"], 1);
    // The token permits only its scope.
    assert_eq!(client.request(json!({"type": "shutdown"}), 4).await["code"], "FORBIDDEN");
    // The size limit of unauthenticated clients is lifted.
    let long = "x".repeat(1 << 20);
    assert_eq!(client.request(json!({"type": "ping", "event": long}), 5).await["type"], "pong");
}

#[tokio::test]
async fn a_connection_without_a_valid_token_is_closed() {
    let server = unauthenticated().start().await;
    let wrong = [
        json!({"type": "auth", "token": "wrong"}),
        json!({"type": "auth", "token": ""}),
        json!({"type": "auth"}),
        json!({"type": "input", "text": "x"}),
        json!({"type": "screen_request"}),
        json!({"type": "health:get"}),
        json!({"type": "nothing"}),
        json!([]),
        json!({"type": "ping", "event": "x".repeat(200_000)}),
    ];
    for frame in wrong {
        let mut client = server.client("").await;
        client.send(frame.clone()).await;
        let (frames, code, _) = client.until_closed().await;
        assert_eq!((frames, code), (vec![], 4401), "{:.80}", frame.to_string());
    }
    let mut binary = server.client("").await;
    binary.send_message(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(binary.until_closed().await.1, 4401);
    let mut silent = server.client("").await;
    let (frames, code, _) = silent.until_closed().await;
    assert_eq!((frames, code), (vec![], 4401));
}

#[tokio::test]
async fn the_number_of_unauthenticated_sockets_is_limited() {
    let server = Setup { waiting_sockets: 2, ..unauthenticated() }.start().await;
    let (mut first, second) = (server.client("").await, server.client("").await);
    assert_eq!(server.refused("", &[]).await, (413, "TOO_LARGE".to_owned()));
    // A client that authenticates makes room, and so does one that disconnects.
    first.send(json!({"type": "auth", "token": TOKEN})).await;
    assert_eq!(first.next().await["to"], "auth");
    assert_eq!(first.next().await["type"], "state");
    let third = server.client("").await;
    assert_eq!(server.refused("", &[]).await, (413, "TOO_LARGE".to_owned()));
    second.leave().await;
    third.leave().await;
    within("room", server.settings.unauthenticated.acquire_many(2))
        .await
        .expect("two permits")
        .forget();
}

#[tokio::test]
async fn the_reply_has_the_subprotocol_and_not_the_token() {
    let server = Setup::new(QUIET).start().await;
    for offer in
        ["coop.v1", "coop.v1, coop.bearer.bGV0LW1lLWlu", "coop.bearer.bGV0LW1lLWlu,coop.v1"]
    {
        let (_, response) =
            server.connect("", &[("sec-websocket-protocol", offer)]).await.expect("an upgrade");
        assert_eq!(response.headers()["sec-websocket-protocol"], "coop.v1", "{offer}");
    }
    let (_, response) = server.connect("", &[]).await.expect("an upgrade");
    assert!(!response.headers().contains_key("sec-websocket-protocol"));
}

#[tokio::test]
async fn an_invalid_upgrade_gets_an_http_error() {
    let server = Setup::new(QUIET).start().await;
    for query in
        ["?mode=ram", "?subscribe=state,nothing", "?mode=", "?mode=raw&mode=raw", "?mode=%ff"]
    {
        assert_eq!(server.refused(query, &[]).await, (400, "BAD_REQUEST".to_owned()), "{query}");
    }
    let key = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (start, headers, status) in [
        ("GET /ws", "", "400"),
        ("GET /ws", "Connection: upgrade\r\nUpgrade: websocket\r\n", "426"),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
            "400",
        ),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            "400",
        ),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            "426",
        ),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n",
            "400",
        ),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: not base64 of 16\r\n",
            "400",
        ),
        ("POST /ws", key, "405"),
        ("HEAD /ws", key, "400"),
        ("GET /ws", key, "101"),
        (
            "GET /ws",
            "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            "101",
        ),
    ] {
        let mut tcp = TcpStream::connect(server.address).await.expect("a connection");
        let request = format!("{start} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        tcp.write_all(request.as_bytes()).await.expect("sent");
        let mut response = [0; 12];
        within("the response", tcp.read_exact(&mut response)).await.expect("a response");
        assert_eq!(
            String::from_utf8_lossy(&response),
            format!("HTTP/1.1 {status}"),
            "{start} {headers}"
        );
    }
}

#[tokio::test]
async fn another_version_is_told_the_one_that_coop_speaks() {
    let server = Setup::new(QUIET).start().await;
    for version in ["12", "8", "0", "x"] {
        match server.connect("", &[("sec-websocket-version", version)]).await {
            Err(Broken::Http(response)) => {
                assert_eq!(response.status(), 426, "{version}");
                assert_eq!(response.headers()["sec-websocket-version"], "13", "{version}");
                assert_eq!(response.headers()["upgrade"], "websocket", "{version}");
            }
            other => panic!("{version}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn clients_are_counted_while_they_are_connected() {
    let server = Setup::new(QUIET).start().await;
    let (mut one, two) = (server.client("?subscribe=").await, server.client("?subscribe=").await);
    two.leave().await;
    assert_eq!(one.request(json!({"type": "health:get"}), 1).await["ws_clients"], 1);
    // A connection that is dropped without a close is noticed too.
    drop(one);
    server.settings.tracker.close();
    within("the last connection", server.settings.tracker.wait()).await;
    assert_eq!(server.service.clients().count(), 0);
}

#[tokio::test]
async fn a_shutdown_is_pushed_and_closes_every_connection_with_its_reason() {
    let _alone = ALONE.lock().await;
    let server = Setup::new(
        "trap 'printf farewell; exit 3' HUP; echo ready; while :; do sleep 1000 & wait; done",
    )
    .start()
    .await;
    let (mut caller, mut other) =
        (server.client("?mode=raw").await, server.client("?subscribe=state").await);
    server.printed("ready").await;
    caller.send(json!({"type": "shutdown", "request_id": 1})).await;
    let (frames, code, reason) = caller.until_closed().await;
    assert_eq!((code, reason.as_str()), (1001, "coop is shutting down"));
    let position = |kind: &str| {
        frames
            .iter()
            .position(|frame| frame["type"] == kind)
            .unwrap_or_else(|| panic!("{kind} in {frames:?}"))
    };
    assert_eq!(frames[position("reply")]["accepted"], true);
    assert_eq!(frames[position("shutdown")]["reason"], "api");
    let exit = position("exit");
    assert_eq!((&frames[exit]["code"], &frames[exit]["signal"]), (&json!(3), &Value::Null));
    let said: Vec<u8> =
        frames[..exit].iter().filter(|frame| frame["type"] == "output").flat_map(data).collect();
    assert!(
        String::from_utf8_lossy(&said).contains("farewell"),
        "the last output comes before the exit"
    );
    let (frames, code, _) = other.until_closed().await;
    assert_eq!(code, 1001);
    let kinds: Vec<_> =
        frames.iter().map(|frame| frame["event"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["state", "shutdown", "transition", "exit"]);
    // The connections still wait for the clients' close frames.
    drop((caller, other));
    server.settings.tracker.close();
    within("the last connection", server.settings.tracker.wait()).await;
    let mut late = server.client("").await;
    let (frames, code, reason) = late.until_closed().await;
    assert_eq!((frames, code, reason.as_str()), (vec![], 4503, "coop is shutting down"));
}

#[tokio::test]
async fn waiting_for_the_exit_succeeds_also_while_coop_shuts_down() {
    let server = Setup::new("echo ready; exec sleep 1000").start().await;
    server.printed("ready").await;
    // Many, because `select!` picks at random between the exit and the shutdown.
    let mut waits: Vec<_> = (0..64)
        .map(|_| {
            let request =
                v1::WaitForStateRequest { state: vec!["exited".to_owned()], ..Default::default() };
            server.service.wait_for_state(Request::new(request))
        })
        .collect();
    for wait in &mut waits {
        assert!(poll!(wait).is_pending());
    }
    server.client("").await.send(json!({"type": "shutdown"})).await;
    within("the end", server.service.closing().closed()).await;
    for wait in waits {
        assert!(within("the response", wait).await.expect("a response").into_inner().matched);
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_delay_shutdown() {
    let _alone = ALONE.lock().await;
    let server = Setup::new("exec cat /dev/zero").start().await;
    let stuck = server.client("").await;
    let mut head = server.service.session().output().subscribe();
    within("more than the socket takes", head.wait_for(|head| head.offset().0 > 8 << 20))
        .await
        .expect("a session");
    let ended = server.service.session().shut_down(ShutdownReason::Api, DEFAULT_GRACE).await;
    assert_eq!(ended, Ok(()));
    server.settings.tracker.close();
    within("the last connection", server.settings.tracker.wait()).await;
    drop(stuck);
}
