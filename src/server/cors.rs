//! The CORS headers that let pages from another, allowed origin call coop.

use axum::response::Response;
use coop_client::LEASE_HEADER;
use http::HeaderValue;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderName, VARY,
};

use super::origin::Origin;

const HEADERS: &[(HeaderName, &str)] = &[
    (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE"),
    (ACCESS_CONTROL_EXPOSE_HEADERS, "grpc-status, grpc-message, grpc-status-details-bin"),
    (ACCESS_CONTROL_MAX_AGE, "600"),
    (VARY, "origin"),
];

/// Adds the headers to a response for a request from another, allowed origin.
pub(super) fn allow(mut response: Response, origin: Option<Origin>) -> Response {
    let origin = origin.and_then(|origin| HeaderValue::from_str(origin.as_str()).ok());
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers());
        for (name, value) in HEADERS {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
    }
    response
}

fn allowed_headers() -> HeaderValue {
    let names = format!(
        "authorization, content-type, {LEASE_HEADER}, grpc-timeout, last-event-id, x-grpc-web, \
         x-user-agent"
    );
    HeaderValue::try_from(names).expect("header names are ASCII")
}
