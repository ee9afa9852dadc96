//! The one place that knows which children are not reaped: it has them started, asks for their
//! exits and stores each status. It must not know what a child is for, nor what happens after its
//! exit.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::child::{Child, Exit};
use super::guard::Guard;
use super::parent_link::ParentLink;
use super::program::Program;
use crate::os::{Delivery, Process, ProcessIdentity};

type Unreaped = HashMap<Pid, Entry>;

/// Children and SIGCHLD belong to the process as a whole, so this is a static and not a value: two
/// tables would take each other's children for orphans.
static CHILDREN: LazyLock<ChildTable> = LazyLock::new(|| ChildTable {
    unreaped: Mutex::default(),
    parent: Mutex::default(),
    sweeps: watch::Sender::new(0),
});

struct ChildTable {
    /// The children that have not been reaped. While this is locked, no child is forked and none is
    /// reaped, so the pid of an entry cannot come to mean another process.
    unreaped: Mutex<Unreaped>,
    /// Set before the first [`Reaper`] exists. Locked after `unreaped`, if both are.
    parent: Mutex<Option<ParentLink>>,
    sweeps: watch::Sender<u64>,
}

enum Entry {
    /// The next sweep after its exit reaps it and publishes the status here.
    Child(watch::Sender<Option<Exit>>),
    /// It leads a [`HeldGroup`] and stays unreaped after its exit, so that the number of the group
    /// cannot come to mean another group.
    GroupLeader,
}

impl ChildTable {
    fn lock(&self) -> MutexGuard<'_, Unreaped> {
        self.unreaped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_parent<T>(&self, act: impl FnOnce(&mut ParentLink) -> io::Result<T>) -> io::Result<T> {
        let mut parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner);
        act(parent.as_mut().ok_or_else(|| io::Error::other("coop is shutting down"))?)
    }
}

/// Starts and reaps children. It exists only once coop has become the parent of every orphan below
/// it.
#[derive(Clone, Copy)]
pub struct Reaper {
    children: &'static ChildTable,
}

impl Reaper {
    /// Makes this process a child subreaper; the guard forks and reaps the children if there is
    /// one. Exits are noticed only while [`Reaper::run`] runs.
    pub fn install(guard: Option<Guard>) -> io::Result<Self> {
        let link = ParentLink::new(guard)?;
        let mut parent = CHILDREN.parent.lock().unwrap_or_else(PoisonError::into_inner);
        parent.get_or_insert(link);
        Ok(Self { children: &CHILDREN })
    }

    /// Reaps every process that exits, from one SIGCHLD to the next; ends only when dropped or when
    /// signals cannot be received. The guard sends the signal, too.
    pub async fn run(self) -> io::Result<Infallible> {
        let mut exits = signal(SignalKind::child())?;
        loop {
            self.sweep();
            if exits.recv().await.is_none() {
                return Err(io::Error::other("SIGCHLD is not delivered any more"));
            }
        }
    }

    /// Waits until the guard process has exited; no child can be started any more.
    pub(crate) async fn close(self) {
        let parent = self.children.parent.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ParentLink::Guard { guard, .. }) = parent {
            guard.close().await;
        }
    }

    /// Lets the guard remove this file when coop is gone, or if it is a directory, the sockets and
    /// pipes in it, and the directory itself once it is empty. The directory comes first.
    pub(crate) fn remove_at_end(&self, path: &Path) {
        // Without a guard the file stays if coop is killed, and the next coop removes it.
        drop(self.children.with_parent(|parent| parent.remove_at_end(path)));
    }

    /// Starts a child and registers it, in one step as far as any sweep can see.
    pub(super) fn start_child(&self, program: Program) -> io::Result<Child> {
        let mut unreaped = self.children.lock();
        let pid = self.children.with_parent(|parent| parent.start(program))?;
        let (sender, exit) = watch::channel(None);
        unreaped.insert(pid, Entry::Child(sender));
        Ok(Child::new(pid, exit, *self))
    }

    /// Starts a program that leads a process group, as [`Reaper::start_child`] does, and holds the
    /// group until the returned value is dropped.
    pub(super) fn hold_group(&self, program: Program) -> io::Result<HeldGroup> {
        let mut unreaped = self.children.lock();
        let leader = self.children.with_parent(|parent| parent.start(program))?;
        unreaped.insert(leader, Entry::GroupLeader);
        Ok(HeldGroup { leader, reaper: *self })
    }

    /// The pid of the process that orphans get as their parent.
    pub(super) fn parent_pid(&self) -> io::Result<i32> {
        self.children.with_parent(|parent| Ok(parent.pid()))
    }

    /// The processes that run because of this child: all that belong to no other child.
    pub(super) fn tree(&self, child: Pid) -> io::Result<Vec<Process>> {
        let other_children = self.children_beside(child);
        self.children.with_parent(|parent| parent.tree(&other_children))
    }

    /// Signals exactly this process.
    pub(super) fn send(&self, process: ProcessIdentity, signal: Signal) -> io::Result<Delivery> {
        self.children.with_parent(|parent| parent.send(process, signal))
    }

    /// Whether a process of this group runs in this session.
    pub(super) fn has_member(&self, group: i32, session: i32) -> io::Result<bool> {
        self.children.with_parent(|parent| parent.has_member(group, session))
    }

    /// Changes after every sweep, that is after every exit of a child or an orphan.
    pub(super) fn sweeps(&self) -> watch::Receiver<u64> {
        self.children.sweeps.subscribe()
    }

    /// Does something to the pid of a child while it cannot mean another process; does nothing when
    /// the child has been reaped.
    pub(super) fn while_unreaped<T>(&self, pid: Pid, act: impl FnOnce() -> T) -> Option<T> {
        let unreaped = self.children.lock();
        unreaped.contains_key(&pid).then(act)
    }

    /// The pids of the unreaped children except this one.
    fn children_beside(&self, pid: Pid) -> Vec<i32> {
        let unreaped = self.children.lock();
        unreaped.keys().filter(|&&other| other != pid).map(|other| other.as_raw_pid()).collect()
    }

    fn sweep(&self) {
        let mut unreaped = self.children.lock();
        // An error means that coop is at its end, or that no process can be found: then nothing is
        // known to have exited.
        let _ = self.children.with_parent(|parent| {
            unreaped.retain(|&pid, entry| {
                let Entry::Child(exit) = entry else { return true };
                match parent.wait(pid) {
                    Ok(Some(status)) => {
                        exit.send_replace(Some(status));
                        false
                    }
                    Ok(None) | Err(_) => true,
                }
            });
            parent.sweep()
        });
        drop(unreaped);
        self.children.sweeps.send_modify(|sweeps| *sweeps += 1);
    }
}

/// A process group below coop, which is killed as a whole when this is dropped.
pub(super) struct HeldGroup {
    leader: Pid,
    reaper: Reaper,
}

impl Drop for HeldGroup {
    fn drop(&mut self) {
        let mut unreaped = self.reaper.children.lock();
        // The leader has not been reaped, so the number still means its group. An error means that
        // every member belongs to another user, which coop cannot change.
        let _ = kill_process_group(self.leader, Signal::KILL);
        match self.reaper.children.with_parent(|parent| parent.wait(self.leader)) {
            // SIGCHLD has yet to come, and the sweep that follows it reaps the leader.
            Ok(None) => {
                unreaped.insert(self.leader, Entry::Child(watch::Sender::new(None)));
            }
            Ok(Some(_)) | Err(_) => {
                unreaped.remove(&self.leader);
            }
        }
    }
}
