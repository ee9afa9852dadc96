//! Real programs, as they look in coop and as they look in tmux; and the questions that programs
//! ask of their terminal.

use std::path::Path;
use std::process::Command;

use coop_client::{Client, v1};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::support::coop::Coop;
use crate::support::session::{exited, rows};
use crate::support::until;

const COLS: &str = "90";
const ROWS: &str = "28";

/// Whether the program is there. A test without it proves nothing, and says so.
#[expect(clippy::print_stderr, reason = "whoever reads the result must see what it does not cover")]
fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    if !found {
        eprintln!("\n*** NOT TESTED: {program} is not installed; run `make setup` ***\n");
    }
    found
}

/// A tmux server of its own, with one window that runs one program.
struct Tmux {
    socket: String,
    directory: tempfile::TempDir,
}

impl Tmux {
    fn run(home: &Path, command: &[&str]) -> Self {
        let directory = tempfile::TempDir::new().expect("a directory");
        let tmux = Self { socket: directory.path().join("tmux").display().to_string(), directory };
        let session = ["new-session", "-d", "-x", COLS, "-y", ROWS, "--"];
        // The status line would take a row of the window.
        let mut start = tmux.command(&["set-option", "-g", "status", "off", ";"]);
        start.args(session).args(command).current_dir(home);
        let output = start.output().expect("tmux runs");
        assert!(output.status.success(), "{output:?}");
        tmux
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-S", &self.socket, "-f", "/dev/null"]).args(args);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path())
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .env("LESSHISTFILE", "-");
        command
    }

    fn rows(&self) -> Vec<String> {
        let output = self.command(&["capture-pane", "-p"]).output().expect("tmux runs");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut rows: Vec<String> = text.lines().map(|row| row.trim_end().to_owned()).collect();
        rows.resize(ROWS.parse().expect("a number"), String::new());
        rows
    }

    fn press(&self, key: &str) {
        let output = self.command(&["send-keys", "--", key]).output().expect("tmux runs");
        assert!(output.status.success(), "{output:?}");
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // It may be gone already, if its program has ended.
        drop(self.command(&["kill-server"]).output());
    }
}

/// The same program in both, with the same keys.
struct Twins {
    _coop: Coop,
    client: Client,
    tmux: Tmux,
}

impl Twins {
    async fn run(command: &[&str], prepare: impl Fn(&Path)) -> Self {
        let flags = ["--cols", COLS, "--rows", ROWS];
        // It starts once its file is there.
        let wait = "until [ -e go ]; do sleep 0.01; done; LESSHISTFILE=- exec \"$@\"";
        let coop = Coop::with(&flags, ["sh", "-c", wait, "sh"].iter().chain(command)).await;
        prepare(coop.home.path());
        let tmux = Tmux::run(coop.home.path(), command);
        std::fs::write(coop.home.path().join("go"), "").expect("written");
        let client = coop.grpc().await;
        Self { _coop: coop, client, tmux }
    }

    /// Presses a key in both, by the name that both know.
    async fn press(&mut self, key: &str) {
        let request = v1::SendKeysRequest { keys: vec![key.to_owned()] };
        self.client.send_keys(request).await.expect("pressed");
        self.tmux.press(key);
    }

    async fn type_text(&mut self, text: &str) {
        for key in text.chars() {
            self.press(&if key == ' ' { "Space".to_owned() } else { key.to_string() }).await;
        }
    }

