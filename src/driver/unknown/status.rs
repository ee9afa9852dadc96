//! What a program without a driver says about itself (OSC 7501), as claims that are true for every
//! program. It does not know the program.
//!
//! | report | claim |
//! |---|---|
//! | `idle`, `done` | no turn runs |
//! | `working` | a turn runs |
//! | `blocked` | a dialog of that kind, with the message of the report |
//! | `error` | the turn failed, with the message of the report |

use crate::driver::agent::ApiError;
use crate::driver::evidence::Claim;
use crate::driver::prompt::{Ask, PromptKind};
use crate::driver::status_report::{BlockedKind, ReportedState, StatusReport};

/// The subtype of a prompt for a login or another credential.
const AUTH: &str = "auth";

/// The claim, and its cause.
pub(crate) fn claim(report: &StatusReport) -> (&'static str, Claim) {
    let message = report.message.as_deref().unwrap_or_default();
    match report.state {
        ReportedState::Idle => ("status:idle", Claim::TurnEnded),
        ReportedState::Done => ("status:done", Claim::TurnEnded),
        ReportedState::Working { .. } => ("status:working", Claim::Working),
        ReportedState::Error => ("status:error", Claim::Failed(ApiError::new(None, message))),
        ReportedState::Blocked { kind, .. } => {
            let (cause, kind, subtype) = match kind {
                Some(BlockedKind::Permission) => {
                    ("status:permission", PromptKind::Permission, None)
                }
                Some(BlockedKind::Question) => ("status:question", PromptKind::Question, None),
                Some(BlockedKind::Auth) => ("status:auth", PromptKind::Setup, Some(AUTH)),
                None => ("status:blocked", PromptKind::Setup, None),
            };
            (cause, Claim::AskedInPart(Box::new(ask(kind, subtype, message))))
        }
    }
}

fn ask(kind: PromptKind, subtype: Option<&'static str>, message: &str) -> Ask {
    let message = if message.is_empty() { "The program waits for an answer." } else { message };
    Ask {
        kind,
        subtype,
        tool: None,
        input: None,
        questions: Vec::new(),
        plan: None,
        message: message.to_owned(),
    }
}
