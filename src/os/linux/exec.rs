//! What a child does between fork and exec so that it inherits no signal handling and no
//! descriptors of coop. Everything here makes plain system calls, and neither allocates nor locks.

/// The first descriptor that is not one of the three standard ones.
const FIRST_OTHER: i32 = 3;

/// The size of a signal mask in the kernel.
const KERNEL_SIGSET: usize = 8;

/// Gives every signal its default action, and blocks none. The standard library resets SIGPIPE
/// only.
pub(crate) fn reset_signals() {
    // A zeroed action is the default one with no flags and no mask; the array is larger than the
    // kernel's struct on any machine.
    let default = [0u64; 8];
    for number in 1..=64 {
        // SAFETY: the kernel reads the array, which is large enough, writes nothing, and the
        // default action runs no code of coop. The call is made directly because libc does not let
        // its own signals be reset, and they can be inherited as ignored too. It fails for the two
        // signals that cannot be changed, whose action is the default anyway.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                default.as_ptr(),
                std::ptr::null_mut::<u64>(),
                KERNEL_SIGSET,
            )
        };
    }
    let none = [0u64; KERNEL_SIGSET / size_of::<u64>()];
    // SAFETY: the kernel reads the mask, whose size is given, and writes nothing. The call is made
    // directly for the same reason.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            none.as_ptr(),
            std::ptr::null_mut::<u64>(),
            KERNEL_SIGSET,
        )
    };
}

/// Makes exec close every descriptor but the standard ones. They are not closed now, because the
/// standard library still reports through one of them. No descriptor from `search_limit` on is
/// searched where the kernel cannot mark a range itself.
pub(crate) fn close_on_exec(search_limit: i32) {
    if !mark_range() {
        mark_each(search_limit);
    }
}

/// Returns false where the kernel or a sandbox does not know the call.
fn mark_range() -> bool {
    // SAFETY: the call takes three integers and touches no memory.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST_OTHER,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    result == 0
}

fn mark_each(limit: i32) {
    for descriptor in FIRST_OTHER..limit {
        // SAFETY: F_SETFD takes an integer; for a descriptor that is not open it fails and changes
        // nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use rustix::io::FdFlags;

    use super::*;
    use crate::pty::tests::ALONE;

    #[tokio::test]
    async fn descriptors_are_marked_one_by_one_where_the_kernel_cannot_mark_a_range() {
        let _alone = ALONE.lock().await;
        let file = std::fs::File::open("/dev/null").expect("/dev/null");
        let leaky = rustix::io::dup(&file).expect("a descriptor");
        assert_eq!(rustix::io::fcntl_getfd(&leaky), Ok(FdFlags::empty()));
        mark_each(leaky.as_raw_fd() + 1);
        assert_eq!(rustix::io::fcntl_getfd(&leaky), Ok(FdFlags::CLOEXEC));
        assert_eq!(rustix::io::fcntl_getfd(rustix::stdio::stdout()), Ok(FdFlags::empty()));
    }
}
