//! Frames from the client: which names there are, what each asks for, and where its answer goes.
//!
//! Only what concerns the frame itself is read here. The fields of the call stay text until the
//! call reads them, so that a frame of the largest size is never in memory as a tree of values.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::super::generated::Rpc;
use super::frame::{Address, Names, REPLY, SCREEN, STATE};
use crate::error::Error;

/// One frame of a client.
#[derive(Debug)]
pub struct Ask {
    pub address: Address,
    pub deed: Result<Deed, Error>,
    /// The frame itself: the fields of the call stand in it.
    pub text: Bytes,
}

/// What a frame asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A unary call, and the names of the frame that answers it.
    Call(Rpc, Names),
    /// Kept output as `output` frames, then a reply.
    Replay,
    /// The lease of this connection.
    Lock(Action),
    Auth {
        token: String,
    },
    Ping,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Acquire,
    Release,
}

/// A frame's name, before its own fields were looked at.
#[derive(Debug, Clone, Copy)]
enum Name {
    Call(Rpc, Names),
    Replay,
    Lock,
    Auth,
    Ping,
}

/// Every name that a client may use.
const NAMES: &[(&[&str], Name)] = &[
    (&["input", "input:send"], Name::Call(Rpc::SendInput, REPLY)),
    (&["input_raw", "input:send:raw"], Name::Call(Rpc::SendInputRaw, REPLY)),
    (&["keys", "keys:send"], Name::Call(Rpc::SendKeys, REPLY)),
    (&["resize"], Name::Call(Rpc::Resize, REPLY)),
    (&["signal:send"], Name::Call(Rpc::SendSignal, REPLY)),
    (&["screen_request", "screen:get"], Name::Call(Rpc::GetScreen, SCREEN)),
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

impl Ask {
    /// Reads a text frame. What cannot be read is still an ask: one that gets an error for answer.
    pub fn parse(text: Bytes) -> Self {
        let own = ["type", "event", "request_id", "action", "token"];
        let mut fields = match pick(&text, &own) {
            Ok(fields) => fields,
            Err(error) => return Self { address: Address::default(), deed: Err(error), text },
        };
        let name = match fields.get("type") {
            Some(Value::Null) | None => fields.get("event"),
            Some(name) => Some(name),
        };
        let name = match name {
            Some(Value::String(name)) => Ok(name.clone()),
            Some(_) => Err(Error::bad_request("field type: expected a string")),
            None => Err(Error::bad_request("field type is missing: it names what the frame asks for")),
        };
        let address = Address { to: name.clone().ok(), request_id: fields.remove("request_id") };
        let deed = name.and_then(|name| deed(&name, &fields));
        Self { address, deed, text }
    }

    /// The answer to a binary frame.
    pub fn binary() -> Self {
        let error = Error::bad_request("frames are JSON text; bytes are base64 in `input_raw`");
        Self { address: Address::default(), deed: Err(error), text: Bytes::new() }
    }
}

fn deed(name: &str, fields: &Map<String, Value>) -> Result<Deed, Error> {
    let known = NAMES.iter().find(|(names, _)| names.contains(&name)).map(|(_, known)| *known);
    match known {
        Some(Name::Call(rpc, answer)) => Ok(Deed::Call(rpc, answer)),
        Some(Name::Replay) => Ok(Deed::Replay),
        Some(Name::Lock) => match fields.get("action").and_then(Value::as_str) {
            Some("acquire") => Ok(Deed::Lock(Action::Acquire)),
            Some("release") => Ok(Deed::Lock(Action::Release)),
            Some(_) | None => Err(Error::bad_request("field action: expected acquire or release")),
        },
        Some(Name::Auth) => match fields.get("token") {
            Some(Value::String(token)) => Ok(Deed::Auth { token: token.clone() }),
            Some(_) | None => Err(Error::bad_request("field token: expected a string")),
        },
        Some(Name::Ping) => Ok(Deed::Ping),
        None => Err(Error::bad_request(format!("there is no frame {name:?}"))),
    }
}

/// Some fields of a JSON object, whatever else it holds.
pub fn pick(text: &[u8], names: &[&str]) -> Result<Map<String, Value>, Error> {
    let mut input = serde_json::Deserializer::from_slice(text);
    let picked = input.deserialize_map(Picked(names)).and_then(|fields| input.end().map(|()| fields));
    picked.map_err(|error| Error::bad_request(format!("the frame is no JSON object: {error}")))
}

struct Picked<'a>(&'a [&'a str]);

impl<'de> Visitor<'de> for Picked<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<Cow<'de, str>>()? {
            if self.0.contains(&name.as_ref()) {
                fields.insert(name.into_owned(), entries.next_value()?);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Ask {
        Ask::parse(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn refusal(text: &str) -> String {
        parse(text).deed.unwrap_err().message
    }

    #[test]
    fn a_name_is_found_under_type_or_event() {
        for text in [
            r#"{"type":"input","text":"a"}"#,
            r#"{"event":"input:send"}"#,
            r#"{"type":null,"event":"input"}"#,
        ] {
            assert_eq!(parse(text).deed, Ok(Deed::Call(Rpc::SendInput, REPLY)), "{text}");
        }
        assert_eq!(parse(r#"{"type":"ping","event":"input"}"#).deed, Ok(Deed::Ping));
    }

    #[test]
    fn no_name_stands_twice_in_the_table() {
        let mut names: Vec<_> = NAMES.iter().flat_map(|(names, _)| names.iter()).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_address_is_kept_also_when_the_rest_is_wrong() {
        let ask = parse(r#"{"request_id":[1,{"a":null}],"type":"nothing"}"#);
        assert_eq!(
            ask.address,
            Address { to: Some("nothing".into()), request_id: Some(json!([1, {"a": null}])) }
        );
        assert_eq!(ask.deed.unwrap_err().message, "there is no frame \"nothing\"");
    }

    #[test]
    fn frames_with_fields_of_their_own_say_what_they_miss() {
        assert_eq!(parse(r#"{"type":"lock","action":"release"}"#).deed, Ok(Deed::Lock(Action::Release)));
        assert_eq!(parse(r#"{"type":"auth","token":"t"}"#).deed, Ok(Deed::Auth { token: "t".into() }));
        assert!(refusal(r#"{"type":"lock"}"#).contains("action"));
        assert!(refusal(r#"{"type":"lock","action":7}"#).contains("action"));
        assert!(refusal(r#"{"type":"auth","token":null}"#).contains("token"));
    }

    #[test]
    fn what_is_no_frame_is_told_so() {
        let deep = format!(r#"{{"type":"ping","request_id":{}"#, "[".repeat(100_000));
        for text in
            ["", "{", "[]", "null", "7", "{}", r#"{"type":7}"#, r#"{"type":"ping"} x"#, "\u{0}", &deep]
        {
            assert!(parse(text).deed.is_err(), "{}", text.get(..40).unwrap_or(text));
        }
        assert!(Ask::parse(Bytes::from_static(b"{\"type\":\"\xff\"}")).deed.is_err());
    }

    #[test]
    fn nesting_where_nobody_looks_costs_no_stack() {
        let text = format!(r#"{{"type":"ping","x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse(&text).deed, Ok(Deed::Ping));
    }
}
