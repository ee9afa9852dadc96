//! Decides which of the session's processes is its agent, and which process a hook belongs to. It
//! must not know what a process reports.

use crate::os::{self, Process, ProcessIdentity};

/// Programs that an agent runs its hooks with.
const SHELLS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "ash", "ksh", "mksh", "yash", "fish", "csh", "tcsh", "nu",
    "elvish", "xonsh", "pwsh", "busybox",
];
/// How many ancestors of a hook are searched.
const MAX_ANCESTORS: usize = 64;

/// The process whose reports count: the first one that reports, for as long as it runs. An agent
/// that the session's agent runs itself inherits the hooks and has a status file of its own, but is
/// another process.
#[derive(Debug, Default)]
pub(super) struct AgentProcess(Option<ProcessIdentity>);

impl AgentProcess {
    /// Whether the reports of this process count. `running` finds a running process by its pid.
    pub(super) fn accepts(
        &mut self,
        pid: i32,
        running: impl Fn(i32) -> Option<ProcessIdentity>,
    ) -> bool {
        let caller = running(pid);
        match self.0 {
            // Its last report may be read after its exit.
            Some(bound) if bound.pid == pid && caller.is_none() => return true,
            Some(bound) if caller == Some(bound) => return true,
            Some(bound) if running(bound.pid) == Some(bound) => return false,
            Some(_) | None => {}
        }
        self.0 = caller;
        true
    }

    /// The process whose reports count, if there was one.
    pub(super) fn bound(&self) -> Option<ProcessIdentity> {
        self.0
    }
}

/// Returns the agent that runs this hook: the nearest ancestor that is not a shell. The hook must
/// wait meanwhile, or its ancestors change. Returns none unless the hook is below `root`.
pub(super) fn agent_of_hook(hook: i32, root: i32) -> Option<i32> {
    let mut agent = None;
    let mut at = hook;
    for _ in 0..MAX_ANCESTORS {
        at = Process::read(at)?.parent;
        if at <= 0 {
            return None;
        }
        if agent.is_none() && !SHELLS.contains(&os::program_name(at)?.as_str()) {
            agent = Some(at);
        }
        if at == root {
            return agent;
        }
    }
    None
}
#[cfg(test)]
mod tests {
    use super::*;

    fn table(running: &[(i32, u64)]) -> impl Fn(i32) -> Option<ProcessIdentity> {
        move |pid| {
            running
                .iter()
                .find(|(at, _)| *at == pid)
                .map(|(pid, start)| ProcessIdentity { pid: *pid, start: *start })
        }
    }

    #[test]
    fn only_the_first_process_counts_while_it_runs() {
        let mut agent_process = AgentProcess::default();
        let both = table(&[(10, 1), (20, 2)]);
        assert!(agent_process.accepts(10, &both));
        assert!(!agent_process.accepts(20, &both));
        assert!(agent_process.accepts(10, &both));
        assert!(agent_process.accepts(10, table(&[(20, 2)])), "its last report");
        assert!(agent_process.accepts(20, table(&[(20, 2)])), "the next one");
        assert!(
            !agent_process.accepts(10, table(&[(10, 3), (20, 2)])),
            "another process with the first one's pid"
        );
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let mut agent_process = AgentProcess::default();
        assert!(agent_process.accepts(10, table(&[(10, 1)])));
        assert!(
            agent_process.accepts(10, table(&[(10, 5)])),
            "the first has exited, so the next caller replaces it"
        );
        assert!(!agent_process.accepts(11, table(&[(10, 5), (11, 6)])));
    }

    #[test]
    fn a_caller_that_has_exited_is_accepted_but_does_not_become_the_agent() {
        let mut agent_process = AgentProcess::default();
        assert!(agent_process.accepts(10, table(&[])));
        assert!(agent_process.accepts(20, table(&[(20, 2)])));
        assert!(!agent_process.accepts(10, table(&[(20, 2)])));
    }

    #[test]
    fn the_agent_of_a_hook_is_the_nearest_ancestor_that_is_not_a_shell() {
        let own = rustix::process::getpid().as_raw_pid();
        // The shells wait for the program below them, because another command follows.
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "bash -c 'sleep 60; true'; true"])
            .spawn()
            .expect("a shell");
        let top = i32::try_from(shell.id()).expect("a pid");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let hook = loop {
            let tree = os::Processes::scan().expect("processes");
            let below = |pid| tree.iter().find(|process| process.parent == pid).map(|p| p.pid);
            let hook = below(top).and_then(below);
            if let Some(hook) =
                hook.filter(|pid| os::program_name(*pid).as_deref() == Some("sleep"))
            {
                break hook;
            }
            assert!(std::time::Instant::now() < deadline, "no sleep below the shells");
            std::thread::yield_now();
        };
        let found = (agent_of_hook(hook, own), agent_of_hook(hook, top), agent_of_hook(top, hook));
        let sleep = rustix::process::Pid::from_raw(hook).expect("a pid");
        rustix::process::kill_process(sleep, rustix::process::Signal::KILL).expect("killed");
        shell.wait().expect("the end of the shell");
        // Below the outer shell alone there is no agent, and nothing runs below the sleep.
        assert_eq!(found, (Some(own), None, None));
        assert_eq!(agent_of_hook(0, own), None);
    }
}
