//! The parent of all children, wherever it runs: in the guard process, or in coop itself if there
//! is no guard or it was killed. It must not know what a child is for.

use std::io;
use std::path::Path;

use rustix::process::{Pid, Signal};

use super::child::Exit;
use super::guard::{Guard, Lost};
use super::parent::{self, Parent};
use super::program::Program;
use crate::os::{Delivery, Process, ProcessIdentity};

/// Who forks and reaps.
pub(super) enum ParentLink {
    /// The guard process, and the children that it has started and not reaped.
    Guard {
        guard: Guard,
        unreaped: Vec<Pid>,
    },
    Own(Parent),
}

impl ParentLink {
    /// coop becomes a subreaper in either case: if the guard is killed, its children become coop's.
    pub(super) fn new(guard: Option<Guard>) -> io::Result<Self> {
        let own = Parent::install()?;
        Ok(match guard {
            Some(guard) => Self::Guard { guard, unreaped: Vec::new() },
            None => Self::Own(own),
        })
    }

    /// The pid of the process that orphans get as their parent.
    pub(super) fn pid(&self) -> i32 {
        match self {
            Self::Guard { guard, .. } => guard.pid().as_raw_pid(),
            Self::Own(own) => own.root().pid,
        }
    }

    pub(super) fn start(&mut self, program: Program) -> io::Result<Pid> {
        match self {
            Self::Own(own) => own.start(program),
            Self::Guard { guard, unreaped } => match guard.start_program(program) {
                Ok(started) => {
                    unreaped.extend(started.as_ref().ok());
                    started
                }
                Err(Lost) => {
                    self.take_over()?;
                    Err(io::Error::other("the guard process has ended; try again"))
                }
            },
        }
    }

    /// Reaps this child if it has exited.
    pub(super) fn wait(&mut self, pid: Pid) -> io::Result<Option<Exit>> {
        let exit = self.with(|guard| guard.wait(pid), |own| Ok(own.wait(pid)))?;
        if let (Self::Guard { unreaped, .. }, Some(_)) = (self, exit) {
            unreaped.retain(|other| *other != pid);
        }
        Ok(exit)
    }

    pub(super) fn tree(&mut self, other_children: &[i32]) -> io::Result<Vec<Process>> {
        self.with(|guard| guard.tree(other_children.to_vec()), |own| own.tree(other_children))
    }

    /// Whether a process of this group runs in this session.
    pub(super) fn has_member(&mut self, group: i32, session: i32) -> io::Result<bool> {
        let own = |_: &mut Parent| parent::has_member(group, session);
        self.with(|guard| guard.has_member(group, session), own)
    }

    /// Signals exactly this process.
    pub(super) fn send(
        &mut self,
        process: ProcessIdentity,
        signal: Signal,
    ) -> io::Result<Delivery> {
        self.with(|guard| guard.send(process, signal), |_| process.send(signal))
    }

    /// See [`Guard::remove_at_end`].
    pub(super) fn remove_at_end(&mut self, path: &Path) -> io::Result<()> {
        self.with(|guard| guard.remove_at_end(path).map(Ok), |_| Ok(()))
    }

    /// Reaps orphans and notices the end of the guard. The guard reaps its own orphans.
    pub(super) fn sweep(&mut self) -> io::Result<()> {
        match self {
            Self::Guard { guard, .. } if guard.has_exited() => self.take_over(),
            Self::Guard { .. } => Ok(()),
            Self::Own(own) => {
                own.reap_orphans();
                Ok(())
            }
        }
    }

    /// Asks the guard, and if it is lost, coop itself.
    fn with<T>(
        &mut self,
        ask: impl FnOnce(&mut Guard) -> Result<io::Result<T>, Lost>,
        act: impl FnOnce(&mut Parent) -> io::Result<T>,
    ) -> io::Result<T> {
        if let Self::Guard { guard, .. } = self {
            match ask(guard) {
                Ok(answered) => return answered,
                Err(Lost) => self.take_over()?,
            }
        }
        match self {
            Self::Own(own) => act(own),
            Self::Guard { .. } => Err(io::Error::other("the guard process does not respond")),
        }
    }

    /// The guard is lost: coop is the parent of its children as soon as it has exited.
    fn take_over(&mut self) -> io::Result<()> {
        let own = Self::Own(Parent::install()?);
        let Self::Guard { guard, unreaped } = std::mem::replace(self, own) else { return Ok(()) };
        tracing::error!(
            pid = guard.pid().as_raw_pid(),
            "the guard process was ended; a SIGKILL of coop would now leave processes behind"
        );
        guard.kill();
        if let Self::Own(own) = self {
            unreaped.into_iter().for_each(|pid| own.adopt(pid));
        }
        Ok(())
    }
}
