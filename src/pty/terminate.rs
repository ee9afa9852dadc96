//! Ending a child with everything it ever started: first politely, then by force, until nobody is left.
//! It must not know whether coop itself ends afterwards or starts another child.

use std::collections::HashSet;
use std::io;
use std::pin::pin;
use std::time::Duration;

use rustix::process::Pid;
use tokio::time::{Instant, sleep_until, timeout};

use super::child::Child;
use super::process::{Delivery, Identity, Process, Processes};
use super::signal::Signal;

/// SIGKILL needs no consent, so whoever is still there after this long is stuck in the kernel, and waiting on would only
/// make coop stick as well.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// When session leaders that are still there are hung up on once more. Shells take a hangup that comes while they get ready
/// to read a line for something to be seen to after that line, which never comes; on a real terminal the read would end too.
const REMINDER: Duration = Duration::from_secs(1);

/// How the end came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminated {
    /// Whether SIGKILL was needed.
    pub killed: bool,
    /// Processes that could not be ended: another user's, or stuck in the kernel.
    pub survivors: Vec<Pid>,
}

impl Child {
    /// Sends a signal to the child and all its descendants, also those that left its session or lost their parents; answers
    /// how many processes got it.
    pub fn signal_tree(&self, signal: Signal) -> io::Result<usize> {
        let mut reached = 0;
        for process in self.tree()? {
            if process.send(signal)? == Delivery::Sent {
                reached += 1;
            }
        }
        Ok(reached)
    }

    /// Hangs up on the whole tree, waits until it is gone, and kills what is left when `grace` is over or `force` is ready.
    ///
    /// It returns once no process is left that could be ended, with the child's own exit known; the reaper must be running.
    /// It may be called again, also after the child's exit, when only its descendants are left.
    pub async fn terminate(
        &self,
        grace: Duration,
        force: impl Future<Output = ()>,
    ) -> io::Result<Terminated> {
        let mut end = End { child: self, hung_up: HashSet::new(), out_of_reach: HashSet::new() };
        let went = tokio::select! {
            went = timeout(grace, end.hang_up()) => went.ok().transpose()?,
            () = force => None,
        };
        let killed = went.is_none();
        if killed && let Ok(done) = timeout(LAST_WAIT, end.kill()).await {
            done?;
        }
        let survivors: Vec<Pid> =
            self.tree()?.iter().filter_map(|process| Pid::from_raw(process.pid)).collect();
        if !survivors.contains(&self.pid()) {
            self.wait().await;
        }
        Ok(Terminated { killed, survivors })
    }

    fn tree(&self) -> io::Result<Vec<Process>> {
        let siblings = self.siblings();
        Ok(Processes::scan()?.tree(&self.reaper().home(), &siblings))
    }
}

/// What has been done so far to end one child's tree.
struct End<'a> {
    child: &'a Child,
    hung_up: HashSet<Identity>,
    out_of_reach: HashSet<Identity>,
}

impl End<'_> {
    /// Ends when the tree is gone.
    ///
    /// The last process of a tree is always a child of coop's, because orphans are, so its death is a SIGCHLD and no death
    /// that matters goes unnoticed.
    async fn hang_up(&mut self) -> io::Result<()> {
        let mut sweeps = self.child.reaper().sweeps();
        let home = self.child.reaper().home().pid;
        let mut first_look = true;
        let mut reminder = pin!(sleep_until(Instant::now() + REMINDER));
        let mut reminded = false;
        loop {
            sweeps.mark_unchanged();
            let tree = self.reachable()?;
            if tree.is_empty() {
                return Ok(());
            }
            for process in &tree {
                // Who appears later may be the cleaning up that somebody does because of the hangup, and is left in peace as
                // long as that somebody waits for it. An orphan has nobody who waits.
                let is_due = first_look || process.parent == home;
                if is_due && self.hung_up.insert(process.identity()) {
                    self.send(process, Signal::HUP)?;
                    // A stopped process sees the hangup only when it goes on.
                    self.send(process, Signal::CONT)?;
                }
            }
            first_look = false;
            tokio::select! {
                // The sender is a static, so this only ever ends by a sweep.
                _ = sweeps.changed() => {}
                () = &mut reminder, if !reminded => {
                    reminded = true;
                    for leader in self.reachable()?.iter().filter(|process| process.leads_session()) {
                        self.send(leader, Signal::HUP)?;
                    }
                }
            }
        }
    }

    /// Ends when the tree is gone. What was forked while we looked is found at the next look, which the death of its parent
    /// brings about.
    async fn kill(&mut self) -> io::Result<()> {
        let mut sweeps = self.child.reaper().sweeps();
        loop {
            sweeps.mark_unchanged();
            let tree = self.reachable()?;
            if tree.is_empty() {
                return Ok(());
            }
            for process in &tree {
                self.send(process, Signal::KILL)?;
            }
            let _ = sweeps.changed().await;
        }
    }

    fn reachable(&self) -> io::Result<Vec<Process>> {
        let mut tree = self.child.tree()?;
        tree.retain(|process| !self.out_of_reach.contains(&process.identity()));
        Ok(tree)
    }

    fn send(&mut self, process: &Process, signal: Signal) -> io::Result<()> {
        match process.send(signal)? {
            Delivery::Sent | Delivery::Gone => {}
            Delivery::OutOfReach => {
                self.out_of_reach.insert(process.identity());
            }
        }
        Ok(())
    }
}
