//! The session's published state: one immutable value, replaced as a whole, read without a lock.

use std::sync::Arc;
use std::time::Instant;

use super::child_spec::ChildSpec;
use super::event::{EventSeq, Generation};
use crate::driver::agent::{AgentState, Situation, Tier};
use crate::driver::usage::Usage;
use crate::pty::Exit;
use crate::term::{ScreenSeq, Size};

#[derive(Debug, Clone)]
pub struct Snapshot {
    pub process: Process,
    pub generation: Generation,
    pub size: Size,
    pub child_spec: Arc<ChildSpec>,
    pub screen_seq: ScreenSeq,
    pub event_seq: EventSeq,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub last_output_epoch_ms: Option<u64>,
    pub last_input_epoch_ms: Option<u64>,
    pub agent: Agent,
    /// What all children have used.
    pub usage: Usage,
}

/// The child, as a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// Not started yet, or being replaced.
    Starting,
    Running {
        pid: i32,
    },
    Exited(Exit),
}

impl Process {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running { .. } => "running",
            Self::Exited(_) => "exited",
        }
    }

    pub fn pid(self) -> Option<i32> {
        match self {
            Self::Running { pid } => Some(pid),
            Self::Starting | Self::Exited(_) => None,
        }
    }

    pub fn exit(self) -> Option<Exit> {
        match self {
            Self::Exited(exit) => Some(exit),
            Self::Starting | Self::Running { .. } => None,
        }
    }
}

/// The agent in the child, as far as the evidence goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub situation: Situation,
    pub tier: Tier,
    pub cause: &'static str,
    /// The event that brought this state or prompt.
    pub since: EventSeq,
    pub since_epoch_ms: u64,
    pub since_steady: Instant,
    /// When an inferred idle is published.
    pub grace_ends: Option<Instant>,
    pub facts: Arc<Facts>,
}

impl Agent {
    pub fn state(&self) -> AgentState {
        self.situation.state()
    }
}

/// What the agent has reported about itself, apart from its state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The id of its conversation.
    pub conversation: Option<String>,
    pub transcript: Option<String>,
    pub permission_mode: Option<String>,
    pub cwd: Option<String>,
    /// Its last message.
    pub message: Option<Arc<str>>,
}

impl Snapshot {
    /// The child is alive and its agent has left `starting`.
    pub fn ready(&self) -> bool {
        matches!(self.process, Process::Running { .. })
            && self.agent.state() != AgentState::Starting
    }
}
