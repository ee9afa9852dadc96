//! The outside becomes observations: calls of the agent's hooks, lines of its log, its status files. What an
//! observation means is the driver's business; here it is only read, checked and handed on, with bounds on everything.

pub mod hook_call;
mod hook_line;
mod hooks;
pub mod json_lines;
mod registry;
mod tail;
mod tally;
mod watch;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, watch as channel};
use tokio::task::JoinSet;

use self::hooks::HookPipe;
pub use self::hooks::HookReply;
pub use self::tail::From;
use self::tail::Tail;
pub use self::tally::Counters;
use self::tally::Tally;
use crate::driver::launch::LogPlace;

/// The variable that the agent's hooks find the pipe by.
pub const HOOK_PIPE: &str = "COOP_HOOK_PIPE";

/// Something that was seen of the agent.
#[derive(Debug)]
pub enum Observation {
    /// A hook of the session's own agent was called.
    Hook(HookCall),
    /// The agent wrote a line to its log.
    LogLine(Value),
    /// The log got longer, but by no line that can be read.
    LogGrew,
    /// The agent's status file says something new.
    Registry(Value),
}

/// A call of a hook.
#[derive(Debug)]
pub struct HookCall {
    pub event: String,
    pub payload: Value,
    /// There if the hook waits for an answer.
    pub reply: Option<HookReply>,
}

/// What sources need to know from the start.
#[derive(Debug)]
pub struct Plan {
    /// The session's private directory.
    pub dir: PathBuf,
    /// What the session's own hooks prove themselves with.
    pub nonce: String,
}

/// Everything that is being watched. Dropping it ends it all, and lets every waiting hook go.
pub struct Sources {
    sender: mpsc::Sender<Observation>,
    tally: Arc<Tally>,
    poll: channel::Sender<bool>,
    pipe: HookPipe,
    followed: Option<LogPlace>,
    _hooks: JoinSet<()>,
    log: JoinSet<()>,
    registry: JoinSet<()>,
}

impl Sources {
    /// Opens the hook pipe and reads it from now on. To be called before the agent starts, so that no hook of it finds
    /// nobody there. Observations wait in the queue for their turn; hooks that cannot wait that long are dropped and
    /// counted.
    pub fn start(plan: Plan, sender: mpsc::Sender<Observation>) -> io::Result<Self> {
        let (pipe, receiver) = HookPipe::open(&plan.dir)?;
        let tally = Arc::new(Tally::default());
        let mut hooks = JoinSet::new();
        let reader = hooks::Reader::new(plan, Arc::clone(&tally), sender.clone());
        hooks.spawn(reader.run(receiver));
        Ok(Self {
            sender,
            tally,
            poll: channel::Sender::new(false),
            pipe,
            followed: None,
            _hooks: hooks,
            log: JoinSet::new(),
            registry: JoinSet::new(),
        })
    }

    /// What the agent's hooks must find in [`HOOK_PIPE`].
    pub fn hook_pipe(&self) -> &Path {
        self.pipe.path()
    }

    /// Follows this log from now on and no other. Where it begins is settled when this returns, so what a child writes
    /// that is started afterwards is read in any case. Following the same file again changes nothing, while a new one in the
    /// same directory is another one each time.
    pub fn follow(&mut self, place: LogPlace, from: From) {
        if matches!(place, LogPlace::File(_)) && self.followed.as_ref() == Some(&place) {
            return;
        }
        let tail = Tail::new(place.clone(), from, Arc::clone(&self.tally), self.sender.clone());
        self.followed = Some(place);
        self.log = JoinSet::new();
        self.log.spawn(tail.run(self.poll.subscribe()));
    }

    /// Reads the status files of this process and of those below it from now on, and no others.
    pub fn watch_registry(&mut self, dir: PathBuf, child: i32) {
        let registry = registry::Registry::new(dir, child, Arc::clone(&self.tally), self.sender.clone());
        self.registry = JoinSet::new();
        self.registry.spawn(registry.run(self.poll.subscribe()));
    }

    /// Whether to look at files every few seconds even if the kernel reports no change.
    pub fn set_poll(&self, wanted: bool) {
        self.poll.send_if_modified(|poll| std::mem::replace(poll, wanted) != wanted);
    }

    pub fn counters(&self) -> Counters {
        self.tally.read(self.pipe.dropped())
    }
}
