//! A copy of this process that goes on with other work: how it is made, and how it lets go of what
//! it shares with the original.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};

use rustix::process::Pid;

/// The first descriptor that is not one of the three standard ones.
const FIRST_OTHER: libc::c_uint = 3;

/// Forks this process; returns the copy's pid, and none in the copy. Fails if the process has
/// several threads: the copy has only one, and locks that the others held would stay locked.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let message = format!("a process with {threads} threads cannot be forked");
        return Err(io::Error::other(message));
    }
    // SAFETY: this process has one thread, so the copy is complete and may run any code.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Blocks every signal that can be blocked; returns a descriptor that is readable when a child has
/// exited. A child that is to get signals must unblock them.
pub(crate) fn block_signals() -> io::Result<OwnedFd> {
    // SAFETY: all bits of the sets are written by `sigfillset` and `sigemptyset` before they are
    // read, the calls get pointers to them for their duration only, and this process has one
    // thread, whose mask is the one that is changed. A new descriptor has no other owner.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut exits: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigemptyset(&raw mut exits);
        libc::sigaddset(&raw mut exits, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        match libc::signalfd(-1, &raw const exits, flags) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Closes every descriptor that this process inherited, except `kept` and the standard ones, which
/// become `/dev/null`.
///
/// Only [`exit_at_once`] may end the process afterwards, because values that own one of these
/// descriptors must not be dropped.
pub(crate) fn close_inherited(kept: &impl AsFd) -> io::Result<()> {
    let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop(null);
    let kept = libc::c_uint::try_from(kept.as_fd().as_raw_fd()).unwrap_or(FIRST_OTHER);
    close_range(FIRST_OTHER, kept.saturating_sub(1));
    close_range(kept + 1, libc::c_uint::MAX);
    Ok(())
}

/// Where the kernel or a sandbox does not know the call, the descriptors stay open, which delays
/// the end of pipes until this process exits.
fn close_range(first: libc::c_uint, last: libc::c_uint) {
    if first <= last {
        // SAFETY: the call takes three integers. The caller promises that the owners of the
        // descriptors are never used again.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

/// Sets the name that `ps` and `top` show for this process.
pub(crate) fn name_process(name: &std::ffi::CStr) {
    // SAFETY: the kernel copies the string, which ends with a NUL byte.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Ends this process without running destructors.
pub(crate) fn exit_at_once() -> ! {
    // SAFETY: the call takes an integer and does not return.
    unsafe { libc::_exit(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_several_threads_is_not_forked() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("second".to_owned());
        let thread = thread.spawn(move || stopped.recv().is_err()).expect("a thread");
        let error = fork().expect_err("the test has a second thread");
        assert!(error.to_string().contains("threads"), "{error}");
        drop(stop);
        thread.join().expect("the thread ends");
    }
}
