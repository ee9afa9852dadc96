//! The test harness: a home, a workspace and a fake model for one agent, and coop around it. A
//! failed test prints a report.

mod agent_config;
mod client;
mod coop_process;
mod journal;
mod namespace;
mod process_tree;
mod report;
mod setup;
mod terminal;

use std::path::Path;
use std::time::Duration;

use coop_client::{Client, v1};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};

use crate::fake_model::FakeModel;
use agent_config::Agent;
use coop_process::{CoopProcess, Sandbox};

pub use client::error_code;
pub use setup::Setup;

/// Longer than anything in a test takes.
pub const DEADLINE: Duration = Duration::from_secs(40);

/// An agent uses a whole core while it starts.
static RUNNING_AGENTS: Semaphore = Semaphore::const_new(2);

/// A running coop with a running agent, and the fake model that the agent uses.
pub struct TestSession {
    pub api: FakeModel,
    agent: Agent,
    coop: CoopProcess,
    sandbox: Sandbox,
    _directory: tempfile::TempDir,
    _permit: SemaphorePermit<'static>,
}

impl TestSession {
    pub fn home(&self) -> &Path {
        &self.sandbox.home
    }

    pub fn workspace(&self) -> &Path {
        &self.sandbox.workspace
    }

    /// A client, for calls without a helper.
    pub fn client(&self) -> Client {
        self.coop.client.clone()
    }

    /// The directive that makes the model run this command, for which the agent asks permission.
    pub fn shell_call(&self, command: &str) -> String {
        self.agent.shell_call(command)
    }

    /// The address of coop's HTTP server.
    pub fn http(&self) -> std::net::SocketAddr {
        self.coop.http
    }

    /// Shuts coop and its agent down, and starts another coop in the same home, with the files as
    /// the first agent left them.
    pub async fn restart_coop(&mut self, setup: &Setup) {
        let request = v1::ShutdownRequest::default();
        within_deadline("a shutdown", self.coop.client.shutdown(request))
            .await
            .expect("coop shuts down");
        within_deadline("coop to end", self.coop.child.wait()).await.expect("waited");
        self.coop = CoopProcess::start(setup, &self.sandbox, &self.api).await;
    }
}

/// Waits for a future, at most until the deadline.
pub async fn within_deadline<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("timed out after {DEADLINE:?} waiting for {what}"),
    }
}

/// Polls until `probe` finds what it looks for.
pub async fn poll_until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out after {DEADLINE:?} waiting for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl Drop for TestSession {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.report();
        } else {
            journal::append_row(&self.events());
        }
    }
}
