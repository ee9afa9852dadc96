//! The session's mind: one synchronous owner of terminal, queue, lease and log.
//!
//! [`Actor::handle`] is told the time and one thing that happened, changes its state, answers
//! whoever asked and says what must be done outside. It does no I/O and has no clock, so every
//! rule of a session's life can be tested without a runtime.

mod children;
mod commands;
mod settings;
mod traffic;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

pub use self::children::DEFAULT_GRACE;
pub use self::settings::{Attendance, Settings};
pub use self::traffic::{Conversation, Effect, Input};
use super::backend::Backend;
use super::board::{Board, Shared};
use super::clock::Now;
use super::command::Replaced;
use super::event::{EventSeq, Generation, RestartReason, What};
use super::lease::Lease;
use super::life::Life;
use super::mind::{Hands, Mind};
use super::outbox::Answer;
use super::recipe::Recipe;
use super::snapshot::{Agent, Facts, Process, Snapshot};
use super::typist::Typist;
use crate::driver::agent::{Situation, Tier};
use crate::driver::usage::Usage;
use crate::pty::Launch;
use crate::term::{OutputLog, Size, Terminal};

/// How the terminal names its version to programs that ask.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The child that a session starts with.
const FIRST: Generation = Generation(1);

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

    fn take_size(&mut self, now: Now, size: Size) {
        if size != self.terminal.size() {
            self.terminal.resize(size);
            self.board.snapshot.size = size;
            self.with_mind(|mind, _| mind.screen_changed(now));
            self.board.log(now, What::Resize(size));
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

    fn publish(&mut self) {
        self.board.snapshot.screen_seq = self.terminal.seq();
        self.board.snapshot.recipe = Arc::clone(&self.recipe);
        self.board.publish();
    }
}
