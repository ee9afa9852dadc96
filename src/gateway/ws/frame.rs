//! Frames to the client: two names, an address if it is a reply, and the fields of a message.

use serde_json::Value;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::super::refusal::envelope;
use crate::error::Error;

/// Both names of a frame: its `type` and its `event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Names {
    pub kind: &'static str,
    pub event: &'static str,
}

impl Names {
    pub(super) const fn new(kind: &'static str, event: &'static str) -> Self {
        Self { kind, event }
    }

    pub(super) const fn same(name: &'static str) -> Self {
        Self::new(name, name)
    }
}

pub(super) const OUTPUT: Names = Names::new("output", "pty");
pub(super) const SCREEN: Names = Names::same("screen");
pub(super) const STATE: Names = Names::same("state");
pub(super) const REPLY: Names = Names::same("reply");
pub(super) const ERROR: Names = Names::same("error");
pub(super) const PONG: Names = Names::same("pong");

/// A message without fields.
pub(super) const NO_FIELDS: &[u8] = b"{}";

/// The client frame that a frame replies to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Address {
    /// The name of the client's frame.
    pub to: Option<String>,
    pub request_id: Option<Value>,
}

impl Address {
    /// The fields of the address, to be added to a message's fields.
    pub(super) fn fields(&self) -> Vec<(&'static str, Value)> {
        let to = self.to.clone().map(|to| ("to", Value::from(to)));
        let request_id = self.request_id.clone().map(|id| ("request_id", id));
        to.into_iter().chain(request_id).collect()
    }
}

/// Builds a frame. `fields` is the JSON text of a message and is copied: a screen or 64 KiB of
/// output are not parsed only to be printed again.
pub(super) fn frame(names: Names, extra: &[(&'static str, Value)], fields: &[u8]) -> Utf8Bytes {
    let mut text = format!(r#"{{"type":"{}","event":"{}""#, names.kind, names.event).into_bytes();
    for (name, value) in extra {
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

/// The frame of an error, with the fields of the HTTP envelope.
pub(super) fn error_frame(error: &Error, address: &Address) -> Utf8Bytes {
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
    fn names_come_before_the_fields_of_the_message() {
        let made = frame(SCREEN, &[("seq", 4.into())], br#"{"cols":80,"lines":["a\"}"]}"#);
        assert_eq!(
            made.as_str(),
            r#"{"type":"screen","event":"screen","seq":4,"cols":80,"lines":["a\"}"]}"#
        );
        assert_eq!(frame(PONG, &[], NO_FIELDS).as_str(), r#"{"type":"pong","event":"pong"}"#);
        assert_eq!(frame(PONG, &[], b"").as_str(), r#"{"type":"pong","event":"pong"}"#);
    }

    #[test]
    fn a_reply_has_its_address_as_escaped_json() {
        let address =
            Address { to: Some("in\"put".into()), request_id: Some(json!({"a": ["\n"]})) };
        let made = parsed(&frame(REPLY, &address.fields(), br#"{"bytes_written":1}"#));
        let expected = json!({
            "type": "reply",
            "event": "reply",
            "to": "in\"put",
            "request_id": {"a": ["\n"]},
            "bytes_written": 1,
        });
        assert_eq!(made, expected);
    }

    #[test]
    fn an_error_frame_is_the_envelope_with_an_address() {
        let error = Error::new(Code::WriterBusy, "taken").with("holder", "ada");
        let made = parsed(&error_frame(
            &error,
            &Address { to: Some("keys".into()), request_id: Some(7.into()) },
        ));
        assert_eq!(made["type"], "error");
        assert_eq!((&made["code"], &made["message"]), (&json!("WRITER_BUSY"), &json!("taken")));
        assert_eq!((&made["to"], &made["request_id"]), (&json!("keys"), &json!(7)));
        assert_eq!(made["error"]["metadata"]["holder"], "ada");
    }

    #[test]
    fn no_message_has_a_field_that_a_frame_reserves() {
        fn check<M: Message>() {
            for reserved in ["type", "event", "to", "request_id", "seq"] {
                assert!(!M::FIELDS.contains(&reserved), "{reserved}");
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
