//! The near end of the hook pipe: it reads calls, takes those of the session's own agent, and answers hooks that wait.
//! It knows nothing of what events mean, and never waits for a hook.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::bond::{Bond, living};
use super::hook_line::{self, LINE_LIMIT, Line, PIPE, REPLY};
use super::json_lines::{JsonLines, Spoiled};
use super::tally::{Tally, count};
use super::{HookCall, Observation, Plan};

/// As much as the pipe holds.
const CHUNK: usize = 64 << 10;
/// Hooks that may wait for an answer at the same time. An agent asks one thing at a time, or a few.
const WAITING: usize = 64;
/// How long a hook may take to read its answer.
const READING: Duration = Duration::from_secs(5);

/// The files of the pipe; gone when dropped.
#[derive(Debug)]
pub(super) struct HookPipe {
    path: PathBuf,
}

impl HookPipe {
    /// Makes the pipe and opens it for reading and writing: it has a reader as long as coop lives, and no end.
    pub(super) fn open(dir: &Path) -> io::Result<(Self, pipe::Receiver)> {
        let path = dir.join(PIPE);
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
        let pipe = Self { path };
        let mut private = OpenOptions::new();
        private.write(true).create_new(true).mode(0o600);
        private.open(hook_line::lock(&pipe.path))?;
        private.open(hook_line::dropped(&pipe.path))?;
        let receiver = pipe::OpenOptions::new().read_write(true).open_receiver(&pipe.path)?;
        Ok((pipe, receiver))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many calls were dropped by their hooks.
    pub(super) fn dropped(&self) -> u64 {
        hook_line::dropped(&self.path).metadata().map_or(0, |file| file.len())
    }
}

impl Drop for HookPipe {
    fn drop(&mut self) {
        // Whatever is gone already needs no removing.
        for path in [&self.path, &hook_line::lock(&self.path), &hook_line::dropped(&self.path)] {
            drop(std::fs::remove_file(path));
        }
        // Hooks that were killed leave theirs behind.
        let dir = self.path.parent().and_then(|dir| std::fs::read_dir(dir).ok());
        for entry in dir.into_iter().flatten().flatten() {
            let fifo = entry.file_type().is_ok_and(|kind| kind.is_fifo());
            if fifo && entry.file_name().as_encoded_bytes().starts_with(REPLY.as_bytes()) {
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }
}

/// A hook that waits for an answer; dropping it lets the hook go without one.
#[derive(Debug)]
pub struct HookReply(oneshot::Sender<Vec<u8>>);

impl HookReply {
    /// Answers; false if the hook is gone.
    pub fn answer(self, output: &Value) -> bool {
        self.0.send(output.to_string().into_bytes()).is_ok()
    }

    /// Whether the hook still waits. One that was killed no longer does.
    pub fn is_waiting(&self) -> bool {
        !self.0.is_closed()
    }
}

/// Takes calls off the pipe.
pub(super) struct Reader {
    plan: Plan,
    tally: Arc<Tally>,
    sender: mpsc::Sender<Observation>,
    bond: Bond,
    waiting: JoinSet<()>,
}

impl Reader {
    pub(super) fn new(plan: Plan, tally: Arc<Tally>, sender: mpsc::Sender<Observation>) -> Self {
        Self { plan, tally, sender, bond: Bond::default(), waiting: JoinSet::new() }
    }

    pub(super) async fn run(mut self, mut pipe: pipe::Receiver) {
        let mut lines = JsonLines::new(LINE_LIMIT);
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match pipe.read(&mut chunk).await {
                Ok(count) => chunk.get(..count).unwrap_or_default(),
                Err(error) => {
                    tracing::error!(%error, "the hook pipe cannot be read any more");
                    return;
                }
            };
            let values = lines.push(read);
            self.tally.hooks.add(lines.take_spoiled());
            for value in values {
                if let Some(call) = self.take(value)
                    && self.sender.send(Observation::Hook(call)).await.is_err()
                {
                    return;
                }
            }
        }
    }

    fn take(&mut self, value: Value) -> Option<HookCall> {
        let Some(line) = Line::decode(value) else {
            self.tally.hooks.add(Spoiled { malformed: 1, too_long: 0 });
            return None;
        };
        if line.nonce != self.plan.nonce {
            count(&self.tally.wrong_nonce);
            return None;
        }
        if !self.bond.admits(line.pid, living) {
            count(&self.tally.foreign);
            // It gets no answer, and need not wait to find out.
            drop(line.reply.map(|name| reply_pipe(&self.plan.dir, &name)));
            return None;
        }
        let reply = line.reply.and_then(|name| self.open_reply(&name));
        Some(HookCall { event: line.event, payload: line.payload, reply })
    }

    fn open_reply(&mut self, name: &str) -> Option<HookReply> {
        while self.waiting.try_join_next().is_some() {}
        if self.waiting.len() >= WAITING {
            tracing::warn!("too many hooks wait for an answer; this one gets none");
            return None;
        }
        match reply_pipe(&self.plan.dir, name) {
            Ok(pipe) => {
                let (reply, answer) = oneshot::channel();
                self.waiting.spawn(wait(pipe, answer));
                Some(HookReply(reply))
            }
            Err(error) => {
                tracing::debug!(%error, name, "a hook that wants an answer cannot be given one");
                None
            }
        }
    }
}

/// Opens the far end of a waiting hook's pipe, if it is one and ours.
fn reply_pipe(dir: &Path, name: &str) -> io::Result<pipe::Sender> {
    let plain = |c: char| c.is_ascii_digit() || c == '-';
    if !name.strip_prefix(REPLY).is_some_and(|rest| rest.chars().all(plain)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let path = dir.join(name);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(&path)?;
    let found = file.metadata()?;
    if !found.file_type().is_fifo() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // Both ends are open, so nobody needs its name any more, and a hook that is killed leaves nothing behind.
    drop(std::fs::remove_file(&path));
    pipe::Sender::from_file(file)
}

/// Holds the pipe open until there is an answer, or nobody who could give one, or nobody who waits for it.
async fn wait(mut pipe: pipe::Sender, answer: oneshot::Receiver<Vec<u8>>) {
    tokio::select! {
        answer = answer => if let Ok(bytes) = answer {
            // The hook may be gone by now. Then the agent has been answered otherwise.
            drop(timeout_at(Instant::now() + READING, pipe.write_all(&bytes)).await);
        },
        _gone = pipe.ready(Interest::ERROR) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pipe_of_ours_in_our_directory_is_opened() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("reply-1-1"), "a file").expect("written");
        std::os::unix::fs::symlink("/dev/null", dir.path().join("reply-1-2")).expect("linked");
        mkfifoat(CWD, dir.path().join("reply-1-3"), Mode::RWXU).expect("a pipe that nobody reads");
        mkfifoat(CWD, dir.path().join("other"), Mode::RWXU).expect("a pipe");
        for name in ["reply-1-1", "reply-1-2", "reply-1-3", "reply-1-4", "other", "reply-/../other", "", "."]
        {
            assert!(reply_pipe(dir.path(), name).is_err(), "{name}");
        }
        assert_eq!(std::fs::read(dir.path().join("reply-1-1")).expect("still there"), b"a file");
    }
}
