//! How a world is made: the directory, the fake, coop in front of the agent. What the agent needs
//! is the recipe's business.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::net::TcpListener;

use super::namespace::Namespace;
use super::recipe::Agent;
use super::run::{Place, Run};
use super::{DEADLINE, LIVE, World};
use crate::fake::Fake;

/// What to start, and how.
pub struct Setup {
    pub(super) agent: Agent,
    pub(super) coop_flags: Vec<String>,
    pub(super) agent_flags: Vec<String>,
    pub(super) variables: Vec<(String, String)>,
    files: Vec<(String, String)>,
    fresh: bool,
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
        }
    }

    /// More flags for the agent.
    #[must_use]
    pub fn args(mut self, flags: &[&str]) -> Self {
        self.agent_flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// The agent's flags, and none of those that the recipe has.
    #[must_use]
    pub fn only_args(mut self, flags: &[&str]) -> Self {
        self.agent_flags.clear();
        self.args(flags)
    }

    /// More flags for coop.
    #[must_use]
    pub fn coop(mut self, flags: &[&str]) -> Self {
        self.coop_flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// One more variable, or another value for one of the recipe's.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A file below the home, instead of the recipe's if it has that one. `{api}` in it becomes the
    /// fake's address, `{workspace}` the workspace.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// The agent's first run: none of the recipe's files is there, and the hosts that the agent
    /// calls by name are the fake, in a network of their own.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Starts everything, and waits until the agent takes a message.
    pub async fn idle(self) -> Option<World> {
        let mut world = self.start().await?;
        world.wait_state("idle").await;
        Some(world)
    }

    /// Starts everything; `None` if it cannot be on this machine.
    pub async fn start(mut self) -> Option<World> {
        let path = search_path(self.agent.name())?;
        if self.fresh && !Namespace::possible() {
            not_tested("only root can give an agent a network of its own");
            return None;
        }
        let permit = LIVE.acquire().await.expect("it is never closed");
        let directory = TempDir::new().expect("a temporary directory");
        // Agents go by real paths, and TMPDIR may be a link.
        let root = directory.path().canonicalize().expect("it was just made");
        let (home, workspace) = (root.join("home"), root.join("work"));
        for directory in [&home, &workspace, &root.join("tmp")] {
            std::fs::create_dir(directory).expect("made");
        }
        let (api, namespace) = match self.fresh {
            false => {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                let api = Fake::start(listener, DEADLINE);
                self.files.splice(0..0, self.agent.files());
                (api, None)
            }
            true => {
                let hosts = self.agent.hosts();
                let namespace = Namespace::new(&root, hosts).await;
                let mut api = Fake::start(namespace.listen(0), DEADLINE);
                let authority = root.join("authority.pem");
                std::fs::write(&authority, api.pose_as(hosts, namespace.listen(443))).expect("written");
                self.variables.push(("NODE_EXTRA_CA_CERTS".to_owned(), authority.display().to_string()));
                (api, Some(namespace))
            }
        };
        for (path, text) in &self.files {
            let text = text.replace("{api}", &api.url());
            write(&home.join(path), &text.replace("{workspace}", &workspace.display().to_string()));
        }
        let place = Place { path, root, home, workspace, namespace };
        let run = Run::start(&self, &place, &api).await;
        Some(World { api, agent: self.agent, run, place, _directory: directory, _permit: permit })
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in the home")).expect("made");
    std::fs::write(path, text).expect("written");
}

/// A PATH on which the agent is.
fn search_path(agent: &str) -> Option<String> {
    let mut path = std::env::var("PATH").unwrap_or_default();
    let has = |path: &str| std::env::split_paths(path).any(|directory| directory.join(agent).is_file());
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

/// A test that does not run proves nothing: in CI that is a failure, elsewhere it is said loudly.
fn not_tested(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    eprintln!("\n*** NOT TESTED: {why} ***\n");
}
