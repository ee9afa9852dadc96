//! The one place that waits for processes: it keeps each child's exit status, and buries the orphans that a subreaper inherits.
//! It must not know what a child is for, nor what happens after its exit.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::process::{
    Pid, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, set_child_subreaper, waitid, waitpid,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::process::{Home, Process, Processes};

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// The process is gone and the kernel kept no status, as it does when SIGCHLD is ignored.
    Unknown,
}

impl Exit {
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Unknown => None,
        }
    }

    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Code(_) | Self::Unknown => None,
        }
    }

    /// The one number that a shell would show for it.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
            Self::Unknown => 255,
        }
    }
}

impl From<WaitStatus> for Exit {
    fn from(status: WaitStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Unknown,
        }
    }
}

type Wards = HashMap<Pid, watch::Sender<Option<Exit>>>;

/// Waiting belongs to the process as a whole, as its children and SIGCHLD do, so this is a static and not a value: two of them
/// would take each other's children for orphans.
static NURSERY: LazyLock<Nursery> =
    LazyLock::new(|| Nursery { wards: Mutex::default(), sweeps: watch::Sender::new(0) });

struct Nursery {
    /// The children that have not been reaped. While this is locked nobody forks a child and nobody reaps one, so the pid of
    /// a ward cannot come to mean another process.
    wards: Mutex<Wards>,
    sweeps: watch::Sender<u64>,
}

impl Nursery {
    fn lock(&self) -> MutexGuard<'_, Wards> {
        self.wards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to start children, given by having made coop the parent of every orphan below it.
#[derive(Clone, Copy)]
pub struct Reaper {
    nursery: &'static Nursery,
    home: Home,
}

impl Reaper {
    /// Makes this process a child subreaper. Exits are seen only while [`Reaper::run`] runs.
    pub fn install() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        let pid = getpid().as_raw_pid();
        let own = Process::read(pid).ok_or_else(|| io::Error::other("/proc shows no processes"))?;
        Ok(Self { nursery: &NURSERY, home: Home { pid, session: own.session } })
    }

    /// Reaps whatever dies, from one SIGCHLD to the next; ends only when dropped or when signals cannot be received.
    pub async fn run(self) -> io::Result<Infallible> {
        let mut deaths = signal(SignalKind::child())?;
        loop {
            self.sweep();
            if deaths.recv().await.is_none() {
                return Err(io::Error::other("SIGCHLD is not delivered any more"));
            }
        }
    }

    /// Starts a child and takes care of it, in one step as far as any sweep can see. A child that failed to exec is reaped by
    /// `start` itself, which panics when somebody else was faster.
    pub(super) fn adopt<E>(
        &self,
        start: impl FnOnce() -> Result<std::process::Child, E>,
    ) -> Result<Child, E> {
        let mut wards = self.nursery.lock();
        let pid = Pid::from_child(&start()?);
        let (sender, exit) = watch::channel(None);
        wards.insert(pid, sender);
        Ok(Child { pid, exit, reaper: *self })
    }

    pub(super) fn home(&self) -> Home {
        self.home
    }

    /// Changes after every sweep, that is after every death that concerns this process.
    pub(super) fn sweeps(&self) -> watch::Receiver<u64> {
        self.nursery.sweeps.subscribe()
    }

    fn sweep(&self) {
        let mut wards = self.nursery.lock();
        wards.retain(|&pid, exit| match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(None) => true,
            Ok(Some((_, status))) => {
                exit.send_replace(Some(status.into()));
                false
            }
            Err(_) => {
                exit.send_replace(Some(Exit::Unknown));
                false
            }
        });
        if somebody_waits_to_be_reaped() {
            self.bury_orphans(&wards);
        }
        drop(wards);
        self.nursery.sweeps.send_modify(|sweeps| *sweeps += 1);
    }

    /// Reaps the dead that nobody else will ask for. Processes in coop's own session were started by coop for itself, and
    /// whoever started them waits for them.
    fn bury_orphans(&self, wards: &Wards) {
        // Without /proc the dead stay until coop exits, which is all the harm they do.
        let Ok(processes) = Processes::scan() else {
            return;
        };
        let orphans = processes
            .iter()
            .filter(|process| process.parent == self.home.pid && process.is_zombie())
            .filter(|process| process.session != self.home.session)
            .filter_map(|process| Pid::from_raw(process.pid))
            .filter(|pid| !wards.contains_key(pid));
        for orphan in orphans {
            // Its status is nobody's business, and an error means that it is gone already.
            let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
        }
    }
}

/// Asks the kernel without taking anything, so that the common death, that of the child alone, costs no scan.
fn somebody_waits_to_be_reaped() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::All, peek) {
        Ok(found) => found.is_some(),
        Err(errno) => errno != Errno::CHILD,
    }
}

/// A program that was started, and what is known of its end. Clones are the same child.
#[derive(Clone)]
pub struct Child {
    pid: Pid,
    exit: watch::Receiver<Option<Exit>>,
    reaper: Reaper,
}

impl Child {
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Its exit, if it has happened.
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for its exit. It may be cancelled and called again at will, and answers the same ever after.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(known) => (*known).unwrap_or(Exit::Unknown),
            // The sender goes away only after it has sent, and then the value is found first.
            Err(_) => Exit::Unknown,
        }
    }

    pub(super) fn reaper(&self) -> &Reaper {
        &self.reaper
    }

    /// Does something to the pid while it surely is this child's, or nothing when the child has been reaped.
    pub(super) fn while_unreaped<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let wards = self.reaper.nursery.lock();
        wards.contains_key(&self.pid).then(act)
    }

    /// Whether that process runs in the session that this child leads.
    pub(super) fn leads(&self, process: &Process) -> bool {
        process.session == self.pid.as_raw_pid()
    }

    /// The children that live beside this one.
    pub(super) fn siblings(&self) -> Vec<i32> {
        let wards = self.reaper.nursery.lock();
        let others = wards.keys().filter(|&&pid| pid != self.pid);
        others.map(|pid| pid.as_raw_pid()).collect()
    }
}
