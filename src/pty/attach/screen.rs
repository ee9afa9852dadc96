//! One window of GNU screen, by screen's own command line. screen shows the low byte of each character and no colours, tells
//! the cursor only in its message line, and resizes only what somebody looks at; none of that can be hidden here.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{interval, timeout};

use super::super::child::Exit;
use super::super::master::WindowSize;
use super::super::process::{Identity, Process, Processes};
use super::call::{Program, Said, Trouble};
use super::picture::{Cursor, Picture};
use super::{Address, AttachError, Host};

/// How many bytes are typed by one call: each becomes four characters, of which screen silently drops more than 768.
const WRITE: usize = 150;
/// How long a hard copy may take, and how often it is looked for.
const COPY_PATIENCE: Duration = Duration::from_secs(2);
const COPY_GLANCE: Duration = Duration::from_millis(2);
/// The largest hard copy that is read.
const COPY_LIMIT: u64 = 4 << 20;
/// A question shows in the message line of whoever is attached, so where nothing changes it is asked only so often.
const LOOKS_PER_QUESTION: u32 = 30;

pub(super) struct Screen {
    program: Program,
    /// The server's pid, a dot and the name: unlike a name alone, screen takes it for no other session's beginning.
    id: String,
    window: u32,
    process: Identity,
    /// What screen writes to, in a directory of ours.
    copy: PathBuf,
    /// It is there when the copy is complete.
    marker: PathBuf,
    last: Option<Last>,
}

struct Last {
    text: Vec<u8>,
    facts: Facts,
    looks: u32,
}

impl Screen {
    /// The window that is shown in the session with exactly this name, or with this pid and name.
    pub(super) async fn find(program: Program, name: &str, dir: &Path) -> Result<Self, AttachError> {
        let failed = |trouble| AttachError::of(Host::Screen, trouble);
        let refused = |reason: &str| failed(Trouble::Refused(reason.to_owned()));
        // screen would take some characters of a path for variables and quotes of its own.
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        let dir = dir.to_str().filter(|dir| dir.chars().all(plain));
        let dir = Path::new(dir.ok_or_else(|| refused("it cannot write to coop's state directory"))?);
        // It fails or not depending on how many there are.
        let sessions = sessions(&program.call(&["-ls"]).await.map_err(failed)?.text());
        let is_meant = |id: &&String| *id == name || id.split_once('.').is_some_and(|(_, own)| own == name);
        let found: Vec<&String> = sessions.iter().filter(is_meant).collect();
        let id = match found.as_slice() {
            [id] => (*id).clone(),
            [] => {
                let address = Address { host: Host::Screen, name: name.to_owned() };
                return Err(AttachError::NoSession { address, there_are: sessions });
            }
            several => {
                let ids = several.iter().map(|id| (*id).clone()).collect();
                return Err(AttachError::Ambiguous { name: name.to_owned(), ids });
            }
        };
        let number = program.call(&["-S", &id, "-Q", "number"]).await.and_then(Said::checked);
        let number = number.map_err(failed)?.text();
        let window = number.split(' ').next().and_then(|number| number.parse().ok());
        let window = window.ok_or_else(|| refused("it shows no window"))?;
        let process = leader(&id, window).ok_or_else(|| refused("nothing runs in its window"))?;
        let (copy, marker) = (dir.join("screen"), dir.join("screen.done"));
        Ok(Self { program, id, window, process, copy, marker, last: None })
    }

    pub(super) fn pid(&self) -> i32 {
        self.process.pid
    }

    pub(super) async fn look(&mut self) -> Result<Picture, Trouble> {
        let text = self.copy().await?;
        let known = self.last.take().filter(|last| last.text == text && last.looks < LOOKS_PER_QUESTION);
        let last = match known {
            Some(last) => Last { looks: last.looks + 1, ..last },
            None => {
                let said = self.call("-Q", &["info"]).await?;
                let facts =
                    Facts::read(&said).ok_or_else(|| Trouble::Refused(format!("it said {said:?}")))?;
                Last { text, facts, looks: 0 }
            }
        };
        let picture = last.picture();
        self.last = Some(last);
        Ok(picture)
    }

    async fn copy(&self) -> Result<Vec<u8>, Trouble> {
        let failed = |error: io::Error| Trouble::Refused(format!("its hard copy: {error}"));
        self.forget_copy();
        // They are made one after the other, and the caller is told of neither.
        let [copy, marker] = [&self.copy, &self.marker].map(|path| format!("hardcopy {}", path.display()));
        self.call("-X", &["eval", &copy, &marker]).await?;
        let mut glances = interval(COPY_GLANCE);
        let made = async {
            while !self.marker.exists() {
                glances.tick().await;
            }
        };
        if timeout(COPY_PATIENCE, made).await.is_err() {
            self.present()?;
            return Err(Trouble::Slow);
        }
        let size = std::fs::metadata(&self.copy).map_err(failed)?.len();
        if size > COPY_LIMIT {
            return Err(Trouble::Refused(format!("its hard copy has {size} bytes")));
        }
        std::fs::read(&self.copy).map_err(failed)
    }

    fn forget_copy(&self) {
        for path in [&self.marker, &self.copy] {
            // It need not be there.
            drop(std::fs::remove_file(path));
        }
    }

    /// screen forgets how a window's program ended.
    fn present(&self) -> Result<(), Trouble> {
        let lives = |process: Process| process.identity() == self.process && !process.is_zombie();
        if Process::read(self.process.pid).is_some_and(lives) {
            Ok(())
        } else {
            Err(Trouble::Gone(Exit::Unknown))
        }
    }

