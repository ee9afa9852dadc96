//! The processes of this machine as values, and which of them are below coop because of a child.
//! It must not decide which signal a process gets, nor wait for anything.

use std::collections::HashMap;
use std::io;

use rustix::process::Signal;

use super::system;

/// How often a parent that exited during the scan is looked up again; each round needs yet another
/// parent to exit meanwhile.
const PARENT_LOOKUPS: usize = 16;

/// One process at the moment of the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// The foreground process group of its terminal; not positive if it has no terminal.
    pub(crate) foreground: i32,
    pub(crate) state: ProcessState,
    /// When it started, in the system's own unit.
    pub(crate) start: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessState {
    Alive,
    /// Stopped by a signal.
    Stopped,
    /// Exited, and not yet reaped.
    Zombie,
}

/// What distinguishes a process from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: i32,
    /// When it started, in the system's own unit.
    pub(crate) start: u64,
}

/// The result of sending a signal to one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Sent,
    /// The process has exited.
    Gone,
    /// The process belongs to another user (sudo, a setuid program): coop may not signal it.
    NotPermitted,
}

impl Process {
    /// Returns the process with this pid, if there is one.
    pub(crate) fn read(pid: i32) -> Option<Self> {
        system::read_process(pid)
    }

    pub(crate) fn identity(&self) -> ProcessIdentity {
        ProcessIdentity { pid: self.pid, start: self.start }
    }

    pub(crate) fn is_zombie(&self) -> bool {
        self.state == ProcessState::Zombie
    }

    pub(crate) fn leads_session(&self) -> bool {
        self.pid == self.session
    }

    /// Signals exactly the process that was scanned, not a later one with the same pid.
    pub(crate) fn send(&self, signal: Signal) -> io::Result<Delivery> {
        self.identity().send(signal)
    }
}

impl ProcessIdentity {
    /// Returns the process with this pid if it runs and is not a zombie.
    pub(crate) fn of_running(pid: i32) -> Option<Self> {
        Process::read(pid).filter(|process| !process.is_zombie()).map(|process| process.identity())
    }

    /// Signals this very process, not a later one with the same pid.
    pub(crate) fn send(self, signal: Signal) -> io::Result<Delivery> {
        system::send_signal(self, signal)
    }

    /// Whether this very process still runs.
    pub(crate) fn is_running(self) -> bool {
        Self::of_running(self.pid) == Some(self)
    }
}

/// The process that the tree starts from: coop itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeRoot {
    pub(crate) pid: i32,
    pub(crate) session: i32,
}

/// All processes that this process can see.
pub(crate) struct Processes(HashMap<i32, Process>);

impl Processes {
    pub(crate) fn scan() -> io::Result<Self> {
        let processes = system::read_processes()?;
        Ok(Self(processes.into_iter().map(|process| (process.pid, process)).collect()))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.0.values()
    }

