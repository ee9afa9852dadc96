//! The attached backend: a pane of tmux or GNU screen.

use std::collections::VecDeque;

use super::{nearest, never};
use crate::error::{Code, Error};
use crate::mux::{MuxEvent, MuxTerminal, WriteError};
use crate::pty::{Signal, SignalError, WindowSize};
use crate::session::actor::Input;
use crate::session::replies::ReplySender;

pub(in crate::session) struct AttachedBackend {
    /// None once the pane is gone.
    terminal: Option<MuxTerminal>,
    /// Callers that wait for a new size, in order.
    resizing: VecDeque<ReplySender<()>>,
}

impl AttachedBackend {
    pub(super) fn new(terminal: MuxTerminal) -> Self {
        Self { terminal: Some(terminal), resizing: VecDeque::new() }
    }

    pub(super) async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        let Some(terminal) = &mut self.terminal else { return never().await };
        match terminal.next_event(typed).await {
            Some(MuxEvent::Redraw { size, bytes }) => {
                Input::Captured { size: nearest(size), paint: bytes }
            }
            Some(MuxEvent::Exited(exit)) => Input::ChildExited(exit),
            Some(MuxEvent::Resized(result)) => {
                let multiplexer = terminal.multiplexer();
                let result = result.map_err(|reason| {
                    let message = format!("{multiplexer} did not take the size: {reason}");
                    Error::new(Code::Unsupported, message)
                });
                Input::Resized { result, reply: self.resizing.pop_front() }
            }
            Some(MuxEvent::Written(Ok(count))) => Input::Wrote(count),
            Some(MuxEvent::Written(Err(error))) => Input::WriteFailed(match &error {
                WriteError::Exited => Error::exited(),
                WriteError::TimedOut { .. } => Error::new(Code::Timeout, error.to_string()),
                WriteError::Failed { .. } => Error::new(Code::Internal, error.to_string()),
            }),
            None => {
                self.close();
                Input::OutputEnded
            }
        }
    }

    /// The pane is gone: nothing is captured any more, and waiting callers are refused.
    pub(super) fn close(&mut self) {
        self.terminal = None;
        for reply in self.resizing.drain(..) {
            refuse(reply, Error::exited());
        }
    }

    pub(super) fn request_resize(&mut self, size: WindowSize, reply: ReplySender<()>) {
        match &self.terminal {
            Some(terminal) if terminal.resize(size) => self.resizing.push_back(reply),
            Some(terminal) => {
                let multiplexer = terminal.multiplexer();
                let message =
                    format!("{multiplexer} has not carried out the previous requests yet");
                refuse(reply, Error::new(Code::Timeout, message));
            }
            None => refuse(reply, Error::exited()),
        }
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        match &self.terminal {
            Some(terminal) => terminal.signal(signal),
            None => Err(SignalError::Exited),
        }
    }

    /// Leaves the pane as it was.
    pub(super) async fn leave(self) {
        if let Some(terminal) = self.terminal {
            terminal.close().await;
        }
    }
}

/// Sending fails if the caller has stopped waiting, which is not an error.
fn refuse(reply: ReplySender<()>, error: Error) {
    drop(reply.send(Err(error)));
}
