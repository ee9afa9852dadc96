//! Replays recordings through a driver and its tracker, and collects the published states. It knows
//! no agent.

use std::time::{Duration, Instant};

use crate::driver::Driver;
use crate::driver::agent::AgentState;
use crate::driver::evidence::{Fact, Finding};
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::{Choice, Composer, Dialog, Page, Role, ScreenReading};
use crate::driver::tracker::Tracker;

/// A driver and its tracker, which get recorded evidence at the recorded times, and the screen that
/// the test sets.
pub(in crate::driver) struct Replay<D> {
    pub(in crate::driver) driver: D,
    pub(in crate::driver) tracker: Tracker,
    pub(in crate::driver) now: Instant,
    pub(in crate::driver) reading: ScreenReading,
    /// Each published state, with its time in ms after the start.
    pub(in crate::driver) published: Vec<(u128, String)>,
    pub(in crate::driver) start: Instant,
}

impl<D: Driver + Default> Replay<D> {
    pub(in crate::driver) fn new() -> Self {
        let driver = D::default();
        let start = Instant::now();
        let tracker =
            Tracker::new(start, *driver.habits(), Duration::from_secs(60), "1-1".to_owned());
        Self {
            driver,
            tracker,
            now: start,
            reading: ScreenReading::default(),
            published: Vec::new(),
            start,
        }
    }

    pub(in crate::driver) fn state(&self) -> AgentState {
        self.tracker.verdict().situation.state()
    }

    pub(in crate::driver) fn add_findings(
        &mut self,
        findings: Vec<Finding>,
        at: impl Fn(Option<u64>) -> Option<Instant>,
    ) {
        for finding in findings {
            match finding {
                Finding::Evidence(evidence) => {
                    let at = at(evidence.at_epoch_ms).unwrap_or(self.now).min(self.now);
                    self.tracker.add_evidence(self.now, at, evidence);
                }
                Finding::Fact(Fact::ToolUse(ask)) => self.tracker.tool_use(*ask),
                Finding::Fact(_) => {}
            }
            self.record_state();
        }
    }

    pub(in crate::driver) fn update_screen(&mut self) {
        self.tracker.update_screen(self.now, self.reading.clone());
        self.record_state();
    }

    /// Lets time pass, and updates the screen at each deadline of the tracker.
    pub(in crate::driver) fn pass_until(&mut self, end: Instant) {
        while let Some(due) = self.tracker.deadline(self.now).filter(|due| *due <= end) {
            self.now = due.max(self.now + Duration::from_millis(1));
            self.update_screen();
        }
        self.now = self.now.max(end);
        self.update_screen();
    }

    fn record_state(&mut self) {
        let verdict = self.tracker.verdict();
        let text = format!("{} ({})", verdict.situation.state().as_str(), verdict.cause);
        if self.published.last().is_none_or(|(_, last)| *last != text) {
            self.published.push((self.now.duration_since(self.start).as_millis(), text));
        }
    }
}

pub(in crate::driver) fn composer() -> ScreenReading {
    ScreenReading {
        composer: Some(Composer { draft: String::new(), rows: 1, cut: false }),
        ..ScreenReading::default()
    }
}

pub(in crate::driver) fn busy() -> ScreenReading {
    ScreenReading { busy: true, ..composer() }
}

/// The reading of a screen with a dialog that shows this text.
pub(in crate::driver) fn dialog(kind: PromptKind, shown: &str) -> ScreenReading {
    let choice = |label: &str| Choice {
        label: label.to_owned(),
        digit: None,
        checked: None,
        typed: None,
        role: Role::Plain,
        hidden: false,
    };
    let dialog = Dialog {
        kind,
        subtype: None,
        tool: None,
        message: shown.to_owned(),
        choices: vec![choice("Yes"), choice("No")],
        highlighted: Some(0),
        more: false,
        page: Page::Only,
        lines: vec![shown.to_owned(), "Yes".to_owned(), "No".to_owned()],
    };
    ScreenReading { dialog: Some(dialog), option_list: true, ..ScreenReading::default() }
}
