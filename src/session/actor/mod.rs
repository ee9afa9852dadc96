//! The session's state machine: sole owner of terminal, write queue, lease and event log.
//!
//! [`Actor::handle`] is given the time and one thing that happened, changes its state, replies to
//! callers and returns what must be done outside. It does no I/O and has no clock, so every rule of
//! a session can be tested without a runtime.

mod children;
mod commands;
mod effect;
mod input;
mod settings;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

pub(crate) use self::children::DEFAULT_GRACE;
use self::children::Survivor;
pub(super) use self::effect::Effect;
pub(super) use self::input::Input;
pub(crate) use self::settings::{AgentSpec, Settings};
use super::agent::{AgentSession, Context};
use super::backend::BackendKind;
use super::by::By;
use super::child_life::ChildLife;
use super::child_spec::ChildSpec;
use super::clock::Now;
use super::command::Replaced;
use super::event::{EventKind, EventSeq, Generation, LeaseAction, LeaseEvent, RestartReason};
use super::lease::Lease;
use super::program_status::ProgramStatus;
use super::publisher::{Published, Publisher};
use super::replies::ReplySender;
use super::snapshot::{Agent, Facts, Process, Snapshot};
use super::typist::Typist;
use crate::driver::agent::{Situation, Tier};
use crate::driver::presence::Presence;
use crate::driver::usage::Usage;
use crate::term::{OutputLog, Signal, Size, Terminal};

/// The version that the terminal reports to programs that ask.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The generation of a session's first child.
const FIRST: Generation = Generation(1);

/// What the session is doing with its child.
#[derive(Debug)]
enum Intent {
    Serve,
    Replace { next: ChildSpec, reason: RestartReason, by: By, reply: ReplySender<Replaced> },
    Stop { grace: Duration },
}

pub(super) struct Actor {
    epoch_ms: u64,
    backend: BackendKind,
    publisher: Publisher,
    agent_spec: Option<AgentSpec>,
    /// The agent in the child that runs now.
    agent: Option<AgentSession>,
    /// What a program that no driver knows reports about itself.
    program: ProgramStatus,
    linger: Option<Duration>,
    idle_timeout: Option<Duration>,
    child_spec: Arc<ChildSpec>,
    terminal: Terminal,
    typist: Typist,
    lease: Lease,
    life: ChildLife,
    intent: Intent,
    /// A start is in progress.
    starting: bool,
    hang_up_at: Option<Instant>,
    survivor: Option<Survivor>,
    /// A size that the multiplexer was asked for, and by whom.
    requested_size: Option<(Size, By)>,
    linger_until: Option<Instant>,
    last_activity: Instant,
    effects: Vec<Effect>,
}

impl Actor {
    /// A session whose first child has not been started.
    pub(super) fn new(now: Now, settings: Settings) -> Self {
        let terminal = Terminal::new(settings.size, settings.scrollback_lines, VERSION);
        let child_spec = Arc::new(settings.child_spec);
        let snapshot = Snapshot {
            process: Process::Starting,
            generation: FIRST,
            size: settings.size,
            child_spec: Arc::clone(&child_spec),
            screen_seq: terminal.seq(),
            event_seq: EventSeq(0),
            bytes_read: 0,
            bytes_written: 0,
            last_output_epoch_ms: None,
            last_input_epoch_ms: None,
            agent: Agent {
                situation: Situation::Starting,
                tier: Tier::Process,
                cause: "launch",
                since: EventSeq(0),
                since_epoch_ms: now.epoch_ms,
                since_steady: now.steady,
                grace_ends: None,
                facts: Arc::new(Facts::default()),
            },
            usage: Usage::default(),
        };
        Self {
            epoch_ms: settings.epoch_ms,
            backend: settings.backend,
            agent_spec: settings.agent,
            agent: None,
            program: ProgramStatus::default(),
            publisher: Publisher::new(snapshot, OutputLog::new(settings.ring_bytes)),
            linger: settings.linger,
            idle_timeout: settings.idle_timeout,
            child_spec,
            terminal,
            typist: Typist::default(),
            lease: Lease::default(),
            life: ChildLife::new(FIRST),
            intent: Intent::Serve,
            starting: false,
            hang_up_at: None,
            survivor: None,
            requested_size: None,
            linger_until: None,
            last_activity: now.steady,
            effects: Vec::new(),
        }
    }

    pub(super) fn epoch_ms(&self) -> u64 {
        self.epoch_ms
    }

    pub(super) fn published(&self) -> Published {
        self.publisher.published().clone()
    }

    /// The bytes that the terminal gets next.
    pub(super) fn next_write(&self) -> Option<&[u8]> {
        self.typist.next()
    }

