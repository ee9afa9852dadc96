//! The session's mind: one synchronous owner of terminal, queue, lease and log.
//!
//! [`Actor::handle`] is told the time and one thing that happened, changes its state, answers
//! whoever asked and says what must be done outside. It does no I/O and has no clock, so every
//! rule of a session's life can be tested without a runtime.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;

use super::backend::Backend;
use super::board::{Board, Shared};
use super::clock::Now;
use super::command::{Command, Dump, Explanation, Replaced, Typing, View};
use super::event::{EventSeq, Generation, Restart, RestartReason, ShutdownReason, What};
use super::lease::{Lease, LeaseId};
use super::life::Life;
use super::mind::{Hands, HookId, Mind, Profile};
use super::outbox::Answer;
use super::page::Page;
use super::recipe::Recipe;
use super::snapshot::{Agent, Facts, Process, Snapshot};
use super::typist::{Typist, Write};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::driver::usage::Usage;
use crate::driver::{Driver, tracker};
use crate::error::{Code, Error};
use crate::pty::{Exit, Launch, LaunchError, Signal};
use crate::term::{OutputLog, Size, Terminal, encode_text};

/// A SIGTERM that is survived this long is followed by the terminal's hang-up.
const HANGUP_AFTER_TERM: Duration = Duration::from_secs(1);

/// How the terminal names its version to programs that ask.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The child that a session starts with.
const FIRST: Generation = Generation(1);

/// What a session is made of.
#[derive(Debug, Clone)]
pub struct Settings {
    /// When this coop started: it tells its numbers and ids from another's.
    pub epoch_ms: u64,
    pub backend: Backend,
    pub recipe: Recipe,
    pub size: Size,
    pub ring_bytes: usize,
    pub scrollback_lines: usize,
    /// How long to go on after the child's exit; `None` is forever.
    pub linger: Option<Duration>,
    pub idle_timeout: Option<Duration>,
    /// Who attends to the agent; nobody does to a program that no driver knows.
    pub attendance: Option<Attendance>,
}

/// A driver for each child, and how it goes about its work.
#[derive(Clone)]
pub struct Attendance {
    pub driver: Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>,
    pub profile: Profile,
}

impl std::fmt::Debug for Attendance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attendance").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    Command(Command),
    Output(Bytes),
    /// Another program's terminal looks different, and this draws it.
    Looked {
        size: Size,
        paint: Bytes,
    },
    /// Another program was asked for a size.
    Resized {
        result: Result<(), Error>,
        answer: Option<Answer<()>>,
    },
    /// Nobody has the terminal open any more.
    OutputEnded,
    Wrote(usize),
    /// The terminal took the write badly, as it does when the child is gone.
    WriteFailed(Error),
    Started {
        pid: i32,
        /// It prints JSON lines that say what it does.
        prints_json: bool,
        /// Why its hooks are not heard, if that is so.
        unheard: Option<String>,
    },
    StartFailed(LaunchError),
    ChildExited(Exit),
    /// Nothing of what the child ever started is left, unless it could not be ended.
    Terminated {
        child_survives: bool,
    },
    /// The agent called a hook, and perhaps waits for its answer.
    Hook {
        event: String,
        payload: Value,
        waits: Option<HookId>,
    },
    /// The agent wrote a line to its log.
    LogLine(Value),
    /// The agent's log has grown by something that is no line yet.
    LogGrew,
    /// The agent's status file was written.
    Registry(Value),
    Tick,
}

/// Something to be done outside.
#[derive(Debug)]
pub enum Effect {
    Resize(Size),
    /// Asks another program for a size of its terminal; what comes of it is heard later.
    AskResize {
        size: Size,
        answer: Answer<()>,
    },
    Signal {
        signal: Signal,
        answer: Answer<()>,
    },
    /// Ends the child and everything it started.
    Terminate {
        grace: Duration,
    },
    /// Ends a termination's grace early.
    Hurry,
    /// Whatever still comes out of the terminal is not waited for any more.
    CloseTerminal,
    Start {
        launch: Launch,
        /// The agent's conversation that should go on.
        conversation: Option<Conversation>,
    },
    /// Tells a waiting hook of the agent's this.
    AnswerHook {
        hook: HookId,
        output: Value,
    },
    /// Lets a waiting hook of the agent's go without an answer.
    ReleaseHook(HookId),
    /// The agent's log is here now.
    Follow(PathBuf),
    /// Whether the agent's traces are worth looking at though nothing is heard of them.
    PollSources(bool),
    Finish(Exit),
}

