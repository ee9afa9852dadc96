//! Turns evidence into the agent's state. It does no I/O and has no clock: callers pass in what the
//! sources report, what the screen shows and what time it is.
//!
//! Each part has its rules as a table: [`turn`] weighs what the sources claim about the turn,
//! [`screen`] what is drawn, [`dialogs`] finds the open dialog, and [`verdict`] makes one published
//! situation of them.

mod announcements;
mod dialogs;
mod explain;
mod matching;
mod presence;
pub(in crate::driver) mod prompt;
mod screen;
mod turn;
mod verdict;

#[cfg(test)]
mod tests;

pub(crate) use self::prompt::without_dialog as prompt_without_dialog;
pub(crate) use self::verdict::{Verdict, Vote};

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use self::dialogs::{DialogTracker, Repeats};
use self::screen::{IdleReadings, UnrecognisedScreen};
use self::turn::{Turn, TurnClaim, TurnState};
use self::verdict::{UNRECOGNISED_TIMEOUT, claimed_state};
use super::Habits;
use super::agent::{AgentState, Situation, Tier};
use super::evidence::{Claim, Evidence};
use super::presence::Presence;
use super::prompt::{Ask, PromptId, PromptKind};
use super::screen_reading::ScreenReading;

/// How long a turn is published that no source reported while it ran.
const MISSED_TURN_DISPLAY: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Tracker {
    habits: Habits,
    /// How long an inferred end of a turn must hold.
    grace: Duration,
    turn: TurnState,
    dialogs: DialogTracker,
    votes: BTreeMap<Tier, Vote>,
    verdict: Verdict,
    reading: ScreenReading,
    reported_dialog: Option<ReportedDialog>,
    idle_readings: IdleReadings,
    grace_ends: Option<Instant>,
    /// A running turn appeared on screen right after a source said that it was over.
    busy_drawn_late: bool,
    /// The agent has been idle before.
    was_idle: bool,
    unrecognised: Option<UnrecognisedScreen>,
    missed_turn: Option<MissedTurn>,
    presence: Presence,
}

/// An open dialog that a source reports without saying which.
#[derive(Debug)]
struct ReportedDialog {
    since: Instant,
    id: PromptId,
    tier: Tier,
    cause: &'static str,
}

/// A turn that was over before any source reported it.
#[derive(Debug)]
struct MissedTurn {
    claim: TurnClaim,
    shown_until: Instant,
}

impl Tracker {
    /// `id_prefix` starts every prompt's id; no other tracker may use the same one.
    pub(crate) fn new(now: Instant, habits: Habits, grace: Duration, id_prefix: String) -> Self {
        Self {
            habits,
            grace,
            turn: TurnState::new(now, habits.turn_end_delay),
            dialogs: DialogTracker::new(id_prefix, habits),
            votes: BTreeMap::new(),
            verdict: Verdict {
                situation: Situation::Starting,
                tier: Tier::Process,
                cause: "launch",
            },
            reading: ScreenReading::default(),
            reported_dialog: None,
            idle_readings: IdleReadings::default(),
            grace_ends: None,
            busy_drawn_late: false,
            was_idle: false,
            unrecognised: Some(UnrecognisedScreen { since: now, option_list: false }),
            missed_turn: None,
            presence: Presence::default(),
        }
    }

    pub(crate) fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    pub(crate) fn reading(&self) -> &ScreenReading {
        &self.reading
    }

    pub(crate) fn grace_ends(&self) -> Option<Instant> {
        self.grace_ends
    }

    /// Whether a dialog with this id was announced and has not appeared on screen yet.
    pub(crate) fn expects(&self, id: &PromptId) -> bool {
        self.dialogs.expects(id)
    }

    /// Whether the dialog on screen is certainly still the one of this prompt, though the next one
    /// could look the same: none was announced that can look like it, and no source has reported
    /// anything since this moment.
    pub(crate) fn is_still(&self, id: &PromptId, since: Instant) -> bool {
        let newer = |vote: &Vote| vote.tier != Tier::Screen && vote.at > since;
        match self.dialogs.repeats(id) {
            Some(Repeats::Never) => true,
            Some(Repeats::Announced) => !self.votes.values().any(newer),
            Some(Repeats::Unnoticed) | None => false,
        }
    }

    /// A key that answers this prompt may have worked, though the dialog on screen looks the same.
    pub(crate) fn renew_prompt(&mut self, now: Instant, id: &PromptId) {
        self.dialogs.renew(now, id);
        self.decide(now);
    }

