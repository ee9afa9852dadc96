//! Frames from the client: their names, the action of each, and the address of its reply.
//!
//! Only the frame's own fields are parsed here. The fields of the call stay text until the call
//! parses them, so that a frame of the largest size is never in memory as a tree of values.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use coop_client::json::no_such;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::super::call::FRAME_FIELDS;
use super::frame::{Address, Names, REPLY, STATE};
use crate::error::Error;
use crate::service::Rpc;

/// The field of an `auth` frame.
const TOKEN: &str = "token";

/// One frame of a client.
#[derive(Debug)]
pub(super) struct ClientFrame {
    pub address: Address,
    pub action: Result<Action, Error>,
    /// The whole frame, which contains the fields of the call.
    pub text: Bytes,
}

/// What a frame requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// A unary call; its response is a `reply` or `state` frame.
    Call(Rpc, Names),
    /// The screen as a `screen` frame.
    Screen,
    /// Kept output as `output` frames, then a reply.
    Replay,
    /// Acquires or releases the lease of this connection.
    Lock(LockAction),
    Auth {
        token: String,
    },
    Ping,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockAction {
    Acquire,
    Release,
}

/// A frame's name, before the fields of the action are read.
#[derive(Debug, Clone, Copy)]
enum Name {
    Call(Rpc, Names),
    Screen,
    Replay,
    Lock,
    Auth,
    Ping,
}

/// Every name of a client's frame.
const NAMES: &[(&[&str], Name)] = &[
    (&["input", "input:send"], Name::Call(Rpc::SendInput, REPLY)),
    (&["input_raw", "input:send:raw"], Name::Call(Rpc::SendInputRaw, REPLY)),
    (&["keys", "keys:send"], Name::Call(Rpc::SendKeys, REPLY)),
    (&["resize"], Name::Call(Rpc::Resize, REPLY)),
    (&["signal:send"], Name::Call(Rpc::SendSignal, REPLY)),
    (&["screen_request", "screen:get"], Name::Screen),
    (&["state_request", "agent:get"], Name::Call(Rpc::GetAgentState, STATE)),
    (&["nudge"], Name::Call(Rpc::Nudge, REPLY)),
    (&["respond"], Name::Call(Rpc::Respond, REPLY)),
    (&["replay", "replay:get"], Name::Replay),
    (&["lock"], Name::Lock),
    (&["auth"], Name::Auth),
    (&["ping"], Name::Ping),
    (&["transcript:list"], Name::Call(Rpc::ListTranscripts, REPLY)),
    (&["transcript:get"], Name::Call(Rpc::GetTranscript, REPLY)),
    (&["transcript:catchup"], Name::Call(Rpc::CatchupTranscripts, REPLY)),
    (&["health:get"], Name::Call(Rpc::GetHealth, REPLY)),
    (&["status:get"], Name::Call(Rpc::GetStatus, REPLY)),
    (&["shutdown"], Name::Call(Rpc::Shutdown, REPLY)),
];

impl ClientFrame {
    /// Parses a text frame. The action of an invalid frame is the error to reply with.
    pub(super) fn parse(text: Bytes) -> Self {
        let Picked { mut fields, other } = match pick(&text) {
            Ok(picked) => picked,
            Err(error) => return Self { address: Address::default(), action: Err(error), text },
        };
        let name = match fields.get("type") {
            Some(Value::Null) | None => fields.get("event"),
            Some(name) => Some(name),
        };
        let name = match name {
            Some(Value::String(name)) => Ok(name.clone()),
            Some(_) => Err(Error::bad_request("field type: expected a string")),
            None => Err(Error::bad_request("field type is missing: it names the frame")),
        };
        let address = Address { to: name.clone().ok(), request_id: fields.remove("request_id") };
        let action = name.and_then(|name| action(&name, &fields, other.as_deref()));
        Self { address, action, text }
    }

    /// A binary frame, which is always an error.
    pub(super) fn binary() -> Self {
        let error = Error::bad_request("frames are JSON text; bytes are base64 in `input_raw`");
        Self { address: Address::default(), action: Err(error), text: Bytes::new() }
    }
}

/// The action of a frame. `other` is a name that no frame has by itself: a call has it as a field
/// of its request, or refuses it.
fn action(name: &str, fields: &Map<String, Value>, other: Option<&str>) -> Result<Action, Error> {
    let known = NAMES.iter().find(|(names, _)| names.contains(&name)).map(|(_, known)| *known);
    match known {
        Some(Name::Call(rpc, reply)) => Ok(Action::Call(rpc, reply)),
        Some(Name::Screen) => Ok(Action::Screen),
        Some(Name::Replay) => Ok(Action::Replay),
        Some(Name::Lock) => match fields.get("action").and_then(Value::as_str) {
            Some("acquire") => Ok(Action::Lock(LockAction::Acquire)),
            Some("release") => Ok(Action::Lock(LockAction::Release)),
            Some(_) | None => Err(Error::bad_request("field action: expected acquire or release")),
        },
        Some(Name::Auth) => match (other, fields.get(TOKEN)) {
            (Some(other), _) => Err(unknown(other, &[TOKEN])),
            (None, Some(Value::String(token))) => Ok(Action::Auth { token: token.clone() }),
            (None, Some(_) | None) => Err(Error::bad_request("field token: expected a string")),
        },
        Some(Name::Ping) => match other.or(fields.get(TOKEN).map(|_| TOKEN)) {
            Some(other) => Err(unknown(other, &[])),
            None => Ok(Action::Ping),
        },
        None => Err(Error::bad_request(format!("there is no frame {name:?}"))),
    }
}

