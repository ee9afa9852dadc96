//! How an [`Error`] looks over HTTP, gRPC and WebSocket: one table for all three. No handler picks
//! a status or close code of its own.

use coop_client::ERROR_DOMAIN;
use prost::Message as _;
use tonic_types::pb;

use crate::error::{Code, EncodedResponse, Error};

/// What a code is on each wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// The HTTP status.
    pub http: u16,
    /// The gRPC status code.
    pub grpc: tonic::Code,
    /// The close code of a WebSocket that this error ends.
    pub close: u16,
}

/// The table.
pub fn wire(code: Code) -> Wire {
    use tonic::Code as Grpc;
    let (http, grpc, close) = match code {
        Code::NotReady => (503, Grpc::Unavailable, 4503),
        Code::Exited => (410, Grpc::NotFound, 1011),
        Code::WriterBusy => (409, Grpc::ResourceExhausted, 1011),
        Code::Unauthorized => (401, Grpc::Unauthenticated, 4401),
        Code::Forbidden => (403, Grpc::PermissionDenied, 1008),
        Code::BadRequest => (400, Grpc::InvalidArgument, 1011),
        Code::NotFound => (404, Grpc::NotFound, 1011),
        Code::MethodNotAllowed => (405, Grpc::Unimplemented, 1011),
        Code::NoDriver => (404, Grpc::Unimplemented, 1011),
        Code::Unsupported => (501, Grpc::Unimplemented, 1011),
        Code::AgentBusy => (409, Grpc::FailedPrecondition, 1011),
        Code::NoPrompt => (409, Grpc::FailedPrecondition, 1011),
        Code::StalePrompt => (409, Grpc::Aborted, 1011),
        Code::SwitchInProgress => (409, Grpc::FailedPrecondition, 1011),
        Code::TooLarge => (413, Grpc::ResourceExhausted, 1009),
        Code::Timeout => (504, Grpc::DeadlineExceeded, 1011),
        Code::Internal => (500, Grpc::Internal, 1011),
    };
    Wire { http, grpc, close }
}

/// The metadata key that names a field which breaks a configured schema. It makes BAD_REQUEST a
/// 422.
const SCHEMA_FIELD: &str = "field";

/// The HTTP status of this error.
pub fn http_status(error: &Error) -> u16 {
    let breaks_schema = error.metadata.iter().any(|(key, _)| key == SCHEMA_FIELD);
    if error.code == Code::BadRequest && breaks_schema { 422 } else { wire(error.code).http }
}

const TYPE_URL: &str = "type.googleapis.com/";
const ERROR_INFO: &str = "google.rpc.ErrorInfo";

fn any(message_name: &str, value: Vec<u8>) -> prost_types::Any {
    prost_types::Any { type_url: format!("{TYPE_URL}{message_name}"), value }
}

/// The name of the message that a detail holds.
fn message_name(any: &prost_types::Any) -> &str {
    any.type_url.rsplit_once('/').map_or("", |(_, name)| name)
}

impl From<Error> for tonic::Status {
    fn from(error: Error) -> Self {
        let info = pb::ErrorInfo {
            reason: error.code.as_str().to_owned(),
            domain: ERROR_DOMAIN.to_owned(),
            metadata: error.metadata.into_iter().collect(),
        };
        let info = any(ERROR_INFO, info.encode_to_vec());
        let response = error.response.map(|response| any(&response.message_name, response.bytes));
        let code = wire(error.code).grpc;
        let status = pb::Status {
            code: code as i32,
            message: error.message.clone(),
            details: [info].into_iter().chain(response).collect(),
        };
        Self::with_details(code, error.message, status.encode_to_vec().into())
    }
}

impl From<&tonic::Status> for Error {
    /// Reads back what [`From<Error>`] wrote; a status that tonic made gets the nearest code.
    fn from(status: &tonic::Status) -> Self {
        let details = pb::Status::decode(status.details()).map(|s| s.details).unwrap_or_default();
        let info = details
            .iter()
            .find(|any| message_name(any) == ERROR_INFO)
            .and_then(|any| pb::ErrorInfo::decode(any.value.as_slice()).ok());
        let known = info.as_ref().and_then(|info| Code::from_wire(&info.reason));
        let mut metadata: Vec<_> =
            info.map(|info| info.metadata.into_iter().collect()).unwrap_or_default();
        metadata.sort();
        let response = details.iter().find(|any| message_name(any).starts_with("coop.v1."));
        Self {
            code: known.unwrap_or_else(|| nearest(status.code())),
            message: status.message().to_owned(),
            metadata,
            response: response.map(|any| EncodedResponse {
                message_name: message_name(any).to_owned(),
                bytes: any.value.clone(),
            }),
        }
    }
}

/// Reads a status that tonic made while it read a request: there, `internal` means that the bytes
/// are no valid message.
pub fn request_error(status: &tonic::Status) -> Error {
    match status.code() {
        tonic::Code::Internal => Error::bad_request(status.message()),
        _ => Error::from(status),
    }
}

/// The code for a status without a reason of coop's.
fn nearest(code: tonic::Code) -> Code {
    use tonic::Code as Grpc;
    match code {
        Grpc::InvalidArgument => Code::BadRequest,
        Grpc::NotFound => Code::NotFound,
        Grpc::PermissionDenied => Code::Forbidden,
        Grpc::Unauthenticated => Code::Unauthorized,
        Grpc::ResourceExhausted | Grpc::OutOfRange => Code::TooLarge,
        Grpc::Unimplemented => Code::Unsupported,
        Grpc::Unavailable => Code::NotReady,
        Grpc::DeadlineExceeded | Grpc::Cancelled => Code::Timeout,
        Grpc::FailedPrecondition | Grpc::Aborted | Grpc::AlreadyExists => Code::WriterBusy,
        Grpc::Ok | Grpc::Unknown | Grpc::Internal | Grpc::DataLoss => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_read_back_from_its_status() {
        for &code in Code::ALL {
            let sent = Error::new(code, "why").with("holder", "ada");
            let status = tonic::Status::from(sent.clone());
            assert_eq!(status.code(), wire(code).grpc);
            assert_eq!(Error::from(&status), sent);
        }
    }

    #[test]
    fn a_broken_schema_is_422() {
        assert_eq!(http_status(&Error::bad_request("no")), 400);
        assert_eq!(http_status(&Error::bad_request("no").with(SCHEMA_FIELD, "status")), 422);
    }

    #[test]
    fn a_typed_response_is_sent_with_the_error() {
        let response =
            EncodedResponse { message_name: "coop.v1.NudgeResponse".to_owned(), bytes: vec![8, 1] };
        let error =
            Error { response: Some(response.clone()), ..Error::new(Code::AgentBusy, "busy") };
        assert_eq!(Error::from(&tonic::Status::from(error)).response, Some(response));
    }

    #[test]
    fn a_status_of_tonic_gets_the_nearest_code() {
        assert_eq!(Error::from(&tonic::Status::invalid_argument("x")).code, Code::BadRequest);
        assert_eq!(Error::from(&tonic::Status::internal("x")).code, Code::Internal);
    }

    #[test]
    fn bytes_that_are_no_message_are_a_bad_request() {
        assert_eq!(
            request_error(&tonic::Status::internal("bad tag")),
            Error::bad_request("bad tag")
        );
        assert_eq!(request_error(&tonic::Status::out_of_range("long")).code, Code::TooLarge);
        assert_eq!(request_error(&Error::exited().into()), Error::exited());
    }
}
