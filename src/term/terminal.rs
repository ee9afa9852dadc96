//! The terminal that the session uses: bytes in, replies, signals and snapshots out.
//! It does no I/O: its caller writes the replies and handles the signals.

use std::sync::Arc;

use super::engine::Engine;
use super::modes::Modes;
use super::row::Row;
use super::screen::{Cursor, Screen, ScreenSeq};
use super::scrollback::Scrollback;
use super::size::Size;
use super::tap::Tap;

/// What a feed produced besides the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fed {
    /// The replies to the program's queries, which the caller writes to it.
    pub replies: Vec<u8>,
    /// The program's signals, in order.
    pub signals: Vec<Signal>,
}

/// A message from the program to its terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// Another title (OSC 0 or 2, or one restored from the title stack).
    Title(String),
    /// Another progress (OSC 9;4).
    Progress(Progress),
    /// A message for the user (OSC 9 or 777).
    Notification(Notification),
    /// The program's own report of its state (OSC 7501), not parsed.
    ProgramStatus(String),
    /// The modes after a sequence that changed one.
    Modes(Modes),
}

/// The progress that a program shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// None is shown.
    Cleared,
    Running {
        percent: u8,
    },
    Failed {
        percent: Option<u8>,
    },
    Indeterminate,
    Paused {
        percent: Option<u8>,
    },
}

/// A message from the program to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub title: Option<String>,
    pub body: String,
}

/// A terminal with its scrollback.
pub struct Terminal {
    tap: Tap,
    engine: Engine,
    seq: ScreenSeq,
    /// The last snapshot, which is current as long as its counter is.
    snapshot: Option<Arc<Screen>>,
}

impl Terminal {
    /// `version` is the reply to a program's query for the terminal's version.
    pub fn new(size: Size, scrollback_lines: usize, version: &str) -> Self {
        // The version is part of a reply, so it must not contain the end of that string.
        let version: String = version.chars().filter(|c| !c.is_control()).collect();
        Self {
            tap: Tap::new(),
            engine: Engine::new(size, Scrollback::new(scrollback_lines), Arc::from(version)),
            seq: ScreenSeq(0),
            snapshot: None,
        }
    }

    /// Processes output of the child, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        let cursor = self.engine.cursor();
        self.tap.feed(bytes, &mut self.engine);
        if self.engine.take_changed() || self.engine.cursor() != cursor {
            self.seq.0 += 1;
        }
        std::mem::take(&mut self.engine.fed)
    }

    pub fn resize(&mut self, size: Size) {
        if size != self.engine.size() {
            self.engine.resize(size);
            self.engine.take_changed();
            self.seq.0 += 1;
        }
    }

    /// Resets the terminal for another child. Counters continue, and the scrollback is kept with
    /// the content of the screen added to it.
    pub fn reset_for_new_child(&mut self) {
        self.tap = Tap::new();
        self.engine.reset();
        self.engine.take_changed();
        self.seq.0 += 1;
    }

    pub fn size(&self) -> Size {
        self.engine.size()
    }

    /// The screen counter: it grows when content, cursor, modes, title or size change.
    pub fn seq(&self) -> ScreenSeq {
        self.seq
    }

    pub fn title(&self) -> &str {
        &self.engine.title
    }

    pub fn modes(&self) -> Modes {
        self.engine.modes
    }

    #[cfg(test)]
    pub(super) fn progress(&self) -> Progress {
        self.engine.progress
    }

    #[cfg(test)]
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn scrollback(&self) -> &Scrollback {
        self.engine.scrollback()
    }

    pub fn scrollback_mut(&mut self) -> &mut Scrollback {
        self.engine.scrollback_mut()
    }

    /// The screen now. As long as nothing changes it is the same value, and rows that did not
    /// change are shared with the value before.
    pub fn screen(&mut self) -> Arc<Screen> {
        if let Some(screen) = &self.snapshot
            && screen.seq == self.seq
        {
            return Arc::clone(screen);
        }
        let last: &[Arc<Row>] = self.snapshot.as_ref().map_or(&[], |screen| &screen.rows);
        let rows = self.engine.snapshot(last);
        let size = self.engine.size();
        let cursor = self.engine.cursor();
        let screen = Arc::new(Screen {
            rows,
            cursor: Cursor {
                row: within(cursor.row, size.rows()),
                col: within(cursor.col, size.cols()),
                visible: cursor.visible,
            },
            size,
            seq: self.seq,
            title: Arc::clone(&self.engine.title),
            modes: self.engine.modes,
        });
        self.snapshot = Some(Arc::clone(&screen));
        screen
    }

    /// Bytes that make a fresh terminal of the same size look and behave like this one, down to a
    /// sequence that is only half read, so that the child's next byte can follow at once.
    pub fn dump(&self) -> Vec<u8> {
        let mut dump = self.engine.screen_dump();
        self.engine.modes.write_input_modes(&mut dump);
        if !self.engine.title.is_empty() {
            dump.push_str("\x1b]2;");
            dump.push_str(&self.engine.title);
            dump.push_str("\x1b\\");
        }
        dump.push_str(self.engine.prefix());
        let mut dump = dump.into_bytes();
        dump.extend_from_slice(&self.tap.pending());
        dump
    }
}

fn within(position: usize, count: u16) -> u16 {
    u16::try_from(position).unwrap_or(u16::MAX).min(count.saturating_sub(1))
}
