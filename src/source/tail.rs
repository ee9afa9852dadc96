//! Follows a log that another process writes, line by line: the file may appear late, grow, be
//! truncated, rotated or replaced. It reads in small pieces, no faster than the lines are taken,
//! and must not know what they mean.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::OFlags;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio::sync::watch as channel;

use super::Observation;
use super::counters::AtomicCounters;
use super::json_lines::JsonLines;
use super::queue::{ObservationSender, ReceiverClosed};
use super::watch::DirWatch;
use crate::driver::launch::LogLocation;

const CHUNK: usize = 64 << 10;
/// How deep the newest directory lies below the log directory: year, month and day.
const DATE_LEVELS: usize = 3;
/// The longest line that is parsed: agents write whole files into their logs.
const LINE_LIMIT: usize = 8 << 20;

/// Where to start in a file that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    Start,
    /// The earlier lines are known.
    End,
}

/// What identifies a file, whatever its name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

/// The length of a file at one moment.
#[derive(Debug, Clone, Copy)]
struct KnownLength {
    id: FileId,
    length: u64,
}

impl KnownLength {
    fn of(file: &std::fs::Metadata) -> Self {
        Self { id: FileId { device: file.dev(), inode: file.ino() }, length: file.len() }
    }
}

/// The task that follows one log.
pub(super) struct Tail {
    target: Target,
    open_log: Option<OpenLog>,
    lines: JsonLines,
    chunk: Vec<u8>,
    counters: Arc<AtomicCounters>,
    sender: ObservationSender,
}

/// Which file to follow, and where to start in it.
#[derive(Debug, Clone)]
pub struct LogTarget {
    pub(super) location: LogLocation,
    target: Target,
}

impl LogTarget {
    /// Decides on the first byte to read: everything that a child writes which starts afterwards is
    /// read. This reads directories, so it may take as long as the disk does.
    pub fn find(location: LogLocation, from: ReadFrom) -> Self {
        let target = match location.clone() {
            LogLocation::File(path) => {
                let existing = match from {
                    ReadFrom::Start => None,
                    ReadFrom::End => path.metadata().ok(),
                };
                Target::File { skipped: existing.as_ref().map(KnownLength::of), path }
            }
            LogLocation::NewFileIn { dir, ending } => Target::new_in(dir, false, ending),
            LogLocation::NewFileUnder { dir, ending } => Target::new_in(dir, true, ending),
        };
        Self { location, target }
    }

    /// The log of a conversation whose id is the name of its file, in the same directory as this
    /// log; `None` if its id cannot be a name.
    pub(crate) fn of_conversation(&self, id: &str) -> Option<Self> {
        let (dir, ending, known) = match &self.target {
            Target::File { path, .. } => (path.parent()?, path.extension()?.to_str()?, None),
            Target::New { dir, ending, known, below: false } => {
                (&**dir, ending.trim_start_matches('.'), Some(known))
            }
            Target::New { below: true, .. } => return None,
        };
        let name = OsString::from(format!("{id}.{ending}"));
        if Path::new(&name).file_name() != Some(&name) {
            return None;
        }
        let skipped = known.and_then(|known| known.get(&name).copied());
        let path = dir.join(name);
        if matches!(&self.target, Target::File { path: own, .. } if *own == path) {
            return Some(self.clone());
        }
        Some(Self {
            location: LogLocation::File(path.clone()),
            target: Target::File { path, skipped },
        })
    }

    /// Whether it is not known yet which file it is.
    pub(crate) fn is_unnamed(&self) -> bool {
        matches!(self.target, Target::New { .. })
    }

    /// A file that is read from its start; this needs no disk.
    pub(crate) fn whole_file(path: PathBuf) -> Self {
        let target = Target::File { path: path.clone(), skipped: None };
        Self { location: LogLocation::File(path), target }
    }
}

#[derive(Debug, Clone)]
enum Target {
    File {
        path: PathBuf,
        /// The part of the file that is not read.
        skipped: Option<KnownLength>,
    },
    /// The first file in a directory that is new or grows.
    New {
        dir: PathBuf,
        /// The file appears in the newest directory below `dir`.
        below: bool,
        ending: &'static str,
        /// The files that existed before.
        known: HashMap<OsString, KnownLength>,
    },
}

impl Target {
    fn new_in(dir: PathBuf, below: bool, ending: &'static str) -> Self {
        // A directory that cannot be read counts as empty.
        let files = list(&newest_dir(&dir, below), ending).unwrap_or_default();
        let known = files.into_iter().map(|file| (file.name, file.length)).collect();
        Self::New { dir, below, ending, known }
    }
}

/// The file that is being read.
struct OpenLog {
    file: File,
    id: FileId,
    position: u64,
}

impl Tail {
    pub(super) fn new(
        target: LogTarget,
        counters: Arc<AtomicCounters>,
        sender: ObservationSender,
    ) -> Self {
        let (lines, chunk) = (JsonLines::new(LINE_LIMIT), vec![0; CHUNK]);
        Self { target: target.target, open_log: None, lines, chunk, counters, sender }
    }

