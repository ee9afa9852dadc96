//! The actor's effects: everything that it can request from the session loop.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::launch::Conversation;
use crate::pty::{Exit, Launch, LaunchError, Signal};
use crate::session::agent::HookId;
use crate::session::replies::ReplySender;
use crate::term::Size;

/// Something that the session loop must do.
#[derive(Debug)]
pub(in crate::session) enum Effect {
    Resize(Size),
    /// Asks the multiplexer for a size; [`Input::Resized`](super::Input::Resized) follows.
    RequestResize {
        size: Size,
        reply: ReplySender<()>,
    },
    /// Sends a signal to the foreground process group;
    /// [`Input::Signalled`](super::Input::Signalled) follows. Without a caller there is no reply.
    Signal {
        signal: Signal,
        reply: Option<ReplySender<()>>,
    },
    /// Ends the child and every process it started; [`Input::Terminated`](super::Input::Terminated)
    /// follows.
    Terminate {
        grace: Duration,
    },
    /// Ends a termination's grace early.
    SkipGrace,
    /// Stops waiting for output: the child is gone, and its output is in.
    CloseTerminal,
    /// Starts a child; [`Input::Started`](super::Input::Started) or
    /// [`Input::StartFailed`](super::Input::StartFailed) follows.
    Start {
        launch: Launch,
        /// The agent's conversation that the child continues.
        conversation: Option<Conversation>,
    },
    /// Cancels the preparation of a start that is in progress.
    CancelStart,
    /// Answers a waiting hook of the agent.
    AnswerHook {
        hook: HookId,
        output: Value,
    },
    /// Lets a waiting hook of the agent go without an answer.
    ReleaseHook(HookId),
    /// The agent's log is in this file now.
    FollowLog(PathBuf),
    /// The agent has the conversation with this id now; where its log is, no hook says.
    FollowConversation(String),
    /// The terminal shows a sign of the agent: its process may be found in the foreground.
    FindAgent,
    /// Whether to read the agent's files every few seconds even if no change is reported.
    PollSources(bool),
    /// The session is over: the child ended, or the first child could not be started.
    Finish(Result<Exit, LaunchError>),
}
