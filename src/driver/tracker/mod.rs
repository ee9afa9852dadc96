//! Evidence becomes state. Pure: it is told what was heard, what is on screen and what time it is.
//!
//! Each part has its table: [`turn`] weighs what the sources say of the turn, [`screen`] what is drawn, [`asking`] finds
//! the dialog that stands, and here they become the one situation that is published:
//!
//! | first that applies | situation |
//! |---|---|
//! | the child has exited | `exited`, and nothing after it |
//! | a dialog stands | `prompt` |
//! | a source says that a dialog stands, and for a second neither it nor a composer is recognised | `prompt` without options |
//! | a turn runs | `working`, with what it is retrying |
//! | a turn ended badly | `error` or `parked` |
//! | a turn is over, and the composer is on screen and nothing runs | `idle` |
//! | a turn is over, and for a second (ten, if it was never idle) neither composer nor options nor a running turn are recognised | `idle` |
//! | otherwise | what it was, but never a prompt that is gone |

mod asking;
mod explain;
mod screen;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::asking::Asking;
use self::screen::{IdleLooks, Unread};
use self::turn::{End, Standing, Turn, Word};
use super::Driver;
use super::agent::{AgentState, Situation, Tier};
use super::evidence::{Claim, Evidence};
use super::prompt::{Ask, Prompt, PromptId, PromptKind};
use super::sight::Sight;

/// How long a turn may be over, or a dialog be told of, while the screen shows nothing that is recognised.
const UNRECOGNISED: Duration = Duration::from_secs(1);
/// The same for an agent that was never idle: it may be drawing its first dialog.
const UNRECOGNISED_AT_FIRST: Duration = Duration::from_secs(10);
/// For how long a turn is shown that nobody told of while it ran.
const SHOWN: Duration = Duration::from_millis(50);

/// What is different about an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Its idle screen cannot be mistaken for a running turn.
    pub sure_idle_screen: bool,
    /// How long its dialogs ignore keys.
    pub guard: Duration,
    /// How long an inferred end of a turn must hold.
    pub grace: Duration,
    /// It proposes a plan once the turn is over, not in the middle of one.
    pub plans_after_turn: bool,
    /// How long it must be idle for the first time to be believed: it may still be starting things.
    pub settling: Duration,
    /// How long it may take to be done after its last hook, if nothing else tells.
    pub done: Duration,
}

impl Habits {
    pub fn of(driver: &dyn Driver, grace: Duration) -> Self {
        Self {
            sure_idle_screen: driver.sure_idle_screen(),
            guard: driver.guard(),
            grace,
            plans_after_turn: driver.plans_after_turn(),
            settling: driver.settling(),
            done: driver.done(),
        }
    }
}

/// The last word of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    pub tier: Tier,
    pub state: AgentState,
    pub at: Instant,
    pub cause: &'static str,
    pub seen: String,
}

/// What is published, and who says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub situation: Situation,
    pub tier: Tier,
    pub cause: &'static str,
}

#[derive(Debug)]
pub struct Tracker {
    habits: Habits,
    standing: Standing,
    asking: Asking,
    votes: BTreeMap<Tier, Vote>,
    verdict: Verdict,
    sight: Sight,
    /// A source says that some dialog stands.
    waiting: Option<Waiting>,
    idle_looks: IdleLooks,
    grace_ends: Option<Instant>,
    /// A running turn appeared on screen right after one was said to be over.
    drawn_late: bool,
    /// It has been idle before.
    settled: bool,
    unread: Option<Unread>,
    belated: Option<Belated>,
}

/// A dialog that a source knows to stand, and nothing more of it.
#[derive(Debug)]
struct Waiting {
    since: Instant,
    id: PromptId,
    tier: Tier,
    cause: &'static str,
}

/// A turn that was over before anybody told of it.
#[derive(Debug)]
struct Belated {
    word: Word,
    until: Instant,
}

impl Tracker {
    /// `prefix` begins every prompt's id, and is nobody else's.
    pub fn new(now: Instant, habits: Habits, prefix: String) -> Self {
        Self {
            habits,
            standing: Standing::new(now, habits.done),
            asking: Asking::new(prefix, habits),
            votes: BTreeMap::new(),
            verdict: Verdict { situation: Situation::Starting, tier: Tier::Process, cause: "launch" },
            sight: Sight::default(),
            waiting: None,
            idle_looks: IdleLooks::default(),
            grace_ends: None,
            drawn_late: false,
            settled: false,
            unread: Some(Unread { since: now, option_list: false }),
            belated: None,
        }
    }

    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    pub fn sight(&self) -> &Sight {
        &self.sight
    }

    pub fn grace_ends(&self) -> Option<Instant> {
        self.grace_ends
    }

    /// Whether a dialog with this id was announced and is still expected.
    pub fn announced(&self, id: &PromptId) -> bool {
        self.asking.expects(id)
    }

