//! The guard process: between coop and every child, started before coop has a second thread. It
//! forks and reaps the children, so all that they start runs below it, and when coop is gone, also
//! because of a SIGKILL, it ends all of that and removes the session's files.
//!
//! Here is coop's handle to it. It must not know what a child is for.

mod ending;
mod files;
mod message;
mod serve;
mod socket;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
use tokio::signal::unix::SignalKind;

use self::message::{Answer, Ask, HasMember, Reply, Request, Send, Sent, Start, Tree};
use self::socket::Socket;
use super::child::Exit;
use super::program::Program;
use crate::os::{self, Delivery, Process, ProcessIdentity};

/// How long the guard may take to start a program, which may be on a slow disk.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the guard may take for any other request. A guard that is stopped does not answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long the guard may take to exit after coop's last child has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// coop's handle to its guard process, which ends everything when this is closed or dropped.
pub struct Guard {
    pid: Pid,
    socket: Socket,
}

/// The guard process has exited or does not respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost;

/// What the guard answered, or the error that the request led to.
type Answered<T> = Result<io::Result<T>, Lost>;

impl Guard {
    /// Forks the guard process. Must be called before coop starts a thread.
    pub fn start() -> io::Result<Self> {
        let (socket, guards) = Socket::pair()?;
        let coop = getpid();
        match os::fork()? {
            Some(pid) => Ok(Self { pid, socket }),
            None => {
                drop(socket);
                // If the guard cannot be set up it exits, and coop notices that.
                drop(serve::run(guards, coop));
                os::exit_at_once()
            }
        }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn start_program(&mut self, program: Program) -> Answered<Pid> {
        let (start, streams) = Start::split(program);
        let started = self.ask(Ask::Start(start), Some(streams))?;
        answered(started, |answer| match answer {
            Answer::Started(pid) => Pid::from_raw(pid),
            _ => None,
        })
    }

    pub(super) fn wait(&mut self, pid: Pid) -> Answered<Option<Exit>> {
        let waited = self.ask(Ask::Wait(pid.as_raw_pid()), None)?;
        answered(waited, |answer| match answer {
            Answer::Waited(waited) => Some(waited.into()),
            _ => None,
        })
    }

    pub(super) fn tree(&mut self, other_children: Vec<i32>) -> Answered<Vec<Process>> {
        let tree = self.ask(Ask::Tree(Tree { other_children }), None)?;
        answered(tree, |answer| match answer {
            Answer::Tree(tree) => Some(tree.into()),
            _ => None,
        })
    }

    pub(super) fn has_member(&mut self, group: i32, session: i32) -> Answered<bool> {
        let has_member = self.ask(Ask::HasMember(HasMember { group, session }), None)?;
        answered(has_member, |answer| match answer {
            Answer::Done(has_member) => Some(has_member),
            _ => None,
        })
    }

    pub(super) fn send(&mut self, process: ProcessIdentity, signal: Signal) -> Answered<Delivery> {
        let ProcessIdentity { pid, start } = process;
        let sent = self.ask(Ask::Send(Send { pid, start, signal: signal.as_raw() }), None)?;
        answered(sent, |answer| match answer {
            Answer::Sent(sent) => Sent::try_from(sent).ok().map(Delivery::from),
            _ => None,
        })
    }

    /// Lets the guard remove this file when coop is gone, or if it is a directory, the sockets and
    /// pipes in it, and the directory itself once it is empty.
    pub(super) fn remove_at_end(&mut self, path: &Path) -> Result<(), Lost> {
        self.ask(Ask::RemoveAtEnd(path.as_os_str().as_bytes().to_vec()), None).map(drop)
    }

    fn ask(&mut self, ask: Ask, descriptor: Option<OwnedFd>) -> Result<Answer, Lost> {
        let timeout = if matches!(ask, Ask::Start(_)) { START_TIMEOUT } else { TIMEOUT };
        let request = Request { ask: Some(ask) };
        let descriptor = descriptor.as_ref().map(|descriptor| descriptor.as_fd());
        let reply = self
            .socket
            .set_timeout(timeout)
            .and_then(|()| self.socket.send(&request, descriptor))
            .and_then(|()| self.socket.receive());
        match reply {
            Ok(Some((Reply { answer: Some(answer) }, _))) => Ok(answer),
            Ok(_) => Err(Lost),
            // The guard has received nothing of it, and serves the next request.
            Err(error) if error.kind() == io::ErrorKind::ArgumentListTooLong => {
                Ok(Answer::Failed(rustix::io::Errno::TOOBIG.raw_os_error()))
            }
            Err(_) => Err(Lost),
        }
    }

    /// Whether the guard process has exited.
    pub(super) fn has_exited(&self) -> bool {
        !matches!(waitpid(Some(self.pid), WaitOptions::NOHANG), Ok(None))
    }

    /// Ends a guard that does not respond, so that its children become orphans.
    pub(super) fn kill(self) {
        if !self.has_exited() {
            // The guard has not been reaped, so the pid is still its own.
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = waitpid(Some(self.pid), WaitOptions::empty());
        }
    }

    /// Tells the guard that coop has cleaned up; ends the guard if it does not respond.
    pub(super) fn remove_files(mut self) -> Option<Self> {
        match self.ask(Ask::RemoveFiles(true), None) {
            Ok(_) => Some(self),
            Err(Lost) => {
                self.kill();
                None
            }
        }
    }

    /// Lets the guard go, and waits until it has exited.
    pub(super) async fn close(self) {
        let Self { pid, socket } = self;
        let Ok(mut exits) = tokio::signal::unix::signal(SignalKind::child()) else { return };
        drop(socket);
        let exited = async {
            while let Ok(None) = waitpid(Some(pid), WaitOptions::NOHANG) {
                if exits.recv().await.is_none() {
                    return;
                }
            }
        };
        if tokio::time::timeout(EXIT_TIMEOUT, exited).await.is_err() {
            tracing::warn!("the guard process still waits for processes that coop could not end");
        }
    }
}

/// Takes the expected answer out of a reply.
fn answered<T>(answer: Answer, take: impl FnOnce(Answer) -> Option<T>) -> Answered<T> {
    match answer {
        Answer::Failed(errno) => Ok(Err(io::Error::from_raw_os_error(errno))),
        other => take(other).map(Ok).ok_or(Lost),
    }
}
