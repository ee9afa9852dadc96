//! Whether a turn is running, as far as the sources say: which claim stands, which wait, and which are too old.
//!
//! | a claim about the turn | what becomes of it |
//! |---|---|
//! | a turn began, and was over before anybody told of it | it is shown for a moment: somebody may wait for it |
//! | older than the standing one | counts as a vote, changes nothing |
//! | how the turn ended badly, since it began | stands, whatever ended it first, or as soon as anything ends it: the newest account of it counts |
//! | the turn is over, while it stands as failed | changes nothing: only a new turn, a prompt or the exit end an error |
//! | a peer of rank 1 against another peer, or against a failure, within the known lag | waits for the lag to pass, and stands unless its source takes it back |
//! | a hook says that the running turn is over | stands once another source agrees, or a moment later: hooks are called before the agent is done |
//! | a source of the same or a better rank, or what the agent prints itself | stands |
//! | a worse rank, towards more activity | stands |
//! | a worse rank, towards less activity | stands once nothing has contradicted it for a second |

use std::time::{Duration, Instant};

use crate::driver::agent::{AgentState, Parked, Tier, Trouble};
use crate::driver::evidence::Claim;

/// How far a title or a status file may trail behind a hook about the same thing.
pub(super) const LAG: Duration = Duration::from_millis(300);
/// How long a lesser source must hold against a better one.
const HOLD: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Turn {
    /// Nobody has said anything yet.
    Unknown,
    Running {
        retrying: Option<Trouble>,
    },
    Over(End),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    Well,
    Failed(Trouble),
    Parked(Parked),
}

impl Turn {
    /// Document order of activity: what a lesser source may only raise.
    fn activity(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Over(End::Well) => 1,
            Self::Over(End::Failed(_) | End::Parked(_)) => 2,
            Self::Running { .. } => 3,
        }
    }

    fn is_failure(&self) -> bool {
        matches!(self, Self::Over(End::Failed(_) | End::Parked(_)))
    }

    fn contradicts(&self, other: &Turn) -> bool {
        self.activity() != other.activity()
    }

    /// What a claim says of the turn; `None` if it is about something else.
    pub(super) fn claimed(claim: &Claim) -> Option<Self> {
        match claim {
            Claim::TurnStarted { .. } | Claim::Working => Some(Self::Running { retrying: None }),
            Claim::Retrying(trouble) => Some(Self::Running { retrying: Some(trouble.clone()) }),
            Claim::TurnEnded | Claim::NotWorking => Some(Self::Over(End::Well)),
            Claim::Failed(trouble) => Some(Self::Over(End::Failed(trouble.clone()))),
            Claim::Parked(parked) => Some(Self::Over(End::Parked(parked.clone()))),
            // A dialog of a tool's stands inside a turn.
            Claim::Asked(_) => Some(Self::Running { retrying: None }),
            Claim::Quiet | Claim::Waiting => None,
        }
    }

    pub(super) fn state(&self) -> AgentState {
        match self {
            Self::Unknown => AgentState::Starting,
            Self::Running { .. } => AgentState::Working,
            Self::Over(End::Well) => AgentState::Idle,
            Self::Over(End::Failed(_)) => AgentState::Error,
            Self::Over(End::Parked(_)) => AgentState::Parked,
        }
    }
}

/// A claim about the turn, by whom and when.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    pub(super) turn: Turn,
    pub(super) tier: Tier,
    pub(super) cause: &'static str,
    pub(super) at: Instant,
}

/// A word that does not stand yet.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    word: Word,
    due: Instant,
}

/// The word that stands, and those that may replace it.
#[derive(Debug)]
pub(super) struct Standing {
    word: Word,
    /// When the newest turn began.
    began: Instant,
    /// When the turn before was over.
    ended: Instant,
    /// When a running turn was last seen to go on.
    alive: Instant,
    pending: Vec<Pending>,
    /// How long the agent may take to be done after its last hook.
    done: Duration,
}

impl Standing {
    pub(super) fn new(now: Instant, done: Duration) -> Self {
        let word = Word { turn: Turn::Unknown, tier: Tier::Process, cause: "launch", at: now };
        Self { word, began: now, ended: now, alive: now, pending: Vec::new(), done }
    }

    pub(super) fn word(&self) -> &Word {
        &self.word
    }

