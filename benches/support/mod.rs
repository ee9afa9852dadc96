//! Shared by the benchmarks: a coop process to measure, test data, and tables.

#![allow(dead_code, clippy::print_stdout, reason = "each benchmark uses some of this, and prints")]

use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use coop_client::{Client, Credentials, Target, connect};

/// A coop process of this build, killed when dropped.
pub struct Coop {
    pub process: Child,
    pub address: SocketAddr,
    _home: tempfile::TempDir,
}

impl Coop {
    pub fn start(command: &[&str]) -> Self {
        Self::start_with(&[], command)
    }

    pub fn start_with(flags: &[&str], command: &[&str]) -> Self {
        use std::io::{BufRead as _, BufReader};
        let home = tempfile::tempdir().expect("a directory");
        let mut process = Command::new(env!("CARGO_BIN_EXE_coop"))
            .args(["--port", "0"])
            .args(flags)
            .arg("--")
            .args(command)
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("coop starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let address = line
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|address| address.parse().ok())
            .expect("an address");
        Self { process, address, _home: home }
    }

    pub async fn grpc(&self) -> Client {
        let target = Target::parse(&format!("http://{}", self.address)).expect("a target");
        connect(&target, Credentials::default()).await.expect("connected")
    }

    /// A value from `/proc/PID/status`, in MiB.
    pub fn memory(&self, field: &str) -> f64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("a status");
        let line = status.lines().find(|line| line.starts_with(field)).expect("the field");
        let kilobytes: f64 =
            line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
        kilobytes / 1024.0
    }

    /// The processor time used so far, in clock ticks of 10 ms.
    pub fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("a stat");
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|n| n.parse::<u64>().expect("a number"))
            .sum()
    }
}

impl Drop for Coop {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A stream of plain and coloured lines, like the output of builds and agents.
pub fn mixed(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 256);
    let mut n = 0_u64;
    while text.len() < bytes {
        let line = match n % 4 {
            0 => format!(
                "{n:08} the quick brown fox jumps over the lazy dog and runs on to \
                 the end of the line\r\n"
            ),
            1 => format!(
                "\x1b[32m   Compiling\x1b[0m crate-{n} v0.1.{} (\x1b[1m{n:x}\x1b[22m)\r\n",
                n % 97
            ),
            2 => format!("\x1b[38;5;{}m{}\x1b[0m\r\n", n % 256, "=".repeat((n % 120) as usize)),
            _ => format!("\x1b[2K\r[{}] {:3}% \u{2588}\u{2591} done\r\n", n, n % 101),
        };
        text.extend_from_slice(line.as_bytes());
        n += 1;
    }
    text
}

/// The median and the 99th percentile of some times.
pub struct Percentiles {
    pub p50: Duration,
    pub p99: Duration,
}

pub fn percentiles(mut times: Vec<Duration>) -> Percentiles {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    Percentiles { p50: at(50), p99: at(99) }
}

/// Prints one row, aligned.
pub fn row(name: &str, value: &str) {
    println!("  {name:<44} {value}");
}

pub fn heading(text: &str) {
    println!("\n{text}");
}

pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