    /// Waits until both show the same and it satisfies `seen`; answers the rows.
    async fn agree(&mut self, what: &str, seen: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut last = (Vec::new(), Vec::new());
        let deadline = tokio::time::Instant::now() + crate::support::DEADLINE;
        while tokio::time::Instant::now() < deadline {
            last = (rows(&mut self.client).await, self.tmux.rows());
            if last.0 == last.1 && seen(&last.0) {
                return last.0;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let (coop, tmux) = last;
        let differ: Vec<_> = coop.iter().zip(&tmux).filter(|(ours, theirs)| ours != theirs).collect();
        panic!("{what}: coop shows\n{}\nrows that differ, tmux's second: {differ:#?}", coop.join("\n"));
    }
}

fn has(rows: &[String], text: &str) -> bool {
    rows.iter().any(|row| row.contains(text))
}

/// Wide and combined characters, tabs and long lines too.
fn prose() -> String {
    let lines = (1..=200).map(|number| match number % 7 {
        0 => format!("{number}\ttabs\tand\tmore tabs"),
        3 => format!("{number} 日本語 and 한국어 and ünïcödé"),
        5 => format!("{number} {}", "long ".repeat(30)),
        _ => format!("{number} plain words on a line"),
    });
    lines.map(|line| line + "\n").collect()
}

#[tokio::test]
async fn vim_looks_as_it_does_in_tmux() {
    if !installed("vim") || !installed("tmux") {
        return;
    }
    let quiet =
        "set nocp nomore shortmess+=I ttimeoutlen=5 noswapfile viminfo= ruler number syntax=off laststatus=2";
    let command = ["vim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", quiet, "text.txt"];
    let mut twins =
        Twins::run(&command, |home| std::fs::write(home.join("text.txt"), prose()).expect("written")).await;
    let rows = twins.agree("the file", |rows| has(rows, "1 plain words") && has(rows, "text.txt")).await;
    assert!(has(&rows, "日本語"), "{rows:?}");
    twins.type_text("Gzz").await;
    twins.agree("the end of the file", |rows| has(rows, "200 plain words")).await;
    twins.type_text("ggOtop of the file").await;
    twins.press("Enter").await;
    twins.type_text("second").await;
    twins.press("Escape").await;
    twins.agree("inserted lines", |rows| has(rows, "top of the file") && !has(rows, "-- INSERT --")).await;
    for key in ["Down", "Down", "End", "PageDown", "PageUp", "Home"] {
        twins.press(key).await;
    }
    twins.type_text(":split").await;
    twins.press("Enter").await;
    twins.type_text("10dd").await;
    twins.agree("two windows", |rows| has(rows, "10 fewer lines")).await;
    twins.type_text("/").await;
    twins.type_text("plain").await;
    twins.press("Enter").await;
    twins.type_text("u").await;
    twins.agree("all lines again", |rows| has(rows, "10 more lines")).await;
    // The alternate screen is left, and the terminal is as it was.
    twins.type_text(":qa!").await;
    twins.press("Enter").await;
    assert_eq!(exited(&mut twins.client).await, (Some(0), None));
    let screen =
        twins.client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert!(!screen.alt_screen && !has(&screen.lines, "plain words"), "{screen:?}");
}

#[tokio::test]
async fn less_looks_as_it_does_in_tmux() {
    if !installed("less") || !installed("tmux") {
        return;
    }
    let write = |home: &Path| std::fs::write(home.join("text.txt"), prose()).expect("written");
    let mut twins = Twins::run(&["less", "text.txt"], write).await;
    twins.agree("the first page", |rows| has(rows, "1 plain words") && has(rows, "text.txt")).await;
    for key in ["Space", "Down", "PageDown", "b", "Up"] {
        twins.press(key).await;
    }
    twins
        .agree("somewhere else", |rows| {
            !rows[0].starts_with("1 ") && rows.last().is_some_and(|row| row == ":")
        })
        .await;
    twins.type_text("/日本").await;
    twins.press("Enter").await;
    twins.agree("what was looked for", |rows| rows.first().is_some_and(|row| row.contains("日本語"))).await;
    twins.type_text("G").await;
    twins.agree("the end", |rows| has(rows, "(END)")).await;
    twins.type_text("g").await;
    twins.type_text("-N").await;
    twins.press("Enter").await;
    twins.agree("numbered lines", |rows| has(rows, "      1 1 plain words")).await;
    let screen =
        twins.client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert!(screen.alt_screen);
    twins.type_text("q").await;
    assert_eq!(exited(&mut twins.client).await, (Some(0), None));
}

#[tokio::test]
async fn htop_shows_its_meters_its_table_and_its_keys() {
    if !installed("htop") {
        return;
    }
    let coop = Coop::with(&["--cols", "120", "--rows", "40"], ["htop", "-d", "50"]).await;
    let mut client = coop.grpc().await;
    let drawn = async |client: &mut Client, what: &str| {
        until(what, async || {
            let rows = rows(client).await;
            has(&rows, what).then_some(rows)
        })
        .await
    };
    let first = drawn(&mut client, "F10Quit").await;
    assert_eq!(first.len(), 40);
    assert!(first[39].starts_with("F1Help") && first[39].contains("F10Quit"), "{first:?}");
    let header = first.iter().find(|row| row.contains("PID") && row.contains("Command")).expect("a header");
    assert!(header.contains("USER") && header.contains("CPU%"), "{header}");
    assert!(has(&first, "Mem[") && has(&first, "Tasks:") && has(&first, "Load average:"), "{first:?}");
    let screen = client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert!(screen.alt_screen);
    // Function keys and arrows reach it, and its dialogs come and go.
    let press = async |client: &mut Client, key: &str| {
        client.send_keys(v1::SendKeysRequest { keys: vec![key.to_owned()] }).await.expect("pressed");
    };
    press(&mut client, "F1").await;
    drawn(&mut client, "Press any key to return").await;
    press(&mut client, "Escape").await;
    drawn(&mut client, "F10Quit").await;
    press(&mut client, "F2").await;
    drawn(&mut client, "Display options").await;
    press(&mut client, "F10").await;
    let again = drawn(&mut client, "F9Kill").await;
    assert!(has(&again, "Load average:"), "{again:?}");
    press(&mut client, "F10").await;
    assert_eq!(exited(&mut client).await, (Some(0), None));
    let screen = client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert!(!screen.alt_screen && !has(&screen.lines, "F10Quit"), "{:?}", screen.lines);
}

// ---- Questions to the terminal ----

/// Asks, waits for the answer to the last question, and notes everything that came.
const ASKER: &str = r"
import os, tty
tty.setraw(0)
os.write(1, b'ready')
os.read(0, 1)
answers = b''
for question in (b'\x1b[c', b'\x1b[>c', b'\x1b[3;7H\x1b[6n', b'\x1b[?6n', b'\x1b]10;?\x1b\\', b'\x1b]11;?\x07',
                 b'\x1b[?2004$p', b'\x1b[>0q', b'\x1b[?u', b'\x1b[5n'):
    os.write(1, question)
while not answers.endswith(b'\x1b[0n'):
    answers += os.read(0, 4096)
# Whatever a second responder would add is here by the time this question is answered.
os.write(1, b'\x1b[6n')
while not answers.endswith(b'R'):
    answers += os.read(0, 4096)
open('answers', 'wb').write(answers)
";

/// Two people look on meanwhile, with terminals of their own that must not answer too.
async fn asked(watchers: usize) -> String {
    let coop = Coop::run(["python3", "-c", ASKER]).await;
    let mut client = coop.grpc().await;
    until("the program", async || has(&rows(&mut client).await, "ready").then_some(())).await;
    let mut watching = Vec::new();
    for _ in 0..watchers {
        let (keyboard, asked) = mpsc::channel::<v1::AttachRequest>(4);
        let mut told = client.attach(ReceiverStream::new(asked)).await.expect("a stream").into_inner();
        told.message().await.expect("no error").expect("a snapshot");
        let reading = tokio::spawn(async move { while let Ok(Some(_)) = told.message().await {} });
        watching.push((keyboard, reading));
    }
    client.send_input_raw(v1::SendInputRawRequest { data: b"x".to_vec().into() }).await.expect("typed");
    assert_eq!(exited(&mut client).await, (Some(0), None), "every question was answered");
    for (_keyboard, reading) in watching {
        reading.await.expect("read to the end");
    }
    std::fs::read_to_string(coop.home.path().join("answers")).expect("answers")
}

fn check_answers(answers: &str) {
    let exactly_once = |part: &str| assert_eq!(answers.matches(part).count(), 1, "{part:?} in {answers:?}");
    exactly_once("\x1b[?62;22c");
    exactly_once("\x1b[>");
    exactly_once("\x1b]10;rgb:");
    exactly_once("\x1b]11;rgb:");
    exactly_once("\x1b[?2004;2$y");
    exactly_once("\x1bP>|coop ");
    exactly_once("\x1b[?0u");
    exactly_once("\x1b[0n");
    assert!(answers.contains("\x1b[3;7R"), "where the cursor is: {answers:?}");
    assert_eq!(answers.matches('R').count(), 3, "{answers:?}");
}

#[tokio::test]
async fn a_question_to_the_terminal_gets_one_answer() {
    check_answers(&asked(0).await);
}

#[tokio::test]
async fn a_question_gets_one_answer_also_while_two_clients_are_attached() {
    check_answers(&asked(2).await);
}
