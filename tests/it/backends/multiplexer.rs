//! A tmux server and a screen session that belong to one test and end with it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use coop_client::{Client, v1};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::session::rows;
use crate::support::{soon, until};

/// A directory with the sockets of tmux or of screen, and the variable that names it.
pub struct Multiplexer {
    dir: TempDir,
    variable: &'static str,
}

impl Multiplexer {
    fn new(variable: &'static str) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700))
            .expect("private");
        Self { dir, variable }
    }

    /// A tmux server with one session, a quiet shell in it.
    pub fn tmux(name: &str) -> Self {
        let tmux = Self::new("TMUX_TMPDIR");
        tmux.new_session(name);
        tmux
    }

    pub fn new_session(&self, name: &str) {
        let made = self.try_session(name);
        assert!(made.status.success(), "{made:?} (is everything installed? run `make test`)");
    }

    pub fn try_session(&self, name: &str) -> Output {
        let session = ["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-s", name];
        self.call("tmux", &[&session[..], &SHELL].concat())
    }

    /// A screen session, a quiet shell in it.
    pub async fn screen(name: &str) -> Self {
        let screen = Self::new("SCREENDIR");
        screen.new_screen(name).await;
        screen
    }

    pub async fn new_screen(&self, name: &str) {
        let before = self.screens().len();
        let session = ["-c", "/dev/null", "-U", "-d", "-m", "-S", name];
        let made = self.call("screen", &[&session[..], &SHELL].concat());
        assert!(made.status.success(), "{made:?} (is everything installed? run `make test`)");
        until("the screen session", async || (self.screens().len() > before).then_some(())).await;
    }

    /// The ids of the screen sessions: pid, dot and name.
    pub fn screens(&self) -> Vec<String> {
        let listing = self.call("screen", &["-ls"]);
        let text = String::from_utf8_lossy(&listing.stdout).into_owned();
        text.lines()
            .filter_map(|line| line.strip_prefix('\t')?.split('\t').next().map(str::to_owned))
            .collect()
    }

    pub fn call(&self, program: &str, args: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(args).env_remove("TMUX").env_remove("STY").env(self.variable, self.dir.path());
        command.env("PS1", "$ ").env("LANG", "C.UTF-8").env("HOME", self.dir.path());
        command.current_dir(self.dir.path()).output().expect("the program is installed")
    }

    /// Runs a tmux command, which must succeed, and returns its output.
    pub fn ask(&self, args: &[&str]) -> String {
        let output = self.call("tmux", args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
    }

    pub fn path(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// A coop with these flags and access to the multiplexer's sockets.
    pub fn setup(&self, flags: &[&str]) -> Setup {
        let sockets = self.dir.path().to_str().expect("a path");
        Setup::new([&["--port", "0"], flags].concat()).env(self.variable, sockets)
    }

    pub async fn attach(&self, address: &str) -> Coop {
        self.setup(&["--attach", address]).start().await
    }
}

impl Drop for Multiplexer {
    fn drop(&mut self) {
        if self.variable == "TMUX_TMPDIR" {
            drop(self.call("tmux", &["kill-server"]));
            return;
        }
        for id in self.screens() {
            let server = id.split('.').next().and_then(|pid| Pid::from_raw(pid.parse().ok()?));
            if let Some(server) = server {
                // It may have exited already.
                let _ = kill_process(server, Signal::TERM);
            }
        }
    }
}

/// Waits for the shell's prompt. The shell discards text that is typed while it handles an
/// interrupt.
pub async fn see_prompt(client: &mut Client) {
    until("a prompt", async || {
        let rows = rows(client).await;
        (rows.iter().rfind(|row| !row.is_empty())? == "$").then_some(())
    })
    .await;
}

pub async fn press(client: &mut Client, keys: &[&str]) {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    soon("keys", client.send_keys(v1::SendKeysRequest { keys })).await.expect("pressed");
}

pub async fn send_signal(client: &mut Client, signal: &str) {
    let request = v1::SendSignalRequest { signal: signal.to_owned() };
    soon("a signal", client.send_signal(request)).await.expect("sent");
}

/// Shuts coop down and waits until it has exited; returns its exit status.
pub async fn shut_down(mut coop: Coop) -> Option<i32> {
    soon("a shutdown", coop.grpc().await.shutdown(v1::ShutdownRequest::default()))
        .await
        .expect("accepted");
    coop.ended().await.code()
}
