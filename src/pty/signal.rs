//! Signals as people write them, and the ways to deliver one to the child and to what runs in its terminal.
//! It must not know why a signal is sent, nor how long anybody waits for its effect.

use std::fmt;
use std::io;
use std::str::FromStr;

use rustix::io::Errno;
use rustix::process::{Pid, Signal as KernelSignal, kill_process, kill_process_group};

use super::child::Child;
use super::master::Control;
use super::process::{Identity, Process, Processes};

/// The highest signal number that Linux has.
const LAST: i32 = 64;

/// Every name that Linux gives to a signal; where one signal has several, the usual name comes first.
const NAMES: [(&str, KernelSignal); 35] = [
    ("HUP", KernelSignal::HUP),
    ("INT", KernelSignal::INT),
    ("QUIT", KernelSignal::QUIT),
    ("ILL", KernelSignal::ILL),
    ("TRAP", KernelSignal::TRAP),
    ("ABRT", KernelSignal::ABORT),
    ("IOT", KernelSignal::ABORT),
    ("BUS", KernelSignal::BUS),
    ("FPE", KernelSignal::FPE),
    ("KILL", KernelSignal::KILL),
    ("USR1", KernelSignal::USR1),
    ("SEGV", KernelSignal::SEGV),
    ("USR2", KernelSignal::USR2),
    ("PIPE", KernelSignal::PIPE),
    ("ALRM", KernelSignal::ALARM),
    ("TERM", KernelSignal::TERM),
    ("STKFLT", KernelSignal::STKFLT),
    ("CHLD", KernelSignal::CHILD),
    ("CLD", KernelSignal::CHILD),
    ("CONT", KernelSignal::CONT),
    ("STOP", KernelSignal::STOP),
    ("TSTP", KernelSignal::TSTP),
    ("TTIN", KernelSignal::TTIN),
    ("TTOU", KernelSignal::TTOU),
    ("URG", KernelSignal::URG),
    ("XCPU", KernelSignal::XCPU),
    ("XFSZ", KernelSignal::XFSZ),
    ("VTALRM", KernelSignal::VTALARM),
    ("PROF", KernelSignal::PROF),
    ("WINCH", KernelSignal::WINCH),
    ("IO", KernelSignal::IO),
    ("POLL", KernelSignal::IO),
    ("PWR", KernelSignal::POWER),
    ("SYS", KernelSignal::SYS),
    ("UNUSED", KernelSignal::SYS),
];

/// A signal that can be sent; it is never 0, so sending one is never a mere probe.
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
        if !(1..=LAST).contains(&number) {
            return None;
        }
        let named = KernelSignal::from_named_raw(number);
        // SAFETY: the number lies in 1..=64, so it is a signal that the kernel knows. The ones that libc keeps for itself
        // must not be caught or blocked in this process, and coop only ever sends signals to other processes.
        Some(Self(named.unwrap_or_else(|| unsafe { KernelSignal::from_raw_unchecked(number) })))
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, signal)| *signal == self.0) {
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

/// Text that names no signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal {0:?}")]
pub struct UnknownSignal(pub String);

impl FromStr for Signal {
    type Err = UnknownSignal;

    /// Takes `SIGINT`, `int`, `2`: with or without the prefix, in any case, or the number.
    fn from_str(text: &str) -> Result<Self, UnknownSignal> {
        let unknown = || UnknownSignal(text.to_owned());
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = text.parse().map_err(|_| unknown())?;
            return Self::from_number(number).ok_or_else(unknown);
        }
        let upper = text.to_ascii_uppercase();
        let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
        let found = NAMES.iter().find(|(name, _)| *name == bare);
        found.map(|(_, signal)| Self(*signal)).ok_or_else(unknown)
    }
}

/// Why a signal reached nobody.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    #[error("the child has exited")]
    Exited,
    #[error("the signal was refused: {0}")]
    Refused(#[from] io::Error),
}

/// Who gets a signal that is meant for what runs in the terminal.
#[derive(Debug, PartialEq, Eq)]
enum Audience {
    Child,
    /// A session leader cannot leave its own group, so what the group gets the child gets, and must not get again.
    ChildsGroup,
    JobAndChild(Pid),
}

