//! gRPC as coop serves it: every refusal gives its reason, also those that are made before a call
//! reaches the service. It knows no method.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::ALLOW;
use http::{HeaderValue, StatusCode};
use tonic::Status;

use crate::error::{Code, Error};
use crate::gateway::refusal;

/// Gives what tonic itself refuses a reason of ours, and what is no gRPC at all our envelope.
pub async fn explain(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    match response.status() {
        StatusCode::OK => {
            let status =
                Status::from_header_map(response.headers()).filter(|status| status.details().is_empty());
            if let Some(status) = status.filter(|status| status.code() != tonic::Code::Ok) {
                // It fails only for text that no header can carry, and then the old status stands.
                drop(Status::from(Error::of_request(&status)).add_header(response.headers_mut()));
            }
            response
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            let mut response = refusal(&Error::new(Code::MethodNotAllowed, "gRPC is called with POST"));
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            response
        }
        _ => refusal(&Error::bad_request("this path is gRPC's: call it over HTTP/2, or as grpc-web")),
    }
}
