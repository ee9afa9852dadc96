//! Ends a child with all its descendants: SIGHUP first, SIGKILL after a grace period, until no
//! process is left. It must not know whether coop itself ends afterwards or starts another child.

use std::collections::HashSet;
use std::io;
use std::pin::pin;
use std::time::Duration;

use rustix::process::Pid;
use tokio::time::{Instant, sleep_until, timeout};

use super::child::Child;
use super::signal::Signal;
use crate::os::{Delivery, Process, ProcessIdentity};

/// How long to wait after SIGKILL. A process that remains is stuck in the kernel, and coop would
/// only wait with it.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// When the remaining session leaders get a second SIGHUP. A shell that gets one while it prepares
/// to read a line handles it after that line, which never comes; on a real terminal the read would
/// end too.
const SECOND_HANGUP: Duration = Duration::from_secs(1);

/// How the tree ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Termination {
    /// Whether SIGKILL was needed.
    pub killed: bool,
    /// Processes that could not be ended: they belong to another user or are stuck in the kernel.
    pub survivors: Vec<Pid>,
}

impl Child {
    /// Sends a signal to the child and all its descendants, also those that left its session or
    /// lost their parents; returns how many processes got it.
    #[cfg(test)]
    pub async fn signal_tree(&self, signal: Signal) -> io::Result<usize> {
        let mut reached = 0;
        for process in self.tree().await? {
            if self.reaper().send(process.identity(), signal.kernel()).await? == Delivery::Sent {
                reached += 1;
            }
        }
        Ok(reached)
    }

    /// Sends SIGHUP to the whole tree, waits until it is gone, and kills the rest when `grace` is
    /// over or `force` is ready.
    ///
    /// It returns once no process is left that coop can end and the child's exit status is known;
    /// the reaper must be running. It may be called again, also after the child's exit, when only
    /// its descendants are left.
    pub async fn terminate(
        &self,
        grace: Duration,
        force: impl Future<Output = ()>,
    ) -> io::Result<Termination> {
        match self.terminate_tree(grace, force).await {
            Ok(termination) => Ok(termination),
            Err(error) => {
                // Its processes cannot be listed. The child and its group are known all the same.
                drop(timeout(KILL_TIMEOUT, self.kill_group()).await);
                drop(timeout(KILL_TIMEOUT, self.wait()).await);
                Err(error)
            }
        }
    }

    async fn terminate_tree(
        &self,
        grace: Duration,
        force: impl Future<Output = ()>,
    ) -> io::Result<Termination> {
        let mut ending =
            TreeEnding { child: self, hung_up: HashSet::new(), not_permitted: HashSet::new() };
        // A guard that is stopped takes long to be given up. That is not the time of the processes.
        self.tree().await?;
        let hung_up = tokio::select! {
            hung_up = timeout(grace, ending.hang_up()) => hung_up.ok().transpose()?,
            () = force => None,
        };
        let killed = hung_up.is_none();
        if killed && let Ok(result) = timeout(KILL_TIMEOUT, ending.kill()).await {
            result?;
        }
        let survivors: Vec<Pid> =
            self.tree().await?.iter().filter_map(|process| Pid::from_raw(process.pid)).collect();
        if !survivors.contains(&self.pid()) {
            self.wait().await;
        }
        Ok(Termination { killed, survivors })
    }

    async fn tree(&self) -> io::Result<Vec<Process>> {
        self.reaper().tree(self.pid()).await
    }

    /// Kills the child and its process group, which needs no descriptor.
    async fn kill_group(&self) {
        let child = self.pid();
        let killed = self.reaper().ask(move |table| {
            // An error means that they are gone or belong to another user.
            drop(table.signal_group(child, Signal::KILL.kernel()));
            table.signal(child, Signal::KILL.kernel())
        });
        drop(killed.await);
    }
}

/// The progress of ending one child's tree.
struct TreeEnding<'a> {
    child: &'a Child,
    /// The processes that got a SIGHUP.
    hung_up: HashSet<ProcessIdentity>,
    /// The processes that coop may not signal.
    not_permitted: HashSet<ProcessIdentity>,
}

impl TreeEnding<'_> {
    /// Sends SIGHUP and returns when the tree is gone.
    ///
    /// The last process of a tree is always a child of the guard or of coop, because orphans are,
    /// so its exit raises SIGCHLD and causes a sweep.
    async fn hang_up(&mut self) -> io::Result<()> {
        let mut sweeps = self.child.reaper().sweeps();
        let mut first_scan = true;
        let mut second_hangup = pin!(sleep_until(Instant::now() + SECOND_HANGUP));
        let mut hung_up_twice = false;
        loop {
            sweeps.mark_unchanged();
            let tree = self.signallable().await?;
            if tree.is_empty() {
                return Ok(());
            }
            let parent = self.child.reaper().parent_pid().await?;
            for process in &tree {
                // A process that appears later may do the cleanup that its parent runs because of
                // the hangup, so it gets no SIGHUP while it has that parent.
                let is_due = first_scan || process.parent == parent;
                if is_due && self.hung_up.insert(process.identity()) {
                    self.send(process, Signal::HUP).await?;
                    // A stopped process handles the hangup only when it continues.
                    self.send(process, Signal::CONT).await?;
                }
            }
            first_scan = false;
            tokio::select! {
                // The sender is a static, so this never fails.
                _ = sweeps.changed() => {}
                () = &mut second_hangup, if !hung_up_twice => {
                    hung_up_twice = true;
                    let tree = self.signallable().await?;
                    for leader in tree.iter().filter(|process| process.leads_session()) {
                        self.send(leader, Signal::HUP).await?;
                    }
                }
            }
        }
    }

    /// Sends SIGKILL and returns when the tree is gone. A process that was forked during a scan is
    /// found by the next one, which the exit of its parent causes.
    async fn kill(&mut self) -> io::Result<()> {
        let mut sweeps = self.child.reaper().sweeps();
        loop {
            sweeps.mark_unchanged();
            let tree = self.signallable().await?;
            if tree.is_empty() {
                return Ok(());
            }
            for process in &tree {
                self.send(process, Signal::KILL).await?;
            }
            let _ = sweeps.changed().await;
        }
    }

    async fn signallable(&self) -> io::Result<Vec<Process>> {
        let mut tree = self.child.tree().await?;
        tree.retain(|process| !self.not_permitted.contains(&process.identity()));
        Ok(tree)
    }

    async fn send(&mut self, process: &Process, signal: Signal) -> io::Result<()> {
        match self.child.reaper().send(process.identity(), signal.kernel()).await? {
            Delivery::Sent | Delivery::Gone => {}
            Delivery::NotPermitted => {
                self.not_permitted.insert(process.identity());
            }
        }
        Ok(())
    }
}
