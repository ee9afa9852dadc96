//! The signals that Linux has, and how exactly one process gets one.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::os::process::{Delivery, Process, ProcessIdentity};

/// The highest signal number.
const LAST: i32 = 64;

/// Every name of a signal; where one signal has several, the usual name comes first.
pub(crate) const SIGNAL_NAMES: [(&str, Signal); 35] = [
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("ILL", Signal::ILL),
    ("TRAP", Signal::TRAP),
    ("ABRT", Signal::ABORT),
    ("IOT", Signal::ABORT),
    ("BUS", Signal::BUS),
    ("FPE", Signal::FPE),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("SEGV", Signal::SEGV),
    ("USR2", Signal::USR2),
    ("PIPE", Signal::PIPE),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("STKFLT", Signal::STKFLT),
    ("CHLD", Signal::CHILD),
    ("CLD", Signal::CHILD),
    ("CONT", Signal::CONT),
    ("STOP", Signal::STOP),
    ("TSTP", Signal::TSTP),
    ("TTIN", Signal::TTIN),
    ("TTOU", Signal::TTOU),
    ("URG", Signal::URG),
    ("XCPU", Signal::XCPU),
    ("XFSZ", Signal::XFSZ),
    ("VTALRM", Signal::VTALARM),
    ("PROF", Signal::PROF),
    ("WINCH", Signal::WINCH),
    ("IO", Signal::IO),
    ("POLL", Signal::IO),
    ("PWR", Signal::POWER),
    ("SYS", Signal::SYS),
    ("UNUSED", Signal::SYS),
];

/// Returns the signal with this number, also one of the real-time signals, which have no names.
pub(crate) fn signal_from_number(number: i32) -> Option<Signal> {
    if !(1..=LAST).contains(&number) {
        return None;
    }
    let named = Signal::from_named_raw(number);
    // SAFETY: the number lies in 1..=64, so it is a signal that the kernel knows. The ones that
    // libc reserves must not be caught or blocked in this process, and coop only ever sends signals
    // to other processes.
    Some(named.unwrap_or_else(|| unsafe { Signal::from_raw_unchecked(number) }))
}

pub(in crate::os) fn send_signal(process: ProcessIdentity, signal: Signal) -> io::Result<Delivery> {
    let Some(pid) = signallable(process.pid) else {
        return Ok(Delivery::Gone);
    };
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => Some(pidfd),
        Err(Errno::SRCH) => return Ok(Delivery::Gone),
        // Kernels and sandboxes without pidfd: the check below still leaves only a very small
        // window.
        Err(Errno::NOSYS | Errno::PERM | Errno::MFILE | Errno::NFILE) => None,
        Err(errno) => return Err(errno.into()),
    };
    if Process::read(process.pid).is_none_or(|now| now.identity() != process) {
        return Ok(Delivery::Gone);
    }
    let sent = match pidfd {
        Some(pidfd) => pidfd_send_signal(pidfd, signal),
        None => kill_process(pid, signal),
    };
    match sent {
        Ok(()) => Ok(Delivery::Sent),
        Err(Errno::SRCH) => Ok(Delivery::Gone),
        Err(Errno::PERM) => Ok(Delivery::NotPermitted),
        Err(errno) => Err(errno.into()),
    }
}

/// Zero and negative numbers address groups and all processes, and 1 is init: none of them is a
/// descendant of coop.
fn signallable(pid: i32) -> Option<Pid> {
    if pid <= 1 { None } else { Pid::from_raw(pid) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::own_process;

    #[test]
    fn groups_and_init_are_never_signalled() {
        for pid in [-7, -1, 0, 1] {
            assert_eq!(signallable(pid), None);
        }
    }

    #[test]
    fn a_later_process_with_the_same_pid_is_not_signalled() {
        let mut own = own_process().expect("our own stat").identity();
        own.start += 1;
        assert_eq!(send_signal(own, Signal::KILL).expect("checked"), Delivery::Gone);
    }
}
