//! One coop with one agent in it, from its first announcement to the end of everything it
//! started. It must not know how the place was furnished.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use coop_client::{Client, Credentials, Target, connect, v1};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::namespace::Namespace;
use super::setup::Setup;
use super::{process, soon};
use crate::fake::Fake;

/// Where an agent lives.
pub struct Place {
    pub path: String,
    pub root: PathBuf,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub namespace: Option<Namespace>,
}

pub struct Run {
    pub client: Client,
    pub target: Target,
    /// Not reachable if the agent has a network of its own.
    pub http: SocketAddr,
    pub coop: Child,
    pub events: Arc<Mutex<Vec<v1::Event>>>,
    pub log: Arc<Mutex<String>>,
    followers: Vec<JoinHandle<()>>,
}

impl Run {
    pub async fn start(setup: &Setup, place: &Place, api: &Fake) -> Self {
        let program = env!("CARGO_BIN_EXE_coop");
        let mut command = match &place.namespace {
            None => Command::new(program),
            Some(namespace) => namespace.command(&place.workspace, program),
        };
        let socket = place.root.join("coop.sock");
        command.args(["--agent", setup.agent.name(), "--port", "0", "--socket"]).arg(&socket);
        command.args(&setup.coop_flags).arg("--").arg(setup.agent.name()).args(&setup.agent_flags);
        command.env_clear().env("PATH", &place.path).env("HOME", &place.home);
        command.env("LANG", "C.UTF-8").env("SHELL", "/bin/bash");
        // Claude goes by a variable of its own, and otherwise leaves its scratch in the shared /tmp.
        command.env("TMPDIR", place.root.join("tmp")).env("CLAUDE_CODE_TMPDIR", place.root.join("tmp"));
        command.envs(setup.agent.variables(api));
        command.envs(setup.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(&place.workspace);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut coop = command.kill_on_drop(true).spawn().expect("coop starts");
        let mut stdout = BufReader::new(coop.stdout.take().expect("a pipe"));
        let mut stderr = coop.stderr.take().expect("a pipe");
        let http = announced("HTTP", &mut stdout, &mut stderr).await;
        announced("Unix socket", &mut stdout, &mut stderr).await;
        let target = Target::parse(&format!("unix://{}", socket.display())).expect("a target");
        let client = soon("a connection", connect(&target, Credentials::default())).await.expect("connected");
        let (events, log) = (Arc::default(), Arc::default());
        let followers = vec![
            tokio::spawn(follow_events(client.clone(), Arc::clone(&events))),
            tokio::spawn(follow_log(stderr, Arc::clone(&log))),
        ];
        Self { client, target, http: http.parse().expect("an address"), coop, events, log, followers }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        for follower in &self.followers {
            follower.abort();
        }
        if let Some(pid) = self.coop.id() {
            process::end_tree(pid.cast_signed());
        }
    }
}

/// Where coop says that it listens.
async fn announced(kind: &str, stdout: &mut BufReader<ChildStdout>, stderr: &mut ChildStderr) -> String {
    let mut line = String::new();
    soon("an announcement", stdout.read_line(&mut line)).await.expect("stdout");
    let Some(place) = line.trim_end().strip_prefix(&format!("{kind} listening on ")) else {
        let mut said = String::new();
        drop(stderr.read_to_string(&mut said).await);
        panic!("coop did not start: {line}{said}");
    };
    place.to_owned()
}

async fn follow_events(mut client: Client, events: Arc<Mutex<Vec<v1::Event>>>) {
    let Ok(stream) = client.stream_events(v1::StreamEventsRequest::default()).await else { return };
    let mut stream = stream.into_inner();
    while let Ok(Some(event)) = stream.message().await {
        if event.r#type != "heartbeat" {
            events.lock().expect("nobody panics with it").push(event);
        }
    }
}

/// A pipe that nobody reads would lose coop's log.
async fn follow_log(mut stderr: ChildStderr, log: Arc<Mutex<String>>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        log.lock().expect("nobody panics with it").push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
}
