//! The far end of the hook pipe: `coop hook EVENT`, which the agent runs and waits for. It says what it was told and goes;
//! whatever is wrong is none of the agent's business, so it never fails, and says so to nobody but the counter.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, mkfifoat};
use rustix::io::Errno;
use serde_json::Value;

use super::hook_line::{self, LINE_LIMIT, Line, REPLY, shorten};
use crate::pty::Process;

/// How long the agent may take to say what it has to say.
const LISTENING: Duration = Duration::from_secs(2);
/// How long passing it on may take.
const WRITING: Duration = Duration::from_secs(1);
/// How long coop may take to turn to a hook that waits for an answer.
const TURNING: Duration = Duration::from_secs(2);
/// The most that is read of what the agent says.
const PAYLOAD_LIMIT: usize = 8 << 20;
/// The most dropped calls that are counted.
const DROPPED_LIMIT: u64 = 1 << 20;
/// No process has more ancestors than this that are shells.
const ANCESTORS: usize = 64;
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ash", "ksh", "busybox"];

/// A call to be made.
#[derive(Debug)]
pub struct Call {
    pub event: String,
    /// Whether to wait for coop's answer and print it.
    pub wait: bool,
    pub pipe: PathBuf,
    pub nonce: String,
}

impl Call {
    /// Reads the payload, reports it and prints the answer if one is wanted and comes.
    pub fn make(self, payload: impl AsFd, answer: impl Write) {
        let pipe = self.pipe.clone();
        if self.try_to(payload, answer).is_err() {
            // If this cannot be counted either, coop is gone.
            drop(count_dropped(&pipe));
        }
    }

    fn try_to(self, payload: impl AsFd, mut answer: impl Write) -> io::Result<()> {
        let payload = listen(payload, Instant::now() + LISTENING)?;
        let deadline = Instant::now() + WRITING;
        let reply = if self.wait { Some(ReplyPipe::make(&self.pipe)?) } else { None };
        let mut line = Line {
            nonce: self.nonce,
            event: self.event,
            pid: agent().ok_or(io::ErrorKind::NotFound)?,
            payload: serde_json::from_slice(&payload).unwrap_or(Value::Null),
            reply: reply.as_ref().map(|reply| reply.name.clone()),
        };
        drop(payload);
        let mut bytes = line.clone().encode();
        if bytes.len() > LINE_LIMIT {
            line.payload = shorten(line.payload);
            bytes = line.encode();
        }
        write(&self.pipe, &bytes, deadline)?;
        // The call has arrived. If no answer comes of it, or nobody listens to it any more, the agent goes on without.
        if let Some(Ok(text)) = reply.map(|reply| reply.read()) {
            drop(answer.write_all(&text).and_then(|()| answer.flush()));
        }
        Ok(())
    }
}

/// Reads everything, to its end: an agent that cannot get rid of it could take that for a failure.
fn listen(from: impl AsFd, deadline: Instant) -> io::Result<Vec<u8>> {
    let (mut all, mut chunk, mut total) = (Vec::new(), vec![0; 64 << 10], 0);
    loop {
        wait_for(&from, PollFlags::IN, Some(deadline))?;
        let count = match rustix::io::read(&from, &mut chunk) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(errno) => return Err(errno.into()),
        };
        total += count;
        match chunk.get(..count) {
            Some(read) if !read.is_empty() && total <= PAYLOAD_LIMIT => all.extend_from_slice(read),
            Some(read) if !read.is_empty() => all = Vec::new(),
            Some(_) | None if total > PAYLOAD_LIMIT => return Err(io::ErrorKind::FileTooLarge.into()),
            Some(_) | None => return Ok(all),
        }
    }
}

/// The agent's process: the nearest one above this that is no shell.
fn agent() -> Option<i32> {
    let mut pid = rustix::process::getppid()?.as_raw_pid();
    for _ in 0..ANCESTORS {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        if !SHELLS.contains(&name.trim_end()) {
            return Some(pid);
        }
        match Process::read(pid)?.parent {
            parent if parent <= 0 => return Some(pid),
            parent => pid = parent,
        }
    }
    None
}

/// Writes the line in one piece, whoever else writes.
fn write(pipe: &Path, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    let _lock = lock(&hook_line::lock(pipe), deadline)?;
    let file = open(pipe, OpenOptions::new().write(true))?;
    if !file.metadata()?.file_type().is_fifo() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    while !bytes.is_empty() {
        match rustix::io::write(&file, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::AGAIN) => wait_for(&file, PollFlags::OUT, Some(deadline))?,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Takes the lock, which is free again when the file is dropped.
fn lock(path: &Path, deadline: Instant) -> io::Result<File> {
    let file = open(path, OpenOptions::new().read(true))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        return Ok(file);
    }
    // The kernel knows no deadline for this wait, so a thread waits; it ends with this process.
    let (sender, locked) = mpsc::sync_channel(1);
    std::thread::Builder::new().name("lock".to_owned()).spawn(move || {
        let taken = flock(&file, FlockOperation::LockExclusive).map(|()| file);
        // Nobody takes it if the deadline has passed.
        drop(sender.send(taken));
    })?;
    match locked.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(taken) => Ok(taken?),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn count_dropped(pipe: &Path) -> io::Result<()> {
    let mut file = open(&hook_line::dropped(pipe), OpenOptions::new().append(true))?;
    if file.metadata()?.len() < DROPPED_LIMIT { file.write_all(b".") } else { Ok(()) }
}

/// Opens a file beside the pipe without ever waiting, and only the file itself.
fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    how.custom_flags(flags.bits().cast_signed()).open(path)
}

/// Waits until the file can be read or written.
fn wait_for(file: impl AsFd, what: PollFlags, deadline: Option<Instant>) -> io::Result<()> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(&file, what)], left.as_ref()) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Where coop's answer comes in; gone when dropped.
struct ReplyPipe {
    name: String,
    path: PathBuf,
    file: File,
}

impl ReplyPipe {
    fn make(pipe: &Path) -> io::Result<Self> {
        let own = rustix::process::getpid().as_raw_pid();
        // One of that name can only be left from another process with our pid.
        for n in 0..ANCESTORS {
            let name = format!("{REPLY}{own}-{n}");
            let path = pipe.with_file_name(&name);
            match mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR) {
                Ok(()) => {
                    let file = open(&path, OpenOptions::new().read(true))?;
                    return Ok(Self { name, path, file });
                }
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Everything that coop writes before it closes the pipe, which it does at its own end at the latest.
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        // Without a writer the pipe reads as ended, but it wakes nobody before there was one.
        let mut deadline = Some(Instant::now() + TURNING);
        loop {
            let late = match wait_for(&self.file, PollFlags::IN, deadline) {
                Ok(()) => false,
                Err(error) if error.kind() == io::ErrorKind::TimedOut => true,
                Err(error) => return Err(error),
            };
            deadline = None;
            match (&self.file).read_to_end(&mut answer) {
                Ok(0) if late => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(answer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for ReplyPipe {
    fn drop(&mut self) {
        // coop removes it as soon as it holds the other end.
        drop(std::fs::remove_file(&self.path));
    }
}
