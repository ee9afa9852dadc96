//! A fake agent: a child that coop takes for Claude. It shows the screens, sets the titles and
//! calls the hooks that the test asks for, and records every byte that is typed.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use coop_client::{Client, v1};
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;

use super::coop::{Coop, Setup};
use super::{soon, until};

/// Runs the commands that it reads from a pipe, and copies the keyboard to a file. Output
/// processing stays on, because screens are lines.
const SCRIPT: &str = r#"#!/bin/bash
[ "$1" = --version ] && echo '2.1.0 (Claude Code)' && exit
stty -icanon -echo -isig -icrnl -ixon min 1
exec 3<>"$HOME/commands"
cat </dev/tty >>"$HOME/typed" 3>&- &
printf '\e[?2004h'
while IFS= read -r command <&3; do eval "$command"; done
"#;

/// What Claude shows between turns, and what it shows in them.
pub const IDLE: &str = "08-idle-manual-mode";
pub const WORKING: &str = "10-working-spinner";
/// Claude asks for permission to run `touch /tmp/x`.
pub const PERMISSION: &str = "13-permission-bash";

pub struct FakeAgent {
    pub coop: Coop,
    pub client: Client,
    commands: File,
    screens: u32,
    hooks: u32,
}

impl FakeAgent {
    /// A fake agent with an empty screen, which has called no hook.
    pub async fn new(flags: &[&str], env: &[(&str, &str)]) -> Self {
        Self::run(flags, env, &["./claude"]).await
    }

    /// The same inside of this command, which runs `./claude`.
    pub async fn wrapped(command: &[&str]) -> Self {
        Self::run(&["--agent", "claude"], &[], command).await
    }

    async fn run(flags: &[&str], env: &[(&str, &str)], command: &[&str]) -> Self {
        let words = ["--port", "0"].iter().chain(flags).chain(&["--"]).chain(command);
        let setup = env.iter().fold(Setup::new(words), |setup, (key, value)| setup.env(key, value));
        let (script, pipe) = (setup.home().join("claude"), setup.home().join("commands"));
        std::fs::write(&script, SCRIPT).expect("written");
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("runnable");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
        // Opened for reading and writing, so that opening does not wait for the other side.
        let commands = File::options().read(true).write(true).open(&pipe).expect("the pipe");
        let coop = setup.start().await;
        let client = coop.grpc().await;
        Self { coop, client, commands, screens: 0, hooks: 0 }
    }

    /// A fake agent whose state is `idle`.
    pub async fn idle() -> Self {
        let mut agent = Self::new(&[], &[]).await;
        agent.rest().await;
        agent
    }

    /// Ends its turn.
    pub async fn rest(&mut self) {
        self.show(IDLE);
        self.title("✳ Claude Code");
        self.reaches("idle").await;
    }

    /// Begins a turn.
    pub async fn work(&mut self) {
        self.show(WORKING);
        self.title("◐ Claude Code");
        self.reaches("working").await;
    }

    /// Asks for permission, with its dialog and a waiting hook. Returns the path of the file that
    /// gets the hook's answer.
    pub async fn ask(&mut self) -> PathBuf {
        let input = serde_json::json!({"command": "touch /tmp/x", "description": "Touch a file"});
        let payload =
            serde_json::json!({"session_id": "s", "tool_name": "Bash", "tool_input": input});
        let answer = self.waiting_hook("PermissionRequest", &payload);
        self.show(PERMISSION);
        self.reaches("prompt").await;
        until("the dialog to take keys", async || self.prompt().await.ready.then_some(())).await;
        answer
    }

    /// Makes it run a command of the shell.
    pub fn command(&mut self, command: &str) {
        writeln!(self.commands, "{command}").expect("the child reads");
    }

    /// Shows one of the screens in `tests/fixtures/claude`.
    pub fn show(&mut self, screen: &str) {
        self.draw(&fixture(screen));
    }

    /// Shows the idle screen with something typed in its composer.
    pub fn show_draft(&mut self, draft: &str) {
        let (empty, cursor) = ("❯\u{a0}\x1b[7m", "\x1b[7m");
        let screen = fixture(IDLE);
        assert!(screen.contains(empty), "the composer of {IDLE} has moved");
        self.draw(&screen.replace(empty, &format!("❯\u{a0}{draft}{cursor}")));
    }

    fn draw(&mut self, screen: &str) {
        self.screens += 1;
        let name = format!("screen.{}", self.screens);
        std::fs::write(self.coop.home.path().join(&name), screen).expect("written");
        self.command(&format!(r#"printf '\e[0m\e[H\e[2J%s' "$(<"$HOME/{name}")""#));
    }

    pub fn title(&mut self, title: &str) {
        self.command(&format!(r"printf '\e]0;%s\a' '{title}'"));
    }

    /// Calls a hook, before any later command runs.
    pub fn hook(&mut self, event: &str, payload: &Value) {
        let call = self.hook_call(event, payload);
        self.command(&call);
    }

    /// Calls a hook that waits for an answer. Returns the path of the file that gets the answer.
    pub fn waiting_hook(&mut self, event: &str, payload: &Value) -> PathBuf {
        let call = self.hook_call(event, payload);
        let answer = format!("answer.{}", self.hooks);
        self.command(&format!(r#"{call} --wait >"$HOME/{answer}" 3>&- &"#));
        self.coop.home.path().join(answer)
    }

    fn hook_call(&mut self, event: &str, payload: &Value) -> String {
        self.hooks += 1;
        let name = format!("payload.{}", self.hooks);
        std::fs::write(self.coop.home.path().join(&name), payload.to_string()).expect("written");
        format!(r#"<"$HOME/{name}" '{}' hook {event}"#, env!("CARGO_BIN_EXE_coop"))
    }

    /// Everything typed so far.
    pub fn typed(&self) -> String {
        let bytes = std::fs::read(self.coop.home.path().join("typed")).unwrap_or_default();
        String::from_utf8(bytes).expect("text")
    }

    /// Waits until the typed text ends with this.
    pub async fn is_typed(&self, wanted: &str) {
        until(&format!("{wanted:?} to be typed"), async || {
            self.typed().ends_with(wanted).then_some(())
        })
        .await;
    }

    pub async fn state(&mut self) -> v1::GetAgentStateResponse {
        let request = v1::GetAgentStateRequest {};
        soon("a state", self.client.get_agent_state(request)).await.expect("a state").into_inner()
    }

    pub async fn reaches(&mut self, wanted: &str) {
        until(wanted, async || (self.state().await.state == wanted).then_some(())).await;
    }

    /// The current prompt.
    pub async fn prompt(&mut self) -> v1::PromptContext {
        self.state().await.prompt.expect("a prompt")
    }
}

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/claude/screens/{name}.ansi", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a screen")
}
