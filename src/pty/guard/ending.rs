//! Ends everything below the guard process once coop is gone: SIGHUP first, then SIGKILL, until no
//! process is left. It needs no thread, no fork and no descriptor of coop's.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::process::Signal;

use super::serve::Exits;
use crate::os::{Delivery, Process, ProcessIdentity};
use crate::pty::parent::Parent;

/// How long processes may take to exit after SIGHUP. Their terminal is gone, and no caller waits
/// for what they save.
const GRACE: Duration = Duration::from_secs(2);

/// How long an exit is awaited before the processes are listed again: one that was forked during
/// the last scan raises no signal, nor does one that is stuck in the kernel.
const RESCAN: Duration = Duration::from_millis(50);

/// Returns when no process is left that this one may signal.
pub(super) fn end_everything(parent: &mut Parent, exits: &Exits) {
    let deadline = Instant::now() + GRACE;
    let mut ending = Ending { parent, hung_up: HashSet::new(), not_permitted: HashSet::new() };
    loop {
        let kill = Instant::now() >= deadline;
        match ending.signal_all(kill) {
            Some(0) => return,
            // Without a list of processes, the next attempt may do better, but only so often.
            None if Instant::now() >= deadline + GRACE => return,
            Some(_) | None => exits.wait(timespec(RESCAN)),
        }
    }
}

struct Ending<'a> {
    parent: &'a mut Parent,
    hung_up: HashSet<ProcessIdentity>,
    /// Processes of other users.
    not_permitted: HashSet<ProcessIdentity>,
}

impl Ending<'_> {
    /// Signals every process that is due; returns how many are left, if that can be found out.
    fn signal_all(&mut self, kill: bool) -> Option<usize> {
        self.parent.reap_all();
        let mut tree = self.parent.tree(&[]).ok()?;
        tree.retain(|process| !self.not_permitted.contains(&process.identity()));
        for process in &tree {
            if kill {
                self.send(process, Signal::KILL);
            } else if self.hung_up.insert(process.identity()) {
                self.send(process, Signal::HUP);
                // A stopped process handles the hangup only when it continues.
                self.send(process, Signal::CONT);
            }
        }
        Some(tree.len())
    }

    fn send(&mut self, process: &Process, signal: Signal) {
        match process.send(signal) {
            Ok(Delivery::NotPermitted) => {
                self.not_permitted.insert(process.identity());
            }
            // What could not be signalled is found again by the next scan.
            Ok(Delivery::Sent | Delivery::Gone) | Err(_) => {}
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: duration.subsec_nanos().into() }
}
