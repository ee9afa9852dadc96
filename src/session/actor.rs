//! The session's mind: one synchronous owner of terminal, queue, lease and log.
//!
//! [`Actor::handle`] is told the time and one thing that happened, changes its state, answers
//! whoever asked and says what must be done outside. It does no I/O and has no clock, so every
//! rule of a session's life can be tested without a runtime.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use bytes::Bytes;
use tokio::sync::watch;

use super::clock::Now;
use super::command::{Command, Dump, Page, PageRequest, PageStart, Replaced, Typing, View};
use super::event::{
    Event, EventLog, EventSeq, Generation, Restart, RestartReason, ShutdownReason, StateChange, What,
};
use super::lease::Lease;
use super::outbox::{Answer, Outbox};
use super::recipe::Recipe;
use super::snapshot::{Agent, Process, Snapshot};
use super::typist::Typist;
use crate::driver::agent::AgentState;
use crate::error::{Code, Error};
use crate::pty::{Exit, Launch, LaunchError, Signal};
use crate::term::{LineNumber, OutputLog, ScreenSeq, Size, Terminal, encode_text};

/// How long the child's background jobs may go on printing after its exit, counted from their
/// last output; they keep the terminal open as long as they like.
const DRAIN_QUIET: Duration = Duration::from_millis(200);
/// And how long at most.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// A SIGTERM that is survived this long is followed by the terminal's hang-up.
const HANGUP_AFTER_TERM: Duration = Duration::from_secs(1);

/// How the terminal names its version to programs that ask.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a session is made of.
#[derive(Debug, Clone)]
pub struct Settings {
    pub recipe: Recipe,
    pub size: Size,
    pub ring_bytes: usize,
    pub scrollback_lines: usize,
    /// How long to go on after the child's exit; `None` is forever.
    pub linger: Option<Duration>,
    pub idle_timeout: Option<Duration>,
}

/// Something that happened.
#[derive(Debug)]
pub enum Input {
    Command(Command),
    Output(Bytes),
    /// Nobody has the terminal open any more.
    OutputEnded,
    Wrote(usize),
    /// The terminal took the write badly, as it does when the child is gone.
    WriteFailed,
    Started {
        pid: i32,
    },
    StartFailed(LaunchError),
    ChildExited(Exit),
    /// Nothing of what the child ever started is left.
    TreeGone,
    Tick,
}

/// Something to be done outside.
#[derive(Debug)]
pub enum Effect {
    Resize(Size),
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
    Start(Launch),
    Finish(Exit),
}

/// What the session is about.
#[derive(Debug)]
enum Intent {
    Serve,
    Replace { next: Recipe, reason: RestartReason, answer: Answer<Replaced> },
    Stop,
}

/// The current child, or the last one.
#[derive(Debug)]
struct Life {
    generation: Generation,
    exit: Option<Exit>,
    output_open: bool,
    /// When the wait for trailing output ends, once the child has exited.
    drain: Option<Drain>,
    /// The exit has been told to the world.
    announced: bool,
    tree_gone: bool,
}

#[derive(Debug, Clone, Copy)]
struct Drain {
    quiet_at: Instant,
    limit: Instant,
}

/// What readers share with the actor.
#[derive(Debug, Clone)]
pub struct Shared {
    pub output: OutputLog,
    pub events: Arc<EventLog>,
    pub snapshot: Arc<ArcSwap<Snapshot>>,
    pub screen_changes: Arc<watch::Sender<ScreenSeq>>,
}

pub struct Actor {
    shared: Shared,
    snapshot: Snapshot,
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
    outbox: Outbox,
    /// Happened, and not yet in the log.
    happened: Vec<Event>,
    /// The readers of output are to be told that no more comes.
    output_over: bool,
}

