//! The other side of the session's terminal: a child of coop's own, or a terminal that another program keeps. It says what
//! happens there in the actor's words, and decides nothing.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::pending;
use std::io;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::actor::Input;
use super::outbox::Answer;
use crate::error::{Code, Error};
use crate::pty::attach::{Foreign, News, WriteError};
use crate::pty::{Child, Control, Reader, Reaper, Signal, SignalError, Spawned, WindowSize, Writer};
use crate::term::Size;

/// Reads of output that may wait for the actor; the child waits beyond that.
const OUTPUT_CHUNKS: usize = 16;

pub(super) enum Side {
    Own(Own),
    Foreign(Seat),
}

/// A child, and the near end of its terminal.
pub(super) struct Own {
    pub(super) reaper: Reaper,
    pub(super) child: Child,
    /// Told the actor of the child's exit.
    exit_told: bool,
    io: Option<Io>,
}

struct Io {
    writer: Writer,
    control: Control,
    output: Option<mpsc::Receiver<Bytes>>,
    /// Reads as fast as the actor takes it; ends with this.
    _reader: JoinSet<()>,
}

/// A seat at another program's terminal.
pub(super) struct Seat {
    /// None once there is nothing to look at any more.
    foreign: Option<Foreign>,
    /// Who waits for a new size, in the order in which they asked.
    resizing: VecDeque<Answer<()>>,
}

impl Side {
    /// What happens next there; `typed` is what should be written meanwhile.
    pub(super) async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        match self {
            Self::Own(own) => own.next(typed).await,
            Self::Foreign(seat) => seat.next(typed).await,
        }
    }

    /// A child takes any size. The answer is for whoever asked another program.
    pub(super) fn resize(&mut self, size: Size, answer: Option<Answer<()>>) {
        let size = WindowSize { cols: size.cols(), rows: size.rows() };
        match self {
            Self::Own(own) => own.resize(size),
            Self::Foreign(seat) => seat.resize(size, answer),
        }
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), Error> {
        let sent = match self {
            Self::Own(own) => own.signal(signal),
            Self::Foreign(Seat { foreign: Some(foreign), .. }) => foreign.signal(signal),
            Self::Foreign(Seat { foreign: None, .. }) => Err(SignalError::Exited),
        };
        sent.map_err(|error| {
            let code = match error {
                SignalError::Exited => Code::Exited,
                SignalError::Refused(_) => Code::Internal,
            };
            Error::new(code, error.to_string())
        })
    }

    /// Whatever still comes out of the terminal is not waited for any more.
    pub(super) fn close(&mut self) {
        match self {
            Self::Own(own) => own.io = None,
            Self::Foreign(seat) => seat.give_up(),
        }
    }

    /// The session is over: another program's terminal is left as it was.
    pub(super) async fn leave(self) {
        match self {
            Self::Foreign(Seat { foreign: Some(foreign), .. }) => foreign.leave().await,
            Self::Own(_) | Self::Foreign(_) => {}
        }
    }
}

impl Own {
    pub(super) fn new(reaper: Reaper, spawned: Spawned) -> Self {
        let (sender, output) = mpsc::channel(OUTPUT_CHUNKS);
        let mut reading = JoinSet::new();
        reading.spawn(forward(spawned.reader, sender));
        let io =
            Io { writer: spawned.writer, control: spawned.control, output: Some(output), _reader: reading };
        Self { reaper, child: spawned.child, exit_told: false, io: Some(io) }
    }