    /// When [`Input::Tick`] is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let agent = self.agent.as_ref().and_then(AgentSession::deadline);
        let idle = self.idle_deadline();
        let (typist, life) = (self.typist.deadline(), self.life.deadline());
        let (lease, life) = (self.lease.deadline(), [life, self.hang_up_at, self.linger_until]);
        life.into_iter().chain([typist, lease, idle, agent]).flatten().min()
    }

    /// Takes in one thing that happened; returns what must be done about it outside.
    pub(super) fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        self.expire_lease(now);
        match input {
            Input::Command(sent) => self.command(now, &sent.by, sent.command),
            Input::Output(bytes) => self.output(now, bytes),
            Input::Captured { size, paint } => {
                let requested = self.requested_size.take_if(|(wanted, _)| *wanted == size);
                self.take_size(now, size, requested.as_ref().map(|(_, by)| by));
                self.output(now, paint);
            }
            Input::Resized { result, reply } | Input::Signalled { result, reply } => {
                if let Some(reply) = reply {
                    self.publisher.reply(reply, result);
                }
            }
            Input::OutputEnded => self.life.output_open = false,
            Input::Wrote(count) => {
                self.publisher.snapshot.bytes_written += count as u64;
                self.typist.wrote(now, count, &mut self.publisher.replies);
            }
            Input::WriteFailed(error) => {
                self.typist.fail_all(&error, &mut self.publisher.replies);
            }
            Input::Started { pid, agent } => self.started(now, pid, agent),
            Input::StartFailed(error) => self.start_failed(error),
            Input::ChildExited(exit) => self.child_exited(now, exit),
            Input::Terminated { survivor } => self.terminated(now, survivor),
            Input::Hook { event, payload, waiting, by_agent } => {
                self.with_agent(|agent, context| {
                    agent.hook(now, &event, &payload, waiting, by_agent, context);
                });
            }
            Input::LogLine(line) => {
                self.with_agent(|agent, context| agent.log_line(now, &line, context));
            }
            Input::LogGrew => self.with_agent(|agent, _| agent.log_grew()),
            Input::Registry(file) => {
                self.with_agent(|agent, context| agent.registry(now, &file, context));
            }
            Input::Presence(presence) => {
                self.with_agent(|agent, context| agent.set_presence(now, presence, context));
            }
            Input::Tick => {}
        }
        self.handle_deadlines(now);
        self.settle(now);
        if matches!(self.intent, Intent::Serve) && self.life.exit.is_none() {
            self.with_agent(|agent, context| agent.update(now, context));
        }
        self.typist.collect_hold(now);
        self.publish();
        std::mem::take(&mut self.effects)
    }

    /// Calls `act` with the agent, if the child has one that a driver knows.
    fn with_agent(&mut self, act: impl FnOnce(&mut AgentSession, &mut Context)) {
        let Some(agent) = &mut self.agent else { return };
        let mut context = Context {
            terminal: &mut self.terminal,
            typist: &mut self.typist,
            publisher: &mut self.publisher,
            lease: &mut self.lease,
            effects: &mut self.effects,
        };
        act(agent, &mut context);
    }

    fn expire_lease(&mut self, now: Now) {
        if let Some(holder) = self.lease.expire(now) {
            let event = LeaseEvent { action: LeaseAction::Expired, holder };
            self.publisher.log_by(now, &By::Coop, EventKind::Lease(event));
        }
    }

    fn take_size(&mut self, now: Now, size: Size, by: Option<&By>) {
        if size != self.terminal.size() {
            self.terminal.resize(size);
            self.publisher.snapshot.size = size;
            self.with_agent(|agent, _| agent.screen_changed(now));
            match by {
                Some(by) => self.publisher.log_by(now, by, EventKind::Resize(size)),
                None => self.publisher.log(now, EventKind::Resize(size)),
            };
        }
    }

    fn output(&mut self, now: Now, bytes: Bytes) {
        self.publisher.snapshot.bytes_read += bytes.len() as u64;
        self.publisher.snapshot.last_output_epoch_ms = Some(now.epoch_ms);
        self.last_activity = now.steady;
        self.life.printed(now);
        // Readers get the bytes before the terminal draws them, so that an echo does not wait for
        // rendering.
        self.publisher.published().output.push(&bytes);
        let fed = self.terminal.feed(&bytes);
        if self.life.exit.is_none() {
            self.typist.reply_to_query(now, &fed.replies);
            self.with_agent(|agent, context| agent.output(now, &bytes, &fed.signals, context));
            self.program_reported(now, &fed.signals);
        }
    }

    /// The state of a program that no driver knows is what the program says. Of the reports in one
    /// piece of output only the last state is published.
    fn program_reported(&mut self, now: Now, signals: &[Signal]) {
        let serving = matches!(self.intent, Intent::Serve) && self.agent_spec.is_none();
        let mut reported = false;
        for signal in signals.iter().filter(|_| serving) {
            if let Signal::ProgramStatus(text) = signal {
                reported |= self.program.take(now.steady, Presence::Unbound, text);
            }
        }
        if reported {
            let id_prefix = self.id_prefix();
            let (situation, cause) = self.program.situation(&id_prefix);
            self.publisher.set_situation(now, situation, Tier::ProgramStatus, cause);
        }
    }

    /// The beginning of the ids of this child's prompts and nudges.
    fn id_prefix(&self) -> String {
        format!("{}-{}", self.epoch_ms, self.life.generation.0)
    }

    fn publish(&mut self) {
        self.publisher.snapshot.screen_seq = self.terminal.seq();
        self.publisher.snapshot.child_spec = Arc::clone(&self.child_spec);
        self.publisher.publish();
    }
}
