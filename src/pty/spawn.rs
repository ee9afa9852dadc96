//! Starting a program on a new pseudo terminal, with exactly the environment, directory and descriptors it is meant to have.
//! It must not know where these come from, and it adds nothing to them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::termios::{InputModes, OptionalActions, tcgetattr, tcsetattr};

use super::child::{Child, Reaper};
use super::descriptors;
use super::master::{Control, Reader, WindowSize, Writer, set_window_size, split};

/// Where a program without a slash is looked for when the child's environment has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The first descriptor that is not one of the three standard ones.
const FIRST_OTHER: i32 = 3;

/// No descriptor is searched beyond this one where the kernel cannot mark a range itself.
const SEARCHED_DESCRIPTORS: i32 = 1 << 20;

/// The size of a signal mask in the kernel.
const KERNEL_SIGSET: usize = 8;

/// A program to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// A path, relative to `cwd`, if it contains a slash; otherwise a name to be found in the PATH of `env`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The whole environment of the child; later entries win over earlier ones with the same name.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    pub size: WindowSize,
}

/// A program that runs, and its terminal.
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
    #[error("the command cannot be got ready: {0}")]
    Unprepared(String),
}

impl LaunchError {
    /// What a shell would exit with.
    pub fn shell_code(&self) -> i32 {
        match self {
            Self::NotFound(_) => 127,
            Self::NotExecutable { .. } => 126,
            // What is wrong is what was typed.
            Self::Unprepared(_) => 64,
            Self::WorkingDirectory { .. } | Self::Terminal(_) | Self::Start(_) => 1,
        }
    }
}

impl Launch {
    /// Finds the file that would be executed. Nothing is started, so it can be asked before anything else happens.
    pub fn resolve(&self) -> Result<PathBuf, LaunchError> {
        self.check_cwd()?;
        if self.program.as_bytes().contains(&b'/') {
            let path = self.cwd.join(&self.program);
            return match executable(&path) {
                Ok(()) => Ok(path),
                Err(Errno::NOENT | Errno::NOTDIR) => Err(LaunchError::NotFound(self.program.clone())),
                Err(errno) => Err(LaunchError::NotExecutable { path, reason: errno.into() }),
            };
        }
        // As shells do: the first one that can be executed, and only if there is none, the complaint about the first that cannot.
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

        let (search_limit, given) = (descriptor_limit(), descriptors::given());
        let command = pty_process::blocking::Command::new(&path)
            .arg0(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.cwd);
        // SAFETY: between fork and exec only async-signal-safe functions may run, for another thread may have held a lock
        // when the process was forked. `isolate` makes plain system calls, and neither allocates nor locks.
        let command = unsafe { command.pre_exec(move || isolate(search_limit, given.as_ref())) };
        let child = reaper.adopt(|| command.spawn(pts)).map_err(|error| start_error(error, path))?;
        Ok(Spawned { child, reader, writer, control })
    }

    fn check_cwd(&self) -> Result<(), LaunchError> {
        let refused = |reason: io::Error| LaunchError::WorkingDirectory { path: self.cwd.clone(), reason };
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
    let is_dir =
        rustix::fs::stat(path).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())?;
    if is_dir {
        return Err(Errno::ACCESS);
    }
    access(path, Access::EXEC_OK)
}

/// Sets up the terminal before anybody uses it, so that the child never sees another size.
fn prepare_terminal(terminal: std::os::fd::BorrowedFd<'_>, size: WindowSize) -> io::Result<()> {
    set_window_size(terminal, size)?;
    let mut settings = tcgetattr(terminal)?;
    // Without it the line discipline erases one byte, not one character, when a line that is not ASCII is edited.
    settings.input_modes |= InputModes::IUTF8;
    Ok(tcsetattr(terminal, OptionalActions::Now, &settings)?)
}

fn descriptor_limit() -> i32 {
    let limit = getrlimit(Resource::Nofile).current;
    limit
        .and_then(|limit| i32::try_from(limit).ok())
        .map_or(SEARCHED_DESCRIPTORS, |limit| limit.min(SEARCHED_DESCRIPTORS))
}

/// Rids the child, between fork and exec, of what coop itself inherited or set up: open descriptors, ignored signals and the
/// raised limit of descriptors.
/// The signal mask and SIGPIPE are reset by the standard library already.
fn isolate(search_limit: i32, given: Option<&Rlimit>) -> io::Result<()> {
    // A zeroed action is the default one with no flags and no mask; the array is larger than the kernel's struct on any machine.
    let default = [0u64; 8];
    for number in 1..=64 {
        // SAFETY: the kernel reads the array, which is large enough, writes nothing, and the default action runs no code of
        // ours. The call is made directly because libc does not let its own signals be reset, and they can be inherited as
        // ignored too. It fails for the two that cannot be changed, whose action is the default anyway.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                default.as_ptr(),
                std::ptr::null_mut::<u64>(),
                KERNEL_SIGSET,
            )
        };
    }
    if !mark_range() {
        mark_each(search_limit);
    }
    match given {
        Some(limit) => Ok(setrlimit(Resource::Nofile, *limit)?),
        None => Ok(()),
    }
}

/// Has every descriptor but the standard ones close at exec, not now, because the standard library still reports through one
/// of them. False where the kernel or a sandbox does not know the call.
fn mark_range() -> bool {
    // SAFETY: the call takes three integers and touches no memory.
    let result = unsafe {
        libc::syscall(libc::SYS_close_range, FIRST_OTHER, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    result == 0
}

pub(super) fn mark_each(limit: i32) {
    for descriptor in FIRST_OTHER..limit {
        // SAFETY: F_SETFD takes an integer; for a descriptor that is not open it fails and changes nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

fn terminal_error(error: pty_process::Error) -> LaunchError {
    LaunchError::Terminal(into_io(error))
}

fn start_error(error: pty_process::Error, path: PathBuf) -> LaunchError {
    let reason = into_io(error);
    match Errno::from_io_error(&reason) {
        // The file was there a moment ago, so it is its interpreter that is missing, or the file is no program.
        Some(Errno::NOENT | Errno::ACCESS | Errno::PERM | Errno::NOEXEC | Errno::TXTBSY) => {
            LaunchError::NotExecutable { path, reason }
        }
        Some(_) | None => LaunchError::Start(reason),
    }
}

fn into_io(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(errno) => errno.into(),
    }
}
