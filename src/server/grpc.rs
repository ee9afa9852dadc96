//! Error details for gRPC errors that occur before a call reaches the service. It knows no method.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::ALLOW;
use http::{HeaderValue, StatusCode};
use tonic::Status;

use crate::error::{Code, Error};
use crate::gateway::refusal;
use crate::service::request_error;

/// Adds coop's error details to tonic's own errors, and responds with coop's JSON error to
/// requests that are not gRPC.
pub(super) async fn explain(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    match response.status() {
        StatusCode::OK => {
            let status = Status::from_header_map(response.headers())
                .filter(|status| status.details().is_empty());
            if let Some(status) = status.filter(|status| status.code() != tonic::Code::Ok) {
                // It fails only for text that a header cannot carry; tonic's status is kept then.
                drop(Status::from(request_error(&status)).add_header(response.headers_mut()));
            }
            response
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            let mut response =
                refusal(&Error::new(Code::MethodNotAllowed, "gRPC is called with POST"));
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            response
        }
        _ => {
            refusal(&Error::bad_request("this is a gRPC path: call it over HTTP/2, or as grpc-web"))
        }
    }
}
