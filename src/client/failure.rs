//! What can go wrong for a verb, in words for people and an exit code for scripts.

use std::process::ExitCode;

use coop_client::{ConnectError, reason};
use tonic::{Code, Status};

use crate::app::USAGE;
use crate::error::Code as Refusal;

/// Nobody answers (EX_UNAVAILABLE).
const UNAVAILABLE: u8 = 69;
/// It may have worked (EX_TEMPFAIL).
const UNCONFIRMED: u8 = 75;
/// The token is missing, wrong, or not enough (EX_NOPERM).
const NOT_ALLOWED: u8 = 77;

/// The time ran out, as timeout(1) has it.
const TIMED_OUT: u8 = 124;

/// Why a verb did not do what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// What was typed cannot be meant.
    Usage(String),
    /// There is no connection, or it was lost.
    Unreachable(String),
    /// coop wants to know who calls, or lets somebody else do this.
    NotAllowed { code: String, message: String },
    /// coop answered, and its answer is no.
    Refused { code: String, message: String },
    /// It was done, and nothing shows that it had an effect.
    Unconfirmed(String),
    /// What was waited for did not come in time.
    TimedOut(String),
    /// What was to be printed could not be, although somebody may want it.
    Unwritten(String),
    /// Nobody reads what is printed, which is no failure of anybody.
    Unread,
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
            Self::Unread => ExitCode::SUCCESS,
        }
    }

    /// The line for stderr, if there is something to say.
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
            Self::Unread => None,
        }
    }

    /// Whether trying again may help: nobody was there to refuse.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        let message = status.message().to_owned();
        match (reason(&status).map(|reason| reason.code), status.code()) {
            (Some(code), _)
                if matches!(Refusal::from_wire(&code), Some(Refusal::Unauthorized | Refusal::Forbidden)) =>
            {
                Self::NotAllowed { code, message }
            }
            (Some(code), _) => Self::Refused { code, message },
            (None, Code::Unauthenticated) => Self::NotAllowed { code: "UNAUTHORIZED".to_owned(), message },
            (None, Code::PermissionDenied) => Self::NotAllowed { code: "FORBIDDEN".to_owned(), message },
            // Without a reason of coop's own, these are the transport's words for a lost connection.
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

/// The outermost error only says that it is one; the innermost says why.
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
    fn scripts_can_tell_failures_apart() {
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
            (Failure::Unread, 0, None),
        ] {
            assert_eq!(failure.exit_code(), ExitCode::from(code), "{failure:?}");
            assert_eq!(failure.text().as_deref(), text);
        }
    }
}
