//! A whole world for one agent: its home, its workspace, its model, and coop around it. Tests
//! start one, talk to it, and read in its report what went wrong.

mod agent;
mod journal;
mod namespace;
mod process;
mod recipe;
mod report;
mod run;
mod setup;
mod terminal;

use std::path::Path;
use std::time::Duration;

use coop_client::{Client, v1};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};

use crate::fake::Fake;
use recipe::Agent;
use run::{Place, Run};

pub use agent::refusal;
pub use setup::Setup;

/// Nothing in a test takes this long unless it never comes.
pub const DEADLINE: Duration = Duration::from_secs(40);

/// An agent takes a whole core while it starts.
static LIVE: Semaphore = Semaphore::const_new(2);

/// A running coop with a running agent in it, and the model that the agent talks to.
pub struct World {
    pub api: Fake,
    agent: Agent,
    run: Run,
    place: Place,
    _directory: tempfile::TempDir,
    _permit: SemaphorePermit<'static>,
}

impl World {
    pub fn home(&self) -> &Path {
        &self.place.home
    }

    pub fn workspace(&self) -> &Path {
        &self.place.workspace
    }

    /// For calls that have no helper here.
    pub fn client(&self) -> Client {
        self.run.client.clone()
    }

    /// What makes the model run this command, and the agent ask before.
    pub fn shell_call(&self, command: &str) -> String {
        self.agent.shell_call(command)
    }

    /// Where coop serves HTTP.
    pub fn http(&self) -> std::net::SocketAddr {
        self.run.http
    }

    /// Ends coop and its agent in good order, and starts another coop in the same home. The files
    /// are as the first agent left them.
    pub async fn start_again(&mut self, setup: &Setup) {
        let request = v1::ShutdownRequest::default();
        soon("a shutdown", self.run.client.shutdown(request)).await.expect("coop takes its leave");
        soon("coop to end", self.run.coop.wait()).await.expect("waited");
        self.run = Run::start(setup, &self.place, &self.api).await;
    }
}

/// Waits for a future that must not hang.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {DEADLINE:?} in vain for {what}"),
    }
}

/// Looks again and again until `probe` finds what it looks for.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {DEADLINE:?} in vain for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.report();
        } else {
            journal::note(&self.events());
        }
    }
}
