//! Deletes coop's own draft from the composer: presses the agent's key until the composer is seen
//! empty. It deletes nothing that is not recognised as coop's own, and does not know why the draft
//! is to be deleted.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::AgentView;
use super::own_messages::OwnMessages;
use crate::driver::screen_reading::Composer;

/// How long the agent may take to show the effect of the key.
const EFFECT: Duration = Duration::from_millis(400);
/// How long the composer must be empty where nothing is typed afterwards.
const SETTLE: Duration = Duration::from_millis(150);
/// How often the key is pressed without an effect.
const PRESSES: u32 = 5;
/// How long the whole deletion may take. A key can delete a single line.
const LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct DraftDeletion {
    began: Instant,
    until: Instant,
    pressed: Option<Pressed>,
    /// Since when the composer is empty.
    empty_since: Option<Instant>,
    /// How long the composer must be empty.
    settle: Duration,
}

#[derive(Debug)]
struct Pressed {
    at: Instant,
    /// The composer when the key was pressed.
    composer: Composer,
    /// How often it was pressed on this draft.
    times: u32,
}

/// What is to be done next, or how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DeletionStep {
    Press(Bytes),
    Wait(Instant),
    /// The composer is empty.
    Empty,
    /// The composer does not have the keyboard, the agent works, or the time is over.
    NotNow,
    /// The draft is not coop's own.
    Foreign,
    /// The key has no effect.
    Stuck,
}

impl DraftDeletion {
    pub(super) fn new(now: Instant) -> Self {
        let (until, settle) = (now + LIMIT, Duration::ZERO);
        Self { began: now, until, pressed: None, empty_since: None, settle }
    }

    /// The same, after which nothing is typed: one reading of the screen is not enough, because the
    /// agent can be in the middle of drawing.
    pub(super) fn last(now: Instant) -> Self {
        Self { settle: SETTLE, ..Self::new(now) }
    }

    /// The same, with less time.
    pub(super) fn until(self, until: Instant) -> Self {
        Self { until: self.until.min(until), ..self }
    }

    pub(super) fn has_pressed(&self) -> bool {
        self.pressed.is_some()
    }

    pub(super) fn step(&mut self, view: &AgentView, own: &OwnMessages) -> DeletionStep {
        let now = view.now.steady;
        if view.refusal().is_some() {
            return DeletionStep::NotNow;
        }
        let effect = self.pressed.as_ref().map_or(self.began, |pressed| pressed.at) + EFFECT;
        let Some(composer) = &view.reading.composer else {
            return if now < effect { DeletionStep::Wait(effect) } else { DeletionStep::NotNow };
        };
        if composer.draft.is_empty() {
            let settled = *self.empty_since.get_or_insert(now) + self.settle;
            let is_over = now >= settled || self.pressed.is_none();
            return if is_over { DeletionStep::Empty } else { DeletionStep::Wait(settled) };
        }
        self.empty_since = None;
        let before = self.pressed.as_ref().filter(|pressed| pressed.composer == *composer);
        let times = before.map_or(0, |pressed| pressed.times);
        if now >= self.until {
            return DeletionStep::NotNow;
        }
        if times > 0 && (now < effect || !view.written) {
            return DeletionStep::Wait(effect.max(now + EFFECT / 4).min(self.until));
        }
        if times >= PRESSES {
            return DeletionStep::Stuck;
        }
        if !own.hold(composer, view.driver, view.typed()) {
            return DeletionStep::Foreign;
        }
        self.pressed = Some(Pressed { at: now, composer: composer.clone(), times: times + 1 });
        DeletionStep::Press(Bytes::from_static(view.driver.habits().clear_key))
    }
}
