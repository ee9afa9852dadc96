//! Signals by name and number, and how the child and the foreground job of its terminal get one. It
//! must not know why a signal is sent, nor wait for its effect.

use std::fmt;
use std::io;
use std::str::FromStr;

use futures_util::future::BoxFuture;
use rustix::io::Errno;
use rustix::process::{Pid, Signal as KernelSignal, kill_process_group};

use super::child::Child;
use super::master::Control;
use super::parent::has_member;
use crate::os::{Process, ProcessIdentity, SIGNAL_NAMES, signal_from_number};

/// A signal that can be sent; it is never 0, which would only check that the process exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signal(KernelSignal);

impl Signal {
    pub const HUP: Self = Self(KernelSignal::HUP);
    pub const INT: Self = Self(KernelSignal::INT);
    pub const TERM: Self = Self(KernelSignal::TERM);
    pub const KILL: Self = Self(KernelSignal::KILL);
    pub const CONT: Self = Self(KernelSignal::CONT);

    pub fn number(self) -> i32 {
        self.0.as_raw()
    }

    pub(super) fn kernel(self) -> KernelSignal {
        self.0
    }

    fn from_number(number: i32) -> Option<Self> {
        signal_from_number(number).map(Self)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SIGNAL_NAMES.iter().find(|(_, signal)| *signal == self.0) {
            Some((name, _)) => write!(f, "SIG{name}"),
            None => write!(f, "{}", self.number()),
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signal({self})")
    }
}

/// Text that is not the name or number of a signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0:?}")]
pub struct UnknownSignal(pub String);

impl FromStr for Signal {
    type Err = UnknownSignal;

    /// Parses `SIGINT`, `int` or `2`: the name with or without the prefix, in any case, or the
    /// number.
    fn from_str(text: &str) -> Result<Self, UnknownSignal> {
        let unknown = || UnknownSignal(text.to_owned());
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = text.parse().map_err(|_| unknown())?;
            return Self::from_number(number).ok_or_else(unknown);
        }
        let upper = text.to_ascii_uppercase();
        let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
        let found = SIGNAL_NAMES.iter().find(|(name, _)| *name == bare);
        found.map(|(_, signal)| Self(*signal)).ok_or_else(unknown)
    }
}

/// Why a signal was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    #[error("the child has exited")]
    Exited,
    #[error("the signal was refused: {0}")]
    Refused(#[from] io::Error),
}

/// Which processes get a signal that is meant for the foreground job.
#[derive(Debug, PartialEq, Eq)]
enum SignalTarget {
    Child,
    /// The child is in the foreground itself. A session leader cannot leave its own group, so the
    /// signal to the group reaches the child, which must not get another one.
    ChildGroup,
    JobAndChild(Pid),
}

impl SignalTarget {
    fn of(child: Pid, foreground: Option<Pid>) -> Self {
        match foreground {
            None => Self::Child,
            Some(group) if group == child => Self::ChildGroup,
            Some(group) => Self::JobAndChild(group),
        }
    }
}

impl Child {
    /// Sends a signal to the child alone. It is queued when this is called: signals are sent in the
    /// order of the calls.
    pub fn signal(&self, signal: Signal) -> BoxFuture<'static, Result<(), SignalError>> {
        let child = self.pid();
        self.reaper().ask(move |table| table.signal(child, signal.kernel()))
    }

    /// Sends a signal to the terminal's foreground process group and to the child, once to each
    /// process; otherwise as [`Child::signal`].
    pub fn signal_foreground(
        &self,
        terminal: &Control,
        signal: Signal,
    ) -> BoxFuture<'static, Result<(), SignalError>> {
        let (child, signal) = (self.pid(), signal.kernel());
        let target = SignalTarget::of(child, terminal.foreground_group());
        self.reaper().ask(move |table| match target {
            SignalTarget::Child => table.signal(child, signal),
            SignalTarget::ChildGroup => table.signal_group(child, signal),
            SignalTarget::JobAndChild(job) => {
                // The child comes first, while it still waits for its job: a shell that gets an
                // interrupt after its job has ended discards the input at its next prompt.
                table.signal(child, signal)?;
                table.signal_job(child, job, signal)
            }
        })
    }
}

/// Sends a signal to the foreground process group of a process that coop did not start. The process
/// leads the session of its terminal.
pub(crate) fn signal_foreground_of(
    leader: ProcessIdentity,
    signal: Signal,
) -> Result<(), SignalError> {
    let leading =
        Process::read(leader.pid).filter(|now| now.identity() == leader && !now.is_zombie());
    let leading = leading.ok_or(SignalError::Exited)?;
    let group = if leading.foreground > 1 { leading.foreground } else { leading.group };
    // Its last member may have exited, and the number may mean another group by now.
    let exists = has_member(group, leading.session)?;
    match Pid::from_raw(group).filter(|group| exists && group.as_raw_pid() > 1) {
        Some(group) => match kill_process_group(group, signal.kernel()) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(SignalError::Refused(errno.into())),
        },
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_with_and_without_prefix_in_any_case() {
        for text in ["SIGINT", "INT", "int", "sigint", "SigInt", "2", "02"] {
            assert_eq!(text.parse(), Ok(Signal::INT), "{text}");
        }
        assert_eq!("iot".parse::<Signal>().map(Signal::number), Ok(6));
        assert_eq!("SIGCLD".parse::<Signal>().map(Signal::number), Ok(17));
    }

    #[test]
    fn every_number_from_1_to_64_is_a_signal() {
        for number in 1..=64 {
            let parsed: Signal = number.to_string().parse().expect("a signal number");
            assert_eq!(parsed.number(), number);
        }
    }

    #[test]
    fn a_printed_signal_parses_to_itself() {
        for number in 1..=64 {
            let signal = Signal::from_number(number).expect("in range");
            assert_eq!(signal.to_string().parse(), Ok(signal));
        }
        assert_eq!(Signal::HUP.to_string(), "SIGHUP");
        assert_eq!("ABRT".parse::<Signal>().map(|s| s.to_string()), Ok("SIGABRT".into()));
    }

    #[test]
    fn no_process_is_signalled_twice() {
        let pid = |number| Pid::from_raw(number).expect("a pid");
        assert_eq!(SignalTarget::of(pid(7), None), SignalTarget::Child);
        assert_eq!(SignalTarget::of(pid(7), Some(pid(7))), SignalTarget::ChildGroup);
        assert_eq!(SignalTarget::of(pid(7), Some(pid(9))), SignalTarget::JobAndChild(pid(9)));
    }

    #[test]
    fn other_text_is_quoted_in_the_error() {
        for text in [
            "",
            "0",
            "65",
            "-1",
            "-9",
            "+9",
            " 9",
            "SIG",
            "SIGSIGINT",
            "SIG9",
            "INT ",
            "99999999999999",
            "é",
        ] {
            let error = text.parse::<Signal>().expect_err(text);
            assert_eq!(error, UnknownSignal(text.to_owned()));
            assert!(error.to_string().contains(&format!("{text:?}")));
        }
    }
}
