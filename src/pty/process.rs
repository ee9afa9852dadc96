//! What `/proc` says about the processes of this machine, and which of them are below coop because of a child.
//! It reads and it signals single processes; it must not decide which signal, nor wait for anything.

use std::collections::HashMap;
use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, kill_process, pidfd_open, pidfd_send_signal};

use super::signal::Signal;

/// How often a parent that died during the scan is looked up again; each round needs yet another parent to die meanwhile.
const PARENT_LOOKUPS: usize = 16;

/// One process at the moment of the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(super) pid: i32,
    pub(crate) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// The group that its terminal's input goes to; no group if it has no terminal.
    pub(super) foreground: i32,
    state: u8,
    threads: i64,
    start: u64,
}

/// What tells a process from a later one with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) pid: i32,
    pub(crate) start: u64,
}

/// What became of a signal to one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Sent,
    Gone,
    /// The process belongs to another user (sudo, a setuid program): no signal of ours will ever reach it.
    OutOfReach,
}

impl Process {
    pub(crate) fn read(pid: i32) -> Option<Self> {
        parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity { pid: self.pid, start: self.start }
    }

    pub(crate) fn is_zombie(&self) -> bool {
        // A process whose first thread ended shows as a zombie while its other threads run on.
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads <= 1
    }

    pub(super) fn leads_session(&self) -> bool {
        self.pid == self.session
    }

    #[cfg(test)]
    pub(super) fn is_stopped(&self) -> bool {
        self.state == b'T'
    }

    /// Signals exactly the process that was scanned, not one that got its pid since.
    pub(super) fn send(&self, signal: Signal) -> io::Result<Delivery> {
        let Some(pid) = signallable(self.pid) else {
            return Ok(Delivery::Gone);
        };
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Some(pidfd),
            Err(Errno::SRCH) => return Ok(Delivery::Gone),
            // Kernels and sandboxes without pidfd: the check below still leaves only a very small window.
            Err(Errno::NOSYS | Errno::PERM | Errno::MFILE | Errno::NFILE) => None,
            Err(errno) => return Err(errno.into()),
        };
        if Self::read(self.pid).is_none_or(|now| now.start != self.start) {
            return Ok(Delivery::Gone);
        }
        let sent = match pidfd {
            Some(pidfd) => pidfd_send_signal(pidfd, signal.kernel()),
            None => kill_process(pid, signal.kernel()),
        };
        match sent {
            Ok(()) => Ok(Delivery::Sent),
            Err(Errno::SRCH) => Ok(Delivery::Gone),
            Err(Errno::PERM) => Ok(Delivery::OutOfReach),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Zero, negative numbers and init address groups, everybody and the machine: they are nobody's descendants.
fn signallable(pid: i32) -> Option<Pid> {
    if pid <= 1 { None } else { Pid::from_raw(pid) }
}

/// All processes that `/proc` shows.
pub(super) struct Processes(HashMap<i32, Process>);

impl Processes {
    pub(super) fn scan() -> io::Result<Self> {
        let mut found = HashMap::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if let Some(process) = Process::read(pid) {
                found.insert(pid, process);
            }
        }
        Ok(Self(found))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.0.values()
    }

    /// The processes that are alive below `home` because a child of it started them.
    ///
    /// Whatever runs in coop's own session is coop's own helper and never counts: a child on a terminal starts a session of
    /// its own, and no descendant can return to ours. Nor counts what belongs to one of `others`, children that live on.
    /// An orphan that left every session we know counts, because it cannot be anything else.
    ///
    /// An empty answer is exact, although the scan takes time: a process missed because it was just forked has a parent
    /// that was seen alive, and a parent that died during the scan is looked up again.
    pub(super) fn tree(mut self, home: &Home, others: &[i32]) -> Vec<Process> {
        let candidates: Vec<i32> = self
            .iter()
            .filter(|process| !process.is_zombie())
            .filter(|process| process.session != home.session)
            .filter(|process| !others.contains(&process.session))
            .filter(|process| process.pid > 1 && process.pid != home.pid)
            .map(|process| process.pid)
            .collect();
        candidates
            .into_iter()
            .filter(|&pid| self.descends(pid, home, others))
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|pid| self.0.remove(&pid))
            .collect()
    }