    async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        let (writer, output) = match &mut self.io {
            Some(io) => (Some(&mut io.writer), io.output.as_mut()),
            None => (None, None),
        };
        tokio::select! {
            exit = self.child.wait(), if !self.exit_told => {
                self.exit_told = true;
                Input::ChildExited(exit)
            }
            written = write(writer, typed) => match written {
                Ok(count) => Input::Wrote(count),
                Err(error) => {
                    tracing::debug!(%error, "the terminal took no input");
                    Input::WriteFailed(Error::exited())
                }
            },
            chunk = receive(output) => match chunk {
                Some(bytes) => Input::Output(bytes),
                None => {
                    if let Some(io) = &mut self.io {
                        io.output = None;
                    }
                    Input::OutputEnded
                }
            },
        }
    }

    fn resize(&self, size: WindowSize) {
        if let Some(io) = &self.io
            && let Err(error) = io.control.resize(size)
        {
            tracing::warn!(%error, "the terminal did not take its new size");
        }
    }

    fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        match &self.io {
            Some(io) => self.child.signal_foreground(&io.control, signal),
            None => self.child.signal(signal),
        }
    }
}

impl Seat {
    pub(super) fn new(foreign: Foreign) -> Self {
        Self { foreign: Some(foreign), resizing: VecDeque::new() }
    }

    async fn next(&mut self, typed: Option<&[u8]>) -> Input {
        let Some(foreign) = &mut self.foreign else { return never().await };
        let happened = match typed {
            // What was seen goes first: a write that is under way goes on by itself.
            Some(bytes) => foreign.news_or_written(bytes).await,
            None => Ok(foreign.news().await),
        };
        match happened {
            Ok(Some(News::Looks { size, paint })) => Input::Looked { size: nearest(size), paint },
            Ok(Some(News::Gone(exit))) => Input::ChildExited(exit),
            Ok(Some(News::Resized(came_of_it))) => {
                let host = foreign.host();
                let result = came_of_it.map_err(|reason| {
                    Error::new(Code::Unsupported, format!("{host} did not take the size: {reason}"))
                });
                Input::Resized { result, answer: self.resizing.pop_front() }
            }
            Ok(None) => {
                self.give_up();
                Input::OutputEnded
            }
            Err(Ok(count)) => Input::Wrote(count),
            Err(Err(error)) => Input::WriteFailed(match &error {
                WriteError::Gone => Error::exited(),
                WriteError::Slow { .. } => Error::new(Code::Timeout, error.to_string()),
                WriteError::Refused { .. } => Error::new(Code::Internal, error.to_string()),
            }),
        }
    }

    /// Nothing is left to look at, nor to wait for.
    fn give_up(&mut self) {
        self.foreign = None;
        for answer in self.resizing.drain(..) {
            drop(answer.send(Err(Error::exited())));
        }
    }

    fn resize(&mut self, size: WindowSize, answer: Option<Answer<()>>) {
        let Some(answer) = answer else { return };
        match &self.foreign {
            Some(foreign) if foreign.resize(size) => self.resizing.push_back(answer),
            // The caller may have gone; nobody is left to tell then.
            Some(foreign) => drop(answer.send(Err(Error::new(
                Code::Timeout,
                format!("{} has not yet done what it was asked for before", foreign.host()),
            )))),
            None => drop(answer.send(Err(Error::exited()))),
        }
    }
}

/// The largest that a terminal of ours can be; what lies beyond is cut off.
pub(super) fn nearest(size: WindowSize) -> Size {
    let within = |count: u16| u32::from(count.clamp(1, 1000));
    Size::new(within(size.cols), within(size.rows)).expect("both numbers are within the limits")
}

async fn forward(mut reader: Reader, output: mpsc::Sender<Bytes>) {
    loop {
        match reader.read().await {
            Ok(Some(bytes)) => {
                if output.send(bytes).await.is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "reading the terminal failed");
                return;
            }
        }
    }
}

async fn write(writer: Option<&mut Writer>, bytes: Option<&[u8]>) -> io::Result<usize> {
    match (writer, bytes) {
        (Some(writer), Some(bytes)) => writer.write(bytes).await,
        (None, _) | (_, None) => never().await,
    }
}

pub(super) async fn receive<T>(from: Option<&mut mpsc::Receiver<T>>) -> Option<T> {
    match from {
        Some(from) => from.recv().await,
        None => never().await,
    }
}

pub(super) async fn never<T>() -> T {
    match pending::<Infallible>().await {}
}
