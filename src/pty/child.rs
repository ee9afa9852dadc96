//! A program that coop started, and how it ended. It must not know what the child is for, nor what
//! happens after its exit.

use rustix::process::{Pid, WaitStatus};
use tokio::sync::watch;

use super::reaper::Reaper;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// The kernel kept no exit status, as when SIGCHLD is ignored.
    Unknown,
}

impl Exit {
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Unknown => None,
        }
    }

    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Code(_) | Self::Unknown => None,
        }
    }

    /// The exit status that a shell reports for it in `$?`.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
            Self::Unknown => 255,
        }
    }
}

impl From<WaitStatus> for Exit {
    fn from(status: WaitStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

/// A program that was started, and its exit status once it has one. Clones are the same child.
#[derive(Clone)]
pub struct Child {
    pid: Pid,
    exit: watch::Receiver<Option<Exit>>,
    reaper: Reaper,
}

impl Child {
    pub(super) fn new(pid: Pid, exit: watch::Receiver<Option<Exit>>, reaper: Reaper) -> Self {
        Self { pid, exit, reaper }
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the exit status, if the child has exited.
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for its exit. It may be cancelled and called again, and returns the same status each
    /// time.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(known) => (*known).unwrap_or(Exit::Unknown),
            // The sender is dropped only after it has sent a status, so this does not happen.
            Err(_) => Exit::Unknown,
        }
    }

    pub(super) fn reaper(&self) -> &Reaper {
        &self.reaper
    }
}
