//! One window of GNU screen, by screen's own command line. A hardcopy has the low byte of each
//! character and no colours, `info` shows the cursor only in the message line of attached users,
//! and screen resizes a window only while a user is attached; this module cannot hide any of that.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{interval, timeout};

use super::capture::{Capture, Cursor};
use super::command::{CommandError, CommandOutput, Program};
use super::{Address, Multiplexer, MuxError};
use crate::os::{self, Process, ProcessIdentity, Processes};
use crate::pty::{Exit, WindowSize};

/// How many bytes one command types: each becomes four characters, and screen silently drops what
/// exceeds 768.
const WRITE_LIMIT: usize = 150;
/// How long a hardcopy may take, and how often coop checks for it.
const HARDCOPY_TIMEOUT: Duration = Duration::from_secs(2);
const HARDCOPY_CHECK: Duration = Duration::from_millis(2);
/// The largest hardcopy that is read.
const HARDCOPY_LIMIT: u64 = 4 << 20;
/// `info` shows in the message line of attached users, so while the text does not change, only
/// every so many captures query it.
const CAPTURES_PER_INFO: u32 = 30;

pub(super) struct ScreenWindow {
    program: Program,
    /// The server's pid, a dot and the name. screen would also take a name alone for the prefix of
    /// another session's name.
    id: String,
    window: u32,
    process: ProcessIdentity,
    /// The file that screen writes hardcopies to, in a directory of coop.
    hardcopy: PathBuf,
    /// A second hardcopy, which exists once the first is complete.
    marker: PathBuf,
    last: Option<LastCapture>,
}

struct LastCapture {
    text: Vec<u8>,
    info: WindowInfo,
    /// How many captures used this info.
    captures: u32,
}

impl ScreenWindow {
    /// Finds the current window of the session with exactly this name, or with this pid and name.
    pub(super) async fn find(program: Program, name: &str, dir: &Path) -> Result<Self, MuxError> {
        let failed = |error| MuxError::new(Multiplexer::Screen, error);
        let refused = |reason: &str| failed(CommandError::Failed(reason.to_owned()));
        // screen expands variables and quotes in a path.
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let dir = dir.to_str().filter(|dir| dir.chars().all(plain));
        let dir = Path::new(dir.ok_or_else(|| {
            refused("the path of coop's state directory has characters that it would expand")
        })?);
        // Its exit status depends on how many sessions there are, so it is ignored.
        let sessions = session_ids(&program.run(&["-ls"]).await.map_err(failed)?.text());
        let is_meant =
            |id: &&String| *id == name || id.split_once('.').is_some_and(|(_, own)| own == name);
        let found: Vec<&String> = sessions.iter().filter(is_meant).collect();
        let id = match found.as_slice() {
            [id] => (*id).clone(),
            [] => {
                let address = Address { multiplexer: Multiplexer::Screen, name: name.to_owned() };
                return Err(MuxError::NoSession { address, sessions });
            }
            several => {
                let ids = several.iter().map(|id| (*id).clone()).collect();
                return Err(MuxError::Ambiguous { name: name.to_owned(), ids });
            }
        };
        let number =
            program.run(&["-S", &id, "-Q", "number"]).await.and_then(CommandOutput::checked);
        let number = number.map_err(failed)?.text();
        let window = number.split(' ').next().and_then(|number| number.parse().ok());
        let window = window.ok_or_else(|| refused("it shows no window"))?;
        let process =
            window_process(&id, window).ok_or_else(|| refused("nothing runs in its window"))?;
        let (hardcopy, marker) = (dir.join("screen"), dir.join("screen.done"));
        Ok(Self { program, id, window, process, hardcopy, marker, last: None })
    }

    pub(super) fn pid(&self) -> i32 {
        self.process.pid
    }

    pub(super) async fn capture(&mut self) -> Result<Capture, CommandError> {
        let text = self.read_hardcopy().await?;
        let known =
            self.last.take().filter(|last| last.text == text && last.captures < CAPTURES_PER_INFO);
        let last = match known {
            Some(last) => LastCapture { captures: last.captures + 1, ..last },
            None => {
                let line = self.run("-Q", &["info"]).await?;
                let info = WindowInfo::parse(&line)
                    .ok_or_else(|| CommandError::Failed(format!("it printed {line:?}")))?;
                LastCapture { text, info, captures: 0 }
            }
        };
        let capture = last.capture();
        self.last = Some(last);
        Ok(capture)
    }

