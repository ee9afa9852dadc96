//! A multiplexer's pane as a session uses it: events come out, input and sizes go in. Behind it one
//! task, the poller, runs the multiplexer's commands one at a time: it captures the pane again and
//! again, and types and resizes in between. It must not know what the screen means.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::capture::Capture;
use super::command::CommandError;
use super::{MuxTarget, Pane};
use crate::os::ProcessIdentity;
use crate::pty::{Exit, Signal, SignalError, WindowSize, signal_foreground_of};

/// How often the pane is captured.
const POLL: Duration = Duration::from_secs(1);
/// When it is captured after input, so that an echo is seen soon.
const ECHO_DELAYS: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(120), Duration::from_millis(350)];
/// Requests that may wait for the one that the poller carries out.
const REQUESTS: usize = 32;
/// Events that may wait for the session; the poller captures nothing more before it takes one.
const EVENTS: usize = 4;
/// How long [`MuxTerminal::close`] may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) enum MuxEvent {
    /// The screen has changed, and these bytes draw the new one.
    Redraw { size: WindowSize, bytes: Bytes },
    /// The result of the oldest resize that had none yet.
    Resized(Result<(), String>),
    /// How many bytes of the input were typed.
    Written(Result<usize, WriteError>),
    /// The program in the pane has exited.
    Exited(Exit),
}

/// Why input was not typed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("the program in the terminal has exited")]
    Exited,
    #[error("{multiplexer} did not take the input in time; it may still arrive")]
    TimedOut { multiplexer: &'static str },
    #[error("{multiplexer} did not take the input: {reason}")]
    Failed { multiplexer: &'static str, reason: String },
}

/// A request to the poller.
enum Request {
    Write {
        bytes: Bytes,
        written: oneshot::Sender<Result<usize, WriteError>>,
    },
    Resize(WindowSize),
    /// Captures the pane soon, because something was done to the program in it.
    Capture,
}

/// A pane of tmux or a window of screen, in place of a terminal of coop's own.
pub(crate) struct MuxTerminal {
    multiplexer: &'static str,
    process: ProcessIdentity,
    requests: mpsc::Sender<Request>,
    events: mpsc::Receiver<MuxEvent>,
    pending_write: Option<PendingWrite>,
    /// The task ends when this is dropped.
    poller: JoinSet<()>,
}

/// A write that the poller has been asked for. It is stored so that a wait that is cancelled and
/// started again continues.
struct PendingWrite {
    bytes: Bytes,
    written: oneshot::Receiver<Result<usize, WriteError>>,
}

impl MuxTarget {
    /// Starts to poll the pane, on the runtime this is called on.
    pub(crate) fn open(self) -> MuxTerminal {
        let (requests, poller_requests) = mpsc::channel(REQUESTS);
        let (poller_events, events) = mpsc::channel(EVENTS);
        let Self { pane, process, capture, .. } = self;
        let multiplexer = pane.multiplexer();
        let task = Poller {
            pane,
            capture,
            requests: poller_requests,
            events: poller_events,
            capture_failed: false,
        };
        let mut poller = JoinSet::new();
        poller.spawn(task.run());
        MuxTerminal { multiplexer, process, requests, events, pending_write: None, poller }
    }
}

impl MuxTerminal {
    /// Waits for the next event, and types `input` meanwhile; returns `None` when there will be no
    /// more events.
    ///
    /// Cancelling loses no event. After a cancelled write, this must be called again with the same
    /// input, or the bytes that were typed meanwhile are not reported.
    pub(crate) async fn next_event(&mut self, input: Option<&[u8]>) -> Option<MuxEvent> {
        let Self { requests, events, pending_write, .. } = self;
        match input {
            Some(bytes) => tokio::select! {
                event = events.recv() => event,
                written = write(requests, pending_write, bytes) => Some(MuxEvent::Written(written)),
            },
            None => events.recv().await,
        }
    }

    /// Asks for a size; the result is an event. Returns false if too many requests wait already.
    pub(crate) fn resize(&self, size: WindowSize) -> bool {
        self.requests.try_send(Request::Resize(size)).is_ok()
    }

    /// Sends a signal to the foreground process group of the pane.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        signal_foreground_of(self.process, signal)?;
        // If too many requests wait, the pane is captured after them anyway.
        drop(self.requests.try_send(Request::Capture));
        Ok(())
    }

    /// The multiplexer's name.
    pub(crate) fn multiplexer(&self) -> &'static str {
        self.multiplexer
    }

    /// Stops polling, and undoes what coop changed in the multiplexer's session.
    pub(crate) async fn close(self) {
        let Self { requests, events, mut poller, multiplexer, .. } = self;
        // The poller ends when both channels are closed.
        drop((requests, events));
        if timeout(CLOSE_TIMEOUT, poller.join_next()).await.is_err() {
            tracing::warn!(multiplexer, "did not answer in time; its settings may not be restored");
        }
    }
}

