//! The one place that knows which children are not reaped. The pid of an entry cannot come to mean
//! another process, because only this table has children reaped, and each of its methods is one
//! step. It must not know which thread it is on.

use std::collections::HashMap;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::sync::watch;

use super::child::Exit;
use super::guard::Guard;
use super::parent_link::ParentLink;
use super::program::Program;
use super::signal::SignalError;
use crate::os::Process;

/// The children that have not been reaped, and what forks and reaps them.
pub(super) struct ChildTable {
    unreaped: HashMap<Pid, Entry>,
    /// None once coop is about to exit.
    parent: Option<ParentLink>,
}

enum Entry {
    /// The next sweep after its exit reaps it and publishes the status here.
    Child(watch::Sender<Option<Exit>>),
    /// It leads a group that is held and stays unreaped after its exit, so that the number of the
    /// group cannot come to mean another group.
    GroupLeader,
}

impl ChildTable {
    pub(super) fn new(parent: ParentLink) -> Self {
        Self { unreaped: HashMap::new(), parent: Some(parent) }
    }

    pub(super) fn parent(&mut self) -> io::Result<&mut ParentLink> {
        self.parent.as_mut().ok_or_else(|| io::Error::other("coop is shutting down"))
    }

    pub(super) fn start_child(
        &mut self,
        program: Program,
    ) -> io::Result<(Pid, watch::Receiver<Option<Exit>>)> {
        let pid = self.parent()?.start(program)?;
        let (sender, exit) = watch::channel(None);
        self.unreaped.insert(pid, Entry::Child(sender));
        Ok((pid, exit))
    }

    /// Starts a program that leads a process group; returns the group's number.
    pub(super) fn start_group(&mut self, program: Program) -> io::Result<Pid> {
        let leader = self.parent()?.start(program)?;
        self.unreaped.insert(leader, Entry::GroupLeader);
        Ok(leader)
    }

    /// Kills a group that was started here.
    pub(super) fn end_group(&mut self, leader: Pid) -> io::Result<()> {
        // The leader has not been reaped, so the number still means its group. An error means that
        // every member belongs to another user, which coop cannot change.
        let _ = kill_process_group(leader, Signal::KILL);
        self.unreaped.remove(&leader);
        if self.parent()?.wait(leader)?.is_none() {
            // SIGCHLD has yet to come, and the sweep that follows it reaps the leader.
            self.unreaped.insert(leader, Entry::Child(watch::Sender::new(None)));
        }
        Ok(())
    }

    /// The processes that run because of this child: all that belong to no other child.
    pub(super) fn tree(&mut self, child: Pid) -> io::Result<Vec<Process>> {
        let others = self.unreaped.keys().filter(|&&other| other != child);
        let others: Vec<i32> = others.map(|other| other.as_raw_pid()).collect();
        self.parent()?.tree(&others)
    }

    /// Signals this child alone.
    pub(super) fn signal(&self, child: Pid, signal: Signal) -> Result<(), SignalError> {
        self.check_unreaped(child)?;
        kill_process(child, signal).map_err(refused)
    }

    /// Signals the process group that this child leads.
    pub(super) fn signal_group(&self, child: Pid, signal: Signal) -> Result<(), SignalError> {
        self.check_unreaped(child)?;
        kill_process_group(child, signal).map_err(refused)
    }

    /// Signals a process group in the session that this child leads.
    pub(super) fn signal_job(
        &mut self,
        child: Pid,
        job: Pid,
        signal: Signal,
    ) -> Result<(), SignalError> {
        // The terminal stores the number of its foreground group even after the last member has
        // exited, and the number may mean another group by now. Only a group with a member in the
        // child's session is the right one.
        if !self.parent()?.has_member(job.as_raw_pid(), child.as_raw_pid())? {
            return Ok(());
        }
        match kill_process_group(job, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(refused(errno)),
        }
    }

    fn check_unreaped(&self, child: Pid) -> Result<(), SignalError> {
        self.unreaped.contains_key(&child).then_some(()).ok_or(SignalError::Exited)
    }

    /// Reaps every child and orphan that has exited.
    pub(super) fn sweep(&mut self) -> io::Result<()> {
        let Self { unreaped, parent: Some(parent) } = self else { return Ok(()) };
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
        // An error means that no process can be found: then nothing is known to have exited.
        drop(parent.sweep());
        Ok(())
    }

    /// No child can be started any more. Returns the guard if it has removed coop's files, and is
    /// to exit.
    pub(super) fn close(&mut self) -> io::Result<Option<Guard>> {
        Ok(match self.parent.take() {
            Some(ParentLink::Guard { guard, .. }) => guard.remove_files(),
            Some(ParentLink::Own(_)) | None => None,
        })
    }
}

fn refused(errno: Errno) -> SignalError {
    SignalError::Refused(errno.into())
}