/// What an agent was talked to about, and where its log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: String,
    pub log: Option<PathBuf>,
}

/// What the session is about.
#[derive(Debug)]
enum Intent {
    Serve,
    Replace { next: Recipe, reason: RestartReason, answer: Answer<Replaced> },
    Stop,
}

pub struct Actor {
    epoch_ms: u64,
    backend: Backend,
    board: Board,
    attendance: Option<Attendance>,
    mind: Option<Mind>,
    linger: Option<Duration>,
    idle_timeout: Option<Duration>,
    recipe: Arc<Recipe>,
    terminal: Terminal,
    typist: Typist,
    lease: Lease,
    life: Life,
    intent: Intent,
    hang_up_at: Option<Instant>,
    linger_until: Option<Instant>,
    last_activity: Instant,
    effects: Vec<Effect>,
}

impl Actor {
    /// A session whose first child is still to be started.
    pub fn new(now: Now, settings: Settings) -> Self {
        let terminal = Terminal::new(settings.size, settings.scrollback_lines, VERSION);
        let recipe = Arc::new(settings.recipe);
        let snapshot = Snapshot {
            process: Process::Starting,
            generation: FIRST,
            size: settings.size,
            recipe: Arc::clone(&recipe),
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
            attendance: settings.attendance,
            mind: None,
            board: Board::new(snapshot, OutputLog::new(settings.ring_bytes)),
            linger: settings.linger,
            idle_timeout: settings.idle_timeout,
            recipe,
            terminal,
            typist: Typist::default(),
            lease: Lease::default(),
            life: Life::new(FIRST),
            intent: Intent::Serve,
            hang_up_at: None,
            linger_until: None,
            last_activity: now.steady,
            effects: Vec::new(),
        }
    }

    pub fn epoch_ms(&self) -> u64 {
        self.epoch_ms
    }

    pub fn shared(&self) -> Shared {
        self.board.shared().clone()
    }

    /// What starts the first child.
    pub fn first_launch(&self) -> Launch {
        self.recipe.launch(self.terminal.size())
    }

    /// The bytes that the terminal should get next.
    pub fn next_write(&self) -> Option<&[u8]> {
        self.typist.next()
    }

    /// When [`Input::Tick`] is due next.
    pub fn deadline(&self) -> Option<Instant> {
        let idle = self.idle_deadline();
        let mind = self.mind.as_ref().and_then(Mind::deadline);
        [self.typist.deadline(), self.life.deadline(), self.hang_up_at, self.linger_until, idle, mind]
            .into_iter()
            .flatten()
            .min()
    }

