//! The one table of what can go wrong, with its face on every transport.
//!
//! Everything that refuses a caller does it with an [`Error`]; no handler picks an HTTP status
//! or a gRPC code of its own. Client text stands here, log text stays with the log.

use prost::Message as _;
use tonic_types::pb;

/// The `domain` of every `google.rpc.ErrorInfo` that coop sends.
pub const DOMAIN: &str = "coop.v1";

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $wire:literal $http:literal $grpc:ident;)*) => {
        /// A reason as clients compare it: `ErrorInfo.reason`, and `code` in JSON.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $wire,)* }
            }

            /// The HTTP status.
            pub fn http(self) -> u16 {
                match self { $(Code::$name => $http,)* }
            }

            /// The gRPC status code.
            pub fn grpc(self) -> tonic::Code {
                match self { $(Code::$name => tonic::Code::$grpc,)* }
            }

            /// The code with this name on the wire.
            pub fn from_wire(name: &str) -> Option<Code> {
                match name { $($wire => Some(Code::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// The child is not up, or is being replaced.
    NotReady         "NOT_READY"          503 Unavailable;
    /// The child has exited; there is nothing to write to.
    Exited           "EXITED"             410 NotFound;
    /// Somebody else holds the terminal, or it takes no more bytes.
    WriterBusy       "WRITER_BUSY"        409 ResourceExhausted;
    /// No token, or a wrong one.
    Unauthorized     "UNAUTHORIZED"       401 Unauthenticated;
    /// A foreign Host or Origin, or a token without the scope.
    Forbidden        "FORBIDDEN"          403 PermissionDenied;
    /// The request cannot mean anything.
    BadRequest       "BAD_REQUEST"        400 InvalidArgument;
    /// No such thing.
    NotFound         "NOT_FOUND"          404 NotFound;
    /// The route exists, with another verb.
    MethodNotAllowed "METHOD_NOT_ALLOWED" 405 Unimplemented;
    /// No driver knows this agent.
    NoDriver         "NO_DRIVER"          404 Unimplemented;
    /// This backend cannot do it.
    Unsupported      "UNSUPPORTED"        501 Unimplemented;
    /// The agent cannot take a message now.
    AgentBusy        "AGENT_BUSY"         409 FailedPrecondition;
    /// No prompt stands.
    NoPrompt         "NO_PROMPT"          409 FailedPrecondition;
    /// Another prompt stands than the one that was answered.
    StalePrompt      "STALE_PROMPT"       409 Aborted;
    /// A restart or switch is under way.
    SwitchInProgress "SWITCH_IN_PROGRESS" 409 FailedPrecondition;
    /// Larger than the stated limit, or more than the stated number.
    TooLarge         "TOO_LARGE"          413 ResourceExhausted;
    /// It did not happen in time.
    Timeout          "TIMEOUT"            504 DeadlineExceeded;
    /// coop's own fault.
    Internal         "INTERNAL"           500 Internal;
}

/// A refusal: its code, one sentence for the caller, and facts a program can read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: Code,
    pub message: String,
    /// For example `holder` and `remaining_ms` of WRITER_BUSY.
    pub metadata: Vec<(String, String)>,
    /// The typed response of the call that was refused, where it has something to say.
    pub response: Option<prost_types::Any>,
}

/// Names the field that broke a configured schema; its presence makes BAD_REQUEST a 422.
pub const SCHEMA_FIELD: &str = "field";

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), metadata: Vec::new(), response: None }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    /// The child is gone, so a write has nowhere to go.
    pub fn exited() -> Self {
        Self::new(Code::Exited, "the child has exited; restart the session to write again")
    }

    /// Nobody understands the program in the terminal.
    pub fn no_driver() -> Self {
        Self::new(
            Code::NoDriver,
            "no driver knows this program; name one with --agent, or say how it looks with --agent-config",
        )
    }

    /// The session has ended: coop is on its way out.
    pub fn shutting_down() -> Self {
        Self::new(Code::NotReady, "coop is shutting down")
    }

    /// What a status means that was made while a request was being read: there, what tonic calls
    /// internal is that the bytes are no message.
    pub fn of_request(status: &tonic::Status) -> Self {
        match status.code() {
            tonic::Code::Internal => Self::bad_request(status.message()),
            _ => Self::from(status),
        }
    }

    /// Adds a fact for programs, such as who holds the lease.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.metadata.push((key.to_owned(), value.to_string()));
        self
    }

    /// The HTTP status of this very error.
    pub fn http(&self) -> u16 {
        let breaks_schema = self.metadata.iter().any(|(key, _)| key == SCHEMA_FIELD);
        if self.code == Code::BadRequest && breaks_schema { 422 } else { self.code.http() }
    }
}

