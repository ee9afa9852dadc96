//! The failures of a verb, each with a message for users and an exit code for scripts.

use std::process::ExitCode;

use coop_client::{ConnectError, reason};
use tonic::{Code, Status};

use crate::cli::USAGE;
use crate::error::Code as Refusal;

/// No coop answers (EX_UNAVAILABLE).
const UNAVAILABLE: u8 = 69;
/// The effect is not confirmed (EX_TEMPFAIL).
const UNCONFIRMED: u8 = 75;
/// The token is missing, wrong, or not enough (EX_NOPERM).
const NOT_ALLOWED: u8 = 77;

/// The time ran out, as timeout(1) exits.
const TIMED_OUT: u8 = 124;

/// Why a verb failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// There is no connection, or it was lost.
    Unreachable(String),
    /// The token is missing, wrong, or lacks the scope.
    NotAllowed { code: String, message: String },
    /// coop refused the call.
    Refused { code: String, message: String },
    /// It was done, but its effect was not confirmed.
    Unconfirmed(String),
    /// The awaited state was not reached in time.
    TimedOut(String),
    /// Writing to stdout failed.
    Unwritten(String),
    /// The reader closed stdout, as `head` does, which is not an error.
    OutputClosed,
}

impl Failure {
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(USAGE),
            Self::Unreachable(_) => ExitCode::from(UNAVAILABLE),
            Self::NotAllowed { .. } => ExitCode::from(NOT_ALLOWED),
            Self::Unconfirmed(_) => ExitCode::from(UNCONFIRMED),
            Self::TimedOut(_) => ExitCode::from(TIMED_OUT),
            Self::Refused { .. } | Self::Unwritten(_) => ExitCode::FAILURE,
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }

    /// The line for stderr, if any.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Usage(text)
            | Self::Unreachable(text)
            | Self::Unconfirmed(text)
            | Self::TimedOut(text)
            | Self::Unwritten(text) => Some(text.clone()),
            Self::NotAllowed { code, message } | Self::Refused { code, message } => {
                Some(format!("{code}: {message}"))
            }
            Self::OutputClosed => None,
        }
    }

    /// Whether a retry may help, because no coop answered.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let message = status.message().to_owned();
        match (reason(&status).map(|reason| reason.code), status.code()) {
            (Some(code), _)
                if matches!(
                    Refusal::from_wire(&code),
                    Some(Refusal::Unauthorized | Refusal::Forbidden)
                ) =>
            {
                Self::NotAllowed { code, message }
            }
            (Some(code), _) => Self::Refused { code, message },
            (None, Code::Unauthenticated) => {
                Self::NotAllowed { code: "UNAUTHORIZED".to_owned(), message }
            }
            (None, Code::PermissionDenied) => {
                Self::NotAllowed { code: "FORBIDDEN".to_owned(), message }
            }
            // Without coop's own error details, the transport uses these codes for a lost
            // connection.
            (None, Code::Unavailable | Code::Cancelled | Code::Unknown | Code::Internal) => {
                Self::Unreachable(format!("the connection failed: {}", innermost(&status)))
            }
            (None, code) => Self::Refused { code: format!("{code:?}"), message },
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Credential { .. } => Self::Usage(error.to_string()),
            ConnectError::Transport { .. } => Self::Unreachable(error.to_string()),
        }
    }
}

/// The text of the innermost error, which is the actual cause.
fn innermost(status: &Status) -> String {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(status);
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    match cause {
        Some(cause) => cause.to_string(),
        None => status.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn each_failure_has_its_exit_code_and_text() {
        let refusal = |code| Failure::from(Status::from(Error::new(code, "why")));
        for (failure, code, text) in [
            (Failure::Usage("what".into()), 64, Some("what")),
            (refusal(Refusal::Unauthorized), 77, Some("UNAUTHORIZED: why")),
            (refusal(Refusal::Forbidden), 77, Some("FORBIDDEN: why")),
            (refusal(Refusal::WriterBusy), 1, Some("WRITER_BUSY: why")),
            (refusal(Refusal::NotReady), 1, Some("NOT_READY: why")),
            (refusal(Refusal::Internal), 1, Some("INTERNAL: why")),
            (Status::unavailable("gone").into(), 69, Some("the connection failed: gone")),
            (Status::unauthenticated("who").into(), 77, Some("UNAUTHORIZED: who")),
            (Status::unimplemented("no such call").into(), 1, Some("Unimplemented: no such call")),
            (Failure::Unconfirmed("perhaps".into()), 75, Some("perhaps")),
            (Failure::TimedOut("too late".into()), 124, Some("too late")),
            (Failure::Unwritten("the disk is full".into()), 1, Some("the disk is full")),
            (Failure::OutputClosed, 0, None),
        ] {
            assert_eq!(failure.exit_code(), ExitCode::from(code), "{failure:?}");
            assert_eq!(failure.text().as_deref(), text);
        }
    }
}
