//! The socket that `coop hook` calls. The kernel says which process is at the other end, and its
//! ancestors, while it waits, say which process the agent is. It must not know what an event means.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::agent_process::agent_of_hook;
use super::hook_message::{self, LINE_LIMIT, TAKEN};
use super::hooks::{HookIntake, HookReply};
use super::json_lines::{JsonLines, RejectedLines};
use super::{HookCall, Observation};

/// Hooks that may wait for an answer at the same time. An agent runs one, or a few.
const MAX_WAITING: usize = 64;
/// Lines that are read at the same time; each takes up to [`LINE_LIMIT`] of memory.
const MAX_READING: usize = 8;
/// Connections that are open at the same time; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = MAX_WAITING + 4 * MAX_READING;
/// How long a hook may take to send its line, and to read its answer.
const TRANSFER: Duration = Duration::from_secs(5);
/// How long to wait after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const CHUNK: usize = 16 << 10;

/// The socket's file; it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct HookSocket {
    path: PathBuf,
}

impl HookSocket {
    /// Opens the socket beside the pipe. The directory is private, and so is the socket.
    pub(super) fn open(pipe: &Path) -> io::Result<(Self, UnixListener)> {
        let path = hook_message::socket(pipe);
        let listener = UnixListener::bind(&path)?;
        let socket = Self { path };
        std::fs::set_permissions(&socket.path, std::fs::Permissions::from_mode(0o600))?;
        Ok((socket, listener))
    }
}

impl Drop for HookSocket {
    fn drop(&mut self) {
        // It may be gone already.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Bounds what hooks may use.
struct Limits {
    waiting: Arc<Semaphore>,
    reading: Semaphore,
}

/// Accepts connections; every one of them ends when this is dropped.
pub(super) async fn listen(intake: HookIntake, listener: UnixListener) {
    let limits = Arc::new(Limits {
        waiting: Arc::new(Semaphore::new(MAX_WAITING)),
        reading: Semaphore::new(MAX_READING),
    });
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= MAX_CONNECTIONS && connections.join_next().await.is_some() {}
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let serve = serve(intake.clone(), stream, Arc::clone(&limits));
                    connections.spawn(async move {
                        if let Err(error) = serve.await {
                            tracing::debug!(%error, "a hook did not complete its call");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a hook's call");
                    // Most likely coop has no descriptor left, and another try would fail, too.
                    sleep_until(Instant::now() + ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one call from its line to its answer.
async fn serve(intake: HookIntake, mut stream: UnixStream, limits: Arc<Limits>) -> io::Result<()> {
    let peer = stream.peer_cred()?;
    let own = rustix::process::geteuid().as_raw();
    if peer.uid() != own && peer.uid() != 0 {
        intake.count_other_process();
        return Ok(());
    }
    let line = {
        let _reading = limits.reading.acquire().await.map_err(io::Error::other)?;
        match timeout_at(Instant::now() + TRANSFER, read_line(&intake, &mut stream)).await {
            Ok(line) => line?,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        }
    };
    let Some(message) = line.and_then(|line| intake.check(line)) else { return Ok(()) };
    // A hook in another pid namespace has no pid here, and binds no process.
    let coop = rustix::process::getpid().as_raw_pid();
    let agent = peer.pid().filter(|pid| *pid > 0).and_then(|pid| agent_of_hook(pid, coop));
    if agent.is_some_and(|agent| !intake.accepts(agent)) {
        return Ok(());
    }
    let waiting = message.waits.then(|| Arc::clone(&limits.waiting).try_acquire_owned().ok());
    let waiting = waiting.flatten();
    let (reply, answer) = oneshot::channel();
    let call = HookCall {
        event: message.event,
        payload: message.payload,
        reply: waiting.is_some().then_some(HookReply(reply)),
        agent: agent.and_then(|_| intake.agent()),
    };
    tokio::select! {
        biased;
        // The hook has given up, and has counted its call.
        () = closed(&mut stream) => return Ok(()),
        sent = intake.sender.send(Observation::Hook(call)) => sent.map_err(io::Error::other)?,
    }
    stream.write_all(&[TAKEN]).await?;
    if waiting.is_none() {
        return Ok(());
    }
    tokio::select! {
        answer = answer => if let Ok(bytes) = answer {
            // The hook may have exited by now; then the user has answered the agent directly.
            drop(timeout_at(Instant::now() + TRANSFER, stream.write_all(&bytes)).await);
        },
        () = closed(&mut stream) => {}
    }
    Ok(())
}

/// Reads one line, if it is JSON.
async fn read_line(intake: &HookIntake, stream: &mut UnixStream) -> io::Result<Option<Value>> {
    let mut lines = JsonLines::new(LINE_LIMIT);
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = stream.read(&mut chunk).await?;
        let mut values = lines.push(chunk.get(..count).unwrap_or_default());
        let rejected = lines.take_rejected();
        intake.count_rejected(rejected);
        if let Some(value) = values.pop() {
            return Ok(Some(value));
        }
        if count == 0 || rejected != RejectedLines::default() {
            return Ok(None);
        }
    }
}

/// Waits until the hook has closed the connection. It sends nothing after its line.
async fn closed(stream: &mut UnixStream) {
    let mut byte = [0];
    // An error of the connection ends it, too.
    drop(stream.read(&mut byte).await);
}
