//! Reads Claude's reports of its status (OSC 7501). Claude sends them if its terminal answers its
//! query; its title then has no symbol. It knows neither when a report arrives nor whether the
//! process that sent it is trusted.
//!
//! | report | claim |
//! |---|---|
//! | `idle`, after an interrupt or a denial, too | the turn is over |
//! | `working`, also with the tool as its message | a turn runs |
//! | `done` | the turn is over |
//! | `blocked:kind=permission` `approve TOOL: SUBJECT` | a permission; the subject is one line |
//! | `blocked:kind=permission` `approve plan` | a plan, without its text |
//! | `blocked:kind=question` `answer: QUESTION (A · B)` | the first question of a dialog |
//! | `blocked:kind=auth` | the turn failed: the API did not accept the credentials |
//! | `blocked`, any other | some dialog is open |
//! | `error` | the turn failed |
//! | `clear`, and the reports of tasks | nothing |
//!
//! Claude has been observed to leave out a report that another one follows at once: `blocked` can
//! come right after `done`.

use serde_json::{Value, json};

use super::{api_error, ask};
use crate::driver::agent::{ApiError, ErrorCategory, Tier};
use crate::driver::evidence::{Claim, Finding};
use crate::driver::prompt::Ask;
use crate::driver::status_report::{
    BlockedKind, ReportedState, StatusMessage, StatusReport, parse,
};

/// Claude's name in its reports.
pub(super) const APP: &str = "claude-code";

/// The tools that Claude shows under these names, and the field of the input that it shows.
const TOOLS: [(&str, &str, &str); 8] = [
    ("Bash", "Bash", "command"),
    ("Write", "Write", "file_path"),
    ("Create", "Write", "file_path"),
    ("Update", "Edit", "file_path"),
    ("Edit", "Edit", "file_path"),
    ("Read", "Read", "file_path"),
    ("Fetch", "WebFetch", "url"),
    ("WebFetch", "WebFetch", "url"),
];

pub(super) fn read(text: &str) -> Vec<Finding> {
    let Ok(StatusMessage::Report(report)) = parse(text) else { return Vec::new() };
    if report.id.is_some() || report.app.as_deref() != Some(APP) {
        return Vec::new();
    }
    let (cause, claim) = claim(&report);
    vec![Finding::new(Tier::ProgramStatus, cause, claim, &report.to_string())]
}

fn claim(report: &StatusReport) -> (&'static str, Claim) {
    let message = report.message.as_deref().unwrap_or_default();
    match report.state {
        ReportedState::Idle => ("status:idle", Claim::TurnEnded),
        ReportedState::Done => ("status:done", Claim::TurnEnded),
        ReportedState::Working { .. } => ("status:working", Claim::Working),
        ReportedState::Error => ("status:error", api_error::claim(api_error::from_text(message))),
        ReportedState::Blocked { kind: Some(BlockedKind::Auth), .. } => {
            let api_error = ApiError::new(Some(ErrorCategory::Unauthorized), message);
            ("status:auth", Claim::Failed(api_error))
        }
        ReportedState::Blocked { kind: Some(BlockedKind::Permission), .. } => {
            ("status:permission", asked(permission(message)))
        }
        ReportedState::Blocked { kind: Some(BlockedKind::Question), .. } => {
            ("status:question", asked(question(message)))
        }
        ReportedState::Blocked { kind: None, .. } => ("status:blocked", Claim::AtDialog),
    }
}

fn asked(ask: Option<Ask>) -> Claim {
    ask.map_or(Claim::AtDialog, |ask| Claim::AskedInPart(Box::new(ask)))
}

fn permission(message: &str) -> Option<Ask> {
    let wanted = message.strip_prefix("approve ")?;
    if wanted == "plan" {
        return Some(Ask { input: None, ..ask::of("ExitPlanMode", &Value::Null) });
    }
    let (name, subject) = wanted.split_once(": ").unwrap_or((wanted, ""));
    let known = TOOLS.iter().find(|(shown, _, _)| *shown == name);
    Some(match known {
        Some((_, tool, field)) if !subject.is_empty() => ask::of(tool, &json!({ *field: subject })),
        Some((_, tool, _)) => Ask { input: None, ..ask::of(tool, &Value::Null) },
        // Only the dialog and the log have the names of other tools.
        None => Ask { tool: None, input: None, ..ask::of(wanted, &Value::Null) },
    })
}