impl Actor {
    /// A session whose first child is still to be started.
    pub fn new(now: Now, settings: Settings) -> Self {
        let terminal = Terminal::new(settings.size, settings.scrollback_lines, VERSION);
        let recipe = Arc::new(settings.recipe);
        let snapshot = Snapshot {
            process: Process::Starting,
            generation: Generation(1),
            size: settings.size,
            recipe: Arc::clone(&recipe),
            screen_seq: terminal.seq(),
            event_seq: EventSeq(0),
            bytes_read: 0,
            bytes_written: 0,
            last_output_epoch_ms: None,
            last_input_epoch_ms: None,
            agent: Agent {
                state: AgentState::Starting,
                cause: "launch",
                since: EventSeq(0),
                since_epoch_ms: now.epoch_ms,
                since_steady: now.steady,
            },
        };
        Self {
            shared: Shared {
                output: OutputLog::new(settings.ring_bytes),
                events: Arc::default(),
                snapshot: Arc::new(ArcSwap::from_pointee(snapshot.clone())),
                screen_changes: Arc::new(watch::Sender::new(terminal.seq())),
            },
            snapshot,
            linger: settings.linger,
            idle_timeout: settings.idle_timeout,
            recipe,
            terminal,
            typist: Typist::default(),
            lease: Lease::default(),
            life: Life {
                generation: Generation(1),
                exit: None,
                output_open: true,
                drain: None,
                announced: false,
                tree_gone: false,
            },
            intent: Intent::Serve,
            hang_up_at: None,
            linger_until: None,
            last_activity: now.steady,
            effects: Vec::new(),
            outbox: Outbox::default(),
            happened: Vec::new(),
            output_over: false,
        }
    }

    pub fn shared(&self) -> Shared {
        self.shared.clone()
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
        let drain =
            self.life.drain.filter(|_| !self.life.announced).map(|drain| drain.quiet_at.min(drain.limit));
        let idle = self.idle_deadline();
        [self.typist.deadline(), drain, self.hang_up_at, self.linger_until, idle].into_iter().flatten().min()
    }

