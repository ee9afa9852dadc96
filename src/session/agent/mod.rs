//! The session's view of its agent: gives the driver what was observed, reads the screen when it
//! has changed, publishes the tracker's verdict, and runs the tasks that type.
//!
//! Like the actor that owns it, it gets the time as an argument and does no I/O. It knows no agent
//! by name.

mod idempotency;
mod pending_hooks;
mod presence;
mod task;
mod tasks;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) use self::pending_hooks::HookId;
use self::pending_hooks::PendingHooks;
use self::presence::AgentSearch;
use self::tasks::TaskQueue;
use super::actor::Effect;
use super::by::By;
use super::clock::Now;
use super::command::Explanation;
use super::event::EventKind;
use super::lease::Lease;
use super::program_status::ProgramStatus;
use super::publisher::Publisher;
use super::snapshot::Facts;
use super::typist::Typist;
use crate::driver::Driver;
use crate::driver::agent::{AgentState, Tier};
use crate::driver::evidence::{Claim, Evidence, Fact, Finding};
use crate::driver::launch::Groom;
use crate::driver::presence::Presence;
use crate::driver::prompt::PromptId;
use crate::driver::tracker::Tracker;
use crate::driver::usage::UsageLedger;
use crate::error::Error;
use crate::source::JsonLines;
use crate::term::{Signal, Terminal};

/// How often the screen is read while it keeps changing.
const READING_INTERVAL: Duration = Duration::from_millis(25);

/// How long a frame may take to arrive, from its first bytes on: half a frame can look like
/// something else.
const FRAME: Duration = Duration::from_millis(15);

/// The longest JSON line that an agent may print.
const LINE_LIMIT: usize = 8 << 20;

/// How coop treats the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub groom: Groom,
    /// How long an inferred idle must hold.
    pub grace: Duration,
    /// After how long without a witness Enter is pressed again.
    pub retry_after: Duration,
    /// Tiers of evidence that are ignored, so that tests can check the others.
    pub ignored_tiers: &'static [Tier],
}

/// The parts of the session that its agent may change.
pub(super) struct Context<'a> {
    pub(super) terminal: &'a mut Terminal,
    pub(super) typist: &'a mut Typist,
    pub(super) publisher: &'a mut Publisher,
    pub(super) lease: &'a mut Lease,
    pub(super) effects: &'a mut Vec<Effect>,
}

pub(super) struct AgentSession {
    driver: Box<dyn Driver>,
    profile: Profile,
    /// The command as the user gave it.
    command: Vec<String>,
    tracker: Tracker,
    facts: Facts,
    ledger: UsageLedger,
    /// Why the agent's hooks do not reach coop, if they do not.
    hooks_unavailable: Option<String>,
    /// What the agent prints, if that is JSON.
    stdout: Option<JsonLines>,
    /// When the agent last changed its screen.
    drawn_at: Option<Instant>,
    last_reading: Option<Instant>,
    reading_due: Option<Instant>,
    /// When a client last typed, and who it was.
    client_typed: Option<(Instant, By)>,
    /// What the agent reports about itself.
    status: ProgramStatus,
    /// Every key for the terminal passes through coop.
    only_here: bool,
    search: AgentSearch,
    pending_hooks: PendingHooks,
    /// The prompt that coop itself has answered.
    groomed: Option<PromptId>,
    tasks: TaskQueue,
    deadline: Option<Instant>,
}

/// What is known about a child's agent when the child has started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentStart {
    /// The agent prints JSON lines about what it does.
    pub prints_json: bool,
    /// Why the agent's hooks do not reach coop, if they do not.
    pub hooks_unavailable: Option<String>,
    /// Every key for the terminal passes through coop.
    pub only_here: bool,
}

impl AgentSession {
    /// `id_prefix` begins every prompt and nudge id, and is unique to this child.
    pub(super) fn new(
        now: Now,
        driver: Box<dyn Driver>,
        profile: Profile,
        command: Vec<String>,
        id_prefix: &str,
        start: AgentStart,
    ) -> Self {
        let habits = *driver.habits();
        Self {
            tracker: Tracker::new(now.steady, habits, profile.grace, format!("{id_prefix}-p")),
            driver,
            profile,
            command,
            facts: Facts::default(),
            ledger: UsageLedger::default(),
            hooks_unavailable: start.hooks_unavailable,
            stdout: start.prints_json.then(|| JsonLines::new(LINE_LIMIT)),
            drawn_at: None,
            last_reading: None,
            reading_due: None,
            client_typed: None,
            status: ProgramStatus::new(habits.status_app),
            only_here: start.only_here,
            search: AgentSearch::default(),
            pending_hooks: PendingHooks::default(),
            groomed: None,
            tasks: TaskQueue::new(format!("{id_prefix}-n")),
            deadline: None,
        }
    }

