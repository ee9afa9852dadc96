//! A whole world for one agent: its home, its workspace, its model, and coop around it. Tests
//! start one, talk to it, and read in its report what went wrong.

mod agent;
mod process;
mod report;
mod setup;
mod terminal;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coop_client::{Client, Target, v1};
use tokio::process::Child;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::fake::Fake;

pub use setup::Setup;

/// Nothing in a test takes this long unless it never comes.
pub const DEADLINE: Duration = Duration::from_secs(40);

/// An agent takes a whole core while it starts.
static LIVE: Semaphore = Semaphore::const_new(2);

/// A running coop with a running agent in it, and the model that the agent talks to.
pub struct World {
    pub api: Fake,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub client: Client,
    target: Target,
    coop: Child,
    events: Arc<Mutex<Vec<v1::Event>>>,
    log: Arc<Mutex<String>>,
    followers: Vec<JoinHandle<()>>,
    _directory: tempfile::TempDir,
    _permit: SemaphorePermit<'static>,
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
        }
        for follower in &self.followers {
            follower.abort();
        }
        if let Some(pid) = self.coop.id() {
            process::end_tree(pid.cast_signed());
        }
    }
}
