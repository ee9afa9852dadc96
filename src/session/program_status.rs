//! What the programs in the terminal report about themselves (OSC 7501): which reports count, the
//! records that they leave, and those that were refused. It does not know what a record means for
//! an agent.

use std::sync::Arc;
use std::time::Instant;

use crate::driver::agent::{Situation, Tier};
use crate::driver::evidence::Claim;
use crate::driver::presence::Presence;
use crate::driver::prompt::{Prompt, PromptId};
use crate::driver::status_records::StatusRecords;
use crate::driver::status_report::{self, StatusMessage, StatusReport};
use crate::driver::tracker;
use crate::driver::unknown;

/// How many refused reports are kept, and how much of each.
const MAX_REFUSED: usize = 8;
const MAX_REFUSED_CHARS: usize = 200;

/// A report that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedReport {
    /// The beginning of what the program sent.
    pub report: String,
    pub reason: &'static str,
    /// When it came last.
    pub at: Instant,
    /// How often it came, one after another.
    pub count: u64,
}

#[derive(Debug, Default)]
pub(super) struct ProgramStatus {
    /// The only program whose reports count, if a driver knows its name.
    app: Option<&'static str>,
    records: StatusRecords,
    refused: Vec<RefusedReport>,
    /// When the last report came that counts.
    reported_at: Option<Instant>,
    /// The prompt of a program without a driver, and the report that it stands for.
    prompt: Option<(StatusReport, Arc<Prompt>)>,
    prompts: u64,
}

impl ProgramStatus {
    /// Without an app, every program may report.
    pub(super) fn new(app: Option<&'static str>) -> Self {
        Self { app, ..Self::default() }
    }

    /// Takes in a report. Returns whether it counts.
    pub(super) fn take(&mut self, now: Instant, presence: Presence, text: &str) -> bool {
        match self.check(presence, text) {
            Ok(message) => {
                self.records.apply(message);
                self.reported_at = Some(now);
                true
            }
            Err(reason) => {
                self.refuse(now, text, reason);
                false
            }
        }
    }

    /// The process whose records these are has ended.
    pub(super) fn forget(&mut self) {
        self.records.clear();
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &StatusReport> {
        self.records.iter()
    }

    pub(super) fn refused(&self) -> &[RefusedReport] {
        &self.refused
    }

    fn check(&self, presence: Presence, text: &str) -> Result<StatusMessage, &'static str> {
        let message = status_report::parse(text)?;
        let (app, id) = match &message {
            StatusMessage::Report(report) => (&report.app, &report.id),
            StatusMessage::Clear { id, app } => (app, id),
        };
        // A task belongs to the program whose record is there.
        let inherits = app.is_none() && id.is_some() && self.records.overall().is_some();
        match (self.app, app.as_deref()) {
            (None, _) => {}
            (Some(_), None) if inherits => {}
            (Some(_), None) => return Err("it does not say which program sent it"),
            (Some(wanted), Some(app)) if app == wanted => {}
            (Some(_), Some(_)) => return Err("it is of another program than the agent"),
        }
        match presence {
            Presence::Background => Err("another process than the agent has the terminal"),
            // Of the agent that has ended, or of the next one, which is searched for.
            Presence::Gone => Ok(message),
            Presence::Unbound | Presence::Elsewhere | Presence::Foreground => Ok(message),
        }
    }

    fn refuse(&mut self, now: Instant, text: &str, reason: &'static str) {
        let report: String = text.chars().take(MAX_REFUSED_CHARS).collect();
        if let Some(last) = self.refused.last_mut()
            && (last.report.as_str(), last.reason) == (report.as_str(), reason)
        {
            last.at = now;
            last.count += 1;
            return;
        }
        if self.refused.len() == MAX_REFUSED {
            self.refused.remove(0);
        }
        self.refused.push(RefusedReport { report, reason, at: now, count: 1 });
    }

