//! The hook pipe, for hooks that are not coop's own: a line counts if it carries the session's
//! nonce. The kernel does not say which process wrote a line, so no line says which process the
//! agent is.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use super::hook_message::{self, HookMessage, LINE_LIMIT, PIPE};
use super::hooks::HookIntake;
use super::json_lines::JsonLines;
use super::{HookCall, Observation};
use crate::os;

/// The capacity of the pipe.
const CHUNK: usize = 64 << 10;

/// The pipe and the file beside it; they are removed when this is dropped.
#[derive(Debug)]
pub(super) struct HookPipe {
    path: PathBuf,
}

impl HookPipe {
    /// Creates the pipe and the file beside it, and opens it.
    pub(super) fn open(dir: &Path) -> io::Result<(Self, pipe::Receiver)> {
        let path = dir.join(PIPE);
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
        let pipe = Self { path };
        let mut private = OpenOptions::new();
        private.write(true).create_new(true).mode(0o600);
        private.open(hook_message::dropped_file(&pipe.path))?;
        let receiver = os::open_fifo(&pipe.path)?;
        Ok((pipe, receiver))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file that has one byte for each call that its hook has dropped.
    pub(super) fn dropped_file(&self) -> PathBuf {
        hook_message::dropped_file(&self.path)
    }
}

impl Drop for HookPipe {
    fn drop(&mut self) {
        // A file that cannot be removed is most likely gone already.
        drop(std::fs::remove_file(&self.path));
        drop(std::fs::remove_file(self.dropped_file()));
    }
}

/// Reads the pipe for as long as its observations are wanted.
pub(super) async fn read(intake: HookIntake, mut pipe: pipe::Receiver) {
    let mut lines = JsonLines::new(LINE_LIMIT);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match pipe.read(&mut chunk).await {
            Ok(count) => chunk.get(..count).unwrap_or_default(),
            Err(error) => {
                tracing::error!(%error, "cannot read the hook pipe; it is ignored from now on");
                return;
            }
        };
        let values = lines.push(read);
        intake.count_rejected(lines.take_rejected());
        for value in values {
            if let Some(call) = accept(&intake, value)
                && intake.sender.send(Observation::Hook(call)).await.is_err()
            {
                return;
            }
        }
    }
}

fn accept(intake: &HookIntake, value: Value) -> Option<HookCall> {
    let HookMessage { event, payload, .. } = intake.check(value)?;
    let event = hook_message::agent_spelling(&event);
    Some(HookCall { event, payload, reply: None, agent: None })
}