    pub(super) async fn run(mut self, poll: channel::Receiver<bool>) {
        let mut watch = DirWatch::new(poll);
        loop {
            let dir = match &self.target {
                Target::File { path, .. } => path.parent().unwrap_or(Path::new("/")).to_owned(),
                Target::New { dir, below, .. } => newest_dir(dir, *below),
            };
            watch.watch(&dir);
            if let Err(ReceiverClosed) = self.read_new_lines().await {
                return;
            }
            watch.changed().await;
        }
    }

    /// Reads everything that was written since the last call.
    pub(super) async fn read_new_lines(&mut self) -> Result<(), ReceiverClosed> {
        self.pick_new_file();
        let Target::File { path, skipped } = &self.target else { return Ok(()) };
        let (path, skipped) = (path.clone(), *skipped);
        loop {
            self.read_to_end().await?;
            let Some(found) =
                tokio::fs::metadata(&path).await.ok().filter(std::fs::Metadata::is_file)
            else {
                return Ok(());
            };
            let id = KnownLength::of(&found).id;
            if self.open_log.as_ref().is_some_and(|log| log.id == id) {
                return Ok(());
            }
            // The rest of the old file comes before the new file, and may have been written just
            // now.
            self.read_to_end().await?;
            let skip =
                skipped.filter(|skipped| skipped.id == id).map_or(0, |skipped| skipped.length);
            match OpenLog::open(&path, if self.open_log.is_none() { skip } else { 0 }).await {
                Ok(log) => {
                    self.lines.discard_partial();
                    self.open_log = Some(log);
                }
                Err(error) => {
                    tracing::debug!(%error, path = %path.display(), "cannot open the agent's log");
                    return Ok(());
                }
            }
        }
    }

    /// Picks the first file that is new or has grown, if none is picked yet.
    fn pick_new_file(&mut self) {
        let Target::New { dir, below, ending, known } = &self.target else { return };
        let dir = newest_dir(dir, *below);
        let has_grown = |file: &LogFile| match known.get(&file.name) {
            Some(before) => before.id != file.length.id || before.length < file.length.length,
            None => true,
        };
        let files = list(&dir, ending).unwrap_or_default().into_iter().filter(has_grown);
        if let Some(first) = files.min_by_key(|file| (file.modified, file.name.clone())) {
            let skipped = known.get(&first.name).copied();
            self.target = Target::File { path: dir.join(first.name), skipped };
        }
    }

    /// Reads the open file to its current end.
    async fn read_to_end(&mut self) -> Result<(), ReceiverClosed> {
        let Some(log) = &mut self.open_log else { return Ok(()) };
        let mut reported = false;
        loop {
            let count = match log.next(&mut self.chunk).await {
                Ok(Next::Bytes(count)) => count,
                Ok(Next::Truncated) => {
                    self.lines.discard_partial();
                    continue;
                }
                Ok(Next::End) => return Ok(()),
                Err(error) => {
                    tracing::debug!(%error, "cannot read the agent's log");
                    return Ok(());
                }
            };
            let values = self.lines.push(self.chunk.get(..count).unwrap_or_default());
            self.counters.log.add(self.lines.take_rejected());
            if values.is_empty() && !reported {
                reported = true;
                self.sender.send(Observation::LogGrew).await?;
            }
            for value in values {
                self.sender.send(Observation::LogLine(value)).await?;
            }
        }
    }
}

enum Next {
    Bytes(usize),
    /// The file was truncated; its start comes next.
    Truncated,
    End,
}

impl OpenLog {
    async fn open(path: &Path, skip: u64) -> io::Result<Self> {
        // A path that has become a named pipe meanwhile must not block.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut file =
            tokio::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).await?;
        let found = file.metadata().await?;
        if !found.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let position = if skip <= found.len() { skip } else { 0 };
        file.seek(SeekFrom::Start(position)).await?;
        Ok(Self { file, id: KnownLength::of(&found).id, position })
    }

    async fn next(&mut self, chunk: &mut [u8]) -> io::Result<Next> {
        if self.file.metadata().await?.len() < self.position {
            self.position = 0;
            self.file.seek(SeekFrom::Start(0)).await?;
            return Ok(Next::Truncated);
        }
        let count = self.file.read(chunk).await?;
        self.position += u64::try_from(count).unwrap_or(u64::MAX);
        Ok(if count == 0 { Next::End } else { Next::Bytes(count) })
    }
}

/// A file in the log directory.
struct LogFile {
    name: OsString,
    length: KnownLength,
    modified: SystemTime,
}

/// Returns where a new file would appear: in the directory itself, or in the newest one below it.
fn newest_dir(dir: &Path, below: bool) -> PathBuf {
    let mut newest = dir.to_owned();
    for _ in 0..if below { DATE_LEVELS } else { 0 } {
        let entries = std::fs::read_dir(&newest).into_iter().flatten().flatten();
        let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        match dirs.map(|entry| entry.file_name()).max() {
            Some(last) => newest.push(last),
            None => break,
        }
    }
    newest
}

/// Returns the files in a directory whose names have this ending.
fn list(dir: &Path, ending: &str) -> io::Result<Vec<LogFile>> {
    let has_ending = |name: &OsStr| name.as_encoded_bytes().ends_with(ending.as_bytes());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        if has_ending(&name)
            && let Ok(file) = dir.join(&name).metadata()
            && file.is_file()
        {
            let modified = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push(LogFile { name, length: KnownLength::of(&file), modified });
        }
    }
    Ok(files)
}
