//! What a browser must be told before a page from an allowed foreign origin may call.

use axum::response::Response;
use http::HeaderValue;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderName, VARY,
};

use super::origin::Origin;

const HEADERS: &[(HeaderName, &str)] = &[
    (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
    (
        ACCESS_CONTROL_ALLOW_HEADERS,
        "authorization, content-type, coop-lease, grpc-timeout, last-event-id, x-grpc-web, x-user-agent",
    ),
    (ACCESS_CONTROL_EXPOSE_HEADERS, "grpc-status, grpc-message, grpc-status-details-bin"),
    (ACCESS_CONTROL_MAX_AGE, "600"),
    (VARY, "origin"),
];

/// Lets the page read the answer, if it comes from a foreign origin that was allowed.
pub fn allow(mut response: Response, foreign: Option<Origin>) -> Response {
    let origin = foreign.and_then(|origin| HeaderValue::from_str(origin.as_str()).ok());
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        for (name, value) in HEADERS {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
    }
    response
}
