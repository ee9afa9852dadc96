//! What Codex tells its terminal of itself: its program status (OSC 7501) and its title.
//!
//! | status | claim |
//! |---|---|
//! | `done` | the turn is over; a plan that the turn proposed is announced with it |
//! | `idle` | the turn is over; but after `done` or `error` it says only that somebody has pressed a key since |
//! | `working` | a turn runs |
//! | `blocked:kind=question` | the question that a hook has told of, else some dialog |
//! | `blocked:kind=permission` | the same for a permission; its dialog may take a second to appear |
//! | `error` | the turn failed, for the reason that the log gave |
//! | `clear`, any other | nothing |
//!
//! | title begins with | claim |
//! |---|---|
//! | a braille spinner | a turn runs, unless the status denies it: it also spins while servers are started |
//! | `[ ! ] Action Required` | some dialog is on screen |
//! | anything else | no turn runs, but only if the program has no status: that says how the turn ended, a moment later |
//!
//! The status stays `working` after a turn that leaves a background terminal running. Then hooks and log tell its end.
//!
//! Neither says anything before the program is ready, nor during the dialogs of its start.

use super::ask;
use super::notes::Notes;
use super::trouble;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Finding};

/// The first and the last of the characters that a spinner is made of.
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
    /// A question is said to stand, or nobody will say so.
    pub(super) fn asks_a_question(&self) -> bool {
        matches!(self.status, None | Some(Status::Question))
    }

    /// A dialog for a permission is said to stand, or nobody will say so.
    pub(super) fn asks_for_permission(&self) -> bool {
        matches!(self.status, None | Some(Status::Permission))
    }

    pub(super) fn status(&mut self, notes: &mut Notes, text: &str) -> Vec<Finding> {
        let Some(status) = Status::read(text) else { return Vec::new() };
        let before = self.status.replace(status);
        let only_seen = status == Status::Idle && matches!(before, Some(Status::Done | Status::Error));
        if before == Some(status) || only_seen {
            return Vec::new();
        }
        let told = |cause, claim| vec![Finding::new(Tier::Terminal, cause, claim, text)];
        match status {
            Status::Idle => told("status:idle", Claim::TurnEnded),
            Status::Done => {
                let mut findings = told("status:done", Claim::TurnEnded);
                if let Some(plan) = notes.plan.take() {
                    notes.plan_announced = true;
                    findings.extend(told("status:plan", Claim::Asked(Box::new(ask::plan(plan)))));
                }
                findings
            }
            Status::Working => told("status:working", Claim::Working),
            Status::Permission => match notes.permission.take() {
                Some(permission) => told("status:permission", Claim::Asked(Box::new(permission))),
                None => told("status:permission", Claim::Waiting),
            },
            Status::Question => match notes.question.take() {
                Some(question) => told("status:question", Claim::Asked(Box::new(question))),
                None => told("status:question", Claim::Waiting),
            },
            Status::Error => {
                let trouble = notes.trouble.clone().unwrap_or_else(trouble::unsaid);
                told("status:error", Claim::Failed(trouble))
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
            Title::ActionRequired => ("title:action", Claim::Waiting),
            Title::Plain if self.status.is_some() => return Vec::new(),
            Title::Plain => ("title:plain", Claim::NotWorking),
        };
        vec![Finding::new(Tier::Terminal, cause, claim, text)]
    }
}

impl Status {
    /// Reads `state=blocked:app=codex:kind=question`.
    fn read(text: &str) -> Option<Self> {
        let field =
            |name: &str| text.split(':').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        if field("app") != Some("codex") {
            return None;
        }
        match (field("state")?, field("kind")) {
            ("idle", _) => Some(Self::Idle),
            ("working", _) => Some(Self::Working),
            ("blocked", Some("question")) => Some(Self::Question),
            ("blocked", _) => Some(Self::Permission),
            ("done", _) => Some(Self::Done),
            ("error", _) => Some(Self::Error),
            _ => None,
        }
    }
}

