//! Follows a log that somebody else writes, line by line, through everything that can happen to a file. It reads in small
//! pieces and no faster than its lines are taken, and knows nothing of what they say.

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
use tokio::sync::{mpsc, watch as channel};

use super::Observation;
use super::json_lines::JsonLines;
use super::tally::Tally;
use super::watch::Watch;
use crate::driver::launch::LogPlace;

const CHUNK: usize = 64 << 10;
/// The longest line that is read: agents write whole files into their logs.
const LINE_LIMIT: usize = 8 << 20;

/// Where to begin with a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    Start,
    /// What was written before is known.
    End,
}

/// A file, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    device: u64,
    inode: u64,
}

/// How far a file had been written.
#[derive(Debug, Clone, Copy)]
struct Mark {
    node: Node,
    length: u64,
}

impl Mark {
    fn of(file: &std::fs::Metadata) -> Self {
        Self { node: Node { device: file.dev(), inode: file.ino() }, length: file.len() }
    }
}

/// Nobody takes observations any more.
struct Over;

/// A log to be followed.
pub(super) struct Tail {
    aim: Aim,
    reading: Option<Reading>,
    lines: JsonLines,
    chunk: Vec<u8>,
    tally: Arc<Tally>,
    sender: mpsc::Sender<Observation>,
}

enum Aim {
    File {
        path: PathBuf,
        /// What is behind this is not read.
        begin: Option<Mark>,
    },
    New {
        dir: PathBuf,
        ending: &'static str,
        /// The files that were there before.
        known: HashMap<OsString, Mark>,
    },
}

/// The file that is being read.
struct Reading {
    file: File,
    node: Node,
    position: u64,
}

impl Tail {
    pub(super) fn new(
        place: LogPlace,
        from: From,
        tally: Arc<Tally>,
        sender: mpsc::Sender<Observation>,
    ) -> Self {
        let aim = match place {
            LogPlace::File(path) => {
                let there = match from {
                    From::Start => None,
                    From::End => path.metadata().ok(),
                };
                Aim::File { begin: there.as_ref().map(Mark::of), path }
            }
            LogPlace::NewIn { dir, ending } => {
                // A directory that cannot be read has no files as far as we are concerned.
                let there = list(&dir, ending).unwrap_or_default();
                let known = there.into_iter().map(|found| (found.name, found.mark)).collect();
                Aim::New { dir, ending, known }
            }
        };
        let (lines, chunk) = (JsonLines::new(LINE_LIMIT), vec![0; CHUNK]);
        Self { aim, reading: None, lines, chunk, tally, sender }
    }

    pub(super) async fn run(mut self, poll: channel::Receiver<bool>) {
        let mut watch = Watch::new(poll);
        loop {
            let dir = match &self.aim {
                Aim::File { path, .. } => path.parent().unwrap_or(Path::new("/")),
                Aim::New { dir, .. } => dir,
            };
            watch.aim(dir);
            if let Err(Over) = self.look().await {
                return;
            }
            watch.stirred().await;
        }
    }

    /// Reads everything that is new.
    async fn look(&mut self) -> Result<(), Over> {
        self.choose();
        let Aim::File { path, begin } = &self.aim else { return Ok(()) };
        let (path, begin) = (path.clone(), *begin);
        loop {
            self.read_on().await?;
            let Some(found) = tokio::fs::metadata(&path).await.ok().filter(std::fs::Metadata::is_file) else {
                return Ok(());
            };
            let node = Mark::of(&found).node;
            if self.reading.as_ref().is_some_and(|reading| reading.node == node) {
                return Ok(());
            }
            // What is still in a file comes before what is in its successor, and it may have been written just now.
            self.read_on().await?;
            let skip = begin.filter(|begin| begin.node == node).map_or(0, |begin| begin.length);
            match Reading::open(&path, if self.reading.is_none() { skip } else { 0 }).await {
                Ok(reading) => {
                    self.lines.cut();
                    self.reading = Some(reading);
                }
                Err(error) => {
                    tracing::debug!(%error, path = %path.display(), "a log cannot be opened");
                    return Ok(());
                }
            }
        }
    }

    /// Settles on the first new file, if one was to be found.
    fn choose(&mut self) {
        let Aim::New { dir, ending, known } = &self.aim else { return };
        let grown = |found: &Found| match known.get(&found.name) {
            Some(before) => before.node != found.mark.node || before.length < found.mark.length,
            None => true,
        };
        let there = list(dir, ending).unwrap_or_default();
        let first = there.into_iter().filter(grown).min_by_key(|found| (found.changed, found.name.clone()));
        if let Some(found) = first {
            let begin = known.get(&found.name).copied();
            self.aim = Aim::File { path: dir.join(found.name), begin };
        }
    }

    /// Reads the open file to its present end.
    async fn read_on(&mut self) -> Result<(), Over> {
        let Some(reading) = &mut self.reading else { return Ok(()) };
        let mut told = false;
        loop {
            let count = match reading.next(&mut self.chunk).await {
                Ok(Next::Bytes(count)) => count,
                Ok(Next::Anew) => {
                    self.lines.cut();
                    continue;
                }
                Ok(Next::End) => return Ok(()),
                Err(error) => {
                    tracing::debug!(%error, "a log cannot be read");
                    return Ok(());
                }
            };
            let values = self.lines.push(self.chunk.get(..count).unwrap_or_default());
            self.tally.log.add(self.lines.take_spoiled());
            if values.is_empty() && !told {
                told = true;
                self.sender.send(Observation::LogGrew).await.map_err(|_| Over)?;
            }
            for value in values {
                self.sender.send(Observation::LogLine(value)).await.map_err(|_| Over)?;
            }
        }
    }
}

enum Next {
    Bytes(usize),
    /// The file was cut short; its beginning comes next.
    Anew,
    End,
}

impl Reading {
    async fn open(path: &Path, skip: u64) -> io::Result<Self> {
        // What has become a pipe meanwhile must not make us wait.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut file = tokio::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).await?;
        let found = file.metadata().await?;
        if !found.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let position = if skip <= found.len() { skip } else { 0 };
        file.seek(SeekFrom::Start(position)).await?;
        Ok(Self { file, node: Mark::of(&found).node, position })
    }

    async fn next(&mut self, chunk: &mut [u8]) -> io::Result<Next> {
        if self.file.metadata().await?.len() < self.position {
            self.position = 0;
            self.file.seek(SeekFrom::Start(0)).await?;
            return Ok(Next::Anew);
        }
        let count = self.file.read(chunk).await?;
        self.position += u64::try_from(count).unwrap_or(u64::MAX);
        Ok(if count == 0 { Next::End } else { Next::Bytes(count) })
    }
}

struct Found {
    name: OsString,
    mark: Mark,
    changed: SystemTime,
}

/// The files of a directory with this ending.
fn list(dir: &Path, ending: &str) -> io::Result<Vec<Found>> {
    let fits = |name: &OsStr| name.as_encoded_bytes().ends_with(ending.as_bytes());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        if fits(&name)
            && let Ok(file) = dir.join(&name).metadata()
            && file.is_file()
        {
            let changed = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            found.push(Found { name, mark: Mark::of(&file), changed });
        }
    }
    Ok(found)
}
