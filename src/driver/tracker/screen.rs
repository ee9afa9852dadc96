//! What the screen proves. It is read after every change, and is evidence itself:
//!
//! | the screen | effect |
//! |---|---|
//! | shows a running turn, and showed none before | a turn runs, unless one has just ended |
//! | shows a running turn a second after one is said to have failed | another turn runs |
//! | shows an error that no other source reports | the turn failed, while the error is shown |
//! | is idle, while a turn is said to run | the turn is over, if the idle screen is certain |
//!
//! A running turn that appears right after its end was drawn late. A screen is idle if it shows the
//! composer and no turn, in three readings at least 250 ms apart. Against a title that says that a
//! turn runs it needs five seconds.

use std::time::{Duration, Instant};

use super::Tracker;
use super::turn::{Turn, TurnClaim, TurnEnd};
use crate::driver::agent::{AgentState, Tier};
use crate::driver::screen_reading::ScreenReading;

/// How far apart readings must be to count separately.
const READING_INTERVAL: Duration = Duration::from_millis(250);
/// How many such readings end a turn.
const IDLE_READINGS: u32 = 3;
/// How long a source's claim may take to be drawn. Until then the screen does not contradict it.
const DRAW_TIME: Duration = Duration::from_secs(1);
/// The same while the agent's title says that a turn runs.
const WORKING_TITLE_HOLD: Duration = Duration::from_secs(5);
/// The cause of an error that only the screen reports.
const SCREEN_ERROR: &str = "screen:error";

/// A screen on which nothing is recognised. It may be drawn only in part, so it must last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnrecognisedScreen {
    pub(super) since: Instant,
    pub(super) option_list: bool,
}

/// Consecutive readings of an idle screen.
#[derive(Debug, Default)]
pub(super) struct IdleReadings {
    count: u32,
    last: Option<Instant>,
}

impl Tracker {
    /// Takes in what the screen shows. It is also called when a deadline has passed.
    pub(crate) fn update_screen(&mut self, now: Instant, reading: ScreenReading) {
        // Without the terminal the agent draws nothing; the screen is that of another program.
        if self.has_exited() || self.presence.absence().is_some() {
            return;
        }
        let became_busy = reading.busy && !self.reading.busy;
        let new_error = reading.failed.clone().filter(|_| reading.failed != self.reading.failed);
        self.reading = reading;
        let reported =
            self.reported_dialog.as_ref().is_some_and(|dialog| dialog.tier.is_terminal());
        self.dialogs.update_screen(now, &self.reading, reported);
        self.update_unrecognised(now);
        self.start_turn_of_dialog(now);
        self.start_drawn_turn(now, became_busy);
        if let Some(api_error) = new_error {
            self.vote(Tier::Screen, now, AgentState::Error, SCREEN_ERROR, &api_error.detail);
            let failed = Turn::Over(TurnEnd::Failed(api_error));
            self.turn.add(now, screen_claim(failed, SCREEN_ERROR, now));
        }
        self.clear_screen_error();
        self.turn.accept_due(now);
        self.count_idle_readings(now);
        if self.grace_ends.take_if(|ends| *ends <= now).is_some() {
            let (tier, cause) = (Tier::Process, "grace");
            self.turn.accept(TurnClaim { turn: Turn::ENDED, tier, cause, at: now });
        }
        self.decide(now);
    }

    /// When a second reading of the same screen proves more than the first.
    pub(super) fn next_reading(&self) -> Option<Instant> {
        let idle = self
            .idle_readings
            .last
            .filter(|_| self.contradicts_running_turn())
            .map(|last| last + READING_INTERVAL);
        let late = self.busy_drawn_late.then_some(self.turn.current().at + DRAW_TIME);
        [idle, late].into_iter().flatten().min()
    }

    /// Notes since when nothing is recognised.
    fn update_unrecognised(&mut self, now: Instant) {
        let ScreenReading { composer, busy, option_list, .. } = &self.reading;
        let recognised = composer.is_some() || *busy || self.dialogs.on_screen();
        let same = self.unrecognised.filter(|before| before.option_list == *option_list);
        let screen = same.unwrap_or(UnrecognisedScreen { since: now, option_list: *option_list });
        self.unrecognised = (!recognised).then_some(screen);
    }

