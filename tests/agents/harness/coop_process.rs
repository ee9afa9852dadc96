//! One coop process with one agent, from its start to the end of everything that it started. It
//! does not know how the directories are prepared.

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
use super::{process_tree, within_deadline};
use crate::fake_model::FakeModel;

/// The directories, PATH and network of an agent.
pub struct Sandbox {
    pub path: String,
    pub root: PathBuf,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub namespace: Option<Namespace>,
}

pub struct CoopProcess {
    pub client: Client,
    pub target: Target,
    /// Not reachable if the agent has its own network.
    pub http: SocketAddr,
    pub child: Child,
    pub events: Arc<Mutex<Vec<v1::Event>>>,
    pub log: Arc<Mutex<String>>,
    followers: Vec<JoinHandle<()>>,
}

impl CoopProcess {
    pub async fn start(setup: &Setup, sandbox: &Sandbox, api: &FakeModel) -> Self {
        let program = env!("CARGO_BIN_EXE_coop");
        let mut command = match &sandbox.namespace {
            None => Command::new(program),
            Some(namespace) => namespace.command(&sandbox.workspace, program),
        };
        let socket = sandbox.root.join("coop.sock");
        command.args(["--agent", setup.agent.name(), "--port", "0", "--socket"]).arg(&socket);
        command.args(&setup.coop_flags).arg("--");
        if setup.in_shell {
            // With job control the agent has a process group of its own. When it has stopped, the
            // end of the inner shell brings it back.
            let shell = "bash --norc -i";
            let agent = setup.agent.name();
            let script = format!("set -m; {agent} \"$@\"; PS1=ready: {shell}; fg; exec {shell}");
            command.args(["bash", "-c", &script, "sh"]);
        } else {
            command.arg(setup.agent.name());
        }
        command.args(&setup.agent_flags);
        command.env_clear().env("PATH", &sandbox.path).env("HOME", &sandbox.home);
        command.env("LANG", "C.UTF-8").env("SHELL", "/bin/bash");
        // Claude has its own variable, and otherwise uses the shared /tmp.
        command
            .env("TMPDIR", sandbox.root.join("tmp"))
            .env("CLAUDE_CODE_TMPDIR", sandbox.root.join("tmp"));
        command.envs(setup.agent.variables(api));
        command.envs(setup.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(&sandbox.workspace);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("coop starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut stderr = child.stderr.take().expect("a pipe");
        let http = announced("HTTP", &mut stdout, &mut stderr).await;
        announced("Unix socket", &mut stdout, &mut stderr).await;
        let target = Target::parse(&format!("unix://{}", socket.display())).expect("a target");
        let client = within_deadline("a connection", connect(&target, Credentials::default()))
            .await
            .expect("connected");
        let (events, log) = (Arc::default(), Arc::default());
        let followers = vec![
            tokio::spawn(follow_events(client.clone(), Arc::clone(&events))),
            tokio::spawn(follow_log(stderr, Arc::clone(&log))),
        ];
        Self {
            client,
            target,
            http: http.parse().expect("an address"),
            child,
            events,
            log,
            followers,
        }
    }
}

impl Drop for CoopProcess {
    fn drop(&mut self) {
        for follower in &self.followers {
            follower.abort();
        }
        if let Some(pid) = self.child.id() {
            process_tree::kill_tree(pid.cast_signed());
        }
    }
}

/// The address that coop announces.
async fn announced(
    kind: &str,
    stdout: &mut BufReader<ChildStdout>,
    stderr: &mut ChildStderr,
) -> String {
    let mut line = String::new();
    within_deadline("an announcement", stdout.read_line(&mut line)).await.expect("stdout");
    let Some(address) = line.trim_end().strip_prefix(&format!("{kind} listening on ")) else {
        let mut said = String::new();
        drop(stderr.read_to_string(&mut said).await);
        panic!("coop did not start: {line}{said}");
    };
    address.to_owned()
}

async fn follow_events(mut client: Client, events: Arc<Mutex<Vec<v1::Event>>>) {
    let Ok(stream) = client.stream_events(v1::StreamEventsRequest::default()).await else { return };
    let mut stream = stream.into_inner();
    while let Ok(Some(event)) = stream.message().await {
        if event.r#type != "heartbeat" {
            events.lock().expect("the lock is not poisoned").push(event);
        }
    }
}

/// Reads coop's log all the time, so that the pipe never fills up.
async fn follow_log(mut stderr: ChildStderr, log: Arc<Mutex<String>>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        log.lock()
            .expect("the lock is not poisoned")
            .push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
}
