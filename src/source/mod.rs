//! Reads what an agent reports outside of its terminal: calls of its hooks, lines of its log, its
//! status files. Every size and every queue has a bound. It must not know what an observation
//! means; the driver does.

mod agent_process;
mod bounded_json;
mod counters;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod hook_command;
mod hook_message;
mod hook_pipe;
mod hook_socket;
mod hooks;
mod json_lines;
mod queue;
mod registry;
mod tail;
mod watch;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch as channel;
use tokio::task::JoinSet;

use self::counters::AtomicCounters;
pub use self::counters::{CounterReader, SourceCounters};
pub use self::hook_command::HookCommand;
use self::hook_pipe::HookPipe;
use self::hook_socket::HookSocket;
use self::hooks::HookIntake;
pub use self::hooks::HookReply;
pub(crate) use self::json_lines::JsonLines;
pub use self::json_lines::RejectedLines;
#[cfg(test)]
pub(crate) use self::queue::OBSERVATION_BYTES;
pub(crate) use self::queue::OBSERVATIONS;
pub use self::queue::{ObservationSender, Observations, observations};
use self::tail::Tail;
pub use self::tail::{LogTarget, ReadFrom};
pub(crate) use self::watch::DirWatch;
use crate::driver::launch::LogLocation;
use crate::os::ProcessIdentity;

/// The environment variable with the path of the pipe, for the agent's hooks.
pub const HOOK_PIPE: &str = "COOP_HOOK_PIPE";

/// Something that the agent reported.
#[derive(Debug)]
pub enum Observation {
    /// The session's agent called a hook.
    Hook(HookCall),
    /// The agent wrote a line to its log.
    LogLine(Value),
    /// The log grew, but by no complete line of JSON.
    LogGrew,
    /// The agent's status file has changed.
    Registry(StatusFile),
}

/// A call of a hook.
#[derive(Debug)]
pub struct HookCall {
    pub event: String,
    pub payload: Value,
    /// Present if the hook waits for an answer.
    pub reply: Option<HookReply>,
    /// The agent's process, which the kernel vouches for. None if the call came through the pipe,
    /// or from a process that coop cannot see.
    pub(crate) agent: Option<ProcessIdentity>,
}

/// The status file of a process.
#[derive(Debug)]
pub struct StatusFile {
    pub value: Value,
    /// The process, if it runs.
    pub(crate) process: Option<ProcessIdentity>,
}

#[derive(Debug)]
pub struct SourceConfig {
    /// The session's private directory.
    pub dir: PathBuf,
    /// The secret that every hook call of this session carries.
    pub nonce: String,
}

/// The sources of one session. Dropping it stops them all, and every waiting hook continues without
/// an answer.
pub struct Sources {
    sender: ObservationSender,
    counters: Arc<AtomicCounters>,
    poll: channel::Sender<bool>,
    pipe: HookPipe,
    _socket: HookSocket,
    followed_log: Option<LogLocation>,
    _hooks: JoinSet<()>,
    log: JoinSet<()>,
    registry: JoinSet<()>,
}

impl Sources {
    /// Opens the hook socket and the hook pipe. Call it before the agent starts, so that both have
    /// a reader before the first hook. Observations wait in the queue; a hook call that cannot wait
    /// that long is dropped and counted.
    pub fn start(config: SourceConfig, sender: ObservationSender) -> io::Result<Self> {
        let (pipe, receiver) = HookPipe::open(&config.dir)?;
        let (socket, listener) = HookSocket::open(pipe.path())?;
        let counters = Arc::new(AtomicCounters::default());
        let mut hooks = JoinSet::new();
        let intake = HookIntake::new(&config.nonce, Arc::clone(&counters), sender.clone());
        hooks.spawn(hook_pipe::read(intake.clone(), receiver));
        hooks.spawn(hook_socket::listen(intake, listener));
        Ok(Self {
            sender,
            counters,
            poll: channel::Sender::new(false),
            pipe,
            _socket: socket,
            followed_log: None,
            _hooks: hooks,
            log: JoinSet::new(),
            registry: JoinSet::new(),
        })
    }

    /// The path that the agent's hooks need in [`HOOK_PIPE`].
    pub fn hook_pipe(&self) -> &Path {
        self.pipe.path()
    }

    /// Follows this log from now on, in place of an earlier one. Following the same file again
    /// changes nothing; a new file in the same directory is another file each time.
    pub fn follow_log(&mut self, target: LogTarget) {
        let location = target.location.clone();
        if matches!(location, LogLocation::File(_)) && self.followed_log.as_ref() == Some(&location)
        {
            return;
        }
        let tail = Tail::new(target, Arc::clone(&self.counters), self.sender.clone());
        self.followed_log = Some(location);
        self.log = JoinSet::new();
        self.log.spawn(tail.run(self.poll.subscribe()));
    }

    /// Follows no log until the next one is known.
    pub(crate) fn unfollow_log(&mut self) {
        self.followed_log = None;
        self.log = JoinSet::new();
    }

    /// Reads the status files of this process and its descendants from now on, and no others.
    pub fn watch_registry(&mut self, dir: PathBuf, child: i32) {
        let registry =
            registry::Registry::new(dir, child, Arc::clone(&self.counters), self.sender.clone());
        self.registry = JoinSet::new();
        self.registry.spawn(registry.run(self.poll.subscribe()));
    }

    /// Whether to read files every few seconds even if the kernel reports no change.
    pub fn set_poll(&self, wanted: bool) {
        self.poll.send_if_modified(|poll| std::mem::replace(poll, wanted) != wanted);
    }

    /// Reads what could not be used so far, also while these sources belong to another thread.
    pub fn counters(&self) -> CounterReader {
        CounterReader::new(Arc::clone(&self.counters), self.pipe.dropped_file())
    }
}