    /// Takes in one thing that happened; answers what must be done about it outside.
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        match input {
            Input::Command(command) => self.command(now, command),
            Input::Output(bytes) => self.output(now, bytes),
            Input::Looked { size, paint } => {
                self.take_size(now, size);
                self.output(now, paint);
            }
            Input::Resized { result, answer } => {
                if let Some(answer) = answer {
                    self.board.answer(answer, result);
                }
            }
            Input::OutputEnded => self.life.output_open = false,
            Input::Wrote(count) => {
                self.board.snapshot.bytes_written += count as u64;
                self.typist.wrote(now, count, &mut self.board.outbox);
            }
            Input::WriteFailed(error) => self.typist.fail_all(&error, &mut self.board.outbox),
            Input::Started { pid, prints_json, unheard } => self.started(now, pid, prints_json, unheard),
            Input::StartFailed(error) => self.start_failed(&error),
            Input::ChildExited(exit) => self.child_exited(now, exit),
            Input::Terminated { child_survives } => self.terminated(child_survives),
            Input::Hook { event, payload, waits } => {
                self.with_mind(|mind, hands| mind.hook(now, &event, &payload, waits, hands));
            }
            Input::LogLine(line) => self.with_mind(|mind, hands| mind.log_line(now, &line, hands)),
            Input::LogGrew => self.with_mind(|mind, _| mind.log_grew()),
            Input::Registry(file) => self.with_mind(|mind, hands| mind.registry(now, &file, hands)),
            Input::Tick => {}
        }
        self.keep_time(now);
        self.settle(now);
        if matches!(self.intent, Intent::Serve) && self.life.exit.is_none() {
            self.with_mind(|mind, hands| mind.attend(now, hands));
        }
        self.publish();
        std::mem::take(&mut self.effects)
    }

    /// Lets the mind do something, if there is an agent to mind.
    fn with_mind(&mut self, act: impl FnOnce(&mut Mind, &mut Hands)) {
        let Some(mind) = &mut self.mind else { return };
        let mut hands = Hands {
            terminal: &mut self.terminal,
            typist: &mut self.typist,
            board: &mut self.board,
            lease: &mut self.lease,
            effects: &mut self.effects,
        };
        act(mind, &mut hands);
    }

    /// Whether this caller may say something to the agent now.
    fn may_talk(&mut self, now: Now, lease: Option<&LeaseId>) -> Result<(), Error> {
        if self.attendance.is_none() {
            return Err(Error::no_driver());
        }
        self.writable().and_then(|()| self.lease.check(now, lease))?;
        self.board.snapshot.last_input_epoch_ms = Some(now.epoch_ms);
        self.last_activity = now.steady;
        Ok(())
    }

    fn command(&mut self, now: Now, command: Command) {
        match command {
            Command::Nudge { message, lease, answer } => match self.may_talk(now, lease.as_ref()) {
                Ok(()) => self.with_mind(|mind, hands| mind.nudge(now, message, answer, hands)),
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::Respond { reply, lease, answer } => match self.may_talk(now, lease.as_ref()) {
                Ok(()) => self.with_mind(|mind, hands| mind.respond(reply, answer, hands)),
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::Interrupt { lease, answer } => match self.may_talk(now, lease.as_ref()) {
                Ok(()) => self.with_mind(|mind, hands| mind.interrupt(now, answer, hands)),
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::Explain { answer } => {
                let explanation = self.explain();
                self.board.answer(answer, Ok(explanation));
            }
            Command::Type { typing, lease, answer } => {
                match self.writable().and_then(|()| self.lease.check(now, lease.as_ref())) {
                    Ok(()) => {
                        self.board.snapshot.last_input_epoch_ms = Some(now.epoch_ms);
                        self.last_activity = now.steady;
                        self.with_mind(|mind, _| mind.human_typed(now));
                        let write = self.encode(typing);
                        self.typist.submit(now, write, answer, &mut self.board.outbox);
                    }
                    Err(error) => self.board.answer(answer, Err(error)),
                }
            }
            Command::Resize { size, lease, answer } => {
                match self.writable().and_then(|()| self.lease.check(now, lease.as_ref())) {
                    Ok(()) => self.resize(now, size, answer),
                    Err(error) => self.board.answer(answer, Err(error)),
                }
            }
            Command::Signal { signal, answer } => match self.writable() {
                Ok(()) => {
                    // What coop did not start it does not hang up on.
                    if signal == Signal::TERM && !self.backend.is_foreign() {
                        self.hang_up_at = Some(now.steady + HANGUP_AFTER_TERM);
                    }
                    self.effects.push(Effect::Signal { signal, answer });
                }
                Err(error) => self.board.answer(answer, Err(error)),
            },
            Command::AcquireLease { shown, fresh, holder, ttl, answer } => {
                let allowed = self.writable();
                self.board.answer(
                    answer,
                    allowed.and_then(|()| self.lease.acquire(now, shown.as_ref(), fresh, holder, ttl)),
                );
            }
            Command::ReleaseLease { id, answer } => self.board.answer(answer, Ok(self.lease.release(&id))),
            Command::View { answer } => {
                let view = View { screen: self.terminal.screen(), event_seq: self.board.snapshot.event_seq };
                self.board.answer(answer, Ok(view));
            }
            Command::Scrollback { page, answer } => {
                let page = Page::of(&mut self.terminal, page);
                self.board.answer(answer, Ok(page));
            }
            Command::Dump { answer } => {
                let dump = self.dump();
                self.board.answer(answer, Ok(dump));
            }
            Command::Replace { change, reason, grace, answer } => match self.intent {
                Intent::Stop => self.board.answer(answer, Err(Error::shutting_down())),
                Intent::Replace { .. } => {
                    self.board.answer(
                        answer,
                        Err(Error::new(Code::SwitchInProgress, "a restart or switch is under way")),
                    );
                }
                Intent::Serve => {
                    let next = self.recipe.with(change);
                    self.replace(now, next, reason, grace, answer);
                }
            },
            Command::GetEnv { answer } => {
                let env = self.next_recipe().env_text();
                self.board.answer(answer, Ok(Arc::new(env)));
            }
            Command::PutEnv { key, value, answer } => {
                let done = self.next_recipe().put(&key, &value);
                self.board.answer(answer, done);
            }
            Command::DeleteEnv { key, answer } => {
                let removed = self.next_recipe().env.remove(std::ffi::OsStr::new(&key));
                let missing = || Error::new(Code::NotFound, format!("there is no variable {key}"));
                self.board.answer(answer, removed.map(drop).ok_or_else(missing));
            }
            Command::Shutdown { reason, grace, answer } => {
                self.stop(now, reason, grace);
                self.board.answer(answer, Ok(()));
            }
        }
    }

    /// How the next child will be made, also if it is being started already.
    fn next_recipe(&mut self) -> &mut Recipe {
        match &mut self.intent {
            Intent::Replace { next, .. } => next,
            Intent::Serve | Intent::Stop => Arc::make_mut(&mut self.recipe),
        }
    }

    /// Whether there is a child to write to.
    fn writable(&self) -> Result<(), Error> {
        match (&self.intent, self.board.snapshot.process) {
            (Intent::Stop, _) => Err(Error::shutting_down()),
            (Intent::Serve, Process::Running { .. }) if self.life.exit.is_none() => Ok(()),
            (Intent::Serve, Process::Running { .. } | Process::Exited(_)) => Err(Error::exited()),
            (Intent::Serve, Process::Starting) => Err(Error::new(Code::NotReady, "the child is not up yet")),
            (Intent::Replace { .. }, _) => Err(Error::new(Code::NotReady, "the child is being replaced")),
        }
    }

    fn encode(&self, typing: Typing) -> Write {
        let modes = self.terminal.modes();
        match typing {
            Typing::Text { text, enter } => {
                Write::text(encode_text(&text, enter, modes.bracketed_paste).into())
            }
            Typing::Keys(keys) => {
                let mut bytes = Vec::new();
                for key in keys {
                    key.encode(modes.application_cursor, &mut bytes);
                }
                Write::bytes(bytes.into())
            }
            Typing::Raw(bytes) => Write::bytes(bytes),
        }
    }

    fn resize(&mut self, now: Now, size: Size, answer: Answer<()>) {
        if size == self.terminal.size() {
            self.board.answer(answer, Ok(()));
        } else if self.backend.is_foreign() {
            self.effects.push(Effect::AskResize { size, answer });
        } else {
            self.effects.push(Effect::Resize(size));
            self.take_size(now, size);
            self.board.answer(answer, Ok(()));
        }
    }

    fn take_size(&mut self, now: Now, size: Size) {
        if size != self.terminal.size() {
            self.terminal.resize(size);
            self.board.snapshot.size = size;
            self.with_mind(|mind, _| mind.screen_changed(now));
            self.board.log(now, What::Resize(size));
        }
    }

    fn dump(&mut self) -> Dump {
        Dump {
            bytes: self.terminal.dump(),
            offset: self.board.shared().output.head().offset(),
            modes: self.terminal.modes(),
            size: self.terminal.size(),
            seq: self.terminal.seq(),
            event_seq: self.board.snapshot.event_seq,
            generation: self.life.generation,
        }
    }

    fn output(&mut self, now: Now, bytes: Bytes) {
        self.board.snapshot.bytes_read += bytes.len() as u64;
        self.board.snapshot.last_output_epoch_ms = Some(now.epoch_ms);
        self.last_activity = now.steady;
        self.life.printed(now);
        // Readers get the bytes before the terminal has drawn them: rendering is no part of an echo's way.
        self.board.shared().output.push(&bytes);
        let fed = self.terminal.feed(&bytes);
        if self.life.exit.is_none() {
            self.typist.answer_query(&fed.replies);
            self.with_mind(|mind, hands| mind.output(now, &bytes, &fed.signals, hands));
        }
    }

    fn started(&mut self, now: Now, pid: i32, prints_json: bool, unheard: Option<String>) {
        self.board.snapshot.process = Process::Running { pid };
        self.last_activity = now.steady;
        let (generation, offset) = (self.life.generation, self.board.shared().output.head().offset());
        let reason = match std::mem::replace(&mut self.intent, Intent::Serve) {
            Intent::Replace { next, reason, answer } => {
                self.recipe = Arc::new(next);
                self.board.answer(answer, Ok(Replaced { generation, pid, offset }));
                reason
            }
            // The first child, or the old command again because the new one could not be started.
            Intent::Serve | Intent::Stop => RestartReason::Restart,
        };
        if generation > FIRST {
            self.board.log(now, What::Restart(Restart { generation, offset, pid, reason }));
        }
        match &self.attendance {
            None => self.board.agent(now, Situation::Unknown, Tier::Process, "child started"),
            Some(Attendance { driver, profile }) => {
                let prefix = format!("{}-{}", self.epoch_ms, generation.0);
                let (command, driver) = (self.recipe.command(), driver());
                let mut mind = Mind::new(now, driver, *profile, command, &prefix, prints_json);
                mind.unheard(unheard);
                self.mind = Some(mind);
                self.board.agent(now, Situation::Starting, Tier::Process, "child started");
            }
        }
    }

    fn explain(&self) -> Explanation {
        if let Some(mind) = &self.mind {
            return mind.explain();
        }
        let agent = &self.board.snapshot.agent;
        let seen = match self.board.snapshot.process.pid() {
            Some(pid) => format!("process {pid} is alive"),
            None => "there is no process".to_owned(),
        };
        let (tier, state) = (Tier::Process, agent.state());
        Explanation {
            reason: "no driver knows this program, so only its process speaks".to_owned(),
            votes: vec![tracker::Vote { tier, state, at: agent.since_steady, cause: agent.cause, seen }],
        }
    }

    /// What the agent was talked to about, if the next child can go on with it.
    fn conversation(&self) -> Option<Conversation> {
        let facts = &self.board.snapshot.agent.facts;
        let id = facts.conversation.clone()?;
        Some(Conversation { id, log: facts.transcript.clone().map(PathBuf::from) })
    }

    fn start_failed(&mut self, error: &LaunchError) {
        let failed = Exit::Code(error.shell_code());
        match std::mem::replace(&mut self.intent, Intent::Serve) {
            Intent::Replace { next, answer, .. } if next != *self.recipe => {
                let message = format!("{error}; the command that ran before was started again");
                self.board.answer(answer, Err(Error::bad_request(message)));
                let launch = self.recipe.launch(self.terminal.size());
                self.effects.push(Effect::Start { launch, conversation: None });
            }
            Intent::Replace { answer, .. } => {
                self.board.answer(answer, Err(Error::bad_request(error.to_string())));
                self.life.failed(failed);
            }
            Intent::Serve | Intent::Stop => self.life.failed(failed),
        }
    }

    fn child_exited(&mut self, now: Now, exit: Exit) {
        self.life.exited(now, exit);
        self.hang_up_at = None;
        self.with_mind(|mind, hands| mind.end(now, &Error::exited(), hands));
        self.typist.fail_all(&Error::exited(), &mut self.board.outbox);
    }

    fn terminated(&mut self, child_survives: bool) {
        self.life.tree_gone = true;
        if child_survives && self.life.exit.is_none() {
            // It obeys no signal of ours, and closing its terminal is all that is left to do.
            self.life.failed(Exit::Unknown);
        }
    }

    fn replace(
        &mut self,
        now: Now,
        next: Recipe,
        reason: RestartReason,
        grace: Duration,
        answer: Answer<Replaced>,
    ) {
        self.intent = Intent::Replace { next, reason, answer };
        self.linger_until = None;
        self.hang_up_at = None;
        let replaced = Error::new(Code::NotReady, "the child is being replaced");
        self.with_mind(|mind, hands| mind.end(now, &replaced, hands));
        self.typist.fail_all(&replaced, &mut self.board.outbox);
        self.board.snapshot.process = Process::Starting;
        self.board.agent(now, Situation::Restarting, Tier::Process, reason.as_str());
        self.effects.push(Effect::Terminate { grace });
    }

    fn stop(&mut self, now: Now, reason: ShutdownReason, grace: Duration) {
        match std::mem::replace(&mut self.intent, Intent::Stop) {
            // Asked twice, nobody wants to wait any longer.
            Intent::Stop => self.effects.push(Effect::Hurry),
            Intent::Replace { answer, .. } => {
                self.board.answer(answer, Err(Error::shutting_down()));
                self.board.log(now, What::Shutdown(reason));
                // The old child is going already; from now on with this grace.
                self.effects.push(Effect::Terminate { grace });
            }
            Intent::Serve => {
                self.with_mind(|mind, hands| mind.end(now, &Error::shutting_down(), hands));
                self.typist.fail_all(&Error::shutting_down(), &mut self.board.outbox);
                self.board.log(now, What::Shutdown(reason));
                self.linger_until = None;
                if self.backend.is_foreign() {
                    // What coop did not start goes on without it.
                    self.board.end_output();
                    self.effects.push(Effect::Finish(self.life.exit.unwrap_or(Exit::Code(0))));
                } else {
                    self.effects.push(Effect::Terminate { grace });
                }
            }
        }
    }

    /// Acts on every deadline that has passed.
    fn keep_time(&mut self, now: Now) {
        self.typist.keep_time(now, &mut self.board.outbox);
        if self.hang_up_at.take_if(|at| *at <= now.steady).is_some() && self.life.exit.is_none() {
            let (answer, _nobody_waits) = tokio::sync::oneshot::channel();
            self.effects.push(Effect::Signal { signal: Signal::HUP, answer });
        }
        if self.linger_until.take_if(|at| *at <= now.steady).is_some() {
            self.stop(now, ShutdownReason::ChildExit, DEFAULT_GRACE);
        }
        if self.idle_deadline().is_some_and(|at| at <= now.steady) {
            self.stop(now, ShutdownReason::IdleTimeout, DEFAULT_GRACE);
        }
    }

    /// Without a driver, idle means that nothing came in or out.
    fn idle_deadline(&self) -> Option<Instant> {
        let running = matches!(self.intent, Intent::Serve) && self.life.exit.is_none();
        let timeout = self.idle_timeout.filter(|_| running)?;
        let agent = &self.board.snapshot.agent;
        match (&self.mind, agent.state()) {
            (None, _) => Some(self.last_activity + timeout),
            (Some(_), AgentState::Idle) => Some(agent.since_steady + timeout),
            (Some(_), _) => None,
        }
    }

    /// Takes the next step of ending or replacing a child, once everything it waits for is in.
    fn settle(&mut self, now: Now) {
        let Some(exit) = self.life.ended(now) else { return };
        if !self.life.over {
            self.announce(now, exit);
        }
        if !self.life.tree_gone {
            return;
        }
        match &self.intent {
            Intent::Serve => {}
            Intent::Stop => self.effects.push(Effect::Finish(exit)),
            Intent::Replace { next, reason, .. } => {
                let launch = next.launch(self.terminal.size());
                let conversation = match reason {
                    // Other credentials, the same work.
                    RestartReason::Switch => self.conversation(),
                    RestartReason::Restart => None,
                };
                self.begin_life();
                self.effects.push(Effect::Start { launch, conversation });
            }
        }
    }

    /// The child has exited and its output is in. A child that is being replaced goes quietly.
    fn announce(&mut self, now: Now, exit: Exit) {
        self.life.over = true;
        self.effects.push(Effect::CloseTerminal);
        if matches!(self.intent, Intent::Replace { .. }) {
            return;
        }
        self.board.snapshot.process = Process::Exited(exit);
        self.board.agent(now, Situation::Exited, Tier::Process, "child exited");
        self.board.log(now, What::Exit { exit, generation: self.life.generation });
        self.board.end_output();
        if matches!(self.intent, Intent::Serve) {
            self.linger_until = self.linger.map(|linger| now.steady + linger);
            self.keep_time(now);
        }
    }

    fn begin_life(&mut self) {
        self.life = self.life.next();
        self.mind = None;
        self.board.snapshot.agent.facts = Arc::new(Facts::default());
        self.board.snapshot.agent.grace_ends = None;
        self.board.snapshot.generation = self.life.generation;
        self.terminal.reset_for_new_child();
        self.board.shared().output.reopen();
    }

    fn publish(&mut self) {
        self.board.snapshot.screen_seq = self.terminal.seq();
        self.board.snapshot.recipe = Arc::clone(&self.recipe);
        self.board.publish();
    }
}

/// How long a child may take to go after the hang-up, unless the caller says otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(10);
