//! The thread that prepares launches and forks children, and the handle to it.
//!
//! Preparing a launch and waiting for the guard process to fork takes time, so a thread of its own
//! does it, and removes what it has written when the session is over.

use std::io;
use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Conversation;
use super::prepare::{PreparedLaunch, Preparer};
use crate::driver::Driver;
use crate::launch::LaunchContext;
use crate::pty::{Launch, LaunchError, Reaper, Spawned};

/// A session has one launch at a time.
const JOBS: usize = 1;

/// A step of a launch that runs on the launcher's thread.
pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = Result<T, LaunchError>> + Send>>;

enum Job {
    Prepare {
        launch: Launch,
        conversation: Option<Conversation>,
        cancelled: CancellationToken,
        reply: oneshot::Sender<Result<PreparedLaunch, LaunchError>>,
    },
    Spawn {
        launch: Launch,
        reply: oneshot::Sender<Result<Spawned, LaunchError>>,
    },
}

/// The handle to the launcher's thread.
pub(crate) struct Launcher {
    jobs: mpsc::Sender<Job>,
    ended: oneshot::Receiver<()>,
}

impl Launcher {
    /// Starts the thread. `agent` is set if a driver knows the program and prepares its launch.
    pub(crate) fn start(
        agent: Option<(Box<dyn Driver>, LaunchContext)>,
        reaper: Reaper,
        runtime: Handle,
    ) -> io::Result<Self> {
        let preparer = agent.map(|(driver, context)| Preparer::new(driver, context, reaper));
        let (jobs, receiver) = mpsc::channel(JOBS);
        let (end, ended) = oneshot::channel();
        std::thread::Builder::new().name("launcher".to_owned()).spawn(move || {
            run(receiver, preparer, reaper, &runtime);
            // The receiver is gone if the session did not wait for the end.
            let _ = end.send(());
        })?;
        Ok(Self { jobs, ended })
    }

    /// Prepares a launch. Dropping the future cancels the preparation.
    pub(crate) fn prepare(
        &self,
        launch: Launch,
        conversation: Option<Conversation>,
    ) -> Pending<PreparedLaunch> {
        let cancelled = CancellationToken::new();
        let guard = cancelled.clone().drop_guard();
        let prepared = self.submit(|reply| Job::Prepare { launch, conversation, cancelled, reply });
        Box::pin(async move {
            let _cancels_when_dropped = guard;
            prepared.await
        })
    }

    /// Forks. The child is started even if the future is dropped.
    pub(crate) fn spawn(&self, launch: Launch) -> Pending<Spawned> {
        self.submit(|reply| Job::Spawn { launch, reply })
    }

    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, LaunchError>>) -> Job,
    ) -> Pending<T> {
        let (reply, received) = oneshot::channel();
        let (jobs, job) = (self.jobs.clone(), job(reply));
        Box::pin(async move {
            let gone = || LaunchError::Start(io::Error::other("the launcher's thread has ended"));
            jobs.send(job).await.map_err(|_| gone())?;
            received.await.map_err(|_| gone())?
        })
    }

    /// Ends the thread, which removes what it has written for the agent.
    pub(crate) async fn close(self) {
        drop(self.jobs);
        drop(self.ended.await);
    }
}

fn run(
    mut jobs: mpsc::Receiver<Job>,
    mut preparer: Option<Preparer>,
    reaper: Reaper,
    runtime: &Handle,
) {
    let _entered = runtime.enter();
    while let Some(job) = jobs.blocking_recv() {
        match job {
            Job::Prepare { launch, conversation, cancelled, reply } => {
                let prepared = match &mut preparer {
                    None => Ok(PreparedLaunch::unchanged(launch)),
                    Some(preparer) => runtime.block_on(async {
                        tokio::select! {
                            biased;
                            () = cancelled.cancelled() => Err(LaunchError::Cancelled),
                            prepared = preparer.prepare(launch, conversation.as_ref()) => prepared,
                        }
                    }),
                };
                drop(reply.send(prepared));
            }
            Job::Spawn { launch, reply } => drop(reply.send(launch.spawn(&reaper))),
        }
    }
}