    /// Adds what a source reports to have happened at `at`. Returns the id of the prompt if the
    /// evidence announces one.
    pub(crate) fn add_evidence(
        &mut self,
        now: Instant,
        at: Instant,
        evidence: Evidence,
    ) -> Option<PromptId> {
        let Evidence { tier, claim, cause, detail, .. } = evidence;
        if self.has_exited() || self.presence == Presence::Gone {
            return None;
        }
        let state = claimed_state(&claim);
        let before = self.votes.get(&tier).map(|vote| (vote.state, vote.cause, &vote.detail));
        let repeated = before.is_some_and(|(last_state, last_cause, last_detail)| {
            // A report is about the same dialog only if it says the same about it.
            let same_dialog = tier == Tier::Terminal || *last_detail == detail;
            (last_state, last_cause) == (state, cause)
                && (state != AgentState::Prompt || same_dialog)
        });
        if tier.is_terminal() && repeated {
            // One more frame of the same spinner only confirms that the turn goes on.
            if state == AgentState::Working {
                self.turn.still_running(at);
            }
            return None;
        }
        self.votes.insert(tier, Vote { tier, state, at, cause, detail });
        // A status file is always up to date; another source takes back only its own report.
        self.reported_dialog
            .take_if(|dialog| tier == Tier::Registry || tier.same_stream(dialog.tier));
        if tier == Tier::ProgramStatus {
            self.dialogs.take_back(tier);
        }
        let turn = self.claimed_turn(&claim);
        let (explicit_end, vague_end) = (claim == Claim::TurnEnded, claim == Claim::NotWorking);
        let starts = matches!(claim, Claim::TurnStarted { .. });
        let announced = match claim {
            Claim::Asked(ask) => Some(self.dialogs.announce(now, *ask, false, tier, cause, at)),
            Claim::AskedInPart(ask) => {
                Some(self.dialogs.announce(now, *ask, true, tier, cause, at))
            }
            Claim::TurnStarted { .. } | Claim::TurnEnded | Claim::Failed(_) | Claim::Parked(_) => {
                self.dialogs.forget_before(at);
                None
            }
            Claim::AtDialog if self.reported_dialog.is_some() => None,
            Claim::AtDialog => {
                let id = self.dialogs.next_id();
                self.reported_dialog = Some(ReportedDialog { since: at, id, tier, cause });
                None
            }
            Claim::SeemsIdle => {
                self.grace_ends.get_or_insert(now + self.grace);
                None
            }
            Claim::Working | Claim::Retrying(_) | Claim::NotWorking => None,
        };
        if explicit_end {
            self.dialogs.turn_ended(at);
        }
        if let Some(turn) = turn {
            // A title also stops spinning when a dialog opens, which does not end the turn.
            let at_dialog = vague_end && tier == Tier::Terminal && self.dialogs.is_within_turn(now);
            let claim = TurnClaim { turn, tier, cause, at };
            if starts && self.turn.missed(at) {
                let shown_until = now + MISSED_TURN_DISPLAY;
                self.missed_turn = Some(MissedTurn { claim, shown_until });
            } else if !at_dialog {
                self.turn.add(now, claim);
            }
            self.grace_ends = None;
            self.idle_readings = IdleReadings::default();
        }
        self.decide(now);
        announced
    }

    /// What a claim says about the turn; `None` if it is about something else.
    fn claimed_turn(&self, claim: &Claim) -> Option<Turn> {
        match claim {
            Claim::Asked(ask) if ask.kind == PromptKind::Plan && self.habits.plans_after_turn => {
                None
            }
            Claim::Asked(_)
            | Claim::AskedInPart(_)
            | Claim::TurnStarted { .. }
            | Claim::Working
            | Claim::Retrying(_)
            | Claim::TurnEnded
            | Claim::NotWorking
            | Claim::SeemsIdle
            | Claim::Failed(_)
            | Claim::Parked(_)
            | Claim::AtDialog => Turn::claimed(claim),
        }
    }

    /// The agent's log has grown, so the agent was not done, whatever the new lines say.
    pub(crate) fn log_grew(&mut self) {
        self.grace_ends = None;
    }

    /// The agent is about to use a tool, whose dialog would ask this if one opened.
    pub(crate) fn tool_use(&mut self, ask: Ask) {
        self.dialogs.tool_use(ask);
    }

    /// Whether the agent itself shows that a turn runs: on screen, by a dialog, in its title or in
    /// its status.
    pub(crate) fn shows_turn(&self) -> bool {
        self.reading.busy || self.dialogs.on_screen() || self.says_working()
    }

    /// Whether the last title or status says that a turn runs.
    fn says_working(&self) -> bool {
        let votes = [Tier::Terminal, Tier::ProgramStatus].map(|tier| self.votes.get(&tier));
        let last = votes.into_iter().flatten().max_by_key(|vote| vote.at);
        last.is_some_and(|vote| vote.state == AgentState::Working)
    }

    /// The child has exited.
    pub(crate) fn exited(&mut self, now: Instant) {
        if !self.has_exited() {
            let (tier, cause) = (Tier::Process, "exit");
            self.vote(tier, now, AgentState::Exited, cause, "the process ended");
            self.verdict = Verdict { situation: Situation::Exited, tier, cause };
        }
    }

    /// When to update the screen again even if it has not changed.
    pub(crate) fn deadline(&self, now: Instant) -> Option<Instant> {
        if self.has_exited() || self.presence.absence().is_some() {
            return None;
        }
        let claim = self.turn.current();
        let not_idle_yet = claim.turn == Turn::ENDED && self.verdict.situation != Situation::Idle;
        let idle = not_idle_yet.then(|| self.idle_without_composer_at(claim)).flatten();
        let prompt = self
            .reported_dialog
            .as_ref()
            .and_then(|dialog| self.trusted_at(dialog.since, UNRECOGNISED_TIMEOUT));
        let first_idle =
            Some(claim.at + self.habits.first_idle_hold).filter(|at| !self.was_idle && *at > now);
        [
            self.turn.deadline(),
            self.dialogs.deadline(now),
            idle.filter(|at| *at > now),
            prompt.filter(|at| *at > now),
            self.next_reading(),
            first_idle,
            self.grace_ends,
            self.missed_turn.as_ref().map(|missed| missed.shown_until),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn has_exited(&self) -> bool {
        self.verdict.situation == Situation::Exited
    }

    fn vote(
        &mut self,
        tier: Tier,
        at: Instant,
        state: AgentState,
        cause: &'static str,
        detail: &str,
    ) {
        self.votes.insert(tier, Vote { tier, state, at, cause, detail: detail.to_owned() });
    }
}
