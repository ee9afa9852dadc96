//! Reads the status files that an agent keeps of its processes, one `PID.json` for each in a directory that is shared by
//! all agents of the user. Only files of our own child's processes are opened, and no others beside them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{mpsc, watch as channel};

use super::Observation;
use super::bond::{Bond, living};
use super::tally::{Tally, count};
use super::watch::Watch;
use crate::pty::Process;

/// Far more than any status takes.
const FILE_LIMIT: u64 = 1 << 20;
/// No chain of parents is longer than this that matters; a longer one is none of ours.
const GENERATIONS: usize = 64;

pub(super) struct Registry {
    dir: PathBuf,
    child: i32,
    agent: Bond,
    /// What the agent's process said last.
    said: HashMap<i32, Value>,
    tally: Arc<Tally>,
    sender: mpsc::Sender<Observation>,
}

impl Registry {
    pub(super) fn new(
        dir: PathBuf,
        child: i32,
        tally: Arc<Tally>,
        sender: mpsc::Sender<Observation>,
    ) -> Self {
        Self { dir, child, agent: Bond::default(), said: HashMap::new(), tally, sender }
    }

    pub(super) async fn run(mut self, poll: channel::Receiver<bool>) {
        let mut watch = Watch::new(poll);
        loop {
            watch.aim(&self.dir);
            let ours = self.ours().await;
            self.said.retain(|pid, _| ours.contains(pid));
            for pid in ours {
                let Some(value) = self.read(pid).await else { continue };
                if !self.agent.admits(pid, living) {
                    continue;
                }
                if self.said.get(&pid) == Some(&value) {
                    continue;
                }
                self.said.insert(pid, value.clone());
                if self.sender.send(Observation::Registry(value)).await.is_err() {
                    return;
                }
            }
            watch.stirred().await;
        }
    }

    /// The processes of ours that have a file.
    async fn ours(&self) -> Vec<i32> {
        let mut ours = Vec::new();
        // A directory that is not there has no files.
        let Ok(mut entries) = tokio::fs::read_dir(&self.dir).await else { return ours };
        while let Ok(Some(entry)) = entries.next_entry().await {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok());
            ours.extend(pid.filter(|&pid| belongs(pid, self.child)));
        }
        ours
    }

    /// What the process says now. A file that is being written gives nothing; its end is another change.
    async fn read(&self, pid: i32) -> Option<Value> {
        let bytes = read(&self.dir.join(format!("{pid}.json"))).await.ok()?;
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(value) if value.get("pid").is_none_or(|named| named.as_i64() == Some(pid.into())) => {
                Some(value)
            }
            Ok(_) | Err(_) => {
                count(&self.tally.registry_unread);
                None
            }
        }
    }
}

async fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = tokio::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).await?;
    if !file.metadata().await?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    // What is longer is cut, and then no JSON.
    file.take(FILE_LIMIT).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// Whether the process is this child or below it.
fn belongs(pid: i32, child: i32) -> bool {
    let mut at = pid;
    for _ in 0..GENERATIONS {
        if at == child {
            return true;
        }
        match Process::read(at) {
            Some(process) if process.parent > 0 => at = process.parent,
            Some(_) | None => return false,
        }
    }
    false
}