impl Title {
    /// `None` for the empty title that it leaves behind.
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
    use crate::driver::agent::{ErrorCategory, Trouble};
    use crate::driver::prompt::PromptKind;
    use crate::driver::recorded::claims;

    /// Titles as they come, and program statuses after a `!`.
    fn hear(notes: &mut Notes, told: &[&str]) -> Vec<Claim> {
        let mut terminal = Terminal::default();
        let one = |text: &&str| match text.strip_prefix('!') {
            Some(status) => claims(terminal.status(notes, &format!("state={status}"))),
            None => claims(terminal.title(text)),
        };
        told.iter().flat_map(one).collect()
    }

    #[test]
    fn a_turn_is_told_by_both_and_frames_are_no_news() {
        let told = ["proj", "!idle:app=codex", "!working:app=codex", "⠋ proj", "⠙ proj", "⠹ A title | proj"];
        let claims = hear(&mut Notes::default(), &told);
        assert_eq!(claims, [Claim::NotWorking, Claim::TurnEnded, Claim::Working, Claim::Working]);
        let told = ["⠋ proj", "A title | proj", "Another | proj", ""];
        assert_eq!(hear(&mut Notes::default(), &told), [Claim::Working, Claim::NotWorking]);
        let told = ["!working:app=codex", "⠋ proj", "A title | proj", "!done:app=codex", "!idle:app=codex"];
        let claims = hear(&mut Notes::default(), &told);
        assert_eq!(
            claims,
            [Claim::Working, Claim::Working, Claim::TurnEnded],
            "a key that is pressed is no news"
        );
    }

    #[test]
    fn a_dialog_that_blinks_stands_once() {
        let told = [
            "⠋ p",
            "!blocked:app=codex:kind=permission",
            "[ ! ] Action Required | p",
            "[ . ] Action Required | p",
            "⠋ p",
            "!working:app=codex",
        ];
        let claims = hear(&mut Notes::default(), &told);
        assert_eq!(claims, [Claim::Working, Claim::Waiting, Claim::Waiting, Claim::Working]);
        let told = ["p", "!idle:app=codex", "⠋ p", "p"];
        let claims = hear(&mut Notes::default(), &told);
        assert_eq!(claims, [Claim::NotWorking, Claim::TurnEnded], "only servers are started");
    }

    #[test]
    fn a_question_and_a_plan_come_with_what_other_sources_told() {
        let mut notes = Notes { question: Some(ask::plan("q".to_owned())), ..Notes::default() };
        let claims = hear(&mut notes, &["!blocked:app=codex:kind=question"]);
        assert!(matches!(&claims[..], [Claim::Asked(_)]));
        assert_eq!(hear(&mut notes, &["!blocked:app=codex:kind=question"]), [Claim::Waiting]);

        notes.plan = Some("# P".to_owned());
        let claims = hear(&mut notes, &["!done:app=codex", "!idle:app=codex"]);
        let [Claim::TurnEnded, Claim::Asked(plan)] = &claims[..] else { panic!("{claims:?}") };
        assert_eq!((plan.kind, plan.plan.as_deref()), (PromptKind::Plan, Some("# P")));
    }

    #[test]
    fn an_error_has_the_reason_that_the_log_gave() {
        let trouble = Trouble { category: ErrorCategory::RateLimited, detail: "429".to_owned() };
        let mut notes = Notes { trouble: Some(trouble.clone()), ..Notes::default() };
        assert_eq!(hear(&mut notes, &["!error:app=codex"]), [Claim::Failed(trouble)]);
        assert!(matches!(&hear(&mut Notes::default(), &["!error:app=codex"])[..], [Claim::Failed(_)]));
    }

    #[test]
    fn what_another_program_says_of_itself_is_nothing() {
        let told =
            ["!working:app=other", "!working", "!clear", "!clear:app=codex", "!", "!dancing:app=codex"];
        assert_eq!(hear(&mut Notes::default(), &told), []);
    }
}
