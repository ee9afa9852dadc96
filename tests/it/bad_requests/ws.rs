//! WebSocket: frames, their sizes, fragments and content.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::{Random, Session};
use crate::support::coop::{Coop, SHELL};
use crate::support::ws::Socket;

const LIMIT: usize = 16 << 20;

/// Waits for an error frame and returns its code and message.
async fn error(socket: &mut Socket) -> (String, String) {
    let error = socket.wait_for("error").await;
    assert_eq!(error["event"], "error", "{error}");
    assert_eq!(error["code"], error["error"]["code"], "{error}");
    assert_eq!(error["message"], error["error"]["message"], "{error}");
    (
        error["code"].as_str().expect("a code").to_owned(),
        error["message"].as_str().expect("text").to_owned(),
    )
}

#[tokio::test]
async fn frames_that_are_not_requests_are_refused() {
    let session = Session::start().await;
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for text in [
        "".to_owned(),
        "{".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "7".to_owned(),
        "\0".to_owned(),
        "{}".to_owned(),
        r#"{"type":7}"#.to_owned(),
        r#"{"type":"nothing"}"#.to_owned(),
        r#"{"type":"input"} {"type":"input"}"#.to_owned(),
        r#"{"type":"input","text":7}"#.to_owned(),
        r#"{"type":"input","text":"a","text":"b"}"#.to_owned(),
        r#"{"type":"input","text":"\ud800"}"#.to_owned(),
        r#"{"type":"input_raw","data":"?"}"#.to_owned(),
        r#"{"type":"keys","keys":["Enter","Nonsense"]}"#.to_owned(),
        r#"{"type":"resize","cols":0,"rows":0}"#.to_owned(),
        r#"{"type":"resize","cols":65535,"rows":-1}"#.to_owned(),
        r#"{"type":"resize","cols":1e9,"rows":1}"#.to_owned(),
        r#"{"event":"signal:send","signal":"NOTHING"}"#.to_owned(),
        r#"{"type":"screen_request","format":"html"}"#.to_owned(),
        r#"{"type":"replay","offset":-1}"#.to_owned(),
        r#"{"type":"replay","offset":99999999999}"#.to_owned(),
        r#"{"type":"replay","limit":0}"#.to_owned(),
        r#"{"type":"lock"}"#.to_owned(),
        r#"{"type":"lock","action":"steal"}"#.to_owned(),
        r#"{"type":"lock","action":"acquire","ttl_ms":-1}"#.to_owned(),
        r#"{"type":"auth"}"#.to_owned(),
        r#"{"type":"shutdown","grace_ms":-1}"#.to_owned(),
        deep("[", "]"),
        deep("{\"type\":", "}"),
        format!(r#"{{"type":"input","text":{}}}"#, deep("[", "]")),
    ] {
        socket.send_message(Message::text(text.clone())).await;
        let (code, message) = error(&mut socket).await;
        assert_eq!(code, "BAD_REQUEST", "{}: {message}", &text[..text.len().min(60)]);
    }
    socket.send_message(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(error(&mut socket).await.0, "BAD_REQUEST", "binary");
    for frame in [
        json!({"type": "nudge", "message": "go"}),
        json!({"type": "respond", "accept": true}),
        json!({"type": "transcript:list"}),
    ] {
        let refused = socket.ask(frame.clone()).await.expect_err("no driver");
        assert_eq!(refused["code"], "NO_DRIVER", "{frame}");
    }
    socket.ask(json!({"type": "ping"})).await.expect("the socket is still usable");
    session.is_unharmed().await;
}

fn frame(kind: Data, last: bool, data: Vec<u8>) -> Message {
    Message::Frame(Frame::message(data, OpCode::Data(kind), last))
}

#[tokio::test]
async fn messages_that_are_too_large_close_the_socket() {
    let session = Session::start().await;
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    socket.send_message(Message::text("a".repeat(LIMIT + 1))).await;
    assert_eq!(socket.closed().await, 1009, "one frame");

    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    socket.send_message(frame(Data::Text, false, vec![b' '; LIMIT / 2])).await;
    socket.send_message(frame(Data::Continue, false, vec![b' '; LIMIT / 2])).await;
    socket.send_message(frame(Data::Continue, true, vec![b' '; 1])).await;
    assert_eq!(socket.closed().await, 1009, "in pieces");
    session.is_unharmed().await;
}

#[tokio::test]
async fn fragments_are_joined() {
    let session = Session::start().await;
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    let text = r#"{"type":"input","text":"","request_id":"Z\u00fcrich é"}"#.as_bytes();
    for (at, byte) in text.iter().enumerate() {
        let kind = if at == 0 { Data::Text } else { Data::Continue };
        socket.send_message(frame(kind, at + 1 == text.len(), vec![*byte])).await;
    }
    assert_eq!(socket.wait_for("reply").await["request_id"], "Zürich é");
    session.is_unharmed().await;
}

#[tokio::test]
async fn broken_frames_close_the_socket() {
    let session = Session::start().await;
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    socket.send_message(frame(Data::Text, true, b"{\"type\":\"\xff\"}".to_vec())).await;
    assert_eq!(socket.closed().await, 1007, "no UTF-8");
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    socket.send_message(frame(Data::Continue, true, b"{}".to_vec())).await;
    assert_eq!(socket.closed().await, 1002, "a continuation without a first frame");
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    socket.send_message(frame(Data::Reserved(3), true, b"{}".to_vec())).await;
    assert_eq!(socket.closed().await, 1002, "an unknown kind");
    session.is_unharmed().await;
}

#[tokio::test]
async fn nothing_is_pushed_or_done_before_the_token() {
    let coop = Coop::with(&["--auth-token", "t0ken", "--host", "127.0.0.1"], SHELL).await;
    for frame in [
        json!({"type": "input", "text": "exit", "enter": true}),
        json!({"type": "health:get"}),
        json!({"type": "auth", "token": "wrong"}),
        json!({"type": "auth", "token": ""}),
        json!({"type": "auth"}),
        json!({"type": "auth", "token": ["t0ken"]}),
        json!([]),
    ] {
        let mut socket = Socket::connect(&coop, "mode=all").await;
        socket.send(json!({"type": "ping"})).await;
        assert!(
            matches!(socket.next().await, Some(Message::Text(pong)) if pong.contains("pong")),
            "only the pong"
        );
        socket.send(frame.clone()).await;
        match socket.next().await {
            Some(Message::Close(Some(close))) => assert_eq!(u16::from(close.code), 4401, "{frame}"),
            other => panic!("{other:?} after {frame}"),
        }
    }
    let mut large = Socket::connect(&coop, "mode=all").await;
    large.send_message(Message::text("a".repeat(100_000))).await;
    assert_eq!(large.closed().await, 4401, "an unauthenticated client cannot fill the memory");
    let status = coop.http().token("t0ken").get("/api/v1/status").await.json();
    assert_eq!((&status["bytes_written"], &status["state"]), (&json!(0), &json!("running")));
    let mut socket = Socket::connect(&coop, "mode=all").await;
    socket.ask(json!({"type": "auth", "token": "t0ken"})).await.expect("authenticated");
    socket.wait_for("state").await;
}

#[tokio::test]
async fn random_frames_do_no_harm() {
    let session = Session::start().await;
    let mut socket = Socket::connect(&session.coop, "mode=state").await;
    let mut random = Random(0x5eed_0003);
    for _ in 0..1000 {
        let mut text = String::from_utf8_lossy(&random.bytes()).into_owned();
        text.push('!');
        socket.send_message(Message::text(text.clone())).await;
        assert_eq!(error(&mut socket).await.0, "BAD_REQUEST", "{text}");
    }
    session.is_unharmed().await;
}