    async fn read_hardcopy(&self) -> Result<Vec<u8>, CommandError> {
        let failed = |error: io::Error| CommandError::Failed(format!("its hardcopy: {error}"));
        self.remove_hardcopy();
        // screen writes one after the other, and reports the end of neither.
        let [hardcopy, marker] =
            [&self.hardcopy, &self.marker].map(|path| format!("hardcopy {}", path.display()));
        self.run("-X", &["eval", &hardcopy, &marker]).await?;
        let mut checks = interval(HARDCOPY_CHECK);
        let written = async {
            while !self.marker.exists() {
                checks.tick().await;
            }
        };
        if timeout(HARDCOPY_TIMEOUT, written).await.is_err() {
            self.check_process()?;
            return Err(CommandError::TimedOut);
        }
        let size = std::fs::metadata(&self.hardcopy).map_err(failed)?.len();
        if size > HARDCOPY_LIMIT {
            return Err(CommandError::Failed(format!("its hardcopy has {size} bytes")));
        }
        std::fs::read(&self.hardcopy).map_err(failed)
    }

    fn remove_hardcopy(&self) {
        for path in [&self.marker, &self.hardcopy] {
            // It need not exist.
            drop(std::fs::remove_file(path));
        }
    }

    /// screen does not keep the exit status of a window's program.
    fn check_process(&self) -> Result<(), CommandError> {
        if self.process.is_running() { Ok(()) } else { Err(CommandError::Exited(Exit::Unknown)) }
    }

