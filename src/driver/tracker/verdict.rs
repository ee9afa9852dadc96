//! The published situation. The first row that applies decides:
//!
//! | condition | situation |
//! |---|---|
//! | the child has exited | `exited`, and no other one after it |
//! | the agent's process has ended, or does not have the terminal | `unknown` |
//! | a dialog is open | `prompt` |
//! | a source reports a dialog, and nothing is recognised for a second | `prompt` without options |
//! | a turn runs | `working`, with the error that it is retrying after |
//! | a turn failed | `error` or `parked` |
//! | a turn is over, and the screen shows the composer and no running turn | `idle` |
//! | a turn is over, and nothing is recognised for a second, not even options | `idle` |
//! | otherwise | the same as before, but never the prompt of a closed dialog |
//!
//! Nothing is recognised on a screen with neither a dialog nor a composer nor a running turn. An
//! agent that was never idle needs ten seconds of that to become idle.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::turn::{Turn, TurnClaim, TurnEnd};
use super::{Tracker, prompt};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::driver::evidence::Claim;

/// How long the tracker waits for the screen to show what a source reports, while nothing on it is
/// recognised.
pub(super) const UNRECOGNISED_TIMEOUT: Duration = Duration::from_secs(1);
/// The same for an agent that was never idle: it may be drawing its first dialog.
const FIRST_UNRECOGNISED_TIMEOUT: Duration = Duration::from_secs(10);

/// The latest claim of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    pub tier: Tier,
    pub state: AgentState,
    pub at: Instant,
    pub cause: &'static str,
    pub detail: String,
}

/// What is published, and the source that decided it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verdict {
    pub situation: Situation,
    pub tier: Tier,
    pub cause: &'static str,
}

impl Tracker {
    /// Sets the verdict by the table above.
    pub(super) fn decide(&mut self, now: Instant) {
        if let Some(verdict) = self.absent_verdict() {
            self.verdict = verdict;
            return;
        }
        if let Some(verdict) = self.prompt_verdict(now) {
            self.verdict = verdict;
            return;
        }
        self.missed_turn.take_if(|missed| missed.shown_until <= now);
        let missed = self.missed_turn.as_ref().map(|missed| &missed.claim);
        let claim = missed.unwrap_or(self.turn.current());
        let (tier, cause) = (claim.tier, claim.cause);
        let situation = match &claim.turn {
            Turn::Unknown => Situation::Starting,
            Turn::Running { retrying } => Situation::Working {
                retrying: retrying.clone().or_else(|| self.reading.retrying.clone()),
            },
            Turn::Over(TurnEnd::Failed(api_error)) => Situation::Error(api_error.clone()),
            Turn::Over(TurnEnd::Parked(parked)) => Situation::Parked(parked.clone()),
            Turn::Over(TurnEnd::Normal) if self.is_idle(now, claim) => {
                self.was_idle = true;
                Situation::Idle
            }
            Turn::Over(TurnEnd::Normal) => match self.until_idle() {
                Some(situation) => situation,
                None => return,
            },
        };
        let retrying = matches!(situation, Situation::Working { retrying: Some(_) });
        let cause = if retrying { "retrying" } else { cause };
        let same = situation.state() == self.verdict.situation.state()
            && situation == self.verdict.situation;
        if !same {
            self.verdict = Verdict { situation, tier, cause };
        }
    }

    /// The verdict while a dialog is open, or reported and not recognised for too long.
    fn prompt_verdict(&self, now: Instant) -> Option<Verdict> {
        if let Some(current) = self.dialogs.current(now) {
            let situation = Situation::Prompt(current.prompt);
            return Some(Verdict { situation, tier: current.tier, cause: current.cause });
        }
        let dialog = self.reported_dialog.as_ref()?;
        let trusted = self.trusted_at(dialog.since, UNRECOGNISED_TIMEOUT)? <= now;
        trusted.then(|| Verdict {
            situation: Situation::Prompt(Arc::new(prompt::unrecognised(dialog.id.clone()))),
            tier: dialog.tier,
            cause: dialog.cause,
        })
    }

    /// Whether an agent whose turn is over is idle.
    fn is_idle(&self, now: Instant, claim: &TurnClaim) -> bool {
        let reading = &self.reading;
        let shown = reading.composer.is_some() && !reading.busy && !self.dialogs.on_screen();
        let nothing_recognised = !reading.option_list
            && self.idle_without_composer_at(claim).is_some_and(|at| at <= now);
        let held_long_enough =
            self.was_idle || now.duration_since(claim.at) >= self.habits.first_idle_hold;
        (shown || nothing_recognised) && held_long_enough
    }

    /// The situation of an agent whose turn is over and which is not idle yet; `None` if it stays
    /// the same.
    fn until_idle(&self) -> Option<Situation> {
        match &self.verdict.situation {
            // The dialog has closed, and what follows it is not drawn yet.
            Situation::Prompt(_) if self.was_idle => Some(Situation::Working { retrying: None }),
            Situation::Prompt(_) | Situation::Starting if self.reading.busy => {
                Some(Situation::Working { retrying: None })
            }
            Situation::Prompt(_) => Some(Situation::Starting),
            Situation::Starting
            | Situation::Working { .. }
            | Situation::Idle
            | Situation::Error(_)
            | Situation::Parked(_)
            | Situation::Restarting
            | Situation::Exited
            | Situation::Unknown => None,
        }
    }

    /// When a report of `at` is trusted without the screen, if the screen goes on to show nothing
    /// that is recognised.
    pub(super) fn trusted_at(&self, at: Instant, timeout: Duration) -> Option<Instant> {
        self.unrecognised.map(|unrecognised| unrecognised.since.max(at) + timeout)
    }

    /// When an agent whose turn is over counts as idle even though no composer is recognised.
    pub(super) fn idle_without_composer_at(&self, claim: &TurnClaim) -> Option<Instant> {
        // A program that prints JSON never draws a composer.
        let soon = self.was_idle || claim.tier == Tier::Stdout;
        let timeout = if soon { UNRECOGNISED_TIMEOUT } else { FIRST_UNRECOGNISED_TIMEOUT };
        self.trusted_at(claim.at, timeout)
    }
}

/// The state that a claim votes for.
pub(super) fn claimed_state(claim: &Claim) -> AgentState {
    match claim {
        Claim::Asked(_) | Claim::AskedInPart(_) | Claim::AtDialog => AgentState::Prompt,
        Claim::SeemsIdle => AgentState::Idle,
        Claim::TurnStarted { .. }
        | Claim::Working
        | Claim::Retrying(_)
        | Claim::TurnEnded
        | Claim::NotWorking
        | Claim::Failed(_)
        | Claim::Parked(_) => Turn::claimed(claim).map_or(AgentState::Unknown, |turn| turn.state()),
    }
}
