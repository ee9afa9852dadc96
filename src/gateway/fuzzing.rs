//! JSON and query strings under a fuzzer: what is read can be written and read again, and a name
//! that does not exist is refused. It knows individual messages only by name.

use coop_client::json::{self as coop_json, Codec};
use serde_json::Value;

use super::generated::ROUTES;
use super::params::from_query;

/// A field that no message has.
const NO_FIELD: &str = "no_such_field";

/// A message in both encodings: the first line is the name of the message, the rest is JSON or
/// protobuf.
pub fn json(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (Some(name), Some(body)) = (parts.next(), parts.next()) else { return };
    let name = format!("coop.v1.{}", String::from_utf8_lossy(name));
    let Some(codec) = coop_json::codec(&name) else { return };
    if let Ok(protobuf) = (codec.to_protobuf)(body) {
        let value = (codec.to_json)(&protobuf).expect("protobuf that coop wrote can be read");
        assert_eq!((codec.to_protobuf)(value.to_string().as_bytes()).as_ref(), Ok(&protobuf));
        refuses_unknown_fields(codec, value);
    }
    if let Ok(value) = (codec.to_json)(body) {
        match (codec.to_protobuf)(value.to_string().as_bytes()) {
            Ok(protobuf) => assert_eq!((codec.to_json)(&protobuf).as_ref(), Ok(&value)),
            // The number of an enum's value that only a newer peer knows is written, and not read.
            Err(error) => assert!(error.to_string().contains("expected one of"), "{error}"),
        }
    }
}

fn refuses_unknown_fields(codec: Codec, value: Value) {
    let Value::Object(mut fields) = value else { return };
    fields.insert(NO_FIELD.to_owned(), Value::Null);
    let refused = (codec.to_protobuf)(Value::Object(fields).to_string().as_bytes());
    let reason = refused.expect_err("an unknown field is refused").to_string();
    assert!(reason.contains(NO_FIELD), "{reason}");
}

/// The query string of each route. The first byte chooses the route.
pub fn query(data: &[u8]) {
    let Some((at, query)) = data.split_first() else { return };
    let Some(route) = ROUTES.get(usize::from(*at) % ROUTES.len()) else { return };
    let query = String::from_utf8_lossy(query);
    match from_query(route.query, &query) {
        Ok(fields) => {
            for (at, (name, _)) in fields.iter().enumerate() {
                assert!(route.query.iter().any(|param| param.name == *name), "{name}");
                assert!(!fields.iter().skip(at + 1).any(|(other, _)| other == name), "{name}");
            }
        }
        Err(error) => assert!(!error.message.is_empty() && error.message.len() < 512),
    }
}
