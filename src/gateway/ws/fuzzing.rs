//! What a WebSocket client sends under a fuzzer: the text of a frame, and the bytes below it.

use std::io::{Cursor, Read, Write};

use bytes::Bytes;
use coop_client::json::{self, Message as _};
use coop_client::v1;
use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocket};
use tokio_tungstenite::tungstenite::{Message, error::Error as Broken};

use super::super::call::FRAME_FIELDS;
use super::client_frame::{Action, ClientFrame};
use super::frame::{Address, error_frame};
use super::socket::{self, End};

/// The most bytes of the reason of a close frame; the protocol allows no more.
const REASON_LIMIT: usize = 123;

/// The text of one frame.
pub fn client_frame(data: &[u8]) {
    let frame = ClientFrame::parse(Bytes::copy_from_slice(data));
    assert_eq!(frame.text, data, "the call reads another text than the client sent");
    if let Ok(Value::Object(fields)) = serde_json::from_slice(data) {
        assert_eq!(frame.address.request_id.as_ref(), fields.get("request_id"));
    }
    match &frame.action {
        Ok(Action::Call(..) | Action::Screen | Action::Replay) => call(data),
        Ok(Action::Auth { .. } | Action::Lock(_) | Action::Ping) => {}
        Err(error) => answers_are_json(&error_frame(error, &frame.address)),
    }
}

/// A name that neither the frame nor the request has is refused, whatever else the frame has.
fn call(data: &[u8]) {
    let mut request = v1::NudgeRequest::default();
    let read = json::merge_slice(&mut request, data, &FRAME_FIELDS);
    let Ok(Value::Object(fields)) = serde_json::from_slice(data) else { return };
    let known = |name: &String| {
        FRAME_FIELDS.contains(&name.as_str()) || v1::NudgeRequest::FIELDS.contains(&name.as_str())
    };
    assert!(read.is_err() || fields.keys().all(known), "an unknown name is not refused");
}

fn answers_are_json(text: &str) {
    let answer: Value = serde_json::from_str(text).expect("a frame is JSON");
    assert!(answer.get("type").is_some() && answer.get("code").is_some(), "{text}");
}

/// The bytes that a client sends after the handshake.
pub fn websocket(data: &[u8]) {
    let stream = Wire { input: Cursor::new(data), written: 0 };
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(socket::config()));
    let mut received = 0;
    let error = loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                received += text.len();
                client_frame(text.as_bytes());
            }
            Ok(Message::Binary(bytes)) => {
                received += bytes.len();
                answers_are_json(&error_frame(
                    &ClientFrame::binary().action.expect_err("a binary frame is an error"),
                    &Address::default(),
                ));
            }
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_)) => {}
            Err(error) => break error,
        }
    };
    assert!(received <= data.len(), "messages are larger than what was sent");
    // Each ping has one pong, and the close frame is answered, with a reason if it is wrong.
    let written = socket.get_ref().written;
    assert!(written <= data.len() + REASON_LIMIT, "more is written than was read: {written}");
    if let End::Close { reason, .. } = End::read_error(&error) {
        assert!(!reason.is_empty() && reason.len() <= REASON_LIMIT, "{reason}");
        assert!(!matches!(error, Broken::Io(_)), "{error}");
    }
}

/// A connection whose client sends these bytes and then disconnects.
struct Wire<'a> {
    input: Cursor<&'a [u8]>,
    written: usize,
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.input.read(buffer)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.written += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
