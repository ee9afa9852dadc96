//! Which of the session's processes is its agent. It reads processes and nothing that they say.

use crate::pty::{Identity, Process};

/// The process whose word counts: the first that speaks, for as long as it lives. An agent that the session's agent runs
/// itself inherits its hooks and keeps a status file of its own, but is another process.
#[derive(Debug, Default)]
pub(super) struct Bond(Option<Identity>);

impl Bond {
    /// Whether what this process says counts.
    pub(super) fn admits(&mut self, pid: i32, living: impl Fn(i32) -> Option<Identity>) -> bool {
        let caller = living(pid);
        match self.0 {
            // What it said at last may be read after its end.
            Some(bound) if bound.pid == pid && caller.is_none() => return true,
            Some(bound) if caller == Some(bound) => return true,
            Some(bound) if living(bound.pid) == Some(bound) => return false,
            Some(_) | None => {}
        }
        self.0 = caller;
        true
    }
}

/// The process, if it lives.
pub(super) fn living(pid: i32) -> Option<Identity> {
    Process::read(pid).filter(|process| !process.is_zombie()).map(|process| process.identity())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(living: &[(i32, u64)]) -> impl Fn(i32) -> Option<Identity> {
        move |pid| {
            living.iter().find(|(at, _)| *at == pid).map(|(pid, start)| Identity { pid: *pid, start: *start })
        }
    }

    #[test]
    fn only_the_first_process_counts_while_it_lives() {
        let mut bond = Bond::default();
        let both = table(&[(10, 1), (20, 2)]);
        assert!(bond.admits(10, &both));
        assert!(!bond.admits(20, &both));
        assert!(bond.admits(10, &both));
        assert!(bond.admits(10, table(&[(20, 2)])), "its last words");
        assert!(bond.admits(20, table(&[(20, 2)])), "the next one");
        assert!(!bond.admits(10, table(&[(10, 3), (20, 2)])), "another process with the first one's pid");
    }

    #[test]
    fn a_reused_pid_is_no_proof() {
        let mut bond = Bond::default();
        assert!(bond.admits(10, table(&[(10, 1)])));
        assert!(bond.admits(10, table(&[(10, 5)])), "the first is gone, so whoever comes is next");
        assert!(!bond.admits(11, table(&[(10, 5), (11, 6)])));
    }

    #[test]
    fn a_caller_that_is_gone_binds_nobody() {
        let mut bond = Bond::default();
        assert!(bond.admits(10, table(&[])));
        assert!(bond.admits(20, table(&[(20, 2)])));
        assert!(!bond.admits(10, table(&[(20, 2)])));
    }
}
