//! How each agent is started so that it asks nothing by itself: its files, its variables, its
//! flags. It must not know what the test wants of it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use coop_client::{Credentials, Target, connect, v1};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Command;

use super::{DEADLINE, LIVE, World, soon};
use crate::fake::Fake;

/// What to start, and how.
pub struct Setup {
    agent: &'static str,
    coop_flags: Vec<String>,
    agent_flags: Vec<String>,
    variables: Vec<(String, String)>,
    files: Vec<(String, String)>,
}

impl Setup {
    /// Claude in manual mode: it asks before it does anything.
    pub fn claude() -> Self {
        Self::new("claude").args(&["--permission-mode", "manual"])
    }

    fn new(agent: &'static str) -> Self {
        Self {
            agent,
            coop_flags: Vec::new(),
            agent_flags: Vec::new(),
            variables: Vec::new(),
            files: Vec::new(),
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

    /// A file below the home, instead of the recipe's if it has that one.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Starts everything; `None` if the agent is not on this machine.
    pub async fn start(self) -> Option<World> {
        let path = installed(self.agent)?;
        let permit = LIVE.acquire().await.expect("it is never closed");
        let api = Fake::start(DEADLINE).await;
        let directory = TempDir::new().expect("a temporary directory");
        // Agents go by real paths, and TMPDIR may be a link.
        let root = directory.path().canonicalize().expect("it was just made");
        let (home, workspace) = (root.join("home"), root.join("work"));
        std::fs::create_dir(&workspace).expect("made");
        for (path, text) in recipe_files(self.agent, &api, &workspace).into_iter().chain(self.files) {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().expect("it is in the home")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_coop"));
        command.args(["--agent", self.agent, "--port", "0"]).args(self.coop_flags).arg("--");
        command.arg(self.agent).args(self.agent_flags);
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", &home)
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/bash");
        command.envs(recipe_variables(self.agent, &api)).envs(self.variables);
        command.current_dir(&workspace).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut coop = command.kill_on_drop(true).spawn().expect("coop starts");
        let mut stdout = BufReader::new(coop.stdout.take().expect("a pipe"));
        let mut stderr = coop.stderr.take().expect("a pipe");
        let mut line = String::new();
        soon("an announcement", stdout.read_line(&mut line)).await.expect("stdout");
        let Some(address) = line.trim_end().strip_prefix("HTTP listening on ") else {
            let mut said = String::new();
            drop(stderr.read_to_string(&mut said).await);
            panic!("coop did not start: {line}{said}");
        };
        let target = Target::parse(&format!("http://{address}")).expect("a target");
        let client = soon("a connection", connect(&target, Credentials::default())).await.expect("connected");
        let (events, log) = (Arc::default(), Arc::default());
        let followers = vec![
            tokio::spawn(follow_events(client.clone(), Arc::clone(&events))),
            tokio::spawn(follow_log(stderr, Arc::clone(&log))),
        ];
        Some(World {
            api,
            home,
            workspace,
            client,
            target,
            coop,
            events,
            log,
            followers,
            _directory: directory,
            _permit: permit,
        })
    }
}

async fn follow_events(mut client: coop_client::Client, events: Arc<Mutex<Vec<v1::Event>>>) {
    let Ok(stream) = client.stream_events(v1::StreamEventsRequest::default()).await else { return };
    let mut stream = stream.into_inner();
    while let Ok(Some(event)) = stream.message().await {
        if event.r#type != "heartbeat" {
            events.lock().expect("nobody panics with it").push(event);
        }
    }
}

/// A pipe that nobody reads would stop coop's log.
async fn follow_log(mut stderr: tokio::process::ChildStderr, log: Arc<Mutex<String>>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        log.lock().expect("nobody panics with it").push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
}

fn recipe_files(agent: &str, _api: &Fake, workspace: &Path) -> Vec<(String, String)> {
    match agent {
        "claude" => {
            let config = json!({
                "hasCompletedOnboarding": true,
                "hasSeenAutoDefaultNotice": true,
                "customApiKeyResponses": { "approved": ["sk-ant-dummy"], "rejected": [] },
                "projects": { workspace.to_str().expect("a plain path"): { "hasTrustDialogAccepted": true } },
            });
            vec![(".claude.json".to_owned(), config.to_string())]
        }
        other => panic!("no recipe for {other}"),
    }
}

fn recipe_variables(agent: &str, api: &Fake) -> Vec<(&'static str, String)> {
    match agent {
        "claude" => vec![
            ("ANTHROPIC_BASE_URL", api.url()),
            ("ANTHROPIC_API_KEY", "sk-ant-dummy".to_owned()),
            ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ],
        other => panic!("no recipe for {other}"),
    }
}

/// A PATH on which the agent is. Without the agent a test proves nothing: in CI that is a failure,
/// elsewhere it is said loudly.
fn installed(agent: &str) -> Option<String> {
    let mut path = std::env::var("PATH").unwrap_or_default();
    let has = |path: &str| std::env::split_paths(path).any(|directory| directory.join(agent).is_file());
    if !has(&path) {
        // `make` puts the tools on the PATH; plain `cargo test` does not.
        let setup = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tools/setup");
        if let Ok(output) = std::process::Command::new(setup).arg("path").output() {
            path = format!("{}:{path}", String::from_utf8_lossy(&output.stdout).trim_end());
        }
    }
    if has(&path) {
        return Some(path);
    }
    let missing = format!("{agent} is not installed; run `tools/setup agents`");
    assert!(std::env::var_os("CI").is_none(), "{missing}");
    eprintln!("\n*** NOT TESTED: {missing} ***\n");
    None
}
