//! Invalid and hostile clients.

use coop_client::MESSAGE_LIMIT;
use tokio::io::AsyncReadExt as _;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::*;

const ECHO: &str = "stty raw -echo; echo ready; exec cat";

#[tokio::test]
async fn an_invalid_frame_gets_an_error_and_the_connection_stays_open() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("?subscribe=").await;
    server.printed("ready").await;
    let deep = "[".repeat(100_000);
    let texts = [
        String::new(),
        "{".into(),
        "null".into(),
        "[]".into(),
        "{}".into(),
        "{\"type\":\"ping\"".into(),
        "{\"type\":\"ping\"}{\"type\":\"ping\"}".into(),
        "{\"type\":\"ping\",\"type\":7}".into(),
        "{\"type\":7}".into(),
        "{\"type\":\"nothing\"}".into(),
        "{\"type\":\"input\",\"text\":7}".into(),
        "{\"type\":\"input\",\"text\":\"\\ud800\"}".into(),
        "{\"type\":\"input_raw\",\"data\":\"***\"}".into(),
        "{\"type\":\"keys\",\"keys\":\"a\"}".into(),
        "{\"type\":\"keys\",\"keys\":[\"NoSuchKey\"]}".into(),
        "{\"type\":\"resize\",\"cols\":65535,\"rows\":65535}".into(),
        "{\"type\":\"resize\",\"cols\":99999999999,\"rows\":1}".into(),
        "{\"type\":\"signal:send\",\"signal\":\"NOPE\"}".into(),
        "{\"type\":\"lock\",\"action\":\"acquire\",\"ttl_ms\":1}".into(),
        "{\"type\":\"lock\",\"action\":\"steal\"}".into(),
        "{\"type\":\"auth\"}".into(),
        "{\"type\":\"screen_request\",\"format\":\"png\"}".into(),
        deep.clone(),
        format!("{{\"type\":\"input\",\"text\":{deep}"),
        format!("{{\"type\":\"ping\",\"request_id\":{deep}{}}}", "]".repeat(100_000)),
        format!("{{\"type\":\"respond\",\"answers\":{deep}{}}}", "]".repeat(100_000)),
    ];
    for text in texts {
        client.send_message(Message::text(text.clone())).await;
        let reply = client.next().await;
        assert_eq!(
            (&reply["type"], &reply["code"]),
            (&json!("error"), &json!("BAD_REQUEST")),
            "{text:.80}: {reply}"
        );
        assert_eq!(reply["error"]["message"], reply["message"]);
    }
    client.send_message(Message::binary(b"{\"type\":\"ping\"}".to_vec())).await;
    assert_eq!(client.next().await["code"], "BAD_REQUEST");
    assert_eq!(
        client.request(json!({"type": "input", "text": "alive"}), 1).await["bytes_written"],
        5
    );
    server.printed("alive").await;
}

#[tokio::test]
async fn an_oversized_message_closes_the_connection_with_its_reason() {
    let server = Setup::new(ECHO).start().await;
    let mut whole = server.client("?subscribe=").await;
    // A client that sends everything before it reads must also get the reason.
    whole.send_message(Message::text("x".repeat(MESSAGE_LIMIT + 1))).await;
    assert_eq!(whole.until_closed().await.1, 1009);
    let mut pieces = server.client("?subscribe=").await;
    for piece in 0..20 {
        let opcode = if piece == 0 { Data::Text } else { Data::Continue };
        let frame = Frame::message("x".repeat(1 << 20), OpCode::Data(opcode), piece == 19);
        pieces.send_message(Message::Frame(frame)).await;
    }
    assert_eq!(pieces.until_closed().await.1, 1009);
}

#[tokio::test]
async fn the_largest_message_is_accepted_whole_and_fragmented() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("?subscribe=").await;
    let frame = json!({"type": "ping", "event": ""}).to_string();
    let padding = "x".repeat(MESSAGE_LIMIT - frame.len());
    let frame = json!({"type": "ping", "event": padding}).to_string();
    assert_eq!(frame.len(), MESSAGE_LIMIT);
    client.send_message(Message::text(frame.clone())).await;
    assert_eq!(client.next().await["type"], "pong");
    let (first, rest) = frame.split_at(10);
    let first = Frame::message(first.to_owned(), OpCode::Data(Data::Text), false);
    client.send_message(Message::Frame(first)).await;
    let rest = Frame::message(rest.to_owned(), OpCode::Data(Data::Continue), true);
    client.send_message(Message::Frame(rest)).await;
    assert_eq!(client.next().await["type"], "pong");
}

#[tokio::test]
async fn a_protocol_error_closes_the_connection_with_its_reason() {
    let server = Setup::new(ECHO).start().await;
    let mut client = server.client("?subscribe=").await;
    let text = Frame::message(b"\xff\xfe".to_vec(), OpCode::Data(Data::Text), true);
    client.send_message(Message::Frame(text)).await;
    assert_eq!(client.until_closed().await.1, 1007);
    let mut client = server.client("?subscribe=").await;
    let stray = Frame::message(b"x".to_vec(), OpCode::Data(Data::Continue), true);
    client.send_message(Message::Frame(stray)).await;
    assert_eq!(client.until_closed().await.1, 1002);
}

/// The code of the close frame that comes next, or after other short frames. The client's own
/// tungstenite would change it.
async fn close_code(mut client: Client) -> u16 {
    let stream = client.socket.get_mut();
    loop {
        let [kind, length] = [stream.read_u8().await, stream.read_u8().await].map(Result::unwrap);
        let mut content = vec![0; usize::from(length)];
        stream.read_exact(&mut content).await.unwrap();
        if kind == 0x88 {
            return u16::from_be_bytes([content[0], content[1]]);
        }
    }
}

/// Code 1014 is registered, though tungstenite does not know it: it is answered like any other, and
/// what came before it counts.
#[tokio::test]
async fn a_bad_gateway_may_close_the_connection() {
    let server = Setup::new(ECHO).start().await;
    server.printed("ready").await;
    for code in [1000_u16, 1013, 1014, 3000] {
        let mut client = server.client("?subscribe=").await;
        client.send_message(Message::text(r#"{"type":"ping"}"#)).await;
        assert_eq!(client.next().await["type"], "pong");
        client.send(json!({"type": "input", "text": format!("last {code}.")})).await;
        let frame = CloseFrame { code: code.into(), reason: "an end".into() };
        client.send_message(Message::Frame(Frame::close(Some(frame)))).await;
        assert_eq!(close_code(client).await, code);
        server.printed(&format!("last {code}.")).await;
    }
    for code in [1004_u16, 1005, 1015, 1016] {
        let mut client = server.client("?subscribe=").await;
        let frame = CloseFrame { code: code.into(), reason: "an end".into() };
        client.send_message(Message::Frame(Frame::close(Some(frame)))).await;
        assert_eq!(close_code(client).await, 1002, "{code}");
    }
}

#[tokio::test]
async fn a_client_may_send_everything_before_it_reads() {
    let server = Setup::new(ECHO).start().await;
    server.printed("ready").await;
    let mut client = server.client("?mode=raw").await;
    let text = "x".repeat(10_000);
    for id in 0..1000 {
        client.send(json!({"type": "input", "text": text, "request_id": id})).await;
    }
    for id in 0..1000 {
        let reply = client.until_type("reply").await;
        assert_eq!((number(&reply, "request_id"), number(&reply, "bytes_written")), (id, 10_000));
    }
}
