//! Whether a turn is running, according to the sources: which claim is current, which ones wait,
//! and which ones are too old. It knows neither the screen nor dialogs.
//!
//! | a claim about the turn | effect |
//! |---|---|
//! | a turn began and ended before any source reported it | the tracker shows it for a moment |
//! | older than the current claim | counts as a vote, changes nothing |
//! | the turn failed, at a time since it began | becomes current once the turn is over |
//! | the turn is over, while the current claim says that it failed | changes nothing |
//! | rank 1 against rank 1 or a failure, within the known lag | waits until the lag has passed |
//! | a hook says that the running turn is over | waits for another source, or a moment |
//! | a source of the same or a better rank, or the agent's own output | becomes current |
//! | a worse rank, towards more activity | becomes current |
//! | a worse rank, towards less activity | becomes current after a second without contradiction |
//!
//! - A missed turn is shown because a client may wait for it.
//! - A failure replaces any other end of its turn, and the newest account of the failure counts.
//!   Only a new turn, a prompt or the exit ends an error.
//! - A title that is drawn after the failure delays it, and cancels it only if no end follows;
//!   a later hook of the same turn cancels it.
//! - A claim that waits for the lag becomes current unless its source takes it back.
//! - Hooks are called before the agent is done, so an end that only a hook reports has to wait.

use std::time::{Duration, Instant};

use crate::driver::agent::{AgentState, ApiError, Parked, Tier};
use crate::driver::evidence::Claim;

/// How far a title or a status file may trail behind a hook about the same change.
pub(super) const LAG: Duration = Duration::from_millis(300);
/// How long the claim of a lesser source must stay uncontradicted by a better one.
const LESSER_SOURCE_HOLD: Duration = Duration::from_secs(1);
/// How long a slow agent may draw its title as running after it has logged that the turn failed.
const FAILURE_HOLD: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Turn {
    /// No source has reported anything yet.
    Unknown,
    Running {
        retrying: Option<ApiError>,
    },
    Over(TurnEnd),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TurnEnd {
    Normal,
    Failed(ApiError),
    Parked(Parked),
}

impl Turn {
    pub(super) const RUNNING: Self = Self::Running { retrying: None };
    pub(super) const ENDED: Self = Self::Over(TurnEnd::Normal);

    /// The order of activity: a lesser source may raise it at once, and lower it only later.
    fn activity(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Over(TurnEnd::Normal) => 1,
            Self::Over(TurnEnd::Failed(_) | TurnEnd::Parked(_)) => 2,
            Self::Running { .. } => 3,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Over(_))
    }

    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Over(TurnEnd::Failed(_) | TurnEnd::Parked(_)))
    }

    fn contradicts(&self, other: &Turn) -> bool {
        self.activity() != other.activity()
    }

    /// What a claim says about the turn; `None` if it is about something else.
    pub(super) fn claimed(claim: &Claim) -> Option<Self> {
        match claim {
            Claim::TurnStarted { .. } | Claim::Working => Some(Self::RUNNING),
            Claim::Retrying(api_error) => Some(Self::Running { retrying: Some(api_error.clone()) }),
            Claim::TurnEnded | Claim::NotWorking => Some(Self::ENDED),
            Claim::Failed(api_error) => Some(Self::Over(TurnEnd::Failed(api_error.clone()))),
            Claim::Parked(parked) => Some(Self::Over(TurnEnd::Parked(parked.clone()))),
            // A tool's dialog opens inside a turn.
            Claim::Asked(_) | Claim::AskedInPart(_) => Some(Self::RUNNING),
            Claim::SeemsIdle | Claim::AtDialog => None,
        }
    }

    pub(super) fn state(&self) -> AgentState {
        match self {
            Self::Unknown => AgentState::Starting,
            Self::Running { .. } => AgentState::Working,
            Self::Over(TurnEnd::Normal) => AgentState::Idle,
            Self::Over(TurnEnd::Failed(_)) => AgentState::Error,
            Self::Over(TurnEnd::Parked(_)) => AgentState::Parked,
        }
    }
}

/// What one source says about the turn, and when it happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnClaim {
    pub(super) turn: Turn,
    pub(super) tier: Tier,
    pub(super) cause: &'static str,
    pub(super) at: Instant,
}

/// A claim that becomes current at `due`.
#[derive(Debug, Clone, PartialEq)]
struct PendingClaim {
    claim: TurnClaim,
    due: Instant,
}

/// The current claim about the turn, and those that may replace it.
#[derive(Debug)]
pub(super) struct TurnState {
    current: TurnClaim,
    /// When the newest turn began.
    began: Instant,
    /// When the turn before it ended.
    ended: Instant,
    /// When a source last confirmed that the running turn goes on.
    confirmed: Instant,
    pending: Vec<PendingClaim>,
    /// How long the agent may go on after the hook that ends a turn.
    turn_end_delay: Duration,
}

impl TurnState {
    pub(super) fn new(now: Instant, turn_end_delay: Duration) -> Self {
        let current =
            TurnClaim { turn: Turn::Unknown, tier: Tier::Process, cause: "launch", at: now };
        let pending = Vec::new();
        Self { current, began: now, ended: now, confirmed: now, pending, turn_end_delay }
    }

    pub(super) fn current(&self) -> &TurnClaim {
        &self.current
    }

