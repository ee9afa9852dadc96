//! The actor's inputs: one closed enum of everything that can happen.

use bytes::Bytes;
use serde_json::Value;

use crate::driver::presence::Presence;
use crate::error::Error;
use crate::pty::{Exit, LaunchError};
use crate::session::agent::{AgentStart, HookId};
use crate::session::command::Sent;
use crate::session::replies::ReplySender;
use crate::term::Size;

/// Something that happened.
#[derive(Debug)]
pub(in crate::session) enum Input {
    Command(Sent),
    Output(Bytes),
    /// The multiplexer's pane looks different; these bytes draw it.
    Captured {
        size: Size,
        paint: Bytes,
    },
    /// The result of a resize by the multiplexer.
    Resized {
        result: Result<(), Error>,
        reply: Option<ReplySender<()>>,
    },
    /// The result of sending a signal.
    Signalled {
        result: Result<(), Error>,
        reply: Option<ReplySender<()>>,
    },
    /// No process has the terminal open any more.
    OutputEnded,
    Wrote(usize),
    /// The terminal refused a write, as it does when the child is gone.
    WriteFailed(Error),
    Started {
        pid: i32,
        agent: AgentStart,
    },
    StartFailed(LaunchError),
    ChildExited(Exit),
    /// All processes of the child's tree are gone, unless one could not be ended.
    Terminated {
        /// The pid of the child, if it is the one that could not be ended.
        survivor: Option<i32>,
    },
    /// The agent called a hook, which may wait for an answer.
    Hook {
        event: String,
        payload: Value,
        waiting: Option<HookId>,
        /// The kernel vouches that the agent's process called it.
        by_agent: bool,
    },
    /// The agent wrote a line to its log.
    LogLine(Value),
    /// The agent's log has grown, but by less than a line.
    LogGrew,
    /// The agent wrote its status file.
    Registry(Value),
    /// The agent's process has started or ended, or the terminal's foreground has changed.
    Presence(Presence),
    /// A deadline has passed.
    Tick,
}