    pub(super) fn hear(&mut self, now: Instant, word: Word) {
        // Whatever this source said before is taken back by what it says now.
        self.pending.retain(|pending| pending.word.tier != word.tier);
        if let (Turn::Over(End::Failed(_) | End::Parked(_)), Turn::Over(_)) = (&word.turn, &self.word.turn)
            && word.at >= self.began
        {
            return self.stand(word);
        }
        if let Turn::Over(End::Failed(_) | End::Parked(_)) = &word.turn
            && word.at >= self.began
        {
            // Whoever waits to say that the turn failed says it in the newest words.
            let failed = |turn: &Turn| matches!(turn, Turn::Over(End::Failed(_) | End::Parked(_)));
            for pending in self.pending.iter_mut().filter(|pending| failed(&pending.word.turn)) {
                pending.word.turn = word.turn.clone();
            }
        }
        if word.at < self.word.at {
            return;
        }
        if let (Turn::Over(End::Well), Turn::Over(End::Failed(_) | End::Parked(_))) =
            (&word.turn, &self.word.turn)
        {
            return;
        }
        if let (Turn::Running { .. }, Turn::Over(_)) = (&self.word.turn, &word.turn) {
            // Two sources that agree are believed at once. Who knows of a failure knows best how it ended, then the hook.
            let ending = |pending: &Pending| matches!(pending.word.turn, Turn::Over(_));
            if let Some(agreed) = self.pending.iter().position(ending) {
                let other = self.pending.remove(agreed).word;
                let first = match (word.turn.is_failure(), other.turn.is_failure()) {
                    (true, false) => true,
                    (false, true) => false,
                    (true, true) | (false, false) => word.tier == Tier::Hooks,
                };
                let (best, rest) = if first { (word, other) } else { (other, word) };
                return self.stand(Word { at: best.at.max(rest.at), ..best });
            }
            if word.tier == Tier::Hooks {
                return self.pending.push(Pending { word, due: now + self.done });
            }
        }
        let contradicts = word.turn.contradicts(&self.word.turn);
        let (rank, standing) = (word.tier.rank(), self.word.tier.rank());
        let trails = matches!(word.tier, Tier::Terminal | Tier::Registry) && word.tier != self.word.tier;
        let ending =
            self.pending.iter().find(|pending| pending.word.tier == Tier::Hooks).map(|end| end.word.at);
        if let (Some(ended), Turn::Running { .. }) = (ending, &word.turn)
            && trails
            && word.at.saturating_duration_since(ended) < LAG
        {
            return self.pending.push(Pending { word, due: ended + LAG });
        }
        // A turn can fail before its title says that it runs.
        let lags =
            (standing == 1 || self.word.turn.is_failure()) && word.at.duration_since(self.word.at) < LAG;
        if contradicts && trails && lags {
            let due = self.word.at + LAG;
            self.pending.push(Pending { word, due });
        } else if rank <= standing
            || word.tier == Tier::Stdout
            || !contradicts
            || word.turn.activity() > self.word.turn.activity()
        {
            self.stand(word);
        } else {
            self.pending.push(Pending { word, due: now + HOLD });
        }
    }

    /// Whether a turn that began then is one that nobody has told of, and is over by now.
    pub(super) fn missed(&self, began: Instant) -> bool {
        matches!(self.word.turn, Turn::Over(_)) && self.ended <= began && began < self.word.at
    }

    /// A running turn was seen to go on.
    pub(super) fn still_running(&mut self, at: Instant) {
        self.alive = self.alive.max(at);
    }

    /// When the standing word was last said, or seen to be true.
    pub(super) fn last_sign(&self) -> Instant {
        self.word.at.max(self.alive)
    }

    /// Lets it stand without a question: coop itself knows it.
    pub(super) fn stand(&mut self, word: Word) {
        let word = self.with_its_failure(word);
        let starts =
            matches!(word.turn, Turn::Running { .. }) && !matches!(self.word.turn, Turn::Running { .. });
        if starts {
            self.began = word.at;
        }
        if let (Turn::Running { .. }, Turn::Over(_)) = (&self.word.turn, &word.turn) {
            self.ended = word.at;
        }
        // A word of the same kind from a lesser source does not make the better one's weaker.
        let tier_kept = !word.turn.contradicts(&self.word.turn) && self.word.tier.rank() < word.tier.rank();
        if tier_kept {
            self.word.turn = word.turn;
            self.word.at = self.word.at.max(word.at);
        } else {
            self.word = word;
        }
        let (at, began) = (self.word.at, self.began);
        // A sign of life that trails behind does not make a failure undone; only another turn does.
        let fails = |pending: &Pending| pending.word.turn.is_failure() && pending.word.at >= began;
        self.pending.retain(|pending| pending.word.at >= at || fails(pending));
    }

    /// That the turn is over confirms what is known, but did not stand yet, of how it ended badly.
    fn with_its_failure(&mut self, word: Word) -> Word {
        let began = self.began;
        let fails = |pending: &Pending| pending.word.turn.is_failure() && pending.word.at >= began;
        match self.pending.iter().position(fails).filter(|_| word.turn == Turn::Over(End::Well)) {
            Some(at) => Word { at: word.at, ..self.pending.remove(at).word },
            None => word,
        }
    }

    /// What has waited long enough stands now.
    pub(super) fn keep_time(&mut self, now: Instant) {
        while let Some(ripe) = self.pending.iter().position(|pending| pending.due <= now) {
            let word = self.pending.remove(ripe).word;
            if word.at >= self.word.at {
                self.stand(word);
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pending.iter().map(|pending| pending.due).min()
    }
}