fn unknown(name: &str, more: &[&'static str]) -> Error {
    let name: String = name.chars().take(64).collect();
    let reason = no_such("field", &name, FRAME_FIELDS.iter().chain(more).copied());
    Error::bad_request(format!("field {name}: {reason}"))
}

/// The fields of the frame itself, and the first name of all others.
struct Picked {
    fields: Map<String, Value>,
    other: Option<String>,
}

/// Reads the fields of the frame itself and skips the others.
fn pick(text: &[u8]) -> Result<Picked, Error> {
    let mut input = serde_json::Deserializer::from_slice(text);
    let picked = input.deserialize_map(Pick).and_then(|picked| input.end().map(|()| picked));
    picked.map_err(|error| Error::bad_request(format!("the frame is not a JSON object: {error}")))
}

struct Pick;

impl<'de> Visitor<'de> for Pick {
    type Value = Picked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut picked = Picked { fields: Map::new(), other: None };
        while let Some(name) = entries.next_key::<Cow<'de, str>>()? {
            if FRAME_FIELDS.contains(&name.as_ref()) || name == TOKEN {
                picked.fields.insert(name.into_owned(), entries.next_value()?);
            } else {
                picked.other.get_or_insert_with(|| name.into_owned());
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(picked)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> ClientFrame {
        ClientFrame::parse(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn refusal(text: &str) -> String {
        parse(text).action.unwrap_err().message
    }

    #[test]
    fn a_name_is_found_under_type_or_event() {
        for text in [
            r#"{"type":"input","text":"a"}"#,
            r#"{"event":"input:send"}"#,
            r#"{"type":null,"event":"input"}"#,
        ] {
            assert_eq!(parse(text).action, Ok(Action::Call(Rpc::SendInput, REPLY)), "{text}");
        }
        assert_eq!(parse(r#"{"type":"ping","event":"input"}"#).action, Ok(Action::Ping));
    }

    #[test]
    fn every_name_in_the_table_is_unique() {
        let mut names: Vec<_> = NAMES.iter().flat_map(|(names, _)| names.iter()).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn an_unknown_frame_keeps_its_address() {
        let frame = parse(r#"{"request_id":[1,{"a":null}],"type":"nothing"}"#);
        assert_eq!(
            frame.address,
            Address { to: Some("nothing".into()), request_id: Some(json!([1, {"a": null}])) }
        );
        assert_eq!(frame.action.unwrap_err().message, "there is no frame \"nothing\"");
    }

    #[test]
    fn an_error_names_the_missing_field() {
        assert_eq!(
            parse(r#"{"type":"lock","action":"release"}"#).action,
            Ok(Action::Lock(LockAction::Release))
        );
        assert_eq!(
            parse(r#"{"type":"auth","token":"t"}"#).action,
            Ok(Action::Auth { token: "t".into() })
        );
        assert!(refusal(r#"{"type":"lock"}"#).contains("action"));
        assert!(refusal(r#"{"type":"lock","action":7}"#).contains("action"));
        assert!(refusal(r#"{"type":"auth","token":null}"#).contains("token"));
    }

    #[test]
    fn an_invalid_frame_is_an_error() {
        let deep = format!(r#"{{"type":"ping","request_id":{}"#, "[".repeat(100_000));
        for text in [
            "",
            "{",
            "[]",
            "null",
            "7",
            "{}",
            r#"{"type":7}"#,
            r#"{"type":"ping"} x"#,
            "\u{0}",
            &deep,
        ] {
            assert!(parse(text).action.is_err(), "{}", text.get(..40).unwrap_or(text));
        }
        assert!(ClientFrame::parse(Bytes::from_static(b"{\"type\":\"\xff\"}")).action.is_err());
    }

    #[test]
    fn nesting_in_a_skipped_field_uses_no_stack() {
        let text =
            format!(r#"{{"type":"nudge","x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse(&text).action, Ok(Action::Call(Rpc::Nudge, REPLY)));
    }

    #[test]
    fn a_frame_without_a_call_refuses_unknown_names() {
        for (text, reason) in [
            (
                r#"{"type":"ping","requestid":7}"#,
                "field requestid: there is no such field, the nearest is request_id",
            ),
            (
                r#"{"type":"ping","token":"t"}"#,
                "field token: there is no such field, the nearest is event",
            ),
            (
                r#"{"type":"auth","tokn":"t"}"#,
                "field tokn: there is no such field, the nearest is token",
            ),
        ] {
            assert_eq!(refusal(text), reason);
        }
    }
}
