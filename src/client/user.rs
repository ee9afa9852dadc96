//! The user at their terminal: input that is not sent yet, and output that is not drawn yet.
//! It outlives connections, and does not know them.

use std::io;

use bytes::BytesMut;
use coop_client::v1;

use super::attach_stream::Ending;
use super::display::{Display, OutputClosed};
use super::keyboard::{Keyboard, UserInput};
use super::query_filter::QueryFilter;
use super::raw_terminal::RawTerminal;

/// How much input may wait for the session; more waits in the terminal.
const TYPED_AHEAD: usize = 1 << 20;
/// How much output may wait for the terminal; more waits at coop.
const DRAWN_AHEAD: usize = 64 << 10;

pub(super) struct User {
    terminal: RawTerminal,
    keyboard: Keyboard,
    display: Display,
    query_filter: QueryFilter,
    allow_clipboard: bool,
    drawn: Vec<u8>,
    typed: BytesMut,
    /// Whether stdin has ended.
    finished: bool,
    /// A notice that waits for the end of a sequence in the output.
    notice: Option<String>,
    /// The epoch of the attached coop, once it is known.
    epoch: Option<u64>,
}

/// The result of waiting for the user or the terminal.
#[derive(Debug)]
pub(super) enum Turn {
    /// Something was typed or drawn; there may be room for more.
    Progress,
    /// The terminal has another size.
    Resize,
    Leave(Ending),
}

impl User {
    /// Prepares the terminal for the session.
    pub(super) fn start(allow_clipboard: bool) -> io::Result<Self> {
        let display = Display::start()?;
        let keyboard = Keyboard::start(RawTerminal::has_keyboard())?;
        let terminal = RawTerminal::take()?;
        let drawn = terminal.opening().into_bytes();
        Ok(Self {
            terminal,
            keyboard,
            display,
            query_filter: QueryFilter::new(allow_clipboard),
            allow_clipboard,
            drawn,
            typed: BytesMut::new(),
            finished: false,
            notice: None,
            epoch: None,
        })
    }

    /// Restores the terminal.
    pub(super) async fn finish(mut self) {
        self.drawn.extend_from_slice(self.query_filter.sequence_end());
        self.drawn.extend_from_slice(self.terminal.closing().as_bytes());
        let last = async {
            // It fails only if stdout was closed.
            drop(self.display.show(&mut self.drawn).await);
        };
        self.display.flush_after(last).await;
        self.terminal.restore();
    }

    /// Waits for the user or the terminal. Cancelling loses nothing.
    pub(super) async fn turn(&mut self) -> Turn {
        let listening = self.typed.len() < TYPED_AHEAD;
        let drawing = !self.drawn.is_empty();
        tokio::select! {
            input = self.keyboard.next(listening) => match input {
                UserInput::Type(bytes) => {
                    self.typed.extend_from_slice(&bytes);
                    Turn::Progress
                }
                UserInput::End => {
                    self.finished = true;
                    Turn::Progress
                }
                UserInput::Resize => Turn::Resize,
                UserInput::Detach => Turn::Leave(Ending::Detached),
                UserInput::Quit(signal) => Turn::Leave(Ending::Quit(signal)),
            },
            shown = self.display.show(&mut self.drawn), if drawing => match shown {
                Ok(()) => Turn::Progress,
                Err(OutputClosed) => Turn::Leave(Ending::OutputClosed),
            },
        }
    }

    /// Waits for `work`, unless the user leaves first.
    pub(super) async fn until<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Ending> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                turn = self.turn() => match turn {
                    Turn::Progress | Turn::Resize => {}
                    Turn::Leave(ending) => return Err(ending),
                },
            }
        }
    }

    /// What was typed since the last call.
    pub(super) fn take_typed(&mut self) -> Option<bytes::Bytes> {
        (!self.typed.is_empty()).then(|| self.typed.split().freeze())
    }

    /// Whether stdin has ended and all of it was taken.
    pub(super) fn has_finished(&self) -> bool {
        self.finished && self.typed.is_empty()
    }

    /// Whether the terminal keeps up with what is drawn.
    pub(super) fn keeps_up(&self) -> bool {
        self.drawn.len() < DRAWN_AHEAD
    }

    /// Shows the session's output.
    pub(super) fn show(&mut self, output: &[u8]) {
        self.query_filter.feed(output, &mut self.drawn);
        self.show_notice();
    }

    /// Redraws the screen from a snapshot.
    pub(super) fn redraw(&mut self, snapshot: &v1::AttachSnapshot) {
        self.drawn.extend_from_slice(self.query_filter.sequence_end());
        self.query_filter = QueryFilter::new(self.allow_clipboard);
        self.drawn.extend_from_slice(self.terminal.fresh().as_bytes());
        if self.epoch.replace(snapshot.epoch).is_some_and(|before| before != snapshot.epoch) {
            self.notice("the session is now served by another coop");
        }
        self.show(&snapshot.dump);
    }

    /// Shows a notice without changing the session's screen.
    pub(super) fn notice(&mut self, text: &str) {
        self.notice = Some(self.terminal.notice(text));
        self.show_notice();
    }

    fn show_notice(&mut self) {
        if let Some(notice) = self.notice.take_if(|_| self.query_filter.is_between()) {
            self.drawn.extend_from_slice(notice.as_bytes());
        }
    }

    /// Shows that the connection is lost. The screen is redrawn after a reconnect.
    pub(super) fn show_disconnected(&mut self, text: &str) {
        self.drawn.extend_from_slice(self.query_filter.sequence_end());
        self.query_filter = QueryFilter::new(self.allow_clipboard);
        self.drawn.extend_from_slice(self.terminal.status(text).as_bytes());
    }

    /// Discards the keys that were pressed while disconnected, because the screen may have changed.
    /// Input from a pipe is kept.
    pub(super) fn discard_keys(&mut self) {
        if RawTerminal::has_keyboard() {
            self.typed.clear();
        }
    }
}
