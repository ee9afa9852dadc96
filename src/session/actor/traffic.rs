//! What the actor is told, and what it wants done.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::error::Error;
use crate::pty::{Exit, Launch, LaunchError, Signal};
use crate::session::command::Command;
use crate::session::mind::HookId;
use crate::session::outbox::Answer;
use crate::term::Size;

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