    /// Takes in what a source says happened at `at`. Answers the prompt that was announced, if one was.
    pub fn hear(&mut self, now: Instant, at: Instant, evidence: Evidence) -> Option<PromptId> {
        let Evidence { tier, claim, cause, seen, .. } = evidence;
        if self.over() {
            return None;
        }
        let state = claimed_state(&claim);
        let before = self.votes.get(&tier).map(|vote| (vote.state, vote.cause));
        if tier == Tier::Terminal && before == Some((state, cause)) {
            // One more frame of the same spinner says only that it still turns.
            if state == AgentState::Working {
                self.standing.still_running(at);
            }
            return None;
        }
        self.votes.insert(tier, Vote { tier, state, at, cause, seen });
        // A status file always knows better; another source takes back only what it said itself.
        self.waiting.take_if(|waiting| tier == Tier::Registry || tier == waiting.tier);
        let turn = self.turn_claimed(&claim);
        let (explicit, vague) = (claim == Claim::TurnEnded, claim == Claim::NotWorking);
        let starts = matches!(claim, Claim::TurnStarted { .. });
        let announced = match claim {
            Claim::Asked(ask) => Some(self.asking.announce(now, *ask, tier, cause, at)),
            Claim::TurnStarted { .. } | Claim::TurnEnded | Claim::Failed(_) | Claim::Parked(_) => {
                self.asking.forget_before(at);
                None
            }
            Claim::Waiting if self.waiting.is_some() => None,
            Claim::Waiting => {
                self.waiting = Some(Waiting { since: at, id: self.asking.next_id(), tier, cause });
                None
            }
            Claim::Quiet => {
                self.grace_ends.get_or_insert(now + self.habits.grace);
                None
            }
            Claim::Working | Claim::Retrying(_) | Claim::NotWorking => None,
        };
        if explicit {
            self.asking.outlive(at);
        }
        if let Some(turn) = turn {
            // A title stops spinning when a dialog opens, too: that is no end of the turn around it.
            let dialog_explains = vague
                && tier == Tier::Terminal
                && (self.asking.on_screen() || self.asking.standing(now).is_some());
            let word = Word { turn, tier, cause, at };
            if starts && self.standing.missed(at) {
                self.belated = Some(Belated { word, until: now + SHOWN });
            } else if !dialog_explains {
                self.standing.hear(now, word);
            }
            self.grace_ends = None;
            self.idle_looks = IdleLooks::default();
        }
        self.decide(now);
        announced
    }

    /// What a claim says of the turn; `None` if it is about something else.
    fn turn_claimed(&self, claim: &Claim) -> Option<Turn> {
        match claim {
            Claim::Asked(ask) if ask.kind == PromptKind::Plan && self.habits.plans_after_turn => None,
            Claim::Asked(_)
            | Claim::TurnStarted { .. }
            | Claim::Working
            | Claim::Retrying(_)
            | Claim::TurnEnded
            | Claim::NotWorking
            | Claim::Quiet
            | Claim::Failed(_)
            | Claim::Parked(_)
            | Claim::Waiting => Turn::claimed(claim),
        }
    }

    /// The agent's log has grown, whatever it says: it was not done.
    pub fn log_grew(&mut self) {
        self.grace_ends = None;
    }

    /// A tool is about to be used, and this is what its dialog would ask if it had one.
    pub fn tool_use(&mut self, ask: Ask) {
        self.asking.tool_use(ask);
    }

    /// coop itself stopped the turn.
    pub fn interrupted(&mut self, now: Instant) {
        if matches!(self.standing.word().turn, Turn::Running { .. }) {
            let turn = Turn::Over(End::Well);
            self.standing.stand(Word { turn, tier: Tier::Process, cause: "interrupt", at: now });
            self.decide(now);
        }
    }

    /// The child is gone.
    pub fn exited(&mut self, now: Instant) {
        if !self.over() {
            self.vote_of(Tier::Process, now, AgentState::Exited, "exit", "the process ended");
            self.verdict = Verdict { situation: Situation::Exited, tier: Tier::Process, cause: "exit" };
        }
    }

