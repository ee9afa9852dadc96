//! When the first idle state of an agent may be published: its composer can be on screen before a
//! dialog that the agent shows at its start.
//!
//! | the first idle state waits for | it is published |
//! |---|---|
//! | the composer | once the claim has stood for the agent's own delay |
//! | the start hook | with any hook, or five seconds after the composer came without one |
//! | a quiet screen | after two seconds in which the screen shows the same |
//!
//! An agent that does not wait for the composer only can end and start again once it trusts its
//! folder. So after that dialog it is idle five seconds after the composer came, unless another
//! process has taken its place: for that one the table applies anew.

use std::time::{Duration, Instant};

use super::Tracker;
use super::turn::TurnClaim;
use crate::driver::agent::Tier;
use crate::driver::launch::FirstIdle;
use crate::driver::screen_reading::ScreenReading;

/// How long the start hook, or the end of the process, may take after the composer has come.
const START_HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the screen must show the same.
const QUIET: Duration = Duration::from_secs(2);

/// What the screen has shown since the agent started.
#[derive(Debug)]
pub(super) struct StartScreen {
    wait: FirstIdle,
    /// Since when the composer is on screen.
    composer_since: Option<Instant>,
    unchanged_since: Instant,
    /// The agent has asked whether to trust the folder.
    asked_for_trust: bool,
}

impl StartScreen {
    pub(super) fn new(now: Instant, wait: FirstIdle) -> Self {
        Self { wait, composer_since: None, unchanged_since: now, asked_for_trust: false }
    }

    /// The same for another agent, which starts now.
    pub(super) fn again(&self, now: Instant) -> Self {
        Self::new(now, self.wait)
    }

    pub(super) fn update(&mut self, now: Instant, before: &ScreenReading, reading: &ScreenReading) {
        if before != reading {
            self.unchanged_since = now;
        }
        let subtype = reading.dialog.as_ref().and_then(|dialog| dialog.subtype);
        self.asked_for_trust |= subtype == Some("trust");
        match &reading.composer {
            Some(_) => _ = self.composer_since.get_or_insert(now),
            None => self.composer_since = None,
        }
    }
}

impl Tracker {
    /// Says what the first idle state waits for.
    #[must_use]
    pub(crate) fn with_first_idle(self, now: Instant, wait: FirstIdle) -> Self {
        Self { start_screen: StartScreen::new(now, wait), ..self }
    }

    /// When an agent that was never idle may be idle, by this claim.
    pub(super) fn first_idle_at(&self, claim: &TurnClaim) -> Instant {
        let at = claim.at + self.habits.first_idle_hold;
        let StartScreen { wait, composer_since, unchanged_since, asked_for_trust } =
            &self.start_screen;
        let heard = self.votes.contains_key(&Tier::Hooks);
        let late = at.max(composer_since.unwrap_or(claim.at) + START_HOOK_TIMEOUT);
        match wait {
            FirstIdle::Composer => at,
            FirstIdle::StartHook | FirstIdle::Quiet if *asked_for_trust => late,
            FirstIdle::StartHook if heard => at,
            FirstIdle::StartHook => late,
            FirstIdle::Quiet => at.max(*unchanged_since + QUIET),
        }
    }
}
