//! The client verbs as a script runs them.

use std::process::{Output, Stdio};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use super::coop::Coop;
use super::soon;

pub fn verb(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coop"));
    command
        .env_clear()
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

pub async fn run(words: &[&str]) -> Output {
    soon("the verb to end", verb(words).output()).await.expect("coop runs")
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

pub fn url(coop: &Coop) -> String {
    format!("http://{}", coop.address())
}

/// A running verb, and the lines that it prints.
pub struct Lines {
    process: Child,
    stdout: tokio::io::Lines<BufReader<ChildStdout>>,
}

impl Lines {
    pub fn of(words: &[&str]) -> Self {
        let mut process = verb(words).spawn().expect("coop runs");
        let stdout = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        Self { process, stdout }
    }

    pub async fn next(&mut self) -> String {
        soon("a line", self.stdout.next_line()).await.expect("text").expect("not the end")
    }

    /// The next line that is wanted; others are skipped.
    pub async fn until(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let line = self.next().await;
            if wanted(&line) {
                return line;
            }
        }
    }

    /// Waits for the end, after which no line may come. Returns the exit code and the text on
    /// stderr.
    pub async fn end(mut self) -> (Option<i32>, String) {
        assert_eq!(soon("the end", self.stdout.next_line()).await.expect("text"), None);
        let output = soon("the end", self.process.wait_with_output()).await.expect("waited");
        (output.status.code(), text(&output.stderr).to_owned())
    }
}
