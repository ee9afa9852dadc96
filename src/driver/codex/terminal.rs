//! Reads what Codex sends to its terminal: its program status (OSC 7501) and its title.
//!
//! | status | claim |
//! |---|---|
//! | `done` | the turn is over; a plan that the turn proposed is announced with it |
//! | `idle` | the turn is over; after `done` or `error` nothing: a key was pressed |
//! | `working` | a turn runs |
//! | `blocked:kind=question` | the question that a hook has reported, otherwise some dialog |
//! | `blocked:kind=permission` | the same for permissions; a dialog may appear a second later |
//! | `error` | the turn failed, with the error from the log |
//! | `clear`, any other | nothing |
//!
//! | title begins with | claim |
//! |---|---|
//! | a braille spinner | a turn runs, unless the status contradicts it |
//! | `[ ! ] Action Required` | some dialog is on screen |
//! | anything else | no turn runs, but only if there is no status |
//!
//! The title also spins while MCP servers start, and at the end of a turn it changes a moment
//! before the status, which reports how the turn ended.
//!
//! The status stays `working` after a turn that leaves a background terminal running. Then hooks
//! and log report its end.
//!
//! Neither is set before the program is ready, nor during its setup dialogs.

use super::STATUS_APP;
use super::api_error;
use super::ask;
use super::turn::Turn;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Finding};
use crate::driver::status_report::{BlockedKind, ReportedState, StatusMessage, parse};

/// The characters of the spinner.
const BRAILLE: std::ops::RangeInclusive<char> = '\u{2800}'..='\u{28ff}';
const ACTION: &str = "Action Required";

#[derive(Debug, Default)]
pub(super) struct Terminal {
    status: Option<Status>,
    title: Option<Title>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Idle,
    Working,
    Permission,
    Question,
    Done,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Title {
    Spinning,
    ActionRequired,
    Plain,
}

impl Terminal {
    /// Whether the status reports a question, or there is no status that could report one.
    pub(super) fn asks_a_question(&self) -> bool {
        matches!(self.status, None | Some(Status::Question))
    }

    /// Whether the status reports a permission dialog, or there is no status that could report one.
    pub(super) fn asks_for_permission(&self) -> bool {
        matches!(self.status, None | Some(Status::Permission))
    }

    pub(super) fn status(&mut self, turn: &mut Turn, text: &str) -> Vec<Finding> {
        let Some(status) = Status::read(text) else { return Vec::new() };
        let before = self.status.replace(status);
        let only_seen =
            status == Status::Idle && matches!(before, Some(Status::Done | Status::Error));
        if before == Some(status) || only_seen {
            return Vec::new();
        }
        let evidence = |cause, claim| vec![Finding::new(Tier::ProgramStatus, cause, claim, text)];
        match status {
            Status::Idle => evidence("status:idle", Claim::TurnEnded),
            Status::Done => {
                let mut findings = evidence("status:done", Claim::TurnEnded);
                if let Some(plan) = turn.plan.take() {
                    turn.plan_announced = true;
                    findings
                        .extend(evidence("status:plan", Claim::Asked(Box::new(ask::plan(plan)))));
                }
                findings
            }
            Status::Working => evidence("status:working", Claim::Working),
            Status::Permission if turn.permissions.is_empty() => {
                evidence("status:permission", Claim::AtDialog)
            }
            // Which of several is drawn first, only the screen shows. A status reports one.
            Status::Permission => {
                let mut asked = turn.permissions.drain(..).map(|ask| Claim::Asked(Box::new(ask)));
                let first = asked.next().map(|claim| evidence("status:permission", claim));
                let by_hook = |claim| {
                    let cause = "hook:PermissionRequest";
                    Finding::new(Tier::Hooks, cause, claim, ask::SHELL)
                };
                first.into_iter().flatten().chain(asked.map(by_hook)).collect()
            }
            Status::Question => match turn.question.take() {
                Some(question) => evidence("status:question", Claim::Asked(Box::new(question))),
                None => evidence("status:question", Claim::AtDialog),
            },
            Status::Error => {
                let api_error = turn.api_error.clone().unwrap_or_else(api_error::unknown);
                evidence("status:error", Claim::Failed(api_error))
            }
        }
    }

