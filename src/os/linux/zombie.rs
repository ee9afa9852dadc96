//! Children that have exited and have not been waited for.

use rustix::process::Pid;

/// Returns one zombie among the children of this process, and leaves it a zombie.
pub(crate) fn first_zombie() -> Option<Pid> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: a zeroed `siginfo_t` is a valid one, the kernel writes to it for the duration of the
    // call only, and for a call that succeeds its pid is set, or stays zero if there is no zombie.
    let pid = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        match libc::waitid(libc::P_ALL, 0, &raw mut info, options) {
            0 => info.si_pid(),
            _ => 0,
        }
    };
    Pid::from_raw(pid)
}
