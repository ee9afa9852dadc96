//! How a client comes in, and how it is shown out.

use coop_client::v1::{self, coop_server::Coop as _};
use futures_util::poll;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Request;

use super::*;
use crate::pty::tests::ALONE;
use crate::session::DEFAULT_GRACE;
use crate::session::event::ShutdownReason;

const QUIET: &str = "exec cat";

fn doorless() -> Plan {
    Plan { level: Level::Nobody, ..Plan::new("echo secret; exec cat") }
}

#[tokio::test]
async fn nothing_is_told_before_the_token_and_everything_after_it() {
    let bench = doorless().start().await;
    let mut client = bench.client("").await;
    bench.printed("secret").await;
    client.send(json!({"type": "ping", "request_id": 1})).await;
    assert_eq!(client.next().await, json!({"type": "pong", "event": "pong", "to": "ping", "request_id": 1}));
    assert_eq!(bench.service.clients().count(), 0);
    client.send(json!({"type": "auth", "token": TOKEN, "request_id": 2})).await;
    assert_eq!(
        client.next().await,
        json!({"type": "reply", "event": "reply", "to": "auth", "request_id": 2})
    );
    assert_eq!(client.next().await["type"], "state");
    assert!(client.until_type("screen").await["lines"].to_string().contains("secret"));
    assert_eq!(client.ask(json!({"type": "health:get"}), 3).await["ws_clients"], 1);
    // The token reaches as far as its scope.
    assert_eq!(client.ask(json!({"type": "shutdown"}), 4).await["code"], "FORBIDDEN");
    // And the limit for strangers is gone.
    let long = "x".repeat(1 << 20);
    assert_eq!(client.ask(json!({"type": "ping", "padding": long}), 5).await["type"], "pong");
}