    /// Returns the processes that run below `root` because a child of it started them.
    ///
    /// A process in coop's own session is a helper of coop and never part of the result: a child on
    /// a terminal starts a session of its own, and no descendant can return to coop's. A process
    /// that belongs to one of `other_children` is not part of it either. An orphan that left every
    /// known session is, because nothing else can have started it.
    ///
    /// An empty result is exact, although the scan takes time: a process that was missed because it
    /// was just forked has a parent that was seen alive, and a parent that exited during the scan
    /// is looked up again.
    pub(crate) fn tree(mut self, root: &TreeRoot, other_children: &[i32]) -> Vec<Process> {
        let candidates: Vec<i32> = self
            .iter()
            .filter(|process| !process.is_zombie())
            .filter(|process| process.session != root.session)
            .filter(|process| !other_children.contains(&process.session))
            .filter(|process| process.pid > 1 && process.pid != root.pid)
            .map(|process| process.pid)
            .collect();
        candidates
            .into_iter()
            .filter(|&pid| self.descends(pid, root, other_children))
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|pid| self.0.remove(&pid))
            .collect()
    }

    fn descends(&mut self, pid: i32, root: &TreeRoot, other_children: &[i32]) -> bool {
        let mut at = pid;
        let mut lookups = 0;
        // No chain of parents is longer than the table, so a pid that is reused within the scan
        // cannot make this loop endless.
        for _ in 0..self.0.len().saturating_add(PARENT_LOOKUPS) {
            if at == root.pid {
                return true;
            }
            if other_children.contains(&at) {
                return false;
            }
            let Some(parent) = self.0.get(&at).map(|process| process.parent) else {
                return false;
            };
            if parent <= 0 {
                return false;
            }
            if self.0.contains_key(&parent) {
                at = parent;
                continue;
            }
            // The kernel gives children a new parent before their old one disappears, so the second
            // lookup is right, or the parent is hidden from coop and so is everything above it.
            lookups += 1;
            match Process::read(at) {
                Some(now) if now.parent != parent && lookups <= PARENT_LOOKUPS => {
                    self.0.insert(at, now);
                }
                Some(_) | None => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, state: ProcessState, parent: i32, session: i32) -> Process {
        Process { pid, parent, group: pid, session, foreground: -1, state, start: 1 }
    }

    fn alive(pid: i32, parent: i32, session: i32) -> Process {
        process(pid, ProcessState::Alive, parent, session)
    }

    fn table(processes: &[Process]) -> Processes {
        Processes(processes.iter().map(|p| (p.pid, p.clone())).collect())
    }

    fn pids(mut tree: Vec<Process>) -> Vec<i32> {
        tree.sort_by_key(|process| process.pid);
        tree.iter().map(|process| process.pid).collect()
    }

    const ROOT: TreeRoot = TreeRoot { pid: 900_000_010, session: 900_000_001 };
    const BASE: i32 = 900_000_000;

    #[test]
    fn the_tree_holds_the_childs_descendants_and_orphans_only() {
        let processes = table(&[
            // init, and coop
            alive(1, 0, 1),
            alive(ROOT.pid, 1, ROOT.session),
            // the child, its child, and a daemon below a zombie
            alive(BASE + 20, ROOT.pid, BASE + 20),
            alive(BASE + 21, BASE + 20, BASE + 20),
            alive(BASE + 22, BASE + 23, BASE + 22),
            process(BASE + 23, ProcessState::Zombie, BASE + 21, BASE + 20),
            // an orphaned daemon
            alive(BASE + 24, ROOT.pid, BASE + 24),
            // a helper of coop
            alive(BASE + 30, ROOT.pid, ROOT.session),
            // a process that coop did not start
            alive(BASE + 40, 1, BASE + 40),
            // another child, its daemon and its orphan
            alive(BASE + 50, ROOT.pid, BASE + 50),
            alive(BASE + 51, BASE + 50, BASE + 51),
            alive(BASE + 52, ROOT.pid, BASE + 50),
            // a process with a hidden parent
            alive(BASE + 60, BASE + 99, BASE + 60),
        ]);
        let tree = processes.tree(&ROOT, &[BASE + 50]);
        assert_eq!(pids(tree), [BASE + 20, BASE + 21, BASE + 22, BASE + 24]);
    }

    #[test]
    fn coop_as_init_of_a_container_is_never_in_its_own_tree() {
        let root = TreeRoot { pid: 1, session: 1 };
        // coop, its child, and a process that was started from outside of the container
        let processes = table(&[alive(1, 0, 1), alive(7, 1, 7), alive(9, 0, 9)]);
        assert_eq!(pids(processes.tree(&root, &[])), [7]);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let processes =
            table(&[alive(BASE + 2, BASE + 3, BASE + 2), alive(BASE + 3, BASE + 2, BASE + 2)]);
        assert_eq!(pids(processes.tree(&ROOT, &[])), [0; 0]);
    }

    #[test]
    fn only_a_running_process_has_an_identity() {
        let own = rustix::process::getpid().as_raw_pid();
        let identity = ProcessIdentity::of_running(own).expect("this process");
        assert!(identity.is_running());
        assert!(!ProcessIdentity { start: identity.start + 1, ..identity }.is_running());
        assert_eq!(ProcessIdentity::of_running(0), None);
    }
}
