//! Frames to the client: two names, an address where it is an answer, and a message's own fields.

use serde_json::Value;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::super::refusal::envelope;
use crate::error::Error;

/// Both names of a kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Names {
    pub kind: &'static str,
    pub event: &'static str,
}

impl Names {
    pub const fn new(kind: &'static str, event: &'static str) -> Self {
        Self { kind, event }
    }

    pub const fn same(name: &'static str) -> Self {
        Self::new(name, name)
    }
}

pub const OUTPUT: Names = Names::new("output", "pty");
pub const SCREEN: Names = Names::same("screen");
pub const STATE: Names = Names::same("state");
pub const REPLY: Names = Names::same("reply");
pub const ERROR: Names = Names::same("error");
pub const PONG: Names = Names::same("pong");

/// A message without fields.
pub const NO_FIELDS: &[u8] = b"{}";

/// Whom a frame answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Address {
    /// The name that the client's frame had.
    pub to: Option<String>,
    pub request_id: Option<Value>,
}

impl Address {
    /// As they stand beside a message's fields.
    pub fn fields(&self) -> Vec<(&'static str, Value)> {
        let to = self.to.clone().map(|to| ("to", Value::from(to)));
        let request_id = self.request_id.clone().map(|id| ("request_id", id));
        to.into_iter().chain(request_id).collect()
    }
}

/// One frame. `fields` is the JSON text of a message, whose fields stand beside the names as they
/// are: a screen or 64 KiB of output are not parsed only to be printed again.
pub fn frame(names: Names, beside: &[(&'static str, Value)], fields: &[u8]) -> Utf8Bytes {
    let mut text = format!(r#"{{"type":"{}","event":"{}""#, names.kind, names.event).into_bytes();
    for (name, value) in beside {
        text.extend_from_slice(format!(r#","{name}":{value}"#).as_bytes());
    }
    match fields.strip_prefix(b"{") {
        Some(b"}") | None => text.push(b'}'),
        Some(rest) => {
            text.push(b',');
            text.extend_from_slice(rest);
        }
    }
    Utf8Bytes::try_from(text).expect("JSON text is UTF-8")
}

/// The frame that refuses what was asked, in the words of the HTTP envelope.
pub fn refused(error: &Error, address: &Address) -> Utf8Bytes {
    frame(ERROR, &address.fields(), Value::Object(envelope(error)).to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use coop_client::json::Message;
    use coop_client::v1;
    use serde_json::json;

    use super::*;
    use crate::error::Code;

    fn parsed(frame: &Utf8Bytes) -> Value {
        serde_json::from_str(frame.as_str()).unwrap()
    }

    #[test]
    fn names_come_first_and_the_messages_fields_stand_beside_them() {
        let made = frame(SCREEN, &[("seq", 4.into())], br#"{"cols":80,"lines":["a\"}"]}"#);
        assert_eq!(made.as_str(), r#"{"type":"screen","event":"screen","seq":4,"cols":80,"lines":["a\"}"]}"#);
        assert_eq!(frame(PONG, &[], NO_FIELDS).as_str(), r#"{"type":"pong","event":"pong"}"#);
        assert_eq!(frame(PONG, &[], b"").as_str(), r#"{"type":"pong","event":"pong"}"#);
    }

    #[test]
    fn an_answer_says_whom_it_answers_and_nobody_can_break_out_of_it() {
        let address = Address { to: Some("in\"put".into()), request_id: Some(json!({"a": ["\n"]})) };
        let made = parsed(&frame(REPLY, &address.fields(), br#"{"bytes_written":1}"#));
        let expected = json!({"type": "reply", "event": "reply", "to": "in\"put", "request_id": {"a": ["\n"]}, "bytes_written": 1});
        assert_eq!(made, expected);
    }

    #[test]
    fn a_refusal_is_the_envelope_with_an_address() {
        let error = Error::new(Code::WriterBusy, "taken").with("holder", "ada");
        let made = parsed(&refused(&error, &Address { to: Some("keys".into()), request_id: Some(7.into()) }));
        assert_eq!(made["type"], "error");
        assert_eq!((&made["code"], &made["message"]), (&json!("WRITER_BUSY"), &json!("taken")));
        assert_eq!((&made["to"], &made["request_id"]), (&json!("keys"), &json!(7)));
        assert_eq!(made["error"]["metadata"]["holder"], "ada");
    }

    #[test]
    fn no_message_has_a_field_that_a_frame_needs_for_itself() {
        fn check<M: Message>() {
            for taken in ["type", "event", "to", "request_id", "seq"] {
                assert!(!M::FIELDS.contains(&taken), "{taken}");
            }
        }
        check::<v1::OutputChunk>();
        check::<v1::ScreenSnapshot>();
        check::<v1::GetScreenResponse>();
        check::<v1::GetAgentStateResponse>();
        check::<v1::GetHealthResponse>();
        check::<v1::GetStatusResponse>();
        check::<v1::GetOutputResponse>();
        check::<v1::AcquireLeaseResponse>();
        check::<v1::ListTranscriptsResponse>();
        check::<v1::GetTranscriptResponse>();
        check::<v1::CatchupTranscriptsResponse>();
    }
}
