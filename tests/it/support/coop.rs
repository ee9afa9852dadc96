//! A coop process for one test. It prints its addresses when it starts, and is killed at the end.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
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

/// The arguments and the environment of a coop that is not started yet.
pub struct Setup {
    command: Command,
    home: TempDir,
    listeners: usize,
}

impl Setup {
    /// A coop with these arguments, which include the `--` and the command.
    pub fn new<I: AsRef<OsStr>>(args: impl IntoIterator<Item = I>) -> Self {
        Self::through(&[], args)
    }

    /// The same coop, which the program in `before` executes after its own arguments.
    pub fn through<I: AsRef<OsStr>>(before: &[&str], args: impl IntoIterator<Item = I>) -> Self {
        let home = TempDir::new().expect("a temporary directory");
        let mut words = before.iter().chain(&[env!("CARGO_BIN_EXE_coop")]);
        let mut command = Command::new(words.next().expect("a program"));
        command
            .args(words)
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
            if own
                && ["--port", "--grpc-port", "--health-port", "--socket"].contains(&text.as_str())
            {
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

    /// Writes a file in the home directory with this mode.
    pub fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
        path
    }

    /// Lets coop lead a process group of its own.
    pub fn own_group(mut self) -> Self {
        self.command.process_group(0);
        self
    }

    /// Lets coop's log meet a full disk.
    pub fn full_disk(mut self) -> Self {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        self.command.stderr(full);
        self
    }

    /// Runs coop as a user without rights, to whom this directory is given. Needs root.
    pub fn without_rights(mut self, dir: &Path) -> Self {
        // The user may not reach the directory of the build.
        let binary = self.home.path().join("coop");
        std::fs::copy(env!("CARGO_BIN_EXE_coop"), &binary).expect("copied");
        for path in [self.home.path(), dir] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("given");
        }
        let mut command = Command::new(&binary);
        let old = self.command.as_std();
        command.args(old.get_args()).env_clear().current_dir(self.home.path());
        command.envs(old.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true).uid(NOBODY).gid(NOBODY);
        self.command = command;
        self
    }

    /// Runs a coop that cannot start until it exits. Returns its exit status and stderr.
    pub async fn fail(mut self) -> (ExitStatus, String) {
        let output = soon("coop to exit", self.command.output()).await.expect("coop runs");
        (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Starts coop and waits until it has printed the address of every listener.
    pub async fn start(mut self) -> Coop {
        let mut process = self.command.spawn().expect("coop starts");
        let stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut coop = Coop {
            process,
            http: None,
            grpc: None,
            health: None,
            socket: None,
            stdout,
            home: self.home,
        };
        for _ in 0..self.listeners {
            coop.read_address().await;
        }
        coop
    }
}

impl Coop {
    /// Runs this command on an ephemeral port.
    pub async fn run<I: AsRef<OsStr>>(command: impl IntoIterator<Item = I>) -> Self {
        Self::with(&[], command).await
    }

    /// Runs this command on an ephemeral port, with more flags.
    pub async fn with<I: AsRef<OsStr>>(
        flags: &[&str],
        command: impl IntoIterator<Item = I>,
    ) -> Self {
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

    async fn read_address(&mut self) {
        let mut line = String::new();
        let read = soon("the address of a listener", self.stdout.read_line(&mut line))
            .await
            .expect("stdout");
        if read == 0 {
            let mut stderr = String::new();
            let mut pipe = self.process.stderr.take().expect("a pipe");
            drop(pipe.read_to_string(&mut stderr).await);
            panic!("coop ended early: {stderr}");
        }
        let (kind, address) =
            line.trim_end().split_once(" listening on ").expect("the address of a listener");
        let parsed = || Some(address.parse().expect("an address"));
        match kind {
            "HTTP" => self.http = parsed(),
            "gRPC" => self.grpc = parsed(),
            "Health" => self.health = parsed(),
            "Unix socket" => self.socket = Some(address.into()),
            other => panic!("coop printed the address of {other:?}"),
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
        soon("a gRPC connection", connect(&target, Credentials::default()))
            .await
            .expect("connected")
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

    /// Sends a signal to coop itself.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid()).expect("a pid");
        kill_process(pid, signal).expect("signalled");
    }

    /// The most memory that coop has ever held, in KiB.
    pub fn peak_memory(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("coop runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Waits for coop itself to end.
    pub async fn ended(&mut self) -> ExitStatus {
        soon("coop to end", self.process.wait()).await.expect("waited")
    }

    /// Everything that coop prints after its addresses.
    pub async fn rest_of_stdout(&mut self) -> String {
        let mut text = String::new();
        soon("stdout to end", self.stdout.read_to_string(&mut text)).await.expect("text");
        text
    }

    /// Everything that coop logged. Can be called once, after coop has exited.
    pub async fn log(&mut self) -> String {
        let mut text = String::new();
        let mut pipe = self.process.stderr.take().expect("a pipe");
        soon("the log to end", pipe.read_to_string(&mut text)).await.expect("text");
        text
    }
}

/// The user and the group without rights.
pub const NOBODY: u32 = 65534;

/// A shell without the machine's start-up files.
pub const SHELL: [&str; 3] = ["bash", "--norc", "--noprofile"];
