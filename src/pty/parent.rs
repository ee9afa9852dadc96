//! What the parent of all children does: it starts them, reaps them and their orphans, and finds
//! and signals what runs below it. The guard process does it, and coop itself where there is none.
//! It must not know what a child is for, nor when its tree is to end.

use std::collections::HashSet;
use std::io;

use rustix::process::{Pid, WaitOptions, waitpid};

use super::child::Exit;
use super::program::Program;
use crate::os::{Process, Processes, TreeRoot, become_subreaper, first_zombie, own_process};

/// This process as the parent of children and of every orphan among their descendants.
pub(super) struct Parent {
    root: TreeRoot,
    /// The children that were started and have not been waited for.
    unreaped: HashSet<Pid>,
}

impl Parent {
    /// Makes this process a child subreaper.
    pub(super) fn install() -> io::Result<Self> {
        become_subreaper()?;
        let own = own_process()?;
        let root = TreeRoot { pid: own.pid, session: own.session };
        Ok(Self { root, unreaped: HashSet::new() })
    }

    pub(super) fn root(&self) -> TreeRoot {
        self.root
    }

    pub(super) fn start(&mut self, program: Program) -> io::Result<Pid> {
        let pid = program.start()?;
        self.unreaped.insert(pid);
        Ok(pid)
    }

    /// Takes over a child that another process had started, and that has become an orphan.
    pub(super) fn adopt(&mut self, pid: Pid) {
        self.unreaped.insert(pid);
    }

    /// Reaps this child if it has exited; its pid may mean another process afterwards.
    pub(super) fn wait(&mut self, pid: Pid) -> Option<Exit> {
        let exit = match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(None) => return None,
            Ok(Some((_, status))) => status.into(),
            Err(_) => Exit::Unknown,
        };
        self.unreaped.remove(&pid);
        self.reap_orphans();
        Some(exit)
    }

    /// Reaps every zombie, when the status of none is needed any more.
    pub(super) fn reap_all(&mut self) {
        while let Ok(Some((pid, _))) = rustix::process::wait(WaitOptions::NOHANG) {
            self.unreaped.remove(&pid);
        }
    }

    /// Reaps the zombies that are not children which were started here: orphans.
    ///
    /// The kernel shows one zombie at a time without a scan of all processes. If that is a child
    /// that is still to be waited for, orphans behind it are reaped after it.
    pub(super) fn reap_orphans(&self) {
        while let Some(zombie) = first_zombie() {
            if self.unreaped.contains(&zombie) {
                return;
            }
            // In coop's own session are helpers, and the code that started them waits for them.
            let is_orphan = Process::read(zombie.as_raw_pid())
                .is_some_and(|process| process.session != self.root.session);
            if !is_orphan {
                return self.search_orphans();
            }
            // The status is not needed, and an error means that the zombie is gone already.
            let _ = waitpid(Some(zombie), WaitOptions::NOHANG);
        }
    }

    /// Reaps orphans while a helper is a zombie, too, which hides them.
    fn search_orphans(&self) {
        // If the scan fails, the zombies stay until the next one, which does no other harm.
        let Ok(processes) = Processes::scan() else { return };
        let orphans = processes
            .iter()
            .filter(|process| process.parent == self.root.pid && process.is_zombie())
            .filter(|process| process.session != self.root.session)
            .filter_map(|process| Pid::from_raw(process.pid))
            .filter(|pid| !self.unreaped.contains(pid));
        for orphan in orphans {
            // As above.
            let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
        }
    }

    /// Finds the processes below this one that belong to none of `other_children`.
    pub(super) fn tree(&self, other_children: &[i32]) -> io::Result<Vec<Process>> {
        Ok(Processes::scan()?.tree(&self.root, other_children))
    }
}

/// Whether a process of this group runs in this session.
pub(super) fn has_member(group: i32, session: i32) -> io::Result<bool> {
    let processes = Processes::scan()?;
    Ok(processes.iter().any(|process| process.group == group && process.session == session))
}