    /// Takes in one thing that happened; answers what must be done about it outside.
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        match input {
            Input::Command(command) => self.command(now, command),
            Input::Output(bytes) => self.output(now, bytes),
            Input::OutputEnded => self.life.output_open = false,
            Input::Wrote(count) => {
                self.snapshot.bytes_written += count as u64;
                self.typist.wrote(now, count, &mut self.outbox);
            }
            Input::WriteFailed => self.typist.fail_all(&Error::exited(), &mut self.outbox),
            Input::Started { pid } => self.started(now, pid),
            Input::StartFailed(error) => self.start_failed(now, &error),
            Input::ChildExited(exit) => self.child_exited(now, exit),
            Input::TreeGone => self.life.tree_gone = true,
            Input::Tick => {}
        }
        self.keep_time(now);
        self.settle(now);
        self.publish();
        std::mem::take(&mut self.effects)
    }

    fn command(&mut self, now: Now, command: Command) {
        match command {
            Command::Type { typing, lease, answer } => {
                match self.writable().and_then(|()| self.lease.check(now, lease.as_ref())) {
                    Ok(()) => {
                        self.snapshot.last_input_epoch_ms = Some(now.epoch_ms);
                        self.last_activity = now.steady;
                        let bytes = self.encode(typing);
                        self.typist.submit(now, bytes, answer, &mut self.outbox);
                    }
                    Err(error) => self.outbox.answer(answer, Err(error)),
                }
            }
            Command::Resize { size, lease, answer } => {
                let allowed = self.writable().and_then(|()| self.lease.check(now, lease.as_ref()));
                let done = allowed.map(|()| self.resize(now, size));
                self.outbox.answer(answer, done);
            }
            Command::Signal { signal, answer } => match self.writable() {
                Ok(()) => {
                    if signal == Signal::TERM {
                        self.hang_up_at = Some(now.steady + HANGUP_AFTER_TERM);
                    }
                    self.effects.push(Effect::Signal { signal, answer });
                }
                Err(error) => self.outbox.answer(answer, Err(error)),
            },
            Command::AcquireLease { shown, fresh, holder, ttl, answer } => {
                let allowed = self.writable();
                self.outbox.answer(
                    answer,
                    allowed.and_then(|()| self.lease.acquire(now, shown.as_ref(), fresh, holder, ttl)),
                );
            }
            Command::ReleaseLease { id, answer } => self.outbox.answer(answer, Ok(self.lease.release(&id))),
            Command::View { answer } => {
                let view = View { screen: self.terminal.screen(), event_seq: self.snapshot.event_seq };
                self.outbox.answer(answer, Ok(view));
            }
            Command::Scrollback { page, answer } => {
                let page = self.scrollback(page);
                self.outbox.answer(answer, Ok(page));
            }
            Command::Dump { answer } => {
                let dump = self.dump();
                self.outbox.answer(answer, Ok(dump));
            }
            Command::Replace { change, reason, grace, answer } => match self.intent {
                Intent::Stop => self.outbox.answer(answer, Err(Error::shutting_down())),
                Intent::Replace { .. } => {
                    self.outbox.answer(
                        answer,
                        Err(Error::new(Code::SwitchInProgress, "a restart or switch is under way")),
                    );
                }
                Intent::Serve => {
                    let next = self.recipe.with(change);
                    // A command that cannot be started must not cost the child that runs.
                    match next.launch(self.terminal.size()).resolve() {
                        Ok(_) => self.replace(now, next, reason, grace, answer),
                        Err(error) => self.outbox.answer(answer, Err(Error::bad_request(error.to_string()))),
                    }
                }
            },
            Command::GetEnv { answer } => {
                let env = self.next_recipe().env_text();
                self.outbox.answer(answer, Ok(Arc::new(env)));
            }
            Command::PutEnv { key, value, answer } => {
                self.next_recipe().env.insert(key.into(), value.into());
                self.outbox.answer(answer, Ok(()));
            }
            Command::DeleteEnv { key, answer } => {
                let removed = self.next_recipe().env.remove(std::ffi::OsStr::new(&key));
                let missing = || Error::new(Code::NotFound, format!("there is no variable {key}"));
                self.outbox.answer(answer, removed.map(drop).ok_or_else(missing));
            }
            Command::Shutdown { reason, grace, answer } => {
                self.stop(now, reason, grace);
                self.outbox.answer(answer, Ok(()));
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
        match (&self.intent, self.snapshot.process) {
            (Intent::Stop, _) => Err(Error::shutting_down()),
            (Intent::Serve, Process::Running { .. }) if self.life.exit.is_none() => Ok(()),
            (Intent::Serve, Process::Running { .. } | Process::Exited(_)) => Err(Error::exited()),
            (Intent::Serve, Process::Starting) => Err(Error::new(Code::NotReady, "the child is not up yet")),
            (Intent::Replace { .. }, _) => Err(Error::new(Code::NotReady, "the child is being replaced")),
        }
    }

    fn encode(&self, typing: Typing) -> Bytes {
        let modes = self.terminal.modes();
        match typing {
            Typing::Text { text, enter } => encode_text(&text, enter, modes.bracketed_paste).into(),
            Typing::Keys(keys) => {
                let mut bytes = Vec::new();
                for key in keys {
                    key.encode(modes.application_cursor, &mut bytes);
                }
                bytes.into()
            }
            Typing::Raw(bytes) => bytes,
        }
    }

    fn resize(&mut self, now: Now, size: Size) {
        if size != self.terminal.size() {
            self.terminal.resize(size);
            self.snapshot.size = size;
            self.effects.push(Effect::Resize(size));
            self.log(now, What::Resize(size));
        }
    }

    fn scrollback(&mut self, request: PageRequest) -> Page {
        let screen = self.terminal.screen();
        let scrollback = self.terminal.scrollback();
        let total = scrollback.next_line();
        let from = match request.start {
            PageStart::Line(line) => line.max(scrollback.first_line()),
            PageStart::Last(count) => {
                LineNumber(total.0.saturating_sub(count as u64)).max(scrollback.first_line())
            }
            PageStart::Oldest => scrollback.first_line(),
        }
        .min(total);
        let mut bytes = 0;
        let mut lines = Vec::new();
        for (_, row) in scrollback.range(from, usize::MAX) {
            let line = if request.ansi { row.ansi() } else { row.text().to_owned() };
            bytes += line.len() + 1;
            // One line always fits, or a client with a small limit would never get on.
            if bytes > request.limit_bytes && !lines.is_empty() {
                break;
            }
            lines.push(line);
        }
        Page { next: LineNumber(from.0 + lines.len() as u64), lines, first: from, total, screen }
    }

    fn dump(&mut self) -> Dump {
        Dump {
            bytes: self.terminal.dump(),
            offset: self.shared.output.head().offset(),
            modes: self.terminal.modes(),
            size: self.terminal.size(),
            seq: self.terminal.seq(),
            event_seq: self.snapshot.event_seq,
            generation: self.life.generation,
        }
    }

    fn output(&mut self, now: Now, bytes: Bytes) {
        self.snapshot.bytes_read += bytes.len() as u64;
        self.snapshot.last_output_epoch_ms = Some(now.epoch_ms);
        self.last_activity = now.steady;
        if let Some(drain) = &mut self.life.drain {
            drain.quiet_at = now.steady + DRAIN_QUIET;
        }
        // Readers get the bytes before the terminal has drawn them: rendering is no part of an echo's way.
        self.shared.output.push(&bytes);
        let fed = self.terminal.feed(&bytes);
        if self.life.exit.is_none() {
            self.typist.answer_query(&fed.replies);
        }
    }

    fn started(&mut self, now: Now, pid: i32) {
        self.snapshot.process = Process::Running { pid };
        self.last_activity = now.steady;
        if let Intent::Replace { next, reason, answer } = std::mem::replace(&mut self.intent, Intent::Serve) {
            self.recipe = Arc::new(next);
            let (generation, offset) = (self.life.generation, self.shared.output.head().offset());
            self.log(now, What::Restart(Restart { generation, offset, pid, reason }));
            self.outbox.answer(answer, Ok(Replaced { generation, pid, offset }));
        }
        self.agent(now, AgentState::Unknown, "child started");
    }

    fn start_failed(&mut self, now: Now, error: &LaunchError) {
        let exit = Exit::Code(error.shell_code());
        if let Intent::Replace { answer, .. } = std::mem::replace(&mut self.intent, Intent::Serve) {
            self.outbox.answer(answer, Err(Error::bad_request(error.to_string())));
        }
        self.life.output_open = false;
        self.life.exit = Some(exit);
        self.life.drain = Some(Drain { quiet_at: now.steady, limit: now.steady });
    }

    fn child_exited(&mut self, now: Now, exit: Exit) {
        self.life.exit = Some(exit);
        self.life.drain = Some(Drain { quiet_at: now.steady + DRAIN_QUIET, limit: now.steady + DRAIN_LIMIT });
        self.hang_up_at = None;
        self.typist.fail_all(&Error::exited(), &mut self.outbox);
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
        self.typist.fail_all(&Error::new(Code::NotReady, "the child is being replaced"), &mut self.outbox);
        self.snapshot.process = Process::Starting;
        self.agent(now, AgentState::Restarting, reason.as_str());
        self.effects.push(Effect::Terminate { grace });
    }

    fn stop(&mut self, now: Now, reason: ShutdownReason, grace: Duration) {
        match std::mem::replace(&mut self.intent, Intent::Stop) {
            // Asked twice, nobody wants to wait any longer.
            Intent::Stop => self.effects.push(Effect::Hurry),
            Intent::Replace { answer, .. } => {
                self.outbox.answer(answer, Err(Error::shutting_down()));
                self.log(now, What::Shutdown(reason));
                // The old child is going already; from now on with this grace.
                self.effects.push(Effect::Terminate { grace });
            }
            Intent::Serve => {
                self.typist.fail_all(&Error::shutting_down(), &mut self.outbox);
                self.log(now, What::Shutdown(reason));
                self.linger_until = None;
                self.effects.push(Effect::Terminate { grace });
            }
        }
    }

    /// Acts on every deadline that has passed.
    fn keep_time(&mut self, now: Now) {
        self.typist.give_up_stalled(now, &mut self.outbox);
        if self.hang_up_at.take_if(|at| *at <= now.steady).is_some() && self.life.exit.is_none() {
            let (answer, _nobody_waits) = tokio::sync::oneshot::channel();
            self.effects.push(Effect::Signal { signal: Signal::HUP, answer });
        }
        if self.linger_until.take_if(|at| *at <= now.steady).is_some() {
            self.stop(now, ShutdownReason::ChildExit, Duration::ZERO);
        }
        if self.idle_deadline().is_some_and(|at| at <= now.steady) {
            self.stop(now, ShutdownReason::IdleTimeout, DEFAULT_GRACE);
        }
    }

    /// Without a driver, idle means that nothing came in or out.
    fn idle_deadline(&self) -> Option<Instant> {
        let running = matches!(self.intent, Intent::Serve) && self.life.exit.is_none();
        self.idle_timeout.filter(|_| running).map(|timeout| self.last_activity + timeout)
    }

    /// Takes the next step of ending or replacing a child, once everything it waits for is in.
    fn settle(&mut self, now: Now) {
        let Some(exit) = self.life.exit else { return };
        let drained = self.life.drain.is_none_or(|drain| drain.quiet_at.min(drain.limit) <= now.steady);
        if !self.life.announced && (!self.life.output_open || drained) {
            self.announce(now, exit);
        }
        if !(self.life.announced && self.life.tree_gone) {
            return;
        }
        match &self.intent {
            Intent::Serve => {}
            Intent::Stop => self.effects.push(Effect::Finish(exit)),
            Intent::Replace { next, .. } => {
                let launch = next.launch(self.terminal.size());
                self.begin_life();
                self.effects.push(Effect::Start(launch));
            }
        }
    }

    /// The child has exited and its output is in. A child that is being replaced goes quietly.
    fn announce(&mut self, now: Now, exit: Exit) {
        self.life.announced = true;
        self.effects.push(Effect::CloseTerminal);
        if matches!(self.intent, Intent::Replace { .. }) {
            return;
        }
        self.snapshot.process = Process::Exited(exit);
        self.agent(now, AgentState::Exited, "child exited");
        self.log(now, What::Exit { exit, generation: self.life.generation });
        self.output_over = true;
        if matches!(self.intent, Intent::Serve) {
            self.linger_until = self.linger.map(|linger| now.steady + linger);
            self.keep_time(now);
        }
    }

    fn begin_life(&mut self) {
        self.life = Life {
            generation: Generation(self.life.generation.0 + 1),
            exit: None,
            output_open: true,
            drain: None,
            announced: false,
            tree_gone: false,
        };
        self.snapshot.generation = self.life.generation;
        self.terminal.reset_for_new_child();
        self.shared.output.reopen();
    }

    fn agent(&mut self, now: Now, next: AgentState, cause: &'static str) {
        let prev = self.snapshot.agent.state;
        if prev != next {
            let since = self.log(now, What::State(StateChange { prev, next, cause }));
            self.snapshot.agent =
                Agent { state: next, cause, since, since_epoch_ms: now.epoch_ms, since_steady: now.steady };
        }
    }

    fn log(&mut self, now: Now, what: What) -> EventSeq {
        let seq = EventSeq(self.snapshot.event_seq.0 + 1);
        self.snapshot.event_seq = seq;
        self.happened.push(Event { seq, at_epoch_ms: now.epoch_ms, what });
        seq
    }

    /// Shows the new state, then tells of it: whoever hears of a change finds it made.
    fn publish(&mut self) {
        self.snapshot.screen_seq = self.terminal.seq();
        self.snapshot.recipe = Arc::clone(&self.recipe);
        self.shared.snapshot.store(Arc::new(self.snapshot.clone()));
        let seq = self.snapshot.screen_seq;
        self.shared.screen_changes.send_if_modified(|shown| std::mem::replace(shown, seq) != seq);
        if !self.happened.is_empty() {
            self.shared.events.extend(self.happened.drain(..));
        }
        if std::mem::take(&mut self.output_over) {
            self.shared.output.close();
        }
        self.outbox.send_all();
    }
}

/// How long a child may take to go after the hang-up, unless the caller says otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(10);