    /// A tool's dialog on screen proves that a turn runs. A dialog that was already there when the
    /// turn was said to be over is about to close, and proves nothing.
    fn start_turn_of_dialog(&mut self, now: Instant) {
        let claim = self.turn.current();
        let newer = self.dialogs.implies_turn_since().is_some_and(|since| since > claim.at);
        if newer && !claim.turn.is_running() {
            self.turn.accept(screen_claim(Turn::RUNNING, "screen:dialog", now));
        }
    }

    /// A running turn on screen proves that it runs, unless it is drawn right after its end: then
    /// it was drawn for the time before.
    fn start_drawn_turn(&mut self, now: Instant, became_busy: bool) {
        let was_drawn_late = self.busy_drawn_late;
        let claim = self.turn.current();
        let drawn_by_now = now.duration_since(claim.at) >= DRAW_TIME;
        let just_over = claim.turn.is_over() && !drawn_by_now;
        self.busy_drawn_late =
            self.reading.busy && just_over && (became_busy || self.busy_drawn_late);
        let still_busy = self.reading.busy && was_drawn_late && !just_over;
        if (became_busy || still_busy) && !just_over {
            self.vote(Tier::Screen, now, AgentState::Working, "screen:busy", "a running turn");
            self.turn.add(now, screen_claim(Turn::RUNNING, "screen:busy", now));
        }
        if self.turn.current().turn.is_failure() && self.reading.busy && drawn_by_now {
            self.turn.accept(screen_claim(Turn::RUNNING, "screen:busy", now));
        }
    }

    /// An error that only the screen reported has disappeared from it, so something has happened
    /// since. The next readings show whether that is over.
    fn clear_screen_error(&mut self) {
        let claim = self.turn.current();
        let (reported, at) = (claim.cause == SCREEN_ERROR, claim.at);
        let gone =
            self.reading.failed.is_none() && self.reading.composer.is_some() && !self.reading.busy;
        if reported && gone {
            self.turn.accept(screen_claim(Turn::RUNNING, "screen:changed", at));
        }
    }

    /// Whether the screen is certainly idle while no source says that the turn is over.
    fn contradicts_running_turn(&self) -> bool {
        let running = matches!(self.turn.current().turn, Turn::Running { .. } | Turn::Unknown);
        let reading = &self.reading;
        running
            && self.habits.idle_screen_is_certain
            && reading.composer.is_some()
            && !reading.busy
            && !self.dialogs.on_screen()
            && !reading.option_list
    }

    /// Ends the turn after enough readings of an idle screen.
    fn count_idle_readings(&mut self, now: Instant) {
        if !self.contradicts_running_turn() {
            self.idle_readings = IdleReadings::default();
            return;
        }
        let IdleReadings { count, last } = self.idle_readings;
        if last.is_none_or(|last| now.duration_since(last) >= READING_INTERVAL) {
            self.idle_readings = IdleReadings { count: count + 1, last: Some(now) };
        }
        // A title or report that says so is better evidence than a screen that may be half drawn,
        // but it does not keep the agent working for ever.
        let draw_time = if self.says_working() { WORKING_TITLE_HOLD } else { DRAW_TIME };
        let drawn_by_now = now.duration_since(self.turn.last_confirmed()) >= draw_time;
        if self.idle_readings.count >= IDLE_READINGS && drawn_by_now {
            let (cause, detail) = ("screen:composer", "the composer, and no running turn");
            self.vote(Tier::Screen, now, AgentState::Idle, cause, detail);
            self.turn.accept(screen_claim(Turn::ENDED, cause, now));
            self.dialogs.forget_before(now);
        }
    }
}

fn screen_claim(turn: Turn, cause: &'static str, at: Instant) -> TurnClaim {
    TurnClaim { turn, tier: Tier::Screen, cause, at }
}