    fn descends(&mut self, pid: i32, home: &Home, others: &[i32]) -> bool {
        let mut at = pid;
        let mut lookups = 0;
        // No chain of parents is longer than the table, so a pid reused within the scan cannot lead us in circles.
        for _ in 0..self.0.len().saturating_add(PARENT_LOOKUPS) {
            if at == home.pid {
                return true;
            }
            if others.contains(&at) {
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
            // The kernel gives children a new parent before their old one disappears, so the second look is right, or the
            // parent is hidden from us and so are its doings.
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

/// The process that everything hangs from: coop itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    pub(super) pid: i32,
    pub(super) session: i32,
}

/// Reads one `/proc/PID/stat`. The command name may contain anything, parentheses and newlines too, but it is the only field
/// that does.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|&byte| byte == b'(')?;
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The numbering of proc_pid_stat(5), whose third field is the first one after the name.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        pid: pid.trim().parse().ok()?,
        state: *field(3)?.as_bytes().first()?,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        foreground: field(8)?.parse().ok()?,
        threads: field(20)?.parse().ok()?,
        start: field(22)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: i32, name: &str, state: char, parent: i32, session: i32, threads: i64) -> Process {
        let line = format!(
            "{pid} ({name}) {state} {parent} {pid} {session} 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 {threads} 0 {start} 1 2 3\n",
            start = 1000 + pid
        );
        parse_stat(line.as_bytes()).expect("a stat line")
    }

    fn table(processes: &[Process]) -> Processes {
        Processes(processes.iter().map(|p| (p.pid, p.clone())).collect())
    }

    fn pids(mut tree: Vec<Process>) -> Vec<i32> {
        tree.sort_by_key(|process| process.pid);
        tree.iter().map(|process| process.pid).collect()
    }

    const HOME: Home = Home { pid: 900_000_010, session: 900_000_001 };
    const BASE: i32 = 900_000_000;

    #[test]
    fn a_hostile_command_name_does_not_shift_the_fields() {
        let process = stat(77, "a) R 1 1 (b\n", 'S', 5, 6, 1);
        assert_eq!((process.pid, process.parent, process.group, process.session), (77, 5, 77, 6));
        assert_eq!(process.start, 1077);
        assert_eq!(process.state, b'S');
    }

    #[test]
    fn truncated_lines_are_no_process() {
        let line = b"77 (x) S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 1077 1";
        assert!(parse_stat(line).is_some());
        for end in 0..line.len() - 8 {
            assert_eq!(parse_stat(&line[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_leader_that_ended_before_its_threads_is_alive() {
        assert!(stat(5, "x", 'Z', 1, 5, 1).is_zombie());
        assert!(!stat(5, "x", 'Z', 1, 5, 3).is_zombie());
        assert!(!stat(5, "x", 'T', 1, 5, 1).is_zombie());
    }

    #[test]
    fn own_processes_can_be_read() {
        let own = Process::read(rustix::process::getpid().as_raw_pid()).expect("our own stat");
        assert_eq!(own.pid, rustix::process::getpid().as_raw_pid());
        assert_eq!(own.parent, rustix::process::getppid().map_or(0, Pid::as_raw_pid));
        assert!(!own.is_zombie());
    }

    /// The session is read off a process that started one of its own: ours may have begun outside of what we can see (a
    /// container's first process keeps the session of whoever started the container), and is then no number at all.
    #[test]
    fn a_session_is_known_by_its_first_process() {
        let mut leader = std::process::Command::new("setsid")
            .arg("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("setsid");
        let pid = i32::try_from(leader.id()).expect("a pid");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        // `setsid` is one and the same process before and after it has started the session.
        let session = loop {
            let session = Process::read(pid).expect("its stat").session;
            if session == pid || std::time::Instant::now() > deadline {
                break session;
            }
            std::thread::yield_now();
        };
        drop(leader.stdin.take());
        leader.wait().expect("the end of cat");
        assert_eq!(session, pid);
    }

    #[test]
    fn the_tree_holds_the_childs_descendants_and_strays_only() {
        let processes = table(&[
            stat(1, "init", 'S', 0, 1, 1),
            stat(HOME.pid, "coop", 'S', 1, HOME.session, 4),
            stat(BASE + 20, "child", 'S', HOME.pid, BASE + 20, 1),
            stat(BASE + 21, "grandchild", 'S', BASE + 20, BASE + 20, 1),
            stat(BASE + 22, "below a zombie", 'S', BASE + 23, BASE + 22, 1),
            stat(BASE + 23, "zombie", 'Z', BASE + 21, BASE + 20, 1),
            stat(BASE + 24, "stray daemon", 'S', HOME.pid, BASE + 24, 1),
            stat(BASE + 30, "our helper", 'S', HOME.pid, HOME.session, 1),
            stat(BASE + 40, "neighbour", 'S', 1, BASE + 40, 1),
            stat(BASE + 50, "another child", 'S', HOME.pid, BASE + 50, 1),
            stat(BASE + 51, "its daemon", 'S', BASE + 50, BASE + 51, 1),
            stat(BASE + 52, "its orphan", 'S', HOME.pid, BASE + 50, 1),
            stat(BASE + 60, "hidden parent", 'S', BASE + 99, BASE + 60, 1),
        ]);
        let tree = processes.tree(&HOME, &[BASE + 50]);
        assert_eq!(pids(tree), [BASE + 20, BASE + 21, BASE + 22, BASE + 24]);
    }

    #[test]
    fn coop_as_init_of_a_container_is_never_in_its_own_tree() {
        let home = Home { pid: 1, session: 1 };
        let processes = table(&[
            stat(1, "coop", 'S', 0, 1, 4),
            stat(7, "child", 'S', 1, 7, 1),
            stat(9, "from outside", 'S', 0, 9, 1),
        ]);
        assert_eq!(pids(processes.tree(&home, &[])), [7]);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let processes = table(&[
            stat(BASE + 2, "a", 'S', BASE + 3, BASE + 2, 1),
            stat(BASE + 3, "b", 'S', BASE + 2, BASE + 2, 1),
        ]);
        assert_eq!(pids(processes.tree(&HOME, &[])), [0; 0]);
    }

    #[test]
    fn nobody_and_init_are_never_signalled() {
        for pid in [-7, -1, 0, 1] {
            assert_eq!(signallable(pid), None);
        }
        let mut own = Process::read(rustix::process::getpid().as_raw_pid()).expect("our own stat");
        own.start += 1;
        assert_eq!(own.send(Signal::KILL).expect("checked"), Delivery::Gone, "another process with our pid");
    }
}