    /// The situation of a program that no driver knows, by its own words; `unknown` if it says
    /// nothing. `id_prefix` begins the ids of its prompts.
    pub(super) fn situation(&mut self, id_prefix: &str) -> (Situation, &'static str) {
        let Some(report) = self.records.overall() else {
            self.prompt = None;
            return (Situation::Unknown, "status:clear");
        };
        let (cause, claim) = unknown::claim(report);
        let situation = match claim {
            Claim::Working => Situation::Working { retrying: None },
            Claim::TurnEnded => Situation::Idle,
            Claim::Failed(api_error) => Situation::Error(api_error),
            Claim::AskedInPart(ask) => {
                let same = self.prompt.take().filter(|(asked, _)| asked == report);
                let (asked, prompt) = same.unwrap_or_else(|| {
                    self.prompts += 1;
                    let id = PromptId(format!("{id_prefix}-p-{}", self.prompts));
                    (report.clone(), Arc::new(tracker::prompt_without_dialog(&id, &ask)))
                });
                self.prompt = Some((asked, Arc::clone(&prompt)));
                return (Situation::Prompt(prompt), cause);
            }
            _ => Situation::Unknown,
        };
        self.prompt = None;
        (situation, cause)
    }

    /// The vote of a program that no driver knows, if it has reported anything.
    pub(super) fn vote(&self, situation: &Situation, cause: &'static str) -> Option<tracker::Vote> {
        let report = self.records.overall()?;
        Some(tracker::Vote {
            tier: Tier::ProgramStatus,
            state: situation.state(),
            at: self.reported_at?,
            cause,
            detail: report.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::agent::AgentState;

    #[test]
    fn only_the_agent_in_the_foreground_may_report() {
        let now = Instant::now();
        let mut status = ProgramStatus::new(Some("tern"));
        let mut takes = |presence, text| status.take(now, presence, text);
        assert!(
            !takes(Presence::Foreground, "state=idle:id=a"),
            "there is no record to inherit of"
        );
        for presence in [Presence::Unbound, Presence::Elsewhere, Presence::Foreground] {
            assert!(takes(presence, "state=idle:app=tern"));
            assert!(takes(presence, "state=working:id=task"));
            assert!(!takes(presence, "state=idle"));
            assert!(!takes(presence, "state=idle:app=other"));
            assert!(!takes(presence, "state=clear"));
        }
        assert!(!takes(Presence::Background, "state=idle:app=tern"));
        assert_eq!(status.records().count(), 2);
        let reasons: Vec<&str> = status.refused().iter().map(|refused| refused.reason).collect();
        assert_eq!(reasons.last(), Some(&"another process than the agent has the terminal"));
        assert!(reasons.contains(&"it is of another program than the agent"));
        assert!(reasons.contains(&"it does not say which program sent it"));
    }

    #[test]
    fn refused_reports_are_bounded() {
        let now = Instant::now();
        let mut status = ProgramStatus::new(None);
        for number in 0..100 {
            assert!(!status.take(now, Presence::Unbound, &format!("{number}{}", "é".repeat(4000))));
        }
        assert_eq!(status.refused().len(), MAX_REFUSED);
        assert!(status.refused().iter().all(|one| one.report.chars().count() == MAX_REFUSED_CHARS));
        for _ in 0..3 {
            status.take(now, Presence::Unbound, "state=dancing");
        }
        let last = status.refused().last().unwrap();
        assert_eq!((last.count, last.reason), (3, "its state is unknown"));
    }

    #[test]
    fn a_prompt_keeps_its_id_while_the_report_is_the_same() {
        let now = Instant::now();
        let mut status = ProgramStatus::new(None);
        let mut after = |text: &str| {
            assert!(status.take(now, Presence::Unbound, text));
            status.situation("1-1").0
        };
        let id = |situation: &Situation| situation.prompt().unwrap().id.clone();
        let first = after("state=blocked:kind=question:msg=V2h5Pw==");
        assert_eq!(first.prompt().unwrap().message, "Why?");
        let again = after("state=blocked:kind=question:msg=V2h5Pw==");
        assert_eq!(id(&first), id(&again));
        assert_ne!(id(&first), id(&after("state=blocked:kind=permission")));
        assert_eq!(after("state=done").state(), AgentState::Idle);
        assert_ne!(id(&first), id(&after("state=blocked:kind=question:msg=V2h5Pw==")));
        assert_eq!(after("state=clear").state(), AgentState::Unknown);
    }
}