    async fn call(&self, how: &str, command: &[&str]) -> Result<String, Trouble> {
        self.present()?;
        let window = self.window.to_string();
        let session = ["-S", &self.id, "-p", &window, how];
        let said = self.program.call(&[&session[..], command].concat()).await?;
        if !said.succeeded {
            let text = said.text();
            if text.contains("No screen session found") || text.contains("Could not find pre-select window") {
                return Err(Trouble::Gone(Exit::Unknown));
            }
        }
        Ok(said.checked()?.text())
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<usize, Trouble> {
        let bytes = bytes.get(..WRITE).unwrap_or(bytes);
        let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        self.call("-X", &["stuff", &octal]).await?;
        Ok(bytes.len())
    }

    pub(super) async fn resize(&mut self, size: WindowSize) -> Result<(), Trouble> {
        self.last = None;
        self.call("-X", &["width", "-w", &size.cols.to_string(), &size.rows.to_string()]).await.map(drop)
    }

    pub(super) fn leave(&self) {
        self.forget_copy();
    }
}

/// The ids in a listing, of those that answer.
fn sessions(listing: &str) -> Vec<String> {
    let lines = listing.lines().filter_map(|line| line.strip_prefix('\t'));
    let lines = lines.filter(|line| !line.contains("(Dead"));
    lines.filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

/// What screen started in a window: it runs below the server and was told the window's number.
fn leader(id: &str, window: u32) -> Option<Identity> {
    let server: i32 = id.split('.').next()?.parse().ok()?;
    let processes = Processes::scan().ok()?;
    let below: Vec<&Process> =
        processes.iter().filter(|process| process.parent == server && !process.is_zombie()).collect();
    let told = |process: &&&Process| {
        let environment = std::fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == format!("WINDOW={window}").as_bytes())
    };
    match (below.iter().find(told), below.as_slice()) {
        (Some(process), _) => Some(process.identity()),
        (None, [only]) => Some(only.identity()),
        (None, _) => None,
    }
}

impl Last {
    fn picture(&self) -> Picture {
        let Facts { size, cursor, application_cursor, title } = self.facts.clone();
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        let rows = text.split(|byte| *byte == b'\n').map(row).collect();
        Picture { size, rows, cursor, alternate: false, application_cursor, takes_pastes: false, title }
    }
}

/// Each cell is the low byte of its character. What surely is none is shown as unknown; the rest has to be believed.
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

/// What screen says of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    size: WindowSize,
    cursor: Cursor,
    /// screen tells the keypad's mode, which programs switch together with that of the cursor keys.
    application_cursor: bool,
    title: String,
}

impl Facts {
    /// Reads `(3,6)/(80,24)+1024 +(+)flow app UTF-8 0(title)`.
    fn read(line: &str) -> Option<Self> {
        let (places, rest) = line.split_once(' ')?;
        let (cursor, size) = places.split_once('/')?;
        let pair = |text: &str| {
            let (first, second) = text.strip_prefix('(')?.split_once(')')?.0.split_once(',')?;
            Some((first.parse::<u16>().ok()?, second.parse::<u16>().ok()?))
        };
        let ((col, row), (cols, rows)) = (pair(cursor)?, pair(size)?);
        // The flags are words without parentheses, but for the first.
        let flags = rest.split(' ').skip(1).take_while(|word| !word.contains('('));
        let application_cursor = flags.clone().any(|flag| flag == "app");
        let before_title: usize = rest.split(' ').take(1 + flags.count()).map(|word| word.len() + 1).sum();
        let title = rest.get(before_title..).and_then(|title| title.split_once('('));
        let title = title.map_or("", |(_, title)| title.trim_end().trim_end_matches(')')).to_owned();
        let cursor = Cursor { col: col.saturating_sub(1), row: row.saturating_sub(1), visible: true };
        Some(Self { size: WindowSize { cols, rows }, cursor, application_cursor, title })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read() {
        let facts = Facts::read("(3,6)/(80,24)+1024 +(+)flow app UTF-8 0(my (own) title)").expect("facts");
        assert_eq!(facts.size, WindowSize { cols: 80, rows: 24 });
        assert_eq!(facts.cursor, Cursor { col: 2, row: 5, visible: true });
        assert!(facts.application_cursor);
        assert_eq!(facts.title, "my (own) title");
        let plain = Facts::read("(1,1)/(80,24)+100 -flow UTF-8 0(bash)").expect("facts");
        assert!(!plain.application_cursor);
        assert_eq!(plain.title, "bash");
        for line in
            ["", "(1,1)", "(1,1)/(80,24)", "(1,1)/(80) x 0(b)", "(-1,1)/(80,24) x 0(b)", "nothing at all"]
        {
            assert_eq!(Facts::read(line), None, "{line}");
        }
    }

    #[test]
    fn only_living_sessions_count() {
        let listing = "There are screens on:\n\t12.work\t(11/17/26 03:03:23)\t(Detached)\n\t13.a.b\t(Attached)\n\
                       \t14.old\t(Dead ???)\nRemove dead screens with 'screen -wipe'.\n2 Sockets in /run/screen.\n";
        assert_eq!(sessions(listing), ["12.work", "13.a.b"]);
        assert_eq!(sessions("No Sockets found in /run/screen.\n"), [""; 0]);
    }

    #[test]
    fn what_is_no_text_is_shown_as_unknown() {
        assert_eq!(row(b"caf\xe9 \"\xffW\xff \x00\x02 ~"), "café \u{fffd} \u{fffd}  \u{fffd}\u{fffd} ~");
        assert_eq!(row(b""), "");
        assert_eq!(row(b"\xff"), "\u{fffd} ");
    }
}