    pub(super) fn title(&mut self, text: &str) -> Vec<Finding> {
        let Some(title) = Title::read(text) else { return Vec::new() };
        if self.title.replace(title) == Some(title) {
            return Vec::new();
        }
        let (cause, claim) = match title {
            Title::Spinning if self.status.is_some_and(|status| status != Status::Working) => {
                return Vec::new();
            }
            Title::Spinning => ("title:spinner", Claim::Working),
            Title::ActionRequired => ("title:action", Claim::AtDialog),
            Title::Plain if self.status.is_some() => return Vec::new(),
            Title::Plain => ("title:plain", Claim::NotWorking),
        };
        vec![Finding::new(Tier::Terminal, cause, claim, text)]
    }
}

impl Status {
    /// Reads `state=blocked:app=codex:kind=question`.
    fn read(text: &str) -> Option<Self> {
        let Ok(StatusMessage::Report(report)) = parse(text) else { return None };
        // The reports of tasks are not about the turn.
        if report.id.is_some() || report.app.as_deref() != Some(STATUS_APP) {
            return None;
        }
        Some(match report.state {
            ReportedState::Idle => Self::Idle,
            ReportedState::Working { .. } => Self::Working,
            ReportedState::Blocked { kind: Some(BlockedKind::Question), .. } => Self::Question,
            ReportedState::Blocked { .. } => Self::Permission,
            ReportedState::Done => Self::Done,
            ReportedState::Error => Self::Error,
        })
    }
}

impl Title {
    /// `None` for the empty title that Codex sets when it exits.
    fn read(text: &str) -> Option<Self> {
        let first = text.chars().next()?;
        let marked = text.strip_prefix("[ ! ] ").or_else(|| text.strip_prefix("[ . ] "));
        Some(if BRAILLE.contains(&first) {
            Self::Spinning
        } else if marked.is_some_and(|rest| rest.starts_with(ACTION)) {
            Self::ActionRequired
        } else {
            Self::Plain
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::agent::{ApiError, ErrorCategory};
    use crate::driver::prompt::PromptKind;
    use crate::driver::testing::recordings::claims;

    /// The claims from these titles and, after a `!`, program statuses.
    fn claims_from(turn: &mut Turn, inputs: &[&str]) -> Vec<Claim> {
        let mut terminal = Terminal::default();
        let one = |text: &&str| match text.strip_prefix('!') {
            Some(status) => claims(terminal.status(turn, &format!("state={status}"))),
            None => claims(terminal.title(text)),
        };
        inputs.iter().flat_map(one).collect()
    }

    #[test]
    fn title_and_status_report_a_turn_and_spinner_frames_are_ignored() {
        let inputs = [
            "proj",
            "!idle:app=codex",
            "!working:app=codex",
            "⠋ proj",
            "⠙ proj",
            "⠹ A title | proj",
        ];
        let claims = claims_from(&mut Turn::default(), &inputs);
        assert_eq!(claims, [Claim::NotWorking, Claim::TurnEnded, Claim::Working, Claim::Working]);
        let inputs = ["⠋ proj", "A title | proj", "Another | proj", ""];
        assert_eq!(claims_from(&mut Turn::default(), &inputs), [Claim::Working, Claim::NotWorking]);
        let inputs = [
            "!working:app=codex",
            "⠋ proj",
            "A title | proj",
            "!done:app=codex",
            "!idle:app=codex",
        ];
        let claims = claims_from(&mut Turn::default(), &inputs);
        assert_eq!(
            claims,
            [Claim::Working, Claim::Working, Claim::TurnEnded],
            "a key that is pressed is no news"
        );
    }

    #[test]
    fn a_blinking_title_announces_a_dialog_once() {
        let inputs = [
            "⠋ p",
            "!blocked:app=codex:kind=permission",
            "[ ! ] Action Required | p",
            "[ . ] Action Required | p",
            "⠋ p",
            "!working:app=codex",
        ];
        let claims = claims_from(&mut Turn::default(), &inputs);
        assert_eq!(claims, [Claim::Working, Claim::AtDialog, Claim::AtDialog, Claim::Working]);
        let inputs = ["p", "!idle:app=codex", "⠋ p", "p"];
        let claims = claims_from(&mut Turn::default(), &inputs);
        assert_eq!(claims, [Claim::NotWorking, Claim::TurnEnded], "only servers are started");
    }

    #[test]
    fn a_question_and_a_plan_have_the_content_from_other_sources() {
        let mut turn = Turn { question: Some(ask::plan("q".to_owned())), ..Turn::default() };
        let claims = claims_from(&mut turn, &["!blocked:app=codex:kind=question"]);
        assert!(matches!(&claims[..], [Claim::Asked(_)]));
        assert_eq!(
            claims_from(&mut turn, &["!blocked:app=codex:kind=question"]),
            [Claim::AtDialog]
        );

        turn.plan = Some("# P".to_owned());
        let claims = claims_from(&mut turn, &["!done:app=codex", "!idle:app=codex"]);
        let [Claim::TurnEnded, Claim::Asked(plan)] = &claims[..] else { panic!("{claims:?}") };
        assert_eq!((plan.kind, plan.plan.as_deref()), (PromptKind::Plan, Some("# P")));
    }

    #[test]
    fn a_failed_turn_has_the_error_from_the_log() {
        let api_error = ApiError { category: ErrorCategory::RateLimited, detail: "429".to_owned() };
        let mut turn = Turn { api_error: Some(api_error.clone()), ..Turn::default() };
        assert_eq!(claims_from(&mut turn, &["!error:app=codex"]), [Claim::Failed(api_error)]);
        assert!(matches!(
            &claims_from(&mut Turn::default(), &["!error:app=codex"])[..],
            [Claim::Failed(_)]
        ));
    }

    #[test]
    fn the_status_of_another_program_is_ignored() {
        let inputs = [
            "!working:app=other",
            "!working",
            "!clear",
            "!clear:app=codex",
            "!",
            "!dancing:app=codex",
        ];
        assert_eq!(claims_from(&mut Turn::default(), &inputs), []);
    }
}
