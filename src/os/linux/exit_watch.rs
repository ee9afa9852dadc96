//! Reports the end of a process that need not be a child of this one.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::os::process::ProcessIdentity;

/// Waits for the end of one process, without polling.
#[derive(Debug)]
pub(crate) struct ExitWatch(AsyncFd<OwnedFd>);

impl ExitWatch {
    /// Returns none if the process has ended already.
    pub(crate) fn new(process: ProcessIdentity) -> io::Result<Option<Self>> {
        let Some(pid) = Pid::from_raw(process.pid) else { return Ok(None) };
        let descriptor = pidfd_open(pid, PidfdFlags::NONBLOCK);
        // The descriptor is that of the right process if this one still has its pid afterwards.
        if !process.is_running() {
            return Ok(None);
        }
        let descriptor = descriptor?;
        // SAFETY: an owned descriptor stays open and the same for as long as its value lives, and
        // the value is moved into the watch.
        let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE)? };
        Ok(Some(Self(watched)))
    }

    /// Whether the process has ended.
    pub(crate) fn has_ended(&self) -> bool {
        let mut poll_list = [PollFd::new(&self.0, PollFlags::IN)];
        // It cannot be interrupted, because it does not wait.
        poll(&mut poll_list, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Resolves when the process has ended, even if its parent has not asked for its status.
    pub(crate) async fn ended(&self) {
        // An error of the wait itself leaves nothing to wait for; the caller looks for itself.
        drop(self.0.readable().await);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_process_is_reported_before_it_is_reaped() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat");
        let pid = i32::try_from(child.id()).expect("a pid");
        let process = ProcessIdentity::of_running(pid).expect("it runs");
        let watch = ExitWatch::new(process).expect("a descriptor").expect("it runs");
        assert!(timeout(Duration::from_millis(50), watch.ended()).await.is_err());
        assert!(!watch.has_ended());
        drop(child.stdin.take());
        timeout(Duration::from_secs(20), watch.ended()).await.expect("in time");
        assert!(watch.has_ended() && !process.is_running());
        assert!(ExitWatch::new(process).expect("no error").is_none(), "it is a zombie");
        child.wait().expect("its status");
    }
}
