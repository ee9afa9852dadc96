//! A terminal in a terminal multiplexer: a pane of tmux or a window of GNU screen, captured and
//! typed into by the multiplexer's own commands. It must not know clients, and never ends a
//! program that it did not start.

mod address;
mod capture;
mod command;
mod screen;
mod terminal;
mod tmux;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bytes::Bytes;

pub(crate) use self::address::{Address, BadAddress, Multiplexer};
use self::capture::Capture;
use self::command::{CommandError, Program};
use self::screen::ScreenWindow;
pub(crate) use self::terminal::{MuxEvent, MuxTerminal, WriteError};
use self::tmux::TmuxPane;
use crate::os::{self, Process, ProcessIdentity};
use crate::pty::WindowSize;

/// Why a multiplexer's session cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum MuxError {
    #[error("{} is not installed, or not in PATH", .0.as_str())]
    NotInstalled(Multiplexer),
    #[error("{}", no_session(.address, .sessions))]
    NoSession {
        address: Address,
        /// The sessions that there are.
        sessions: Vec<String>,
    },
    #[error(
        "there are several screen sessions called {name}; name one of them: {}",
        .ids.join(", ")
    )]
    Ambiguous { name: String, ids: Vec<String> },
    #[error("the program in {}:{} has exited", .0.multiplexer.as_str(), .0.name)]
    Exited(Address),
    #[error("{} failed: {reason}", .multiplexer.as_str())]
    Failed { multiplexer: Multiplexer, reason: String },
}

fn no_session(address: &Address, sessions: &[String]) -> String {
    let Address { multiplexer, name } = address;
    let (program, new_session) = (multiplexer.as_str(), multiplexer.new_session_command());
    let prefixed: Vec<String> = sessions.iter().map(|name| format!("{program}:{name}")).collect();
    if prefixed.is_empty() {
        format!("there is no {program} session; start one: {new_session} {name}")
    } else {
        format!("there is no {program} session {name}; there are {}", prefixed.join(", "))
    }
}

impl MuxError {
    fn new(multiplexer: Multiplexer, error: CommandError) -> Self {
        match error {
            CommandError::NotInstalled => Self::NotInstalled(multiplexer),
            CommandError::Exited(_) | CommandError::TimedOut | CommandError::Failed(_) => {
                Self::Failed { multiplexer, reason: error.to_string() }
            }
        }
    }
}

/// A pane or window that was found, as it looked then.
pub(crate) struct MuxTarget {
    pub pid: i32,
    pub size: WindowSize,
    /// What draws its screen on a terminal of that size.
    pub redraw: Bytes,
    /// The command that runs in it, as far as it can be read.
    pub command: Vec<OsString>,
    pub cwd: PathBuf,
    pane: Pane,
    process: ProcessIdentity,
    capture: Capture,
}

/// Finds the pane or window that a session shows. `env` is the environment that the multiplexer's
/// commands run in, `dir` a private directory for its files.
pub(crate) async fn find(
    address: &Address,
    env: Vec<(OsString, OsString)>,
    dir: &Path,
) -> Result<MuxTarget, MuxError> {
    let Address { multiplexer, name } = address;
    let program = Program { name: multiplexer.as_str(), env };
    let mut pane = match multiplexer {
        Multiplexer::Tmux => Pane::Tmux(TmuxPane::find(program, name).await?),
        Multiplexer::Screen => Pane::Screen(ScreenWindow::find(program, name, dir).await?),
    };
    let capture = pane.capture().await.map_err(|error| match error {
        CommandError::Exited(_) => MuxError::Exited(address.clone()),
        CommandError::NotInstalled | CommandError::TimedOut | CommandError::Failed(_) => {
            MuxError::new(*multiplexer, error)
        }
    })?;
    let pid = pane.pid();
    let process = Process::read(pid).ok_or_else(|| MuxError::Exited(address.clone()))?.identity();
    let (size, redraw) = (capture.size, capture.redraw(None));
    let (command, cwd) = (os::command_line(pid), os::working_dir(pid).unwrap_or_default());
    Ok(MuxTarget { pid, size, redraw, command, cwd, pane, process, capture })
}

/// A tmux pane or a screen window. Its commands run one after the other.
enum Pane {
    Tmux(TmuxPane),
    Screen(ScreenWindow),
}

impl Pane {
    fn pid(&self) -> i32 {
        match self {
            Self::Tmux(pane) => pane.pid(),
            Self::Screen(window) => window.pid(),
        }
    }

    fn multiplexer(&self) -> &'static str {
        match self {
            Self::Tmux(_) => Multiplexer::Tmux.as_str(),
            Self::Screen(_) => Multiplexer::Screen.as_str(),
        }
    }

    async fn capture(&mut self) -> Result<Capture, CommandError> {
        match self {
            Self::Tmux(pane) => pane.capture().await,
            Self::Screen(window) => window.capture().await,
        }
    }

    /// Types some of the bytes; returns how many.
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, CommandError> {
        match self {
            Self::Tmux(pane) => pane.write(bytes).await,
            Self::Screen(window) => window.write(bytes).await,
        }
    }

    /// Asks for a size. The next capture shows whether the multiplexer changed it.
    async fn resize(&mut self, size: WindowSize) -> Result<(), CommandError> {
        match self {
            Self::Tmux(pane) => pane.resize(size).await,
            Self::Screen(window) => window.resize(size).await,
        }
    }

    /// Undoes what coop changed in the session.
    async fn restore(&mut self) {
        match self {
            Self::Tmux(pane) => pane.restore().await,
            Self::Screen(window) => window.restore(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_missing_session_lists_the_sessions_or_says_how_to_start_one() {
        let address: Address = "tmux:werk".parse().unwrap();
        let none = MuxError::NoSession { address: address.clone(), sessions: vec![] };
        assert_eq!(
            none.to_string(),
            "there is no tmux session; start one: tmux new-session -d -s werk"
        );
        let some = MuxError::NoSession { address, sessions: vec!["work".into(), "play".into()] };
        assert_eq!(
            some.to_string(),
            "there is no tmux session werk; there are tmux:work, tmux:play"
        );
    }
}