    /// When [`update`](Self::update) is due though nothing happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The agent called a hook. A hook that announces a prompt waits for the answer to it.
    pub(super) fn hook(
        &mut self,
        now: Now,
        event: &str,
        payload: &Value,
        waiting: Option<HookId>,
        by_agent: bool,
        context: &mut Context,
    ) {
        let findings = self.driver.hook(event, payload);
        // Only the agent's own process may change the conversation that coop follows.
        let known = !by_agent && self.facts.conversation.is_some();
        let counts = |finding: &Finding| {
            !(known && matches!(finding, Finding::Fact(Fact::Conversation { .. })))
        };
        let announced = self.take(now, findings.into_iter().filter(counts), context);
        match (waiting, announced) {
            (Some(hook), Some(prompt)) => self.pending_hooks.add(prompt, hook),
            (Some(hook), None) => context.effects.push(Effect::ReleaseHook(hook)),
            (None, _) => {}
        }
    }

    pub(super) fn log_line(&mut self, now: Now, line: &Value, context: &mut Context) {
        self.tracker.log_grew();
        let findings = self.driver.log_line(line);
        self.take(now, findings, context);
    }

    pub(super) fn log_grew(&mut self) {
        self.tracker.log_grew();
    }

    pub(super) fn registry(&mut self, now: Now, file: &Value, context: &mut Context) {
        let findings = self.driver.registry(file);
        self.take(now, findings, context);
    }

    /// The agent printed these bytes, which carried these signals.
    pub(super) fn output(
        &mut self,
        now: Now,
        bytes: &[u8],
        signals: &[Signal],
        context: &mut Context,
    ) {
        let lines = self.stdout.as_mut().map(|lines| lines.push(bytes)).unwrap_or_default();
        let printed: Vec<Finding> =
            lines.iter().flat_map(|line| self.driver.stdout_line(line)).collect();
        let mut signalled: Vec<Finding> = Vec::new();
        for signal in signals {
            if self.counts(now, signal) {
                signalled.extend(self.driver.signal(signal));
            }
        }
        self.see_signs(now, &signalled);
        self.take(now, printed.into_iter().chain(signalled), context);
        self.screen_changed(now);
    }

    /// Whether a signal is the agent's. Any program in the terminal can send a title, but a report
    /// names its program.
    fn counts(&mut self, now: Now, signal: &Signal) -> bool {
        match signal {
            Signal::ProgramStatus(text) => {
                self.status.take(now.steady, self.tracker.presence(), text)
            }
            Signal::Title(_) | Signal::Progress(_) | Signal::Notification(_) | Signal::Modes(_) => {
                true
            }
        }
    }

    /// A client typed.
    pub(super) fn client_typed(&mut self, now: Now, by: &By) {
        self.client_typed = Some((now.steady, by.clone()));
    }

    pub(super) fn screen_changed(&mut self, now: Now) {
        self.drawn_at = Some(now.steady);
        // A task watches the screen, and must not wait for the next reading.
        let last_reading = self.last_reading.filter(|_| !self.tasks.is_running());
        let soonest = last_reading.map(|last| last + READING_INTERVAL);
        let whole_frame = now.steady + FRAME;
        self.reading_due.get_or_insert(soonest.map_or(whole_frame, |at| at.max(whole_frame)));
    }

    /// The child is gone, or is being replaced: all tasks and waiting hooks end.
    pub(super) fn end(&mut self, now: Now, error: &Error, context: &mut Context) {
        self.tracker.exited(now.steady);
        let state = self.tracker.verdict().situation.state();
        self.tasks.cancel_all(now, state, error, context.publisher);
        for hook in self.pending_hooks.take_all() {
            context.effects.push(Effect::ReleaseHook(hook));
        }
        self.deadline = None;
    }

    pub(super) fn explain(&self) -> Explanation {
        let (mut reason, votes) = self.tracker.explain();
        if let Some(why) = &self.hooks_unavailable {
            reason.push_str("; the agent's hooks do not reach coop: ");
            reason.push_str(why);
        }
        let status = self.status.records().cloned().collect();
        Explanation { reason, votes, status, refused: self.status.refused().to_vec() }
    }

