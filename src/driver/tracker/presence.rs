//! What it means for the state that the agent's process has ended or does not have the terminal.
//!
//! | the agent's process | effect |
//! |---|---|
//! | is in the background | `unknown`; claims go on to count for the time after |
//! | returns to the foreground | the state that the claims lead to, once the screen agrees |
//! | has ended | `unknown`; claims, dialogs and screen of the old process are forgotten |
//! | is another one | `starting`, until the new process gives evidence |

use std::time::Instant;

use super::screen::{IdleReadings, UnrecognisedScreen};
use super::turn::TurnState;
use super::{Tracker, Verdict};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::driver::presence::Presence;
use crate::driver::screen_reading::ScreenReading;

impl Tracker {
    pub(crate) fn presence(&self) -> Presence {
        self.presence
    }

    /// The agent's process has started, ended, or been moved between foreground and background.
    pub(crate) fn set_presence(&mut self, now: Instant, presence: Presence) {
        let before = std::mem::replace(&mut self.presence, presence);
        if before == presence || self.has_exited() {
            return;
        }
        if before == Presence::Gone || presence == Presence::Gone {
            self.forget(now);
        }
        if let Some(cause) = presence.absence() {
            self.vote(Tier::Process, now, AgentState::Unknown, cause, presence.explain());
        } else if before == Presence::Background {
            self.votes.remove(&Tier::Process);
        } else if before == Presence::Gone {
            let (situation, tier) = (Situation::Starting, Tier::Process);
            self.verdict = Verdict { situation, tier, cause: "agent process found" };
        }
        self.decide(now);
    }

    /// Forgets everything that was about the process that ended.
    fn forget(&mut self, now: Instant) {
        self.turn = TurnState::new(now, self.habits.turn_end_delay);
        self.dialogs.forget_all();
        self.votes.clear();
        self.reading = ScreenReading::default();
        self.reported_dialog = None;
        self.idle_readings = IdleReadings::default();
        self.grace_ends = None;
        self.busy_drawn_late = false;
        self.was_idle = false;
        self.unrecognised = Some(UnrecognisedScreen { since: now, option_list: false });
        self.missed_turn = None;
    }

    /// The verdict while the agent does not have the terminal.
    pub(super) fn absent_verdict(&self) -> Option<Verdict> {
        let (situation, tier) = (Situation::Unknown, Tier::Process);
        self.presence.absence().map(|cause| Verdict { situation, tier, cause })
    }
}
