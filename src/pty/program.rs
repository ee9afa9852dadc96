//! A program that is to be executed, and how it is: as the leader of a session of its own, without
//! descriptors and signal handling of coop. It must not know which process forks it, nor why.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Resource, getrlimit, ioctl_tiocsctty, setrlimit, setsid};

use super::descriptors;
use crate::os::{close_on_exec, reset_signals};

/// The last descriptor to be closed one by one where the kernel cannot close a range.
const SEARCHED_DESCRIPTORS: i32 = 1 << 20;

/// What is executed, and with which standard streams.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// The name that the program is told it was called by.
    pub(super) name: OsString,
    pub(super) args: Vec<OsString>,
    /// The whole environment; later entries win over earlier ones.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
    pub(super) streams: Streams,
}

/// Where the standard streams of a program lead.
#[derive(Debug)]
pub(super) enum Streams {
    /// All of them to this terminal, which becomes the controlling terminal.
    Terminal(OwnedFd),
    /// The output to this pipe; there is no input, and errors are discarded.
    Output(OwnedFd),
}

impl Program {
    /// Forks and executes; returns once the program runs.
    pub(super) fn start(self) -> io::Result<Pid> {
        let mut command = Command::new(&self.path);
        command
            .arg0(&self.name)
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.cwd);
        let has_terminal = match self.streams {
            Streams::Terminal(terminal) => {
                command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal);
                true
            }
            Streams::Output(output) => {
                command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
                false
            }
        };
        let mut isolate = isolation();
        // SAFETY: between fork and exec only async-signal-safe functions may run, for another
        // thread may have held a lock when the process was forked. `setsid` and the ioctl are
        // system calls, and `isolation` says that its closure makes plain system calls only.
        unsafe {
            command.pre_exec(move || {
                setsid()?;
                if has_terminal {
                    ioctl_tiocsctty(rustix::stdio::stdin())?;
                }
                isolate()
            })
        };
        Ok(Pid::from_child(&command.spawn()?))
    }
}

fn descriptor_limit() -> i32 {
    let limit = getrlimit(Resource::Nofile).current;
    limit
        .and_then(|limit| i32::try_from(limit).ok())
        .map_or(SEARCHED_DESCRIPTORS, |limit| limit.min(SEARCHED_DESCRIPTORS))
}

/// Returns what a child runs between fork and exec: it removes what coop itself inherited or set
/// up, which is open descriptors, ignored signals and the raised limit of descriptors.
///
/// The closure makes plain system calls, and neither allocates nor locks.
fn isolation() -> impl FnMut() -> io::Result<()> + Send + Sync + 'static {
    let (search_limit, original) = (descriptor_limit(), descriptors::original_limit());
    move || {
        reset_signals();
        close_on_exec(search_limit);
        match &original {
            Some(limit) => Ok(setrlimit(Resource::Nofile, *limit)?),
            None => Ok(()),
        }
    }
}