/// Types some of the bytes, and returns how many once the multiplexer has taken them.
async fn write(
    requests: &mpsc::Sender<Request>,
    pending: &mut Option<PendingWrite>,
    bytes: &[u8],
) -> Result<usize, WriteError> {
    loop {
        let Some(write) = pending else {
            let permit = requests.reserve().await.map_err(|_| WriteError::Exited)?;
            let (written, result) = oneshot::channel();
            let bytes = Bytes::copy_from_slice(bytes);
            *pending = Some(PendingWrite { bytes: bytes.clone(), written: result });
            permit.send(Request::Write { bytes, written });
            continue;
        };
        let written = (&mut write.written).await.unwrap_or(Err(WriteError::Exited));
        let is_this_write = bytes.starts_with(&write.bytes);
        *pending = None;
        if is_this_write {
            return written;
        }
        // The session has given up the earlier write, so its result is dropped.
    }
}

struct Poller {
    pane: Pane,
    /// The last capture.
    capture: Capture,
    requests: mpsc::Receiver<Request>,
    events: mpsc::Sender<MuxEvent>,
    /// The last capture failed, and that was logged.
    capture_failed: bool,
}

/// The session has closed the terminal, or the program in the pane has exited.
struct Finished;

/// When to capture the pane after input.
fn echo_captures() -> VecDeque<Instant> {
    ECHO_DELAYS.iter().map(|delay| Instant::now() + *delay).collect()
}

impl Poller {
    async fn run(mut self) {
        // `mux::find` made the first capture.
        let mut captures = VecDeque::from([Instant::now() + POLL]);
        while self.step(&mut captures).await.is_ok() {}
        self.pane.restore().await;
    }

    async fn step(&mut self, captures: &mut VecDeque<Instant>) -> Result<(), Finished> {
        let next = captures.front().copied().unwrap_or_else(|| Instant::now() + POLL);
        tokio::select! {
            request = self.requests.recv() => match request {
                None => Err(Finished),
                Some(Request::Write { bytes, written }) => {
                    let result = self.pane.write(&bytes).await;
                    *captures = echo_captures();
                    let exited = matches!(result, Err(CommandError::Exited(_)));
                    drop(written.send(result.map_err(|error| self.write_error(&error))));
                    // A capture finds the exit status, if the multiplexer knows it.
                    if exited { self.capture().await } else { Ok(()) }
                }
                Some(Request::Capture) => {
                    *captures = echo_captures();
                    Ok(())
                }
                Some(Request::Resize(size)) => self.resize(size).await,
            },
            () = sleep_until(next) => {
                captures.pop_front();
                let captured = self.capture().await;
                if captures.is_empty() {
                    captures.push_back(Instant::now() + POLL);
                }
                captured
            }
        }
    }

    fn write_error(&self, error: &CommandError) -> WriteError {
        let multiplexer = self.pane.multiplexer();
        match error {
            CommandError::Exited(_) => WriteError::Exited,
            CommandError::TimedOut => WriteError::TimedOut { multiplexer },
            CommandError::NotInstalled | CommandError::Failed(_) => {
                WriteError::Failed { multiplexer, reason: error.to_string() }
            }
        }
    }

    async fn resize(&mut self, size: WindowSize) -> Result<(), Finished> {
        let resized = self.pane.resize(size).await.map_err(|error| error.to_string());
        self.capture().await?;
        let actual = self.capture.size;
        let result = resized.and_then(|()| {
            if actual == size {
                return Ok(());
            }
            Err(format!("it stays at {}x{}", actual.cols, actual.rows))
        });
        self.send(MuxEvent::Resized(result)).await
    }

    async fn capture(&mut self) -> Result<(), Finished> {
        match self.pane.capture().await {
            Ok(capture) => {
                if std::mem::take(&mut self.capture_failed) {
                    tracing::info!(multiplexer = self.pane.multiplexer(), "can be captured again");
                }
                if capture == self.capture {
                    return Ok(());
                }
                let bytes = capture.redraw(Some(&self.capture));
                self.capture = capture;
                self.send(MuxEvent::Redraw { size: self.capture.size, bytes }).await
            }
            Err(CommandError::Exited(exit)) => {
                self.send(MuxEvent::Exited(exit)).await?;
                Err(Finished)
            }
            Err(
                error @ (CommandError::TimedOut
                | CommandError::NotInstalled
                | CommandError::Failed(_)),
            ) => {
                if !std::mem::replace(&mut self.capture_failed, true) {
                    tracing::warn!(
                        multiplexer = self.pane.multiplexer(),
                        %error,
                        "cannot be captured; the screen may be out of date"
                    );
                }
                Ok(())
            }
        }
    }

    async fn send(&self, event: MuxEvent) -> Result<(), Finished> {
        self.events.send(event).await.map_err(|_| Finished)
    }
}
