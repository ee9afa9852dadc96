//! Starts a test session: the directories, the fake model, and coop with the agent. What the agent
//! needs is in `agent_config`.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::net::TcpListener;

use super::agent_config::Agent;
use super::coop_process::{CoopProcess, Sandbox};
use super::namespace::Namespace;
use super::{DEADLINE, RUNNING_AGENTS, TestSession};
use crate::fake_model::FakeModel;

/// What to start, and how.
pub struct Setup {
    pub(super) agent: Agent,
    pub(super) coop_flags: Vec<String>,
    pub(super) agent_flags: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
    files: Vec<(String, String)>,
    fresh: bool,
    /// The agent runs inside of a shell, which goes on after it.
    pub(super) in_shell: bool,
}

impl Setup {
    /// Claude in manual mode: it asks before it does anything.
    pub fn claude() -> Self {
        Self::new(Agent::Claude)
    }

    /// Codex with its own sandbox, without its background server.
    pub fn codex() -> Self {
        Self::new(Agent::Codex)
    }

    /// Gemini in one process, in its default mode.
    pub fn gemini() -> Self {
        Self::new(Agent::Gemini)
    }

    fn new(agent: Agent) -> Self {
        Self {
            agent,
            coop_flags: Vec::new(),
            agent_flags: agent.flags(),
            variables: Vec::new(),
            files: Vec::new(),
            fresh: false,
            in_shell: false,
        }
    }

    /// Adds flags of the agent.
    #[must_use]
    pub fn args(mut self, flags: &[&str]) -> Self {
        self.agent_flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// Replaces all flags of the agent.
    #[must_use]
    pub fn only_args(mut self, flags: &[&str]) -> Self {
        self.agent_flags.clear();
        self.args(flags)
    }

    /// Adds flags of coop.
    #[must_use]
    pub fn coop(mut self, flags: &[&str]) -> Self {
        self.coop_flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// Adds a variable, or overrides a default one.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a file below the home, or replaces a default one. `{api}` in it becomes the address of
    /// the fake model, `{workspace}` the workspace.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// The agent's first run: without the default files, and in its own network, where the hosts
    /// that the agent calls by name are the fake model.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Runs the agent as a job of a shell that goes on when the agent ends or stops.
    #[must_use]
    pub fn in_shell(mut self) -> Self {
        self.in_shell = true;
        self
    }

    /// Starts everything, and waits until the agent is idle.
    pub async fn idle(self) -> Option<TestSession> {
        let mut session = self.start().await?;
        session.wait_state("idle").await;
        Some(session)
    }

    /// Starts everything; `None` if this machine cannot run the test.
    pub async fn start(mut self) -> Option<TestSession> {
        let path = search_path(self.agent.name())?;
        if self.fresh && !Namespace::possible() {
            not_tested("only root can give an agent its own network");
            return None;
        }
        let permit = RUNNING_AGENTS.acquire().await.expect("it is never closed");
        let directory = TempDir::new().expect("a temporary directory");
        // Agents use real paths, and TMPDIR may be a link.
        let root = directory.path().canonicalize().expect("it was just made");
        let (home, workspace) = (root.join("home"), root.join("work"));
        for directory in [&home, &workspace, &root.join("tmp")] {
            std::fs::create_dir(directory).expect("made");
        }
        let (api, namespace) = match self.fresh {
            false => {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                let api = FakeModel::start(listener, DEADLINE);
                self.files.splice(0..0, self.agent.files());
                (api, None)
            }
            true => {
                let hosts = self.agent.hosts();
                let namespace = Namespace::new(&root, hosts).await;
                let mut api = FakeModel::start(namespace.listen(0), DEADLINE);
                let authority = root.join("authority.pem");
                std::fs::write(&authority, api.serve_tls_as(hosts, namespace.listen(443)))
                    .expect("written");
                self.variables
                    .push(("NODE_EXTRA_CA_CERTS".to_owned(), authority.display().to_string()));
                (api, Some(namespace))
            }
        };
        for (path, text) in &self.files {
            let text = text.replace("{api}", &api.url());
            write(&home.join(path), &text.replace("{workspace}", &workspace.display().to_string()));
        }
        let sandbox = Sandbox { path, root, home, workspace, namespace };
        let coop = CoopProcess::start(&self, &sandbox, &api).await;
        Some(TestSession {
            api,
            agent: self.agent,
            coop,
            sandbox,
            _directory: directory,
            _permit: permit,
        })
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in the home")).expect("made");
    std::fs::write(path, text).expect("written");
}

/// A PATH that contains the agent.
fn search_path(agent: &str) -> Option<String> {
    let mut path = std::env::var("PATH").unwrap_or_default();
    let has =
        |path: &str| std::env::split_paths(path).any(|directory| directory.join(agent).is_file());
    if !has(&path) {
        // `make` puts the tools on the PATH; plain `cargo test` does not.
        let setup = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tools/setup");
        if let Ok(output) = std::process::Command::new(setup).arg("path").output() {
            path = format!("{}:{path}", String::from_utf8_lossy(&output.stdout).trim_end());
        }
    }
    if !has(&path) {
        not_tested(&format!("{agent} is not installed; run `tools/setup agents`"));
        return None;
    }
    Some(path)
}

/// A skipped test proves nothing: it fails in CI, and is reported loudly elsewhere.
fn not_tested(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    eprintln!("\n*** NOT TESTED: {why} ***\n");
}
