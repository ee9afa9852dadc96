//! The other end of the session's terminal: a child that coop starts, or a pane of a multiplexer
//! that coop attaches to. A backend reports what happens as [`Input`]s, and decides nothing.

mod agent_io;
mod agent_watch;
mod attached;
mod kind;
mod native;

use std::convert::Infallible;
use std::future::{pending, ready};
use std::path::PathBuf;
use std::time::Duration;

use futures_util::TryFutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;

pub(crate) use self::agent_io::HookSetup;
use self::attached::AttachedBackend;
pub(crate) use self::kind::BackendKind;
use self::native::NativeBackend;
use super::actor::Input;
use super::agent::HookId;
use super::replies::ReplySender;
use crate::driver::Driver;
use crate::driver::presence::Presence;
use crate::error::{Code, Error};
use crate::launch::Conversation;
use crate::mux::MuxTarget;
use crate::pty::{Launch, LaunchError, Reaper, Signal, SignalError, WindowSize};
use crate::source::CounterReader;
use crate::term::Size;

/// What a session's backend is made of.
pub(crate) enum BackendStart {
    /// A child that is still to be started. Hooks need a driver.
    Native { reaper: Reaper, hooks: Option<HookSetup> },
    /// A pane that was found.
    Attached(Box<MuxTarget>),
}

pub(super) enum Backend {
    Native(Box<NativeBackend>),
    Attached(AttachedBackend),
}

impl Backend {
    /// Must be called on the session's runtime.
    pub(super) fn new(
        start: BackendStart,
        driver: Option<Box<dyn Driver>>,
    ) -> Result<Self, LaunchError> {
        Ok(match start {
            BackendStart::Native { reaper, hooks } => {
                Self::Native(Box::new(NativeBackend::new(reaper, driver, hooks)?))
            }
            BackendStart::Attached(target) => Self::Attached(AttachedBackend::new(target.open())),
        })
    }

    /// What happens next; `typed` is written meanwhile.
    pub(super) async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        match self {
            Self::Native(native) => native.next(typed).await,
            Self::Attached(attached) => attached.next(typed).await,
        }
    }

    /// Where the agent's process is, if that has changed. coop does not know the processes of a
    /// multiplexer's pane.
    pub(super) fn changed_presence(&mut self) -> Option<Presence> {
        match self {
            Self::Native(native) => native.changed_presence(),
            Self::Attached(_) => None,
        }
    }

    pub(super) fn find_agent(&mut self) {
        match self {
            Self::Native(native) => native.find_agent(),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn start(&mut self, launch: Launch, conversation: Option<Conversation>) {
        match self {
            Self::Native(native) => native.start(launch, conversation),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn cancel_start(&mut self) {
        match self {
            Self::Native(native) => native.cancel_start(),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn resize(&self, size: Size) {
        match self {
            Self::Native(native) => native.resize(window_size(size)),
            Self::Attached(_) => {}
        }
    }

    /// Asks the multiplexer for a size; [`Input::Resized`] follows.
    pub(super) fn request_resize(&mut self, size: Size, reply: ReplySender<()>) {
        match self {
            Self::Native(_) => {}
            Self::Attached(attached) => attached.request_resize(window_size(size), reply),
        }
    }

    /// Sends a signal to the foreground process group. Signals are sent in the order of the calls.
    pub(super) fn signal(&self, signal: Signal) -> BoxFuture<'static, Result<(), Error>> {
        let sent = match self {
            Self::Native(native) => native.signal(signal),
            Self::Attached(attached) => Box::pin(ready(attached.signal(signal))),
        };
        Box::pin(sent.map_err(|error| {
            let code = match error {
                SignalError::Exited => Code::Exited,
                SignalError::Refused(_) => Code::Internal,
            };
            Error::new(code, error.to_string())
        }))
    }

    /// Ends the child and every process it started; [`Input::Terminated`] follows.
    pub(super) fn terminate(&mut self, grace: Duration) {
        match self {
            Self::Native(native) => native.terminate(grace),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn skip_grace(&self) {
        match self {
            Self::Native(native) => native.skip_grace(),
            Self::Attached(_) => {}
        }
    }

    /// Stops waiting for output.
    pub(super) fn close_terminal(&mut self) {
        match self {
            Self::Native(native) => native.close_terminal(),
            Self::Attached(attached) => attached.close(),
        }
    }

    pub(super) fn answer_hook(&mut self, hook: HookId, output: &Value) {
        match self {
            Self::Native(native) => native.with_agent_io(|io| io.answer_hook(hook, output)),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn release_hook(&mut self, hook: HookId) {
        match self {
            Self::Native(native) => native.with_agent_io(|io| io.release_hook(hook)),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn follow_log(&mut self, path: PathBuf) {
        match self {
            Self::Native(native) => native.with_agent_io(|io| io.follow_log(path)),
            Self::Attached(_) => {}
        }
    }

    pub(super) fn follow_conversation(&mut self, id: &str) {
        match self {
            Self::Native(native) => native.with_agent_io(|io| io.follow_conversation(id)),
            Self::Attached(_) => {}
        }
    }

    /// Reads what coop could not use of the agent's hooks, log and status files.
    pub(super) fn source_counters(&self) -> Option<CounterReader> {
        match self {
            Self::Native(native) => native.source_counters(),
            Self::Attached(_) => None,
        }
    }

    pub(super) fn poll_sources(&mut self, wanted: bool) {
        match self {
            Self::Native(native) => native.with_agent_io(|io| io.poll_sources(wanted)),
            Self::Attached(_) => {}
        }
    }

    /// The session is over: removes what was made for the agent, and leaves a multiplexer's pane
    /// as it was.
    pub(super) async fn close(self) {
        match self {
            Self::Native(native) => native.close().await,
            Self::Attached(attached) => attached.leave().await,
        }
    }
}

/// The size of a session that attaches to this pane.
pub(crate) fn size_of(target: &MuxTarget) -> Size {
    nearest(target.size)
}

fn window_size(size: Size) -> WindowSize {
    WindowSize { cols: size.cols(), rows: size.rows() }
}

/// The nearest size that coop's terminal can have; what lies beyond is cut off.
fn nearest(size: WindowSize) -> Size {
    let within = |count: u16| u32::from(count.clamp(1, 1000));
    Size::new(within(size.cols), within(size.rows)).expect("both numbers are within the limits")
}

async fn receive<T>(receiver: Option<&mut mpsc::Receiver<T>>) -> Option<T> {
    match receiver {
        Some(receiver) => receiver.recv().await,
        None => never().await,
    }
}

async fn never<T>() -> T {
    match pending::<Infallible>().await {}
}