impl From<Error> for tonic::Status {
    fn from(error: Error) -> Self {
        let info = pb::ErrorInfo {
            reason: error.code.as_str().to_owned(),
            domain: DOMAIN.to_owned(),
            metadata: error.metadata.into_iter().collect(),
        };
        let info = prost_types::Any { type_url: ERROR_INFO.to_owned(), value: info.encode_to_vec() };
        let status = pb::Status {
            code: error.code.grpc() as i32,
            message: error.message.clone(),
            details: [info].into_iter().chain(error.response).collect(),
        };
        Self::with_details(error.code.grpc(), error.message, status.encode_to_vec().into())
    }
}

impl From<&tonic::Status> for Error {
    /// Reads back what [`From<Error>`] wrote; a status that tonic itself made gets the code
    /// that comes nearest.
    fn from(status: &tonic::Status) -> Self {
        let details = pb::Status::decode(status.details()).map(|s| s.details).unwrap_or_default();
        let info = details
            .iter()
            .find(|any| any.type_url == ERROR_INFO)
            .and_then(|any| pb::ErrorInfo::decode(any.value.as_slice()).ok());
        let known = info.as_ref().and_then(|info| Code::from_wire(&info.reason));
        let mut metadata: Vec<_> = info.map(|info| info.metadata.into_iter().collect()).unwrap_or_default();
        metadata.sort();
        Self {
            code: known.unwrap_or_else(|| nearest(status.code())),
            message: status.message().to_owned(),
            metadata,
            response: details.into_iter().find(|any| any.type_url.contains("/coop.v1.")),
        }
    }
}

/// The code for a status that carries no reason of ours.
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
    fn every_code_survives_the_wire() {
        for &code in Code::ALL {
            let sent = Error::new(code, "why").with("holder", "somebody");
            let status = tonic::Status::from(sent.clone());
            assert_eq!(status.code(), code.grpc());
            assert_eq!(Error::from(&status), sent);
        }
    }

    #[test]
    fn a_broken_schema_is_422() {
        assert_eq!(Error::bad_request("no").http(), 400);
        assert_eq!(Error::bad_request("no").with(SCHEMA_FIELD, "status").http(), 422);
    }

    #[test]
    fn a_typed_response_travels_along() {
        let any = prost_types::Any {
            type_url: "type.googleapis.com/coop.v1.NudgeResponse".into(),
            value: vec![8, 1],
        };
        let error = Error { response: Some(any.clone()), ..Error::new(Code::AgentBusy, "busy") };
        assert_eq!(Error::from(&tonic::Status::from(error)).response, Some(any));
    }

    #[test]
    fn a_foreign_status_gets_the_nearest_code() {
        assert_eq!(Error::from(&tonic::Status::invalid_argument("x")).code, Code::BadRequest);
        assert_eq!(Error::from(&tonic::Status::internal("x")).code, Code::Internal);
    }

    #[test]
    fn bytes_that_are_no_message_are_the_callers_fault() {
        assert_eq!(Error::of_request(&tonic::Status::internal("bad tag")), Error::bad_request("bad tag"));
        assert_eq!(Error::of_request(&tonic::Status::out_of_range("long")).code, Code::TooLarge);
        assert_eq!(Error::of_request(&Error::exited().into()), Error::exited());
    }
}