    async fn run(&self, option: &str, command: &[&str]) -> Result<String, CommandError> {
        self.check_process()?;
        let window = self.window.to_string();
        let session = ["-S", &self.id, "-p", &window, option];
        let output = self.program.run(&[&session[..], command].concat()).await?;
        if !output.succeeded {
            let text = output.text();
            if text.contains("No screen session found")
                || text.contains("Could not find pre-select window")
            {
                return Err(CommandError::Exited(Exit::Unknown));
            }
        }
        Ok(output.checked()?.text())
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<usize, CommandError> {
        let bytes = bytes.get(..WRITE_LIMIT).unwrap_or(bytes);
        let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        self.run("-X", &["stuff", &octal]).await?;
        Ok(bytes.len())
    }

    pub(super) async fn resize(&mut self, size: WindowSize) -> Result<(), CommandError> {
        self.last = None;
        self.run("-X", &["width", "-w", &size.cols.to_string(), &size.rows.to_string()])
            .await
            .map(drop)
    }

    pub(super) fn restore(&self) {
        self.remove_hardcopy();
    }
}

/// Returns the ids in a listing of sessions, without those of dead ones.
fn session_ids(listing: &str) -> Vec<String> {
    let lines = listing.lines().filter_map(|line| line.strip_prefix('\t'));
    let lines = lines.filter(|line| !line.contains("(Dead"));
    lines.filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

/// Returns the process that screen started in a window: a child of the server with the window's
/// number in its environment.
fn window_process(id: &str, window: u32) -> Option<ProcessIdentity> {
    let server: i32 = id.split('.').next()?.parse().ok()?;
    let processes = Processes::scan().ok()?;
    let children: Vec<&Process> = processes
        .iter()
        .filter(|process| process.parent == server && !process.is_zombie())
        .collect();
    let has_number = |process: &&&Process| {
        let variable = format!("WINDOW={window}").into_bytes();
        os::environment(process.pid).contains(&variable)
    };
    match (children.iter().find(has_number), children.as_slice()) {
        (Some(process), _) => Some(process.identity()),
        (None, [only]) => Some(only.identity()),
        (None, _) => None,
    }
}

impl LastCapture {
    fn capture(&self) -> Capture {
        let WindowInfo { size, cursor, application_cursor, title } = self.info.clone();
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        let rows = text.split(|byte| *byte == b'\n').map(row).collect();
        Capture {
            size,
            rows,
            cursor,
            alternate: false,
            application_cursor,
            bracketed_paste: false,
            title,
        }
    }
}

/// Each cell is the low byte of its character. A byte that cannot be a character of its own becomes
/// U+FFFD; any other may be wrong, but cannot be checked.
fn row(cells: &[u8]) -> String {
    let mut text = String::with_capacity(cells.len());
    for &cell in cells {
        match cell {
            // The right half of a wide character.
            0xff => {
                text.pop();
                text.push_str("\u{fffd} ");
            }
            0x00..=0x1f | 0x7f..=0x9f => text.push('\u{fffd}'),
            0x20..=0x7e | 0xa0..=0xfe => text.push(cell.into()),
        }
    }
    text
}

/// What screen's `info` command reports of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WindowInfo {
    size: WindowSize,
    cursor: Cursor,
    /// screen reports the keypad's mode, which programs set together with that of the cursor keys.
    application_cursor: bool,
    title: String,
}

impl WindowInfo {
    /// Parses `(3,6)/(80,24)+1024 +(+)flow app UTF-8 0(title)`.
    fn parse(line: &str) -> Option<Self> {
        let (positions, rest) = line.split_once(' ')?;
        let (cursor, size) = positions.split_once('/')?;
        let pair = |text: &str| {
            let (first, second) = text.strip_prefix('(')?.split_once(')')?.0.split_once(',')?;
            Some((first.parse::<u16>().ok()?, second.parse::<u16>().ok()?))
        };
        let ((col, row), (cols, rows)) = (pair(cursor)?, pair(size)?);
        // The flags are words without parentheses, except the first.
        let flags = rest.split(' ').skip(1).take_while(|word| !word.contains('('));
        let application_cursor = flags.clone().any(|flag| flag == "app");
        let before_title: usize =
            rest.split(' ').take(1 + flags.count()).map(|word| word.len() + 1).sum();
        let title = rest.get(before_title..).and_then(|title| title.split_once('('));
        let title =
            title.map_or("", |(_, title)| title.trim_end().trim_end_matches(')')).to_owned();
        let cursor =
            Cursor { col: col.saturating_sub(1), row: row.saturating_sub(1), visible: true };
        Some(Self { size: WindowSize { cols, rows }, cursor, application_cursor, title })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_info_is_parsed() {
        let info = WindowInfo::parse("(3,6)/(80,24)+1024 +(+)flow app UTF-8 0(my (own) title)")
            .expect("info");
        assert_eq!(info.size, WindowSize { cols: 80, rows: 24 });
        assert_eq!(info.cursor, Cursor { col: 2, row: 5, visible: true });
        assert!(info.application_cursor);
        assert_eq!(info.title, "my (own) title");
        let plain = WindowInfo::parse("(1,1)/(80,24)+100 -flow UTF-8 0(bash)").expect("info");
        assert!(!plain.application_cursor);
        assert_eq!(plain.title, "bash");
        for line in [
            "",
            "(1,1)",
            "(1,1)/(80,24)",
            "(1,1)/(80) x 0(b)",
            "(-1,1)/(80,24) x 0(b)",
            "nothing at all",
        ] {
            assert_eq!(WindowInfo::parse(line), None, "{line}");
        }
    }

    #[test]
    fn dead_sessions_are_not_listed() {
        let listing = "There are screens on:\n\t12.work\t(11/17/26 03:03:23)\t(Detached)\n\
                       \t13.a.b\t(Attached)\n\
                       \t14.old\t(Dead ???)\nRemove dead screens with 'screen -wipe'.\n\
                       2 Sockets in /run/screen.\n";
        assert_eq!(session_ids(listing), ["12.work", "13.a.b"]);
        assert_eq!(session_ids("No Sockets found in /run/screen.\n"), [""; 0]);
    }

    #[test]
    fn bytes_that_are_not_characters_become_u_fffd() {
        assert_eq!(
            row(b"caf\xe9 \"\xffW\xff \x00\x02 ~"),
            "café \u{fffd} \u{fffd}  \u{fffd}\u{fffd} ~"
        );
        assert_eq!(row(b""), "");
        assert_eq!(row(b"\xff"), "\u{fffd} ");
    }
}
