//! Starts a program on a new pseudo terminal with exactly the given environment and directory, and
//! with no descriptors of coop. It must not know where these come from, and adds nothing to them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::termios::{InputModes, OptionalActions, tcgetattr, tcsetattr};

use super::child::Child;
use super::master::{Control, Reader, WindowSize, Writer, set_window_size, split};
use super::program::{Program, Streams};
use super::reaper::Reaper;

/// Where to search for a program without a slash when the child's environment has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// A path, relative to `cwd`, if it contains a slash; otherwise a name to search for in the
    /// PATH of `env`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The whole environment of the child; later entries win over earlier ones with the same name.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    pub size: WindowSize,
}

/// A program that was started, and its terminal.
pub struct Spawned {
    pub child: Child,
    pub reader: Reader,
    pub writer: Writer,
    pub control: Control,
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("command not found: {}", .0.display())]
    NotFound(OsString),
    #[error("command cannot be executed: {}: {reason}", .path.display())]
    NotExecutable { path: PathBuf, reason: io::Error },
    #[error("working directory cannot be used: {}: {reason}", .path.display())]
    WorkingDirectory { path: PathBuf, reason: io::Error },
    #[error("no terminal could be opened: {0}")]
    Terminal(io::Error),
    #[error("the command could not be started: {0}")]
    Start(io::Error),
    #[error("the command cannot be prepared: {0}")]
    Unprepared(String),
    #[error("the start was cancelled")]
    Cancelled,
}

impl LaunchError {
    /// The exit status that a shell returns for it.
    pub fn shell_code(&self) -> i32 {
        match self {
            Self::NotFound(_) => 127,
            Self::NotExecutable { .. } => 126,
            // The command line is wrong.
            Self::Unprepared(_) => 64,
            Self::WorkingDirectory { .. }
            | Self::Terminal(_)
            | Self::Start(_)
            | Self::Cancelled => 1,
        }
    }
}

impl Launch {
    /// Finds the file that would be executed, and starts nothing.
    pub fn resolve(&self) -> Result<PathBuf, LaunchError> {
        self.check_cwd()?;
        if self.program.as_bytes().contains(&b'/') {
            let path = self.cwd.join(&self.program);
            return match executable(&path) {
                Ok(()) => Ok(path),
                Err(Errno::NOENT | Errno::NOTDIR) => {
                    Err(LaunchError::NotFound(self.program.clone()))
                }
                Err(errno) => Err(LaunchError::NotExecutable { path, reason: errno.into() }),
            };
        }
        // As shells do: the first file that can be executed, or if there is none, an error about
        // the first that cannot.
        let mut refused = None;
        for directory in std::env::split_paths(self.search_path()) {
            if self.program.is_empty() {
                break;
            }
            let path = self.cwd.join(directory).join(&self.program);
            match executable(&path) {
                Ok(()) => return Ok(path),
                Err(Errno::ACCESS | Errno::PERM) if !path.is_dir() && refused.is_none() => {
                    refused = Some(path);
                }
                Err(_) => {}
            }
        }
        Err(match refused {
            Some(path) => LaunchError::NotExecutable { path, reason: Errno::ACCESS.into() },
            None => LaunchError::NotFound(self.program.clone()),
        })
    }

    /// Starts the program as the leader of a session of its own, on a terminal of its own.
    pub fn spawn(&self, reaper: &Reaper) -> Result<Spawned, LaunchError> {
        let path = self.resolve()?;
        let (master, pts) = pty_process::blocking::open().map_err(terminal_error)?;
        prepare_terminal(pts.as_fd(), self.size).map_err(LaunchError::Terminal)?;
        let master = OwnedFd::from(master);
        ioctl_fionbio(&master, true).map_err(|errno| LaunchError::Terminal(errno.into()))?;
        let (reader, writer, control) = split(master).map_err(LaunchError::Terminal)?;

        let program = Program {
            path: path.clone(),
            name: self.program.clone(),
            args: self.args.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            streams: Streams::Terminal(
                pts.as_fd().try_clone_to_owned().map_err(LaunchError::Terminal)?,
            ),
        };
        drop(pts);
        let child = reaper.start_child(program).map_err(|error| start_error(error, path))?;
        Ok(Spawned { child, reader, writer, control })
    }

    fn check_cwd(&self) -> Result<(), LaunchError> {
        let refused =
            |reason: io::Error| LaunchError::WorkingDirectory { path: self.cwd.clone(), reason };
        if !self.cwd.metadata().map_err(refused)?.is_dir() {
            return Err(refused(Errno::NOTDIR.into()));
        }
        access(&self.cwd, Access::EXEC_OK).map_err(|errno| refused(errno.into()))
    }

    fn search_path(&self) -> &OsStr {
        let path = self.env.iter().rfind(|(name, _)| name == "PATH");
        path.map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value)
    }
}

fn executable(path: &Path) -> Result<(), Errno> {
    let is_dir = rustix::fs::stat(path)
        .map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())?;
    if is_dir {
        return Err(Errno::ACCESS);
    }
    access(path, Access::EXEC_OK)
}

/// Sets up the terminal before the child starts, so that the child never sees another size.
fn prepare_terminal(terminal: std::os::fd::BorrowedFd<'_>, size: WindowSize) -> io::Result<()> {
    set_window_size(terminal, size)?;
    let mut settings = tcgetattr(terminal)?;
    // Without it, the line discipline erases one byte of a character that is not ASCII, not the
    // whole character.
    settings.input_modes |= InputModes::IUTF8;
    Ok(tcsetattr(terminal, OptionalActions::Now, &settings)?)
}

fn terminal_error(error: pty_process::Error) -> LaunchError {
    LaunchError::Terminal(match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(errno) => errno.into(),
    })
}

fn start_error(reason: io::Error, path: PathBuf) -> LaunchError {
    match Errno::from_io_error(&reason) {
        // The file existed a moment ago, so its interpreter is missing, or the file is not a
        // program.
        Some(Errno::NOENT | Errno::ACCESS | Errno::PERM | Errno::NOEXEC | Errno::TXTBSY) => {
            LaunchError::NotExecutable { path, reason }
        }
        Some(_) | None => LaunchError::Start(reason),
    }
}
