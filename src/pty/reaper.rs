//! The thread that has children started, asks for their exits, stores each status and sends them
//! signals, and the handle to it. It must not know what a child is for, nor what happens after its
//! exit.
//!
//! The guard process may take long to answer, and may be stopped. Only this thread waits for it.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};

use super::child::Child;
use super::child_table::ChildTable;
use super::guard::Guard;
use super::parent_link::ParentLink;
use super::program::Program;
use crate::os::{Delivery, Process, ProcessIdentity};

/// Children and SIGCHLD belong to the process as a whole, so this is a static and not a value: two
/// tables would take each other's children for orphans.
static THREAD: Mutex<Option<&'static ReaperThread>> = Mutex::new(None);

/// What the thread does next. Each job has a caller that waits for it, so only a few are queued:
/// one launch, one sweep, one termination, and as many signals as the session allows.
type Job = Box<dyn FnOnce(&mut ChildTable) + Send>;

struct ReaperThread {
    jobs: mpsc::Sender<Job>,
    sweeps: watch::Sender<u64>,
}

/// Starts and reaps children. It exists only once coop has become the parent of every orphan below
/// it.
#[derive(Clone, Copy)]
pub struct Reaper {
    thread: &'static ReaperThread,
}

impl Reaper {
    /// Makes this process a child subreaper; the guard forks and reaps the children if there is
    /// one. Exits are noticed only while [`Reaper::run`] runs.
    pub fn install(guard: Option<Guard>) -> io::Result<Self> {
        let mut installed = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = *installed {
            return Ok(Self { thread });
        }
        let mut table = ChildTable::new(ParentLink::new(guard)?);
        let (jobs, received) = mpsc::channel::<Job>();
        // It lives as long as coop: a child could have asked for a signal when the thread that
        // forked it ends.
        std::thread::Builder::new().name("reaper".to_owned()).spawn(move || {
            for job in received {
                job(&mut table);
            }
        })?;
        let thread = ReaperThread { jobs, sweeps: watch::Sender::new(0) };
        let thread: &'static ReaperThread = Box::leak(Box::new(thread));
        *installed = Some(thread);
        Ok(Self { thread })
    }

    /// Reaps every process that exits, from one SIGCHLD to the next; ends only when dropped or when
    /// signals cannot be received. The guard sends the signal, too.
    pub async fn run(self) -> io::Result<Infallible> {
        let mut exits = signal(SignalKind::child())?;
        loop {
            self.ask(ChildTable::sweep).await?;
            self.thread.sweeps.send_modify(|sweeps| *sweeps += 1);
            if exits.recv().await.is_none() {
                return Err(io::Error::other("SIGCHLD is not delivered any more"));
            }
        }
    }

    /// Waits until the guard process has exited; no child can be started any more.
    pub(crate) async fn close(self) {
        if let Ok(Some(guard)) = self.ask(ChildTable::close).await {
            guard.close().await;
        }
    }

    /// Lets the guard remove this file when coop is gone, or if it is a directory, the sockets and
    /// pipes in it, and the directory itself once it is empty. The directory comes first.
    pub(crate) async fn remove_at_end(&self, path: &Path) {
        let path = path.to_owned();
        // Without a guard the file stays if coop is killed, and the next coop removes it.
        drop(self.ask(move |table| table.parent()?.remove_at_end(&path)).await);
    }

    /// Starts a child and registers it, in one step as far as any sweep can see. Blocks the calling
    /// thread.
    pub(super) fn start_child(&self, program: Program) -> io::Result<Child> {
        let (reply, started) = mpsc::sync_channel(1);
        self.submit(move |table| drop(reply.send(table.start_child(program))))?;
        let (pid, exit) = started.recv().map_err(|_| ended())??;
        Ok(Child::new(pid, exit, *self))
    }

    /// Starts a program that leads a process group, as [`Reaper::start_child`] does, and holds the
    /// group until the returned value is ended or dropped.
    pub(super) async fn hold_group(&self, program: Program) -> io::Result<HeldGroup> {
        let reaper = *self;
        // The job makes the value, so that the group is ended also if no caller waits any more.
        self.ask(move |table| {
            let leader = table.start_group(program)?;
            Ok(HeldGroup { leader: Some(leader), reaper })
        })
        .await
    }

    /// The pid of the process that orphans get as their parent.
    pub(super) async fn parent_pid(&self) -> io::Result<i32> {
        self.ask(|table| Ok(table.parent()?.pid())).await
    }

    /// The processes that run because of this child: all that belong to no other child.
    pub(super) async fn tree(&self, child: Pid) -> io::Result<Vec<Process>> {
        self.ask(move |table| table.tree(child)).await
    }

    /// Signals exactly this process.
    pub(super) async fn send(
        &self,
        process: ProcessIdentity,
        signal: Signal,
    ) -> io::Result<Delivery> {
        self.ask(move |table| table.parent()?.send(process, signal)).await
    }

    /// Changes after every sweep, that is after every exit of a child or an orphan.
    pub(super) fn sweeps(&self) -> watch::Receiver<u64> {
        self.thread.sweeps.subscribe()
    }

    /// Lets the thread do something with the children; the job is queued when this is called, and
    /// done even if the future is dropped.
    pub(super) fn ask<T, E>(
        &self,
        act: impl FnOnce(&mut ChildTable) -> Result<T, E> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, E>>
    where
        T: Send + 'static,
        E: From<io::Error> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let queued = self.submit(move |table| drop(reply.send(act(table))));
        Box::pin(async move {
            queued?;
            answer.await.map_err(|_| E::from(ended()))?
        })
    }

    fn submit(&self, job: impl FnOnce(&mut ChildTable) + Send + 'static) -> io::Result<()> {
        self.thread.jobs.send(Box::new(job)).map_err(|_| ended())
    }
}

fn ended() -> io::Error {
    io::Error::other("the reaper's thread has ended")
}

/// A process group below coop, which is killed as a whole when this is dropped.
pub(super) struct HeldGroup {
    /// None once it has been ended.
    leader: Option<Pid>,
    reaper: Reaper,
}

impl HeldGroup {
    /// Returns when the group has been killed.
    pub(super) async fn end(mut self) {
        if let Some(leader) = self.leader.take() {
            drop(self.reaper.ask(move |table| table.end_group(leader)).await);
        }
    }
}

impl Drop for HeldGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader.take() {
            drop(self.reaper.submit(move |table| drop(table.end_group(leader))));
        }
    }
}
