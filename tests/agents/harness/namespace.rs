//! A network namespace for an agent that calls fixed hosts in its first run: it has only loopback,
//! and all these hosts resolve to it.

use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::Stdio;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::within_deadline;

/// The namespaces exist as long as the process that holds them.
pub struct Namespace {
    holder: Child,
}

impl Namespace {
    /// Only root can create one.
    pub fn possible() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Creates one in which all these hosts are loopback.
    pub async fn new(directory: &Path, hosts: &[&str]) -> Self {
        let file = directory.join("hosts");
        let lines = hosts.iter().map(|host| format!("127.0.0.1 {host}\n"));
        std::fs::write(&file, format!("127.0.0.1 localhost\n{}", lines.collect::<String>()))
            .expect("written");
        let script = "ip link set lo up && mount --bind \"$1\" /etc/hosts && \
                      echo made && exec sleep infinity";
        let mut holder = Command::new("unshare")
            .args(["--net", "--mount", "sh", "-c", script, "sh"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("unshare runs");
        let mut line = String::new();
        let mut stdout = BufReader::new(holder.stdout.take().expect("a pipe"));
        within_deadline("a namespace", stdout.read_line(&mut line)).await.expect("stdout");
        assert_eq!(line, "made\n", "no namespace could be made");
        Self { holder }
    }

    fn pid(&self) -> u32 {
        self.holder.id().expect("it sleeps until it is killed")
    }

    /// A listener on loopback in the namespace. A socket stays in the namespace in which it was
    /// created, so one visit by a thread is enough.
    pub fn listen(&self, port: u16) -> tokio::net::TcpListener {
        let network =
            std::fs::File::open(format!("/proc/{}/ns/net", self.pid())).expect("a network");
        let make = move || -> std::io::Result<TcpListener> {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
            TcpListener::bind(("127.0.0.1", port))
        };
        let listener = std::thread::spawn(make).join().expect("no panic").expect("a port");
        listener.set_nonblocking(true).expect("set");
        tokio::net::TcpListener::from_std(listener).expect("registered")
    }

    /// A program that runs in the namespace, in this directory.
    pub fn command(&self, directory: &Path, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--mount", "--target", &self.pid().to_string()]);
        command.arg(format!("--wd={}", directory.display())).arg("--").arg(program);
        command
    }
}
