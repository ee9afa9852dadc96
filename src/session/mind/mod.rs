//! What the session makes of its agent: it hands the driver what was observed, looks at the screen when that has
//! changed, keeps the tracker's verdict published, and lets errands type.
//!
//! Like the actor that owns it, it is told the time and does no I/O. It knows no agent by name.

mod desk;
mod keys;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use self::desk::Desk;
use super::actor::Effect;
use super::board::Board;
use super::clock::Now;
use super::command::Explanation;
use super::event::What;
use super::lease::Lease;
use super::snapshot::Facts;
use super::typist::Typist;
use crate::driver::Driver;
use crate::driver::agent::{AgentState, Tier};
use crate::driver::evidence::{Claim, Evidence, Fact, Finding};
use crate::driver::launch::Groom;
use crate::driver::prompt::PromptId;
use crate::driver::tracker::{Habits, Tracker};
use crate::driver::usage::Ledger;
use crate::source::json_lines::JsonLines;
use crate::term::{Signal, Terminal};

/// How often the screen is looked at while it keeps changing.
const LOOK_APART: Duration = Duration::from_millis(25);

/// How long a frame may take to come in, from its first piece on: half of one can look like something else.
const FRAME: Duration = Duration::from_millis(15);

/// The longest line that an agent may print.
const LINE_LIMIT: usize = 8 << 20;

/// A waiting hook of the agent's, as whoever holds its other end calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HookId(pub u64);

/// How an agent is attended to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub groom: Groom,
    /// How long an inferred idle must hold.
    pub grace: Duration,
    /// After how long without a witness Enter is pressed again.
    pub retry_after: Duration,
    /// Sources that are not listened to, for tests of the others.
    pub deaf: &'static [Tier],
}

/// The parts of the session that the mind may touch.
pub struct Hands<'a> {
    pub terminal: &'a mut Terminal,
    pub typist: &'a mut Typist,
    pub board: &'a mut Board,
    pub lease: &'a mut Lease,
    pub effects: &'a mut Vec<Effect>,
}

pub struct Mind {
    driver: Box<dyn Driver>,
    profile: Profile,
    /// The command as it was given.
    command: Vec<String>,
    tracker: Tracker,
    facts: Facts,
    ledger: Ledger,
    /// Why no hook of the agent's is heard, if that is so.
    unheard: Option<String>,
    /// What the agent prints, if that is JSON.
    stdout: Option<JsonLines>,
    last_look: Option<Instant>,
    look_due: Option<Instant>,
    /// When somebody typed who is not coop.
    human_at: Option<Instant>,
    hooks: Vec<(PromptId, HookId)>,
    /// The prompt that coop itself has answered.
    groomed: Option<PromptId>,
    desk: Desk,
    deadline: Option<Instant>,
}

impl Mind {
    /// `prefix` begins every id that it gives, and is nobody else's.
    pub fn new(
        now: Now,
        driver: Box<dyn Driver>,
        profile: Profile,
        command: Vec<String>,
        prefix: &str,
        prints_json: bool,
    ) -> Self {
        let habits = Habits::of(&*driver, profile.grace);
        Self {
            tracker: Tracker::new(now.steady, habits, format!("{prefix}-p")),
            driver,
            profile,
            command,
            facts: Facts::default(),
            ledger: Ledger::default(),
            unheard: None,
            stdout: prints_json.then(|| JsonLines::new(LINE_LIMIT)),
            last_look: None,
            look_due: None,
            human_at: None,
            hooks: Vec::new(),
            groomed: None,
            desk: Desk::new(format!("{prefix}-n")),
            deadline: None,
        }
    }

    /// No hook of the agent's will be heard, and why.
    pub fn unheard(&mut self, reason: Option<String>) {
        self.unheard = reason;
    }

    /// When [`attend`](Self::attend) is due though nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The agent's hook was called. Answers whether it must wait, and for which prompt is remembered.
    pub fn hook(&mut self, now: Now, event: &str, payload: &Value, waits: Option<HookId>, hands: &mut Hands) {
        let findings = self.driver.hook(event, payload);
        let announced = self.take(now, findings, hands);
        match (waits, announced) {
            (Some(hook), Some(prompt)) => self.hooks.push((prompt, hook)),
            (Some(hook), None) => hands.effects.push(Effect::ReleaseHook(hook)),
            (None, _) => {}
        }
    }

    pub fn log_line(&mut self, now: Now, line: &Value, hands: &mut Hands) {
        self.tracker.log_grew();
        let findings = self.driver.log_line(line);
        self.take(now, findings, hands);
    }

    pub fn log_grew(&mut self) {
        self.tracker.log_grew();
    }

    pub fn registry(&mut self, now: Now, file: &Value, hands: &mut Hands) {
        let findings = self.driver.registry(file);
        self.take(now, findings, hands);
    }

    /// The agent printed something.
    pub fn output(&mut self, now: Now, bytes: &[u8], signals: &[Signal], hands: &mut Hands) {
        let lines = self.stdout.as_mut().map(|lines| lines.push(bytes)).unwrap_or_default();
        let printed: Vec<Finding> = lines.iter().flat_map(|line| self.driver.stdout_line(line)).collect();
        let told: Vec<Finding> = signals.iter().flat_map(|signal| self.driver.signal(signal)).collect();
        self.take(now, printed.into_iter().chain(told), hands);
        self.screen_changed(now);
    }

    /// Somebody who is not coop typed.
    pub fn human_typed(&mut self, now: Now) {
        self.human_at = Some(now.steady);
    }

