//! A coop process of its own: started with its flags, found by what it prints, ended with the test.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use coop_client::{Client, Credentials, Target, connect};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use super::http::Http;
use super::soon;

/// A running coop. Killed with everything below it when dropped.
pub struct Coop {
    pub process: Child,
    pub http: Option<SocketAddr>,
    pub grpc: Option<SocketAddr>,
    pub health: Option<SocketAddr>,
    pub socket: Option<PathBuf>,
    stdout: BufReader<ChildStdout>,
    pub home: TempDir,
}

/// What to start, and how.
pub struct Setup {
    command: Command,
    home: TempDir,
    listeners: usize,
}

impl Setup {
    /// A coop whose flags are these; the test adds a `--` and the command itself.
    pub fn new<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Self {
        let home = TempDir::new().expect("a temporary directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_coop"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("PS1", "$ ")
            .env("LANG", "C.UTF-8")
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let (mut listeners, mut own) = (0, true);
        for arg in args {
            let text = arg.as_ref().to_string_lossy().into_owned();
            own &= text != "--";
            if own && ["--port", "--grpc-port", "--health-port", "--socket"].contains(&text.as_str()) {
                listeners += 1;
            }
            command.arg(arg);
        }
        Self { command, home, listeners }
    }

    pub fn env(mut self, key: &str, value: &str) -> Self {
        self.command.env(key, value);
        self
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs it to its end; for a coop that is not meant to start.
    pub async fn fail(mut self) -> (ExitStatus, String) {
        let output = soon("coop to refuse", self.command.output()).await.expect("coop runs");
        (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Starts it and waits until every listener is announced.
    pub async fn start(mut self) -> Coop {
        let mut process = self.command.spawn().expect("coop starts");
        let stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut coop =
            Coop { process, http: None, grpc: None, health: None, socket: None, stdout, home: self.home };
        for _ in 0..self.listeners {
            coop.read_announcement().await;
        }
        coop
    }
}

impl Coop {
    /// On an ephemeral port, running this command.
    pub async fn run<I: AsRef<OsStr>>(command: impl IntoIterator<Item = I>) -> Self {
        Self::with(&[], command).await
    }

    /// The same with more flags.
    pub async fn with<I: AsRef<OsStr>>(flags: &[&str], command: impl IntoIterator<Item = I>) -> Self {
        let mut args: Vec<std::ffi::OsString> = vec!["--port".into(), "0".into()];
        args.extend(flags.iter().map(Into::into));
        args.push("--".into());
        args.extend(command.into_iter().map(|word| word.as_ref().to_owned()));
        Setup::new(args).start().await
    }

    /// A quiet interactive shell.
    pub async fn shell() -> Self {
        Self::run(SHELL).await
    }

    async fn read_announcement(&mut self) {
        let mut line = String::new();
        let read = soon("an announcement", self.stdout.read_line(&mut line)).await.expect("stdout");
        if read == 0 {
            let mut stderr = String::new();
            let mut pipe = self.process.stderr.take().expect("a pipe");
            drop(pipe.read_to_string(&mut stderr).await);
            panic!("coop ended early: {stderr}");
        }
        let (kind, place) = line.trim_end().split_once(" listening on ").expect("an announcement");
        let address = || Some(place.parse().expect("an address"));
        match kind {
            "HTTP" => self.http = address(),
            "gRPC" => self.grpc = address(),
            "Health" => self.health = address(),
            "Unix socket" => self.socket = Some(place.into()),
            other => panic!("{other:?} was announced"),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.http.expect("coop has a port")
    }

    /// HTTP/JSON over TCP.
    pub fn http(&self) -> Http {
        Http::tcp(self.address())
    }

    /// gRPC over TCP.
    pub async fn grpc(&self) -> Client {
        self.grpc_as(Credentials::default()).await
    }

    pub async fn grpc_as(&self, credentials: Credentials) -> Client {
        let target = Target::parse(&format!("http://{}", self.address())).expect("a target");
        soon("a gRPC connection", connect(&target, credentials)).await.expect("connected")
    }

    /// gRPC over the Unix socket.
    pub async fn grpc_unix(&self) -> Client {
        let socket = self.socket.as_ref().expect("coop has a socket");
        let target = Target::parse(&format!("unix://{}", socket.display())).expect("a target");
        soon("a gRPC connection", connect(&target, Credentials::default())).await.expect("connected")
    }

    /// Follows the gRPC health of one service.
    pub async fn health_watch(&self, service: &str) -> tonic::Streaming<HealthCheckResponse> {
        let target = format!("http://{}", self.address());
        let channel = tonic::transport::Channel::from_shared(target).expect("a URI");
        let channel = soon("a gRPC connection", channel.connect()).await.expect("connected");
        let request = HealthCheckRequest { service: service.to_owned() };
        let answer = soon("a watch", HealthClient::new(channel).watch(request)).await;
        answer.expect("a stream").into_inner()
    }

    pub fn pid(&self) -> i32 {
        self.process.id().expect("coop runs").cast_signed()
    }

    /// Signals coop itself.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid()).expect("a pid");
        kill_process(pid, signal).expect("signalled");
    }

    /// The most memory that coop has ever held, in KiB.
    pub fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("coop runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Waits for coop itself to end.
    pub async fn ended(&mut self) -> ExitStatus {
        soon("coop to end", self.process.wait()).await.expect("waited")
    }

    /// What coop prints after its announcements, to the end.
    pub async fn rest_of_stdout(&mut self) -> String {
        let mut text = String::new();
        soon("stdout to end", self.stdout.read_to_string(&mut text)).await.expect("text");
        text
    }

    /// Everything coop logged; ends the pipe's life.
    pub async fn log(&mut self) -> String {
        let mut text = String::new();
        let mut pipe = self.process.stderr.take().expect("a pipe");
        soon("the log to end", pipe.read_to_string(&mut text)).await.expect("text");
        text
    }
}

/// A shell without the machine's start-up files.
pub const SHELL: [&str; 3] = ["bash", "--norc", "--noprofile"];