    /// When to look again though nothing has changed.
    pub fn deadline(&self, now: Instant) -> Option<Instant> {
        if self.over() {
            return None;
        }
        let word = self.standing.word();
        let resting = word.turn == Turn::Over(End::Well) && self.verdict.situation != Situation::Idle;
        let unrecognised = resting.then(|| self.idle_unread(word)).flatten();
        let waiting =
            self.waiting.as_ref().and_then(|waiting| self.believed_unread(waiting.since, UNRECOGNISED));
        let settling = Some(word.at + self.habits.settling).filter(|at| !self.settled && *at > now);
        [
            self.standing.deadline(),
            self.asking.deadline(now),
            unrecognised.filter(|at| *at > now),
            waiting.filter(|at| *at > now),
            self.next_look(),
            settling,
            self.grace_ends,
            self.belated.as_ref().map(|belated| belated.until),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// When what was said at `at` is believed without the screen, if the screen goes on to show nothing.
    fn believed_unread(&self, at: Instant, patience: Duration) -> Option<Instant> {
        self.unread.map(|unread| unread.since.max(at) + patience)
    }

    /// When a turn that is over makes an idle agent though no composer is in sight.
    fn idle_unread(&self, word: &Word) -> Option<Instant> {
        // What prints JSON never draws a composer.
        let soon = self.settled || word.tier == Tier::Stdout;
        self.believed_unread(word.at, if soon { UNRECOGNISED } else { UNRECOGNISED_AT_FIRST })
    }

    fn over(&self) -> bool {
        self.verdict.situation == Situation::Exited
    }

    fn decide(&mut self, now: Instant) {
        if let Some(standing) = self.asking.standing(now) {
            self.verdict = Verdict {
                situation: Situation::Prompt(standing.prompt),
                tier: standing.tier,
                cause: standing.cause,
            };
            return;
        }
        let sight = &self.sight;
        if let Some(waiting) = &self.waiting
            && self.believed_unread(waiting.since, UNRECOGNISED).is_some_and(|at| at <= now)
        {
            let prompt = Arc::new(unreadable(waiting.id.clone()));
            self.verdict =
                Verdict { situation: Situation::Prompt(prompt), tier: waiting.tier, cause: waiting.cause };
            return;
        }
        self.belated.take_if(|belated| belated.until <= now);
        let belated = self.belated.as_ref().map(|belated| &belated.word);
        let word = belated.unwrap_or(self.standing.word());
        let Word { turn, tier, cause, at } = word;
        let situation = match turn {
            Turn::Unknown => Situation::Starting,
            Turn::Running { retrying } => {
                Situation::Working { retrying: retrying.clone().or_else(|| sight.retrying.clone()) }
            }
            Turn::Over(End::Failed(trouble)) => Situation::Error(trouble.clone()),
            Turn::Over(End::Parked(parked)) => Situation::Parked(parked.clone()),
            Turn::Over(End::Well) => {
                let shown = sight.composer.is_some() && !sight.busy && !self.asking.on_screen();
                let nothing_known = !sight.option_list && self.idle_unread(word).is_some_and(|at| at <= now);
                let believed = self.settled || now.duration_since(*at) >= self.habits.settling;
                if (shown || nothing_known) && believed {
                    self.settled = true;
                    Situation::Idle
                } else {
                    match &self.verdict.situation {
                        // The dialog has gone, and what comes after it is not drawn yet.
                        Situation::Prompt(_) if self.settled => Situation::Working { retrying: None },
                        Situation::Prompt(_) | Situation::Starting if sight.busy => {
                            Situation::Working { retrying: None }
                        }
                        Situation::Prompt(_) => Situation::Starting,
                        Situation::Starting
                        | Situation::Working { .. }
                        | Situation::Idle
                        | Situation::Error(_)
                        | Situation::Parked(_)
                        | Situation::Restarting
                        | Situation::Exited
                        | Situation::Unknown => return,
                    }
                }
            }
        };
        let retrying = matches!(situation, Situation::Working { retrying: Some(_) });
        let cause = if retrying { "retrying" } else { *cause };
        let same = situation.state() == self.verdict.situation.state() && situation == self.verdict.situation;
        if !same {
            self.verdict = Verdict { situation, tier: *tier, cause };
        }
    }

    fn vote(&mut self, at: Instant, state: AgentState, cause: &'static str, seen: &str) {
        self.vote_of(Tier::Screen, at, state, cause, seen);
    }

    fn vote_of(&mut self, tier: Tier, at: Instant, state: AgentState, cause: &'static str, seen: &str) {
        self.votes.insert(tier, Vote { tier, state, at, cause, seen: seen.to_owned() });
    }
}

fn claimed_state(claim: &Claim) -> AgentState {
    match claim {
        Claim::Asked(_) | Claim::Waiting => AgentState::Prompt,
        Claim::Quiet => AgentState::Idle,
        Claim::TurnStarted { .. }
        | Claim::Working
        | Claim::Retrying(_)
        | Claim::TurnEnded
        | Claim::NotWorking
        | Claim::Failed(_)
        | Claim::Parked(_) => Turn::claimed(claim).map_or(AgentState::Unknown, |turn| turn.state()),
    }
}

/// A dialog that is known to stand, and that nobody could read.
fn unreadable(id: PromptId) -> Prompt {
    Prompt {
        id,
        kind: PromptKind::Setup,
        subtype: None,
        tool: None,
        input: None,
        input_full: None,
        options: Vec::new(),
        options_fallback: true,
        questions: Vec::new(),
        question_current: 0,
        summary: None,
        message: "The agent waits at a dialog that coop does not know.".to_owned(),
        screen_lines: Vec::new(),
        ready: false,
    }
}