    /// Takes in findings. Returns the prompt that one of them announced.
    fn take(
        &mut self,
        now: Now,
        findings: impl IntoIterator<Item = Finding>,
        context: &mut Context,
    ) -> Option<PromptId> {
        let mut announced = None;
        for finding in findings {
            match finding {
                Finding::Evidence(evidence)
                    if self.profile.ignored_tiers.contains(&evidence.tier) => {}
                Finding::Evidence(evidence) => {
                    if let Claim::TurnStarted { text } = &evidence.claim {
                        self.tasks.turn_started(text.as_deref());
                    }
                    let at = observed_at(now, &evidence);
                    announced = self.tracker.add_evidence(now.steady, at, evidence).or(announced);
                }
                Finding::Fact(fact) => self.learn(now, fact, context),
            }
        }
        announced
    }

    fn learn(&mut self, now: Now, fact: Fact, context: &mut Context) {
        match fact {
            Fact::Conversation { id, transcript } => {
                if self.facts.conversation.as_ref() != Some(&id) {
                    if transcript.is_none() {
                        context.effects.push(Effect::FollowConversation(id.clone()));
                    }
                    self.facts.conversation = Some(id);
                    self.facts.transcript = None;
                }
                if transcript.is_some() && transcript != self.facts.transcript {
                    let path = transcript.clone().unwrap_or_default();
                    context.effects.push(Effect::FollowLog(path.into()));
                    self.facts.transcript = transcript;
                }
            }
            Fact::PermissionMode(mode) => self.facts.permission_mode = Some(mode),
            Fact::Cwd(cwd) => self.facts.cwd = Some(cwd),
            Fact::Message(message) => self.facts.message = Some(message.into()),
            Fact::ToolUse(tool_use) => self.tracker.tool_use(*tool_use),
            Fact::Usage(report) => {
                let mut usage = context.publisher.snapshot.usage;
                self.ledger.record(report, &mut usage);
                if usage != context.publisher.snapshot.usage {
                    context.publisher.snapshot.usage = usage;
                    context.publisher.log(now, EventKind::Usage(usage));
                }
            }
        }
    }

    /// Does what is due: reads the screen, runs tasks, publishes the verdict.
    pub(super) fn update(&mut self, now: Now, context: &mut Context) {
        self.search_agent(now, context);
        self.read_screen(now, context);
        self.groom(now, context);
        self.take_back(now, context);
        self.run_tasks(now, context);
        self.release_hooks(context);
        self.publish(now, context);
        self.deadline = [
            self.tracker.deadline(now.steady),
            self.reading_due,
            self.tasks.deadline(),
            self.search.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
        .map(|at| at.max(now.steady));
    }

    fn read_screen(&mut self, now: Now, context: &mut Context) {
        if self.reading_due.take_if(|due| *due <= now.steady).is_some() {
            self.last_reading = Some(now.steady);
            let reading = self.driver.read_screen(&context.terminal.screen());
            self.tracker.update_screen(now.steady, reading);
        } else {
            // The same reading means something else as time passes.
            let reading = self.tracker.reading().clone();
            self.tracker.update_screen(now.steady, reading);
        }
    }

    /// Releases the waiting hooks whose prompt is over.
    fn release_hooks(&mut self, context: &mut Context) {
        // A dialog of an agent in the background is open when the agent returns.
        if self.tracker.presence() == Presence::Background {
            return;
        }
        let open = self.tracker.verdict().situation.prompt().map(|prompt| prompt.id.clone());
        let tracker = &self.tracker;
        let released = self
            .pending_hooks
            .take_unless(|prompt| open.as_ref() == Some(prompt) || tracker.expects(prompt));
        context.effects.extend(released.into_iter().map(Effect::ReleaseHook));
    }

    fn publish(&mut self, now: Now, context: &mut Context) {
        let verdict = self.tracker.verdict();
        let agent = &mut context.publisher.snapshot.agent;
        agent.grace_ends = self.tracker.grace_ends();
        if *agent.facts != self.facts {
            agent.facts = Arc::new(self.facts.clone());
        }
        // An agent that is idle writes no log, nor does one that has ended.
        let is_quiet = |state| matches!(state, AgentState::Idle | AgentState::Unknown);
        let was_quiet = is_quiet(agent.state());
        let situation = verdict.situation.clone();
        context.publisher.set_situation(now, situation, verdict.tier, verdict.cause);
        let quiet = is_quiet(context.publisher.snapshot.agent.state());
        if was_quiet != quiet {
            context.effects.push(Effect::PollSources(!quiet));
        }
    }
}

/// The moment the evidence is about, on the steady clock; never later than now.
fn observed_at(now: Now, evidence: &Evidence) -> Instant {
    let ago = evidence.at_epoch_ms.map_or(0, |at| now.epoch_ms.saturating_sub(at));
    now.steady.checked_sub(Duration::from_millis(ago)).unwrap_or(now.steady)
}
