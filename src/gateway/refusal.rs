//! An error as an HTTP response: one JSON envelope for all of them. The status of a code comes from
//! the table in `service::wire_error`.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use coop_client::json;
use serde_json::{Map, Value};

use crate::error::{Code, Error};
use crate::service::http_status;

/// `{"error":{"code","message"},"code","message"}`.
///
/// Facts for programs, such as `holder` of WRITER_BUSY, are strings in `error.metadata`, as in
/// `ErrorInfo` over gRPC. If the refused call has a typed response, its fields are added at the top
/// level: `delivered`, `reason` and `state` of a refused nudge.
pub fn envelope(error: &Error) -> Map<String, Value> {
    let mut inner = Map::new();
    inner.insert("code".into(), error.code.as_str().into());
    inner.insert("message".into(), error.message.as_str().into());
    if !error.metadata.is_empty() {
        let facts =
            error.metadata.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
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
    let fields = error
        .response
        .as_ref()
        .and_then(|response| (json::codec(&response.message_name)?.to_json)(&response.bytes).ok());
    match fields {
        Some(Value::Object(fields)) => fields,
        Some(_) | None => Map::new(),
    }
}

/// The HTTP response for an error.
pub fn refusal(error: &Error) -> Response {
    let body = Value::Object(envelope(error)).to_string();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() =
        StatusCode::from_u16(http_status(error)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // For the audit log.
    response.extensions_mut().insert(error.code);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if error.code == Code::Unauthorized {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The response to an unknown path.
pub async fn not_found() -> Response {
    refusal(&Error::new(Code::NotFound, "no such path"))
}

/// The response to a method that the path does not have. The router adds the `Allow` header.
pub async fn method_not_allowed() -> Response {
    refusal(&Error::new(Code::MethodNotAllowed, "this path does not take this method"))
}

#[cfg(test)]
mod tests {
    use coop_client::v1::NudgeResponse;
    use prost::Message as _;
    use serde_json::json;

    use super::*;
    use crate::error::EncodedResponse;

    #[test]
    fn code_and_message_are_in_the_error_and_at_the_top_level() {
        let body = envelope(&Error::bad_request("no"));
        let expected = json!({
            "error": {"code": "BAD_REQUEST", "message": "no"},
            "code": "BAD_REQUEST",
            "message": "no",
        });
        assert_eq!(Value::Object(body), expected);
    }

    #[test]
    fn metadata_is_part_of_the_error() {
        let body = envelope(
            &Error::new(Code::WriterBusy, "taken").with("holder", "ada").with("remaining_ms", 12),
        );
        assert_eq!(body["error"]["metadata"], json!({"holder": "ada", "remaining_ms": "12"}));
    }

    #[test]
    fn a_refused_nudge_has_the_fields_of_its_response() {
        let found = NudgeResponse {
            state: "working".into(),
            reason: Some("agent_busy".into()),
            ..NudgeResponse::default()
        };
        let response = EncodedResponse {
            message_name: "coop.v1.NudgeResponse".to_owned(),
            bytes: found.encode_to_vec(),
        };
        let refused = Error {
            response: Some(response),
            ..Error::new(Code::AgentBusy, "the agent is working")
        };
        let body = envelope(&Error::from(&tonic::Status::from(refused)));
        assert_eq!(body["delivered"], json!(false));
        assert_eq!(body["reason"], json!("agent_busy"));
        assert_eq!(body["state"], json!("working"));
        assert_eq!(body["code"], json!("AGENT_BUSY"));
        assert_eq!(body["message"], json!("the agent is working"));
    }
}