#[tokio::test]
async fn whoever_has_no_token_is_shown_out() {
    let bench = doorless().start().await;
    let wrong = [
        json!({"type": "auth", "token": "wrong"}),
        json!({"type": "auth", "token": ""}),
        json!({"type": "auth"}),
        json!({"type": "input", "text": "x"}),
        json!({"type": "screen_request"}),
        json!({"type": "health:get"}),
        json!({"type": "nothing"}),
        json!([]),
        json!({"type": "ping", "padding": "x".repeat(200_000)}),
    ];
    for frame in wrong {
        let mut client = bench.client("").await;
        client.send(frame.clone()).await;
        let (frames, code, _) = client.until_closed().await;
        assert_eq!((frames, code), (vec![], 4401), "{:.80}", frame.to_string());
    }
    let mut binary = bench.client("").await;
    binary.send_message(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(binary.until_closed().await.1, 4401);
    let mut silent = bench.client("").await;
    let (frames, code, _) = silent.until_closed().await;
    assert_eq!((frames, code), (vec![], 4401));
}

#[tokio::test]
async fn only_so_many_may_stand_at_the_door() {
    let bench = Plan { places: 2, ..doorless() }.start().await;
    let (mut first, second) = (bench.client("").await, bench.client("").await);
    assert_eq!(bench.refused("", &[]).await, (413, "TOO_LARGE".to_owned()));
    // One who shows a token makes room, and so does one who leaves.
    first.send(json!({"type": "auth", "token": TOKEN})).await;
    assert_eq!(first.next().await["to"], "auth");
    assert_eq!(first.next().await["type"], "state");
    let third = bench.client("").await;
    assert_eq!(bench.refused("", &[]).await, (413, "TOO_LARGE".to_owned()));
    second.leave().await;
    third.leave().await;
    within("room", bench.settings.unauthenticated.acquire_many(2)).await.expect("two places").forget();
}

#[tokio::test]
async fn the_subprotocol_is_answered_and_the_token_beside_it_is_not() {
    let bench = Plan::new(QUIET).start().await;
    for offer in ["coop.v1", "coop.v1, coop.bearer.bGV0LW1lLWlu", "coop.bearer.bGV0LW1lLWlu,coop.v1"] {
        let (_, response) =
            bench.connect("", &[("sec-websocket-protocol", offer)]).await.expect("an upgrade");
        assert_eq!(response.headers()["sec-websocket-protocol"], "coop.v1", "{offer}");
    }
    let (_, response) = bench.connect("", &[]).await.expect("an upgrade");
    assert!(!response.headers().contains_key("sec-websocket-protocol"));
}

#[tokio::test]
async fn what_is_wrong_with_an_upgrade_is_said_in_http() {
    let bench = Plan::new(QUIET).start().await;
    for query in ["?mode=ram", "?subscribe=state,nothing", "?mode=", "?mode=raw&mode=raw", "?mode=%ff"] {
        assert_eq!(bench.refused(query, &[]).await, (400, "BAD_REQUEST".to_owned()), "{query}");
    }
    let key = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n";
    for (start, headers, status) in [
        ("GET /ws", "", "400"),
        ("GET /ws", "Connection: upgrade\r\nUpgrade: websocket\r\n", "400"),
        ("GET /ws", "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", "400"),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n",
            "400",
        ),
        (
            "GET /ws",
            "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: eA==\r\n",
            "400",
        ),
        ("POST /ws", key, "405"),
        ("HEAD /ws", key, "400"),
        ("GET /ws", key, "101"),
        (
            "GET /ws",
            "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n",
            "101",
        ),
    ] {
        let mut tcp = TcpStream::connect(bench.address).await.expect("a connection");
        let request = format!("{start} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
        tcp.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = [0; 12];
        within("the answer", tcp.read_exact(&mut answer)).await.expect("an answer");
        assert_eq!(String::from_utf8_lossy(&answer), format!("HTTP/1.1 {status}"), "{start} {headers}");
    }
}

#[tokio::test]
async fn clients_are_counted_while_they_are_here() {
    let bench = Plan::new(QUIET).start().await;
    let (mut one, two) = (bench.client("?subscribe=").await, bench.client("?subscribe=").await);
    two.leave().await;
    assert_eq!(one.ask(json!({"type": "health:get"}), 1).await["ws_clients"], 1);
    // One that goes without a word is noticed too.
    drop(one);
    bench.settings.tracker.close();
    within("the last connection", bench.settings.tracker.wait()).await;
    assert_eq!(bench.service.clients().count(), 0);
}

#[tokio::test]
async fn a_shutdown_is_told_answered_and_ends_every_connection_with_its_reason() {
    let _alone = ALONE.lock().await;
    let bench =
        Plan::new("trap 'printf farewell; exit 3' HUP; echo ready; while :; do sleep 1000 & wait; done")
            .start()
            .await;
    let (mut asking, mut other) = (bench.client("?mode=raw").await, bench.client("?subscribe=state").await);
    bench.printed("ready").await;
    asking.send(json!({"type": "shutdown", "request_id": 1})).await;
    let (frames, code, reason) = asking.until_closed().await;
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
    assert!(String::from_utf8_lossy(&said).contains("farewell"), "the last output comes before the exit");
    let (frames, code, _) = other.until_closed().await;
    assert_eq!(code, 1001);
    let kinds: Vec<_> = frames.iter().map(|frame| frame["event"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["state", "shutdown", "transition", "exit"]);
    // The answers to our closes are what the connections still waited for.
    drop((asking, other));
    bench.settings.tracker.close();
    within("the last connection", bench.settings.tracker.wait()).await;
    let mut late = bench.client("").await;
    let (frames, code, reason) = late.until_closed().await;
    assert_eq!((frames, code, reason.as_str()), (vec![], 4503, "coop is shutting down"));
}

#[tokio::test]
async fn whoever_waits_for_the_exit_is_told_of_it_also_if_coop_ends_meanwhile() {
    let bench = Plan::new("echo ready; exec sleep 1000").start().await;
    bench.printed("ready").await;
    // Many, because which of two things that have happened is looked at first is left to chance.
    let mut waits: Vec<_> = (0..64)
        .map(|_| {
            let request = v1::WaitForStateRequest { state: vec!["exited".to_owned()], ..Default::default() };
            bench.service.wait_for_state(Request::new(request))
        })
        .collect();
    for wait in &mut waits {
        assert!(poll!(wait).is_pending());
    }
    bench.client("").await.send(json!({"type": "shutdown"})).await;
    within("the end", bench.service.closing().closed()).await;
    for wait in waits {
        assert!(within("an answer", wait).await.expect("it is told").into_inner().matched);
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_cannot_hold_up_the_end() {
    let _alone = ALONE.lock().await;
    let bench = Plan::new("exec cat /dev/zero").start().await;
    let stuck = bench.client("").await;
    let mut head = bench.service.session().output().subscribe();
    within("more than the socket takes", head.wait_for(|head| head.offset().0 > 8 << 20))
        .await
        .expect("a session");
    let ended = bench.service.session().shut_down(ShutdownReason::Api, DEFAULT_GRACE).await;
    assert_eq!(ended, Ok(()));
    bench.settings.tracker.close();
    within("the last connection", bench.settings.tracker.wait()).await;
    drop(stuck);
}