    /// Weighs a claim against the current one, by the table above.
    pub(super) fn add(&mut self, now: Instant, claim: TurnClaim) {
        // A source takes back its earlier claim by making another one.
        self.pending.retain(|pending| !pending.claim.tier.same_stream(claim.tier));
        if claim.turn.is_failure() && claim.at >= self.began {
            if self.current.turn.is_over() {
                return self.accept(claim);
            }
            // A pending failure takes over the newest account of it.
            for pending in &mut self.pending {
                if pending.claim.turn.is_failure() {
                    pending.claim.turn = claim.turn.clone();
                }
            }
        }
        if claim.at < self.current.at {
            return;
        }
        if claim.turn == Turn::ENDED && self.current.turn.is_failure() {
            return;
        }
        if self.current.turn.is_running() && claim.turn.is_over() {
            // Two sources that agree on the end are trusted at once.
            if let Some(agreed) =
                self.pending.iter().position(|pending| pending.claim.turn.is_over())
            {
                let other = self.pending.remove(agreed).claim;
                return self.accept(better_end(claim, other));
            }
            if claim.tier == Tier::Hooks {
                let due = now + self.turn_end_delay;
                return self.pending.push(PendingClaim { claim, due });
            }
        }
        match self.delayed_until(now, &claim) {
            Some(due) => self.pending.push(PendingClaim { claim, due }),
            None => self.accept(claim),
        }
    }

    /// When the claim may become current, if it must wait.
    fn delayed_until(&self, now: Instant, claim: &TurnClaim) -> Option<Instant> {
        let current = &self.current;
        let contradicts = claim.turn.contradicts(&current.turn);
        let (rank, current_rank) = (claim.tier.rank(), current.tier.rank());
        let trails = claim.tier.trails() && !claim.tier.same_stream(current.tier);
        let ended_by_hook = self
            .pending
            .iter()
            .find(|pending| pending.claim.tier == Tier::Hooks)
            .map(|end| end.claim.at);
        if let Some(ended) = ended_by_hook
            && claim.turn.is_running()
            && trails
            && claim.at.saturating_duration_since(ended) < LAG
        {
            return Some(ended + LAG);
        }
        // A turn can fail before its title says that it runs.
        let lags = (current_rank == 1 || current.turn.is_failure())
            && claim.at.duration_since(current.at) < LAG;
        if contradicts && trails && lags {
            return Some(current.at + LAG);
        }
        let accepted = rank <= current_rank
            || claim.tier == Tier::Stdout
            || !contradicts
            || claim.turn.activity() > current.turn.activity();
        (!accepted).then_some(now + LESSER_SOURCE_HOLD)
    }

    /// Whether a turn that began then has ended by now without having been reported.
    pub(super) fn missed(&self, began: Instant) -> bool {
        self.current.turn.is_over() && self.ended <= began && began < self.current.at
    }

    /// A source confirms that the running turn goes on.
    pub(super) fn still_running(&mut self, at: Instant) {
        self.confirmed = self.confirmed.max(at);
    }

    /// When the current claim was made or last confirmed.
    pub(super) fn last_confirmed(&self) -> Instant {
        self.current.at.max(self.confirmed)
    }

    /// Makes the claim current without weighing it.
    pub(super) fn accept(&mut self, claim: TurnClaim) {
        let claim = self.with_pending_failure(claim);
        if claim.turn.is_running() && !self.current.turn.is_running() {
            self.began = claim.at;
        }
        if self.current.turn.is_running() && claim.turn.is_over() {
            self.ended = claim.at;
        }
        // A claim of the same kind from a lesser source does not lower the rank of the current one.
        let tier_kept = !claim.turn.contradicts(&self.current.turn)
            && self.current.tier.rank() < claim.tier.rank();
        if tier_kept {
            self.current.turn = claim.turn;
            self.current.at = self.current.at.max(claim.at);
        } else {
            self.current = claim;
        }
        // A late confirmation that the turn runs does not cancel a failure; only another turn does.
        let (at, began) = (self.current.at, self.began);
        self.pending.retain(|pending| pending.claim.at >= at || pending.is_failure_since(began));
    }

    /// The claim, with the pending failure of the same turn if the claim only says that it ended.
    fn with_pending_failure(&mut self, claim: TurnClaim) -> TurnClaim {
        let began = self.began;
        let failure = self.pending.iter().position(|pending| pending.is_failure_since(began));
        match failure.filter(|_| claim.turn == Turn::ENDED) {
            Some(at) => TurnClaim { at: claim.at, ..self.pending.remove(at).claim },
            None => claim,
        }
    }

    /// Accepts the claims that have waited long enough.
    pub(super) fn accept_due(&mut self, now: Instant) {
        while let Some(due) = self.pending.iter().position(|pending| pending.due <= now) {
            let mut pending = self.pending.remove(due);
            if pending.claim.at >= self.current.at {
                self.accept(pending.claim);
            } else if pending.is_failure_since(self.began)
                && self.current.tier.trails()
                && now < pending.claim.at + FAILURE_HOLD
            {
                // The failure goes on waiting for the end of the turn.
                pending.due = pending.claim.at + FAILURE_HOLD;
                self.pending.push(pending);
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pending.iter().map(|pending| pending.due).min()
    }
}

impl PendingClaim {
    fn is_failure_since(&self, began: Instant) -> bool {
        self.claim.turn.is_failure() && self.claim.at >= began
    }
}

/// One claim from two that say that the turn is over. The source that reports a failure knows best
/// how the turn ended, then the hook; the later of the two times counts.
fn better_end(claim: TurnClaim, other: TurnClaim) -> TurnClaim {
    let first = match (claim.turn.is_failure(), other.turn.is_failure()) {
        (true, false) => true,
        (false, true) => false,
        (true, true) | (false, false) => claim.tier == Tier::Hooks,
    };
    let (best, rest) = if first { (claim, other) } else { (other, claim) };
    TurnClaim { at: best.at.max(rest.at), ..best }
}
