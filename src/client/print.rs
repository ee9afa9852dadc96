//! Prints text or JSON on stdout, and messages on stderr. A reader that closes stdout, as `head`
//! does, ends the verb without an error.

use std::io::{self, Write as _};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;
use tokio::sync::oneshot;

use super::failure::Failure;
use crate::driver::visible::visible;

/// Writes to stdout and flushes it.
pub(super) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Unwritten(format!("stdout: {error}")),
        }
    })
}

/// Waits until the reader closes stdout, which a pipe reports even while nothing is written.
pub(super) async fn output_closed() {
    let (gone, closed) = oneshot::channel::<()>();
    // The thread lives as long as the process, because most readers never close stdout.
    let watching = thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        drop(gone);
    });
    match watching {
        Ok(_detached) => drop(closed.await),
        // The next write reports it.
        Err(_) => std::future::pending().await,
    }
}

/// One object on one line.
pub(super) fn json(message: &impl Serialize) -> Result<(), Failure> {
    match serde_json::to_string(message) {
        Ok(text) => out(&format!("{text}\n")),
        Err(error) => {
            Err(Failure::Refused { code: "INTERNAL".to_owned(), message: error.to_string() })
        }
    }
}

/// Prints the message with `--json` only.
pub(super) fn json_if(wanted: bool, message: &impl Serialize) -> Result<(), Failure> {
    if wanted { json(message) } else { Ok(()) }
}

/// A line on stderr.
pub(super) fn message(text: &str) {
    // Without stderr, the exit code still reports the result.
    drop(io::stderr().write_all(format!("coop: {text}\n").as_bytes()));
}

/// Text from outside as one line without controls, so that it cannot affect the terminal, and with
/// every character visible.
pub(super) fn one_line(text: &str) -> String {
    let line = text.replace(char::is_control, " ");
    visible(line.trim_end()).into_owned()
}

/// The rows of a screen without the blank ones at the bottom.
pub(super) fn rows(lines: &[String]) -> String {
    let used =
        lines.iter().rposition(|line| !line.trim_end().is_empty()).map_or(0, |last| last + 1);
    let mut text = String::new();
    for line in lines.iter().take(used) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_every_character() {
        assert_eq!(one_line("rm \u{202e}a\nb\u{1b}[2J "), "rm \\u{202e}a b [2J");
    }

    #[test]
    fn blank_rows_at_the_bottom_are_left_out() {
        let lines = ["", "$ ls", "", "a b", "", "  "].map(str::to_owned);
        assert_eq!(rows(&lines), "\n$ ls\n\na b\n");
        assert_eq!(rows(&[String::new(), String::new()]), "");
        assert_eq!(rows(&[]), "");
    }
}
