//! Real programs look in coop as they do in tmux, and their terminal queries get one answer.

use std::path::Path;
use std::process::Command;

use coop_client::{Client, v1};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::support::coop::Coop;
use crate::support::session::{exited, rows};
use crate::support::{installed, until};

const COLS: &str = "90";
const ROWS: &str = "28";

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

/// The same program in coop and in tmux, with the same keys.
struct SideBySide {
    _coop: Coop,
    client: Client,
    tmux: Tmux,
}

impl SideBySide {
    async fn run(command: &[&str], prepare: impl Fn(&Path)) -> Self {
        let flags = ["--cols", COLS, "--rows", ROWS];
        // The program starts once the file `go` exists.
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

    /// Waits until both show the same and it satisfies `seen`; returns the rows.
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
        let differ: Vec<_> =
            coop.iter().zip(&tmux).filter(|(ours, theirs)| ours != theirs).collect();
        panic!(
            "{what}: coop shows\n{}\nrows that differ, tmux's second: {differ:#?}",
            coop.join("\n")
        );
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
    let quiet = "set nocp nomore shortmess+=I ttimeoutlen=5 noswapfile viminfo= ruler number syntax=off laststatus=2";
    let command = ["vim", "-u", "NONE", "-i", "NONE", "-n", "--cmd", quiet, "text.txt"];
    let mut both = SideBySide::run(&command, |home| {
        std::fs::write(home.join("text.txt"), prose()).expect("written");
    })
    .await;
    let rows =
        both.agree("the file", |rows| has(rows, "1 plain words") && has(rows, "text.txt")).await;
    assert!(has(&rows, "日本語"), "{rows:?}");
    both.type_text("Gzz").await;
    both.agree("the end of the file", |rows| has(rows, "200 plain words")).await;
    both.type_text("ggOtop of the file").await;
    both.press("Enter").await;
    both.type_text("second").await;
    both.press("Escape").await;
    both.agree("inserted lines", |rows| has(rows, "top of the file") && !has(rows, "-- INSERT --"))
        .await;
    for key in ["Down", "Down", "End", "PageDown", "PageUp", "Home"] {
        both.press(key).await;
    }
    both.type_text(":split").await;
    both.press("Enter").await;
    both.type_text("10dd").await;
    both.agree("two windows", |rows| has(rows, "10 fewer lines")).await;
    both.type_text("/").await;
    both.type_text("plain").await;
    both.press("Enter").await;
    both.type_text("u").await;
    both.agree("all lines again", |rows| has(rows, "10 more lines")).await;
    // vim leaves the alternate screen, and the terminal is as it was.
    both.type_text(":qa!").await;
    both.press("Enter").await;
    assert_eq!(exited(&mut both.client).await, (Some(0), None));
    let screen = both
        .client
        .get_screen(v1::GetScreenRequest::default())
        .await
        .expect("a screen")
        .into_inner();
    assert!(!screen.alt_screen && !has(&screen.lines, "plain words"), "{screen:?}");
}

#[tokio::test]
async fn less_looks_as_it_does_in_tmux() {
    if !installed("less") || !installed("tmux") {
        return;
    }
    let write = |home: &Path| std::fs::write(home.join("text.txt"), prose()).expect("written");
    let mut both = SideBySide::run(&["less", "text.txt"], write).await;
    both.agree("the first page", |rows| has(rows, "1 plain words") && has(rows, "text.txt")).await;
    for key in ["Space", "Down", "PageDown", "b", "Up"] {
        both.press(key).await;
    }
    both.agree("another page", |rows| {
        !rows[0].starts_with("1 ") && rows.last().is_some_and(|row| row == ":")
    })
    .await;
    both.type_text("/日本").await;
    both.press("Enter").await;
    both.agree("the line that was searched for", |rows| {
        rows.first().is_some_and(|row| row.contains("日本語"))
    })
    .await;
    both.type_text("G").await;
    both.agree("the end", |rows| has(rows, "(END)")).await;
    both.type_text("g").await;
    both.type_text("-N").await;
    both.press("Enter").await;
    both.agree("numbered lines", |rows| has(rows, "      1 1 plain words")).await;
    let screen = both
        .client
        .get_screen(v1::GetScreenRequest::default())
        .await
        .expect("a screen")
        .into_inner();
    assert!(screen.alt_screen);
    both.type_text("q").await;
    assert_eq!(exited(&mut both.client).await, (Some(0), None));
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
    let header =
        first.iter().find(|row| row.contains("PID") && row.contains("Command")).expect("a header");
    assert!(header.contains("USER") && header.contains("CPU%"), "{header}");
    assert!(
        has(&first, "Mem[") && has(&first, "Tasks:") && has(&first, "Load average:"),
        "{first:?}"
    );
    let screen =
        client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert!(screen.alt_screen);
    // Function keys reach htop, and its dialogs open and close.
    let press = async |client: &mut Client, key: &str| {
        client
            .send_keys(v1::SendKeysRequest { keys: vec![key.to_owned()] })
            .await
            .expect("pressed");
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
    let screen =
        client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert!(!screen.alt_screen && !has(&screen.lines, "F10Quit"), "{:?}", screen.lines);
}

// ---- Terminal queries ----

/// Sends queries, waits for the answer to the last one, and writes all answers to a file.
const QUERYING_CHILD: &str = r"
import os, tty
tty.setraw(0)
os.write(1, b'ready')
os.read(0, 1)
answers = b''
for query in (b'\x1b[c', b'\x1b[>c', b'\x1b[3;7H\x1b[6n', b'\x1b[?6n', b'\x1b]10;?\x1b\\', b'\x1b]11;?\x07',
                 b'\x1b[?2004$p', b'\x1b[>0q', b'\x1b[?u', b'\x1b[5n'):
    os.write(1, query)
while not answers.endswith(b'\x1b[0n'):
    answers += os.read(0, 4096)
# The answers of a second responder would arrive before the answer to this query.
os.write(1, b'\x1b[6n')
while not answers.endswith(b'R'):
    answers += os.read(0, 4096)
open('answers', 'wb').write(answers)
";

/// The answers that a program gets while this many clients are attached. Their terminals must not
/// answer too.
async fn answers_with(clients: usize) -> String {
    let coop = Coop::run(["python3", "-c", QUERYING_CHILD]).await;
    let mut client = coop.grpc().await;
    until("the program", async || has(&rows(&mut client).await, "ready").then_some(())).await;
    let mut attached = Vec::new();
    for _ in 0..clients {
        let (requests, stream) = mpsc::channel::<v1::AttachRequest>(4);
        let mut responses =
            client.attach(ReceiverStream::new(stream)).await.expect("a stream").into_inner();
        responses.message().await.expect("no error").expect("a snapshot");
        let reading =
            tokio::spawn(async move { while let Ok(Some(_)) = responses.message().await {} });
        attached.push((requests, reading));
    }
    client
        .send_input_raw(v1::SendInputRawRequest { data: b"x".to_vec().into() })
        .await
        .expect("typed");
    assert_eq!(exited(&mut client).await, (Some(0), None), "every query was answered");
    for (_requests, reading) in attached {
        reading.await.expect("read to the end");
    }
    std::fs::read_to_string(coop.home.path().join("answers")).expect("answers")
}

fn check_answers(answers: &str) {
    let exactly_once =
        |part: &str| assert_eq!(answers.matches(part).count(), 1, "{part:?} in {answers:?}");
    exactly_once("\x1b[?62;22c");
    exactly_once("\x1b[>");
    exactly_once("\x1b]10;rgb:");
    exactly_once("\x1b]11;rgb:");
    exactly_once("\x1b[?2004;2$y");
    exactly_once("\x1bP>|coop ");
    exactly_once("\x1b[?0u");
    exactly_once("\x1b[0n");
    assert!(answers.contains("\x1b[3;7R"), "the position of the cursor: {answers:?}");
    assert_eq!(answers.matches('R').count(), 3, "{answers:?}");
}

#[tokio::test]
async fn a_terminal_query_gets_one_answer() {
    check_answers(&answers_with(0).await);
}

#[tokio::test]
async fn a_terminal_query_gets_one_answer_with_two_clients_attached() {
    check_answers(&answers_with(2).await);
}

#[tokio::test]
async fn a_terminal_that_echoes_replies_does_not_answer_itself() {
    let queries = "\\e[c\\e[0c\\e[>c\\e[5n\\e[6n\\e[?6n\\e[?2004$p\\e[4$p\\e[>q\\e[?u\\e]10;?\\a\
                   \\e]11;?\\e\\\\\\eP$qm\\e\\\\\\e[18t\\eZ";
    let script =
        format!("stty raw echo -echoctl; printf '{queries}'; head -c 1 >/dev/null; exec cat");
    let coop = Coop::run(["bash", "-c", &script]).await;
    let mut client = coop.grpc().await;
    let all = v1::GetOutputRequest { offset: 0, limit: Some(1 << 20) };
    until("the terminal to be raw, and the replies echoed", async || {
        let output = client.get_output(all).await.expect("output").into_inner();
        String::from_utf8_lossy(&output.data).contains("[8;50;200t").then_some(())
    })
    .await;
    // The last query's reply is echoed like all others before it. What is typed now comes after
    // what the replies have led to, because coop writes replies first.
    let mut output = String::new();
    for marker in ["first marker", "second marker", "third marker"] {
        let text = v1::SendInputRequest { text: marker.to_owned(), enter: false };
        client.send_input(text).await.expect("typed");
        output = until(marker, async || {
            let output = client.get_output(all).await.expect("output").into_inner();
            let output = String::from_utf8_lossy(&output.data).into_owned();
            // The terminal echoes it, and `cat` prints it once more.
            (output.matches(marker).count() == 2).then_some(output)
        })
        .await;
    }
    for (reply, times) in [("[>0;10;0c", 2), ("[?0u", 2), ("[?62;22c", 6), ("[0n", 2)] {
        assert_eq!(output.matches(reply).count(), times, "{reply:?} in {output:?}");
    }
}