impl Audience {
    fn of(child: Pid, foreground: Option<Pid>) -> Self {
        match foreground {
            None => Self::Child,
            Some(group) if group == child => Self::ChildsGroup,
            Some(group) => Self::JobAndChild(group),
        }
    }
}

impl Child {
    /// Sends a signal to the child alone.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        self.send_with(|pid| kill_process(pid, signal.kernel()))
    }

    /// Sends a signal to the terminal's foreground process group and to the child, once to each process.
    pub fn signal_foreground(&self, terminal: &Control, signal: Signal) -> Result<(), SignalError> {
        match Audience::of(self.pid(), terminal.foreground_group()) {
            Audience::Child => self.signal(signal),
            Audience::ChildsGroup => self.send_with(|pid| kill_process_group(pid, signal.kernel())),
            Audience::JobAndChild(job) => {
                // The child comes first, while it surely waits for its job: a shell that saw the job end and got an interrupt
                // only then would throw away what is being typed at its next prompt.
                self.signal(signal)?;
                self.signal_job(job, signal)
            }
        }
    }

    fn signal_job(&self, job: Pid, signal: Signal) -> Result<(), SignalError> {
        // The terminal remembers its foreground group by number even after the last member died, and the number may belong
        // to strangers by now. Only a group with a member in the child's session is the one that was meant.
        let is_ours =
            Processes::scan()?.iter().any(|process| process.group == job.as_raw_pid() && self.leads(process));
        if !is_ours {
            return Ok(());
        }
        match kill_process_group(job, signal.kernel()) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(SignalError::Refused(errno.into())),
        }
    }

    fn send_with(&self, send: impl FnOnce(Pid) -> Result<(), Errno>) -> Result<(), SignalError> {
        let sent = self.while_unreaped(|| send(self.pid()));
        sent.ok_or(SignalError::Exited)?.map_err(|errno| SignalError::Refused(errno.into()))
    }
}

/// Sends a signal to the foreground process group of the terminal that a process of somebody else's leads.
pub(super) fn signal_foreground_of(leader: Identity, signal: Signal) -> Result<(), SignalError> {
    let leading = Process::read(leader.pid).filter(|now| now.identity() == leader && !now.is_zombie());
    let leading = leading.ok_or(SignalError::Exited)?;
    let group = if leading.foreground > 1 { leading.foreground } else { leading.group };
    // As above: the number may have outlived its group.
    let is_there =
        Processes::scan()?.iter().any(|process| process.group == group && process.session == leading.session);
    match Pid::from_raw(group).filter(|group| is_there && group.as_raw_pid() > 1) {
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
    fn names_are_taken_with_and_without_prefix_in_any_case() {
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
    fn what_is_printed_can_be_read_back() {
        for number in 1..=64 {
            let signal = Signal::from_number(number).expect("in range");
            assert_eq!(signal.to_string().parse(), Ok(signal));
        }
        assert_eq!(Signal::HUP.to_string(), "SIGHUP");
        assert_eq!("ABRT".parse::<Signal>().map(|s| s.to_string()), Ok("SIGABRT".into()));
    }

    #[test]
    fn nobody_is_signalled_twice() {
        let pid = |number| Pid::from_raw(number).expect("a pid");
        assert_eq!(Audience::of(pid(7), None), Audience::Child);
        assert_eq!(Audience::of(pid(7), Some(pid(7))), Audience::ChildsGroup);
        assert_eq!(Audience::of(pid(7), Some(pid(9))), Audience::JobAndChild(pid(9)));
    }

    #[test]
    fn anything_else_is_named_in_the_error() {
        for text in
            ["", "0", "65", "-1", "-9", "+9", " 9", "SIG", "SIGSIGINT", "SIG9", "INT ", "99999999999999", "é"]
        {
            let error = text.parse::<Signal>().expect_err(text);
            assert_eq!(error, UnknownSignal(text.to_owned()));
            assert!(error.to_string().contains(&format!("{text:?}")));
        }
    }
}
