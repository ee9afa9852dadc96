//! Text for people on stdout, JSON for scripts, and words about it all on stderr. A reader that
//! went away, as `head` does, ends the verb and is no error.

use std::io::{self, Write as _};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;
use tokio::sync::oneshot;

use super::failure::Failure;

/// Writes to stdout at once.
pub(super) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Unread,
        _ => Failure::Unwritten(format!("stdout: {error}")),
    })
}

/// Waits until nobody reads stdout any more, which a pipe tells even while nothing is written.
pub(super) async fn unread() {
    let (gone, unread) = oneshot::channel::<()>();
    // The thread lives as long as the process: most readers never go.
    let watching = thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        drop(gone);
    });
    match watching {
        Ok(_detached) => drop(unread.await),
        // The next write will tell.
        Err(_) => std::future::pending().await,
    }
}

/// One object on one line.
pub(super) fn json(message: &impl Serialize) -> Result<(), Failure> {
    match serde_json::to_string(message) {
        Ok(text) => out(&format!("{text}\n")),
        Err(error) => Err(Failure::Refused { code: "INTERNAL".to_owned(), message: error.to_string() }),
    }
}

/// Success says nothing unless it is asked to.
pub(super) fn json_if(wanted: bool, message: &impl Serialize) -> Result<(), Failure> {
    if wanted { json(message) } else { Ok(()) }
}

/// A line on stderr.
pub(super) fn say(text: &str) {
    // If stderr is gone too, the exit code still tells.
    drop(io::stderr().write_all(format!("coop: {text}\n").as_bytes()));
}

/// Words from elsewhere on a line of their own, unable to do anything to the terminal they are printed on.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim_end().to_owned()
}

/// The rows of a screen without those at the bottom on which nothing stands.
pub(super) fn rows(lines: &[String]) -> String {
    let used = lines.iter().rposition(|line| !line.trim_end().is_empty()).map_or(0, |last| last + 1);
    let mut text = String::new();
    for line in lines.iter().take(used) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Milliseconds since 1970 as `2026-01-31T12:00:00.000Z`.
pub(super) fn timestamp(epoch_ms: u64) -> String {
    let (secs, millis) = (epoch_ms / 1000, epoch_ms % 1000);
    let (days, second) = (secs / 86_400, secs % 86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    // Years that begin in March make the leap day the last one; 400 of them have as many days
    // as any other 400.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year, if month < 10 { month + 3 } else { month - 9 });
    let year = if month <= 2 { year + 1 } else { year };
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_rows_at_the_bottom_are_left_out() {
        let lines = ["", "$ ls", "", "a b", "", "  "].map(str::to_owned);
        assert_eq!(rows(&lines), "\n$ ls\n\na b\n");
        assert_eq!(rows(&[String::new(), String::new()]), "");
        assert_eq!(rows(&[]), "");
    }

    #[test]
    fn times() {
        for (epoch_ms, wanted) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(epoch_ms), wanted);
        }
    }
}
