//! What an error looks like in HTTP: one envelope for all of them. Which status a code has is
//! `crate::error`'s table; nothing is decided here.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use coop_client::json;
use serde_json::{Map, Value};

use crate::error::{Code, Error};

/// `{"error":{"code","message"},"code","message"}`.
///
/// Facts for programs, such as `holder` of WRITER_BUSY, stand in `error.metadata` as the strings
/// that gRPC carries in `ErrorInfo`. The typed response of a refused call, where there is one,
/// lends its fields to the top level: `delivered`, `reason`, `state` of a refused nudge.
pub fn envelope(error: &Error) -> Map<String, Value> {
    let mut inner = Map::new();
    inner.insert("code".into(), error.code.as_str().into());
    inner.insert("message".into(), error.message.as_str().into());
    if !error.metadata.is_empty() {
        let facts = error.metadata.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
        inner.insert("metadata".into(), Value::Object(facts.collect()));
    }
    let mut body = Map::new();
    body.insert("error".into(), Value::Object(inner));
    body.insert("code".into(), error.code.as_str().into());
    body.insert("message".into(), error.message.as_str().into());
    for (key, value) in response_fields(error) {
        body.entry(key).or_insert(value);
    }
    body
}

fn response_fields(error: &Error) -> Map<String, Value> {
    let fields = error.response.as_ref().and_then(|any| {
        let (_, name) = any.type_url.rsplit_once('/')?;
        (json::codec(name)?.to_json)(&any.value).ok()
    });
    match fields {
        Some(Value::Object(fields)) => fields,
        Some(_) | None => Map::new(),
    }
}

/// The response that refuses a request.
pub fn refusal(error: &Error) -> Response {
    let body = Value::Object(envelope(error)).to_string();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(error.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if error.code == Code::Unauthorized {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The answer to a path that nobody serves.
pub async fn not_found() -> Response {
    refusal(&Error::new(Code::NotFound, "no such path"))
}

/// The answer to a verb that a path does not have; the router adds which ones it has.
pub async fn method_not_allowed() -> Response {
    refusal(&Error::new(Code::MethodNotAllowed, "this path does not take this method"))
}

#[cfg(test)]
mod tests {
    use coop_client::v1::NudgeResponse;
    use prost::Message as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_code_stands_inside_and_outside() {
        let body = envelope(&Error::bad_request("no"));
        let expected = json!({"error": {"code": "BAD_REQUEST", "message": "no"}, "code": "BAD_REQUEST", "message": "no"});
        assert_eq!(Value::Object(body), expected);
    }

    #[test]
    fn facts_stand_in_the_error() {
        let body =
            envelope(&Error::new(Code::WriterBusy, "taken").with("holder", "ada").with("remaining_ms", 12));
        assert_eq!(body["error"]["metadata"], json!({"holder": "ada", "remaining_ms": "12"}));
    }

    #[test]
    fn a_refused_nudge_says_what_it_found() {
        let found = NudgeResponse {
            state: "working".into(),
            reason: Some("agent_busy".into()),
            ..NudgeResponse::default()
        };
        let any = prost_types::Any {
            type_url: "type.googleapis.com/coop.v1.NudgeResponse".into(),
            value: found.encode_to_vec(),
        };
        let refused = Error { response: Some(any), ..Error::new(Code::AgentBusy, "the agent is working") };
        let body = envelope(&Error::from(&tonic::Status::from(refused)));
        assert_eq!(body["delivered"], json!(false));
        assert_eq!(body["reason"], json!("agent_busy"));
        assert_eq!(body["state"], json!("working"));
        assert_eq!(body["code"], json!("AGENT_BUSY"));
        assert_eq!(body["message"], json!("the agent is working"));
    }
}
