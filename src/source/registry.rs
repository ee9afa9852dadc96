//! Reads the status files that an agent writes, one `PID.json` for each process, in a directory
//! that all agents of the user share. It opens only the files of the child and its descendants.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::sync::watch as channel;

use super::agent_process::AgentProcess;
use super::bounded_json::BoundedJson;
use super::counters::{AtomicCounters, increment};
use super::queue::ObservationSender;
use super::watch::DirWatch;
use super::{Observation, StatusFile};
use crate::os::{Process, ProcessIdentity};

/// The largest file that is read, far more than a status needs.
const FILE_LIMIT: u64 = 1 << 20;
/// How many ancestors of a process are searched for the child.
const MAX_ANCESTORS: usize = 64;

pub(super) struct Registry {
    dir: PathBuf,
    child: i32,
    agent: AgentProcess,
    /// The last status of each process.
    last_status: HashMap<i32, Value>,
    counters: Arc<AtomicCounters>,
    sender: ObservationSender,
}

impl Registry {
    pub(super) fn new(
        dir: PathBuf,
        child: i32,
        counters: Arc<AtomicCounters>,
        sender: ObservationSender,
    ) -> Self {
        Self {
            dir,
            child,
            agent: AgentProcess::default(),
            last_status: HashMap::new(),
            counters,
            sender,
        }
    }

    pub(super) async fn run(mut self, poll: channel::Receiver<bool>) {
        let mut watch = DirWatch::new(poll);
        loop {
            watch.watch(&self.dir);
            let pids = self.pids().await;
            self.last_status.retain(|pid, _| pids.contains(pid));
            for pid in pids {
                let Some(value) = self.read(pid).await else { continue };
                if !self.agent.accepts(pid, ProcessIdentity::of_running) {
                    continue;
                }
                if self.last_status.get(&pid) == Some(&value) {
                    continue;
                }
                self.last_status.insert(pid, value.clone());
                let process = self.agent.bound();
                let status = StatusFile { value, process };
                if self.sender.send(Observation::Registry(status)).await.is_err() {
                    return;
                }
            }
            watch.changed().await;
        }
    }

    /// Returns the child and those of its descendants that have a file.
    async fn pids(&self) -> Vec<i32> {
        let mut pids = Vec::new();
        // A directory that does not exist has no files.
        let Ok(mut entries) = tokio::fs::read_dir(&self.dir).await else { return pids };
        while let Ok(Some(entry)) = entries.next_entry().await {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok());
            pids.extend(pid.filter(|&pid| is_child_or_descendant(pid, self.child)));
        }
        pids
    }

    /// Returns the process's status. A file that is being written has none; its completion is
    /// another change.
    async fn read(&self, pid: i32) -> Option<Value> {
        let bytes = read(&self.dir.join(format!("{pid}.json"))).await.ok()?;
        match serde_json::from_slice(&bytes) {
            Ok(BoundedJson(value))
                if value.get("pid").is_none_or(|named| named.as_i64() == Some(pid.into())) =>
            {
                Some(value)
            }
            Ok(_) | Err(_) => {
                increment(&self.counters.registry_malformed);
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
    // A longer file is truncated, and then is not JSON.
    file.take(FILE_LIMIT).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn is_child_or_descendant(pid: i32, child: i32) -> bool {
    let mut at = pid;
    for _ in 0..MAX_ANCESTORS {
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