fn question(message: &str) -> Option<Ask> {
    let asked = match message.strip_prefix("answer: ") {
        Some(asked) => asked,
        None if message == "answer question" => "",
        None => return None,
    };
    let ask = Ask { input: None, ..ask::of("AskUserQuestion", &Value::Null) };
    let line = match asked.rsplit_once(" (") {
        Some((question, options)) if options.ends_with(')') => question,
        Some(_) | None => asked,
    };
    // How many questions there are is not in the report.
    Some(if line.is_empty() { ask } else { Ask { message: line.to_owned(), ..ask } })
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::driver::prompt::PromptKind;
    use crate::driver::testing::recordings::claims;

    fn claimed(status: &str, message: &str) -> Claim {
        let message = STANDARD.encode(message);
        let [claim] = &claims(read(&format!("state={status}:app={APP}:msg={message}")))[..] else {
            panic!("one claim")
        };
        claim.clone()
    }

    fn asks(kind: &str, message: &str) -> Ask {
        match claimed(&format!("blocked:kind={kind}"), message) {
            Claim::AskedInPart(ask) => *ask,
            other => panic!("{message} is {other:?}"),
        }
    }

    #[test]
    fn a_permission_has_its_tool_and_subject() {
        let ask = asks("permission", "approve Bash: touch made echo two");
        assert_eq!((ask.kind, ask.tool.as_deref()), (PromptKind::Permission, Some("Bash")));
        assert_eq!(ask.input, Some(json!({"command": "touch made echo two"})));
        assert_eq!(ask.message, "Claude wants to use Bash: touch made echo two");
        let ask = asks("permission", "approve Fetch: http://x/?a: b");
        assert_eq!(ask.tool.as_deref(), Some("WebFetch"));
        assert_eq!(ask.input, Some(json!({"url": "http://x/?a: b"})));
        let ask = asks("permission", "approve hens - count (MCP)");
        assert_eq!((ask.tool, ask.input), (None, None));
        assert_eq!(ask.message, "Claude wants to use hens - count (MCP).");
        let ask = asks("permission", "approve plan");
        assert_eq!((ask.kind, ask.plan), (PromptKind::Plan, None));
    }

    #[test]
    fn a_question_is_without_its_options() {
        let ask = asks("question", "answer: Which (of both)? (Red · Green)");
        assert_eq!((ask.kind, ask.message.as_str()), (PromptKind::Question, "Which (of both)?"));
        assert!(ask.questions.is_empty(), "there may be more");
        assert_eq!(asks("question", "answer: Why?").message, "Why?");
        assert_eq!(asks("question", "answer question").message, "Claude asks a question.");
    }

    #[test]
    fn what_is_unknown_is_some_dialog() {
        assert_eq!(claimed("blocked:kind=permission", "something new"), Claim::AtDialog);
        assert_eq!(claimed("blocked:kind=question", "something new"), Claim::AtDialog);
        assert_eq!(claimed("blocked:kind=sandbox", "approve x"), Claim::AtDialog);
        assert_eq!(claimed("blocked", ""), Claim::AtDialog);
    }

    #[test]
    fn a_refusal_of_the_credentials_is_an_error() {
        let Claim::Failed(api_error) = claimed("blocked:kind=auth", "Fix external API key") else {
            panic!("no failure")
        };
        assert_eq!(api_error.category, ErrorCategory::Unauthorized);
        assert_eq!(api_error.detail, "Fix external API key");
        assert!(matches!(claimed("error", ""), Claim::Failed(_)));
    }

    #[test]
    fn reports_of_tasks_and_of_other_programs_are_ignored() {
        for text in [
            "state=working",
            "state=working:app=other",
            "state=working:app=claude-code:id=task",
            "state=clear:app=claude-code",
            "state=dancing:app=claude-code",
            "?:states=idle",
            "",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
    }
}
