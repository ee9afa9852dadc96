//! A person at their terminal: what they typed and is not sent yet, what is to be drawn for them.
//! It outlives connections and knows none.

use std::io;

use bytes::BytesMut;
use coop_client::v1;

use super::display::{Display, Unseen};
use super::keyboard::{Keyboard, Wish};
use super::local::LocalTerminal;
use super::mute::Mute;
use super::sitting::Ending;

/// What may be typed ahead of a session that does not take it; more waits in the terminal.
const TYPED_AHEAD: usize = 1 << 20;
/// What may be drawn ahead of the terminal; more waits at coop.
const DRAWN_AHEAD: usize = 64 << 10;

pub(super) struct Person {
    terminal: LocalTerminal,
    keyboard: Keyboard,
    display: Display,
    mute: Mute,
    drawn: Vec<u8>,
    typed: BytesMut,
    /// Whether stdin has ended.
    finished: bool,
    /// What is to be said between two sequences of the session's.
    notice: Option<String>,
    /// The coop that is attached to, once that is known.
    epoch: Option<u64>,
}

/// Something to react to.
#[derive(Debug)]
pub(super) enum Turn {
    /// Something was typed or drawn; there may be room for more.
    Progress,
    /// The terminal has another size.
    Resize,
    Leave(Ending),
}

impl Person {
    /// Takes the terminal for the session.
    pub(super) fn sit_down() -> io::Result<Self> {
        let display = Display::start()?;
        let keyboard = Keyboard::start(LocalTerminal::has_keyboard())?;
        let terminal = LocalTerminal::take()?;
        let drawn = terminal.opening().into_bytes();
        Ok(Self {
            terminal,
            keyboard,
            display,
            mute: Mute::new(),
            drawn,
            typed: BytesMut::new(),
            finished: false,
            notice: None,
            epoch: None,
        })
    }

    /// Gives the terminal back.
    pub(super) async fn stand_up(mut self) {
        self.drawn.extend_from_slice(self.mute.settle());
        self.drawn.extend_from_slice(self.terminal.closing().as_bytes());
        let last = async {
            // If nobody sees it, nobody misses it.
            drop(self.display.show(&mut self.drawn).await);
        };
        self.display.with_last_words(last).await;
        self.terminal.give_back();
    }

    /// Waits for the person or the terminal; nothing is lost if this is given up.
    pub(super) async fn turn(&mut self) -> Turn {
        let listening = self.typed.len() < TYPED_AHEAD;
        let drawing = !self.drawn.is_empty();
        tokio::select! {
            wish = self.keyboard.wish(listening) => match wish {
                Wish::Type(bytes) => {
                    self.typed.extend_from_slice(&bytes);
                    Turn::Progress
                }
                Wish::NoMore => {
                    self.finished = true;
                    Turn::Progress
                }
                Wish::Resize => Turn::Resize,
                Wish::Detach => Turn::Leave(Ending::Detached),
                Wish::Quit(signal) => Turn::Leave(Ending::Quit(signal)),
            },
            shown = self.display.show(&mut self.drawn), if drawing => match shown {
                Ok(()) => Turn::Progress,
                Err(Unseen) => Turn::Leave(Ending::Unseen),
            },
        }
    }

    /// Waits for something else, unless the person leaves meanwhile.
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
        self.mute.feed(output, &mut self.drawn);
        self.say_notice();
    }

    /// Draws everything anew from what stands on the session's screen.
    pub(super) fn redraw(&mut self, snapshot: &v1::AttachSnapshot) {
        self.drawn.extend_from_slice(self.mute.settle());
        self.mute = Mute::new();
        self.drawn.extend_from_slice(self.terminal.fresh().as_bytes());
        if self.epoch.replace(snapshot.epoch).is_some_and(|before| before != snapshot.epoch) {
            self.notice("this is another coop than before");
        }
        self.show(&snapshot.dump);
    }

    /// Says something without touching the session's screen.
    pub(super) fn notice(&mut self, text: &str) {
        self.notice = Some(self.terminal.notice(text));
        self.say_notice();
    }

    fn say_notice(&mut self) {
        if let Some(notice) = self.notice.take_if(|_| self.mute.is_between()) {
            self.drawn.extend_from_slice(notice.as_bytes());
        }
    }

    /// The connection is lost; the screen will be drawn anew.
    pub(super) fn lose(&mut self, text: &str) {
        self.drawn.extend_from_slice(self.mute.settle());
        self.mute = Mute::new();
        self.drawn.extend_from_slice(self.terminal.status(text).as_bytes());
    }

    /// Keys that were pressed while nothing answered were meant for a screen that may be another
    /// by now; a pipe means what it says.
    pub(super) fn forget_keys(&mut self) {
        if LocalTerminal::has_keyboard() {
            self.typed.clear();
        }
    }
}
