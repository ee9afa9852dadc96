//! `coop hook EVENT`, which the agent runs and waits for: it passes the payload on to coop and
//! exits. A failure must not disturb the agent, so the command never fails; it only counts the
//! dropped call.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use serde_json::Value;

use super::hook_message::{self, HookMessage, LINE_LIMIT, TAKEN, shorten};

/// How long the agent may take to write the payload.
const PAYLOAD_TIMEOUT: Duration = Duration::from_secs(2);
/// How long coop may take to take the call.
const SEND_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest payload that is passed on.
const PAYLOAD_LIMIT: usize = 8 << 20;
/// The most dropped calls that are counted.
const DROPPED_LIMIT: u64 = 1 << 20;
const CHUNK: usize = 64 << 10;

/// One run of `coop hook`.
#[derive(Debug)]
pub struct HookCommand {
    pub event: String,
    /// Whether to wait for coop's answer and print it.
    pub wait: bool,
    pub pipe: PathBuf,
    pub nonce: String,
}

impl HookCommand {
    /// Reads the payload, passes it on, and prints coop's answer if `wait` is set and one comes.
    pub fn run(self, payload: impl AsFd, output: impl Write) {
        let pipe = self.pipe.clone();
        if self.try_run(payload, output).is_err() {
            // If this fails too, coop has exited.
            drop(count_dropped(&pipe));
        }
    }

    fn try_run(self, payload: impl AsFd, mut output: impl Write) -> io::Result<()> {
        let payload = read_payload(payload, Instant::now() + PAYLOAD_TIMEOUT)?;
        let mut message = HookMessage {
            nonce: self.nonce,
            event: self.event,
            payload: serde_json::from_slice(&payload).unwrap_or(Value::Null),
            waits: self.wait,
        };
        drop(payload);
        let mut bytes = message.clone().encode();
        if bytes.len() > LINE_LIMIT {
            message.payload = shorten(message.payload);
            bytes = message.encode();
        }
        let deadline = Instant::now() + SEND_TIMEOUT;
        let connection = connect(&hook_message::socket(&self.pipe), deadline)?;
        send(&connection, &bytes, deadline)?;
        // coop looks at the ancestors of this process meanwhile, so it waits even if it gets no
        // answer.
        if is_taken(&connection, deadline)? && self.wait {
            // Without an answer, or if the agent does not read it any more, the agent continues on
            // its own.
            let text = answer(&connection).unwrap_or_default();
            drop(output.write_all(&text).and_then(|()| output.flush()));
        }
        Ok(())
    }
}

/// Reads to the end, also beyond the limit: an agent could take a payload that it cannot write for
/// a failure of the hook.
fn read_payload(from: impl AsFd, deadline: Instant) -> io::Result<Vec<u8>> {
    let (mut all, mut chunk, mut total) = (Vec::new(), vec![0; CHUNK], 0);
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
            Some(_) | None if total > PAYLOAD_LIMIT => {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            Some(_) | None => return Ok(all),
        }
    }
}

/// Connects to coop. A full backlog makes a connection wait, which ends with the deadline.
fn connect(socket: &Path, deadline: Instant) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let connection = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    set_socket_timeout(&connection, Timeout::Send, Some(remaining(deadline)?))?;
    rustix::net::connect(&connection, &SocketAddrUnix::new(socket)?)?;
    let status = fcntl_getfl(&connection)? | OFlags::NONBLOCK;
    fcntl_setfl(&connection, status)?;
    Ok(connection)
}

fn send(connection: &OwnedFd, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::net::send(connection, bytes, SendFlags::NOSIGNAL) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::AGAIN) => wait_for(connection, PollFlags::OUT, Some(deadline))?,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Waits until coop has the call. Returns false if coop ignores it.
fn is_taken(connection: &OwnedFd, deadline: Instant) -> io::Result<bool> {
    let mut byte = [0];
    loop {
        wait_for(connection, PollFlags::IN, Some(deadline))?;
        match rustix::io::read(connection, &mut byte) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(byte == [TAKEN]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Returns everything that coop sends before it closes the connection, which it does when it exits
/// at the latest.
fn answer(connection: &OwnedFd) -> io::Result<Vec<u8>> {
    let (mut answer, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        wait_for(connection, PollFlags::IN, None)?;
        match rustix::io::read(connection, &mut chunk) {
            Ok(0) => return Ok(answer),
            Ok(count) => answer.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn count_dropped(pipe: &Path) -> io::Result<()> {
    let mut file = open(&hook_message::dropped_file(pipe), OpenOptions::new().append(true))?;
    if file.metadata()?.len() < DROPPED_LIMIT { file.write_all(b".") } else { Ok(()) }
}

/// Opens the pipe or a file beside it without waiting and without following a symbolic link.
fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    how.custom_flags(flags.bits().cast_signed()).open(path)
}

/// Waits until the file can be read or written.
fn wait_for(file: impl AsFd, what: PollFlags, deadline: Option<Instant>) -> io::Result<()> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left =
            left.map(Timespec::try_from).transpose().map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(&file, what)], left.as_ref()) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// The time left, at least a moment: no time would mean no timeout.
fn remaining(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