    pub fn screen_changed(&mut self, now: Now) {
        // What is typed with an eye on the screen must not wait for it.
        let soonest = self.last_look.filter(|_| !self.desk.busy()).map(|last| last + LOOK_APART);
        let whole = now.steady + FRAME;
        self.look_due.get_or_insert(soonest.map_or(whole, |at| at.max(whole)));
    }

    /// The child is gone, or is being replaced: nothing is typed any more.
    pub fn end(&mut self, now: Now, error: &crate::error::Error, hands: &mut Hands) {
        self.tracker.exited(now.steady);
        self.drop_errands(now, error, hands);
        for (_, hook) in self.hooks.drain(..) {
            hands.effects.push(Effect::ReleaseHook(hook));
        }
        self.deadline = None;
    }

    pub fn explain(&self) -> Explanation {
        let (mut reason, votes) = self.tracker.explain();
        if let Some(unheard) = &self.unheard {
            reason.push_str("; no hooks are heard: ");
            reason.push_str(unheard);
        }
        Explanation { reason, votes }
    }

    /// Takes in findings; answers the prompt that one of them announced.
    fn take(
        &mut self,
        now: Now,
        findings: impl IntoIterator<Item = Finding>,
        hands: &mut Hands,
    ) -> Option<PromptId> {
        let mut announced = None;
        for finding in findings {
            match finding {
                Finding::Evidence(evidence) if self.profile.deaf.contains(&evidence.tier) => {}
                Finding::Evidence(evidence) => {
                    if let Claim::TurnStarted { text } = &evidence.claim {
                        self.desk.heard_turn(text.as_deref());
                    }
                    announced = self.tracker.hear(now.steady, at(now, &evidence), evidence).or(announced);
                }
                Finding::Fact(fact) => self.learn(now, fact, hands),
            }
        }
        announced
    }

    fn learn(&mut self, now: Now, fact: Fact, hands: &mut Hands) {
        match fact {
            Fact::Conversation { id, transcript } => {
                if self.facts.conversation.as_ref() != Some(&id) {
                    self.facts.conversation = Some(id);
                    self.facts.transcript = None;
                }
                if transcript.is_some() && transcript != self.facts.transcript {
                    let path = transcript.clone().unwrap_or_default();
                    hands.effects.push(Effect::Follow(path.into()));
                    self.facts.transcript = transcript;
                }
            }
            Fact::PermissionMode(mode) => self.facts.permission_mode = Some(mode),
            Fact::Cwd(cwd) => self.facts.cwd = Some(cwd),
            Fact::Message(message) => self.facts.message = Some(message.into()),
            Fact::ToolUse(ask) => self.tracker.tool_use(*ask),
            Fact::Spent(spent) => {
                let mut usage = hands.board.snapshot.usage;
                self.ledger.enter(spent, &mut usage);
                if usage != hands.board.snapshot.usage {
                    hands.board.snapshot.usage = usage;
                    hands.board.log(now, What::Usage(usage));
                }
            }
        }
    }

    /// Does whatever is due: looks, types, publishes.
    pub fn attend(&mut self, now: Now, hands: &mut Hands) {
        self.look(now, hands);
        self.groom(now, hands);
        self.work(now, hands);
        self.release_hooks(hands);
        self.publish(now, hands);
        self.deadline = [self.tracker.deadline(now.steady), self.look_due, self.desk.deadline()]
            .into_iter()
            .flatten()
            .min()
            .map(|at| at.max(now.steady));
    }

    fn look(&mut self, now: Now, hands: &mut Hands) {
        if self.look_due.take_if(|due| *due <= now.steady).is_some() {
            self.last_look = Some(now.steady);
            let sight = self.driver.see(&hands.terminal.screen());
            self.tracker.look(now.steady, sight);
        } else {
            // Time alone changes what the same sight means.
            let sight = self.tracker.sight().clone();
            self.tracker.look(now.steady, sight);
        }
    }

    fn release_hooks(&mut self, hands: &mut Hands) {
        let verdict = self.tracker.verdict();
        let standing = verdict.situation.prompt().map(|prompt| prompt.id.clone());
        let tracker = &self.tracker;
        self.hooks.retain(|(prompt, hook)| {
            let waits = standing.as_ref() == Some(prompt) || tracker.announced(prompt);
            if !waits {
                hands.effects.push(Effect::ReleaseHook(*hook));
            }
            waits
        });
    }

    fn publish(&mut self, now: Now, hands: &mut Hands) {
        let verdict = self.tracker.verdict();
        let agent = &mut hands.board.snapshot.agent;
        agent.grace_ends = self.tracker.grace_ends();
        if *agent.facts != self.facts {
            agent.facts = Arc::new(self.facts.clone());
        }
        let was_idle = agent.state() == AgentState::Idle;
        hands.board.agent(now, verdict.situation.clone(), verdict.tier, verdict.cause);
        let is_idle = hands.board.snapshot.agent.state() == AgentState::Idle;
        if was_idle != is_idle {
            hands.effects.push(Effect::PollSources(!is_idle));
        }
    }
}

/// When the evidence is about, on the steady clock: never later than now.
fn at(now: Now, evidence: &Evidence) -> Instant {
    let ago = evidence.at_epoch_ms.map_or(0, |at| now.epoch_ms.saturating_sub(at));
    now.steady.checked_sub(Duration::from_millis(ago)).unwrap_or(now.steady)
}
