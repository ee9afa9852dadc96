//! The user's own terminal: made raw, cleared for the session's screen, and restored on every way
//! out. It does not know the session that is shown on it.

use std::io::{self, Write as _};

use coop_client::v1::TerminalSize;
use rustix::termios::{self, OptionalActions, Termios};

/// Turns off every mode that the session's program may have turned on. The cursor is saved first,
/// so that leaving the alternate screen does not move it if that was not active.
const NORMAL: &str = concat!(
    "\x1b7\x1b[?1049l",
    "\x1b7\x1b[?6l\x1b[?69l\x1b[r\x1b8",
    "\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1005l",
    "\x1b[?1006l\x1b[?1015l\x1b[?1016l",
    "\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[?2031l\x1b[?2048l",
    "\x1b[?1l\x1b>\x1b[4l\x1b[20l\x1b[?5l\x1b[?7h",
    "\x1b(B\x1b)B\x0f\x1b[m\x1b[0 q\x1b[?25h",
    "\x1b[>4m\x1b[<99u",
);
/// The terminal keeps title and icon on its stack meanwhile.
const SAVE_TITLE: &str = "\x1b[22;0t";
const RESTORE_TITLE: &str = "\x1b[23;0t";
const CLEAR: &str = "\x1b[H\x1b[2J";

/// The size of the terminal, if there is one.
pub(super) fn size() -> Option<TerminalSize> {
    let size = match RawTerminal::is_screen() {
        true => termios::tcgetwinsize(io::stdout()),
        false => termios::tcgetwinsize(io::stdin()),
    };
    let size = size.ok().filter(|size| size.ws_col > 0 && size.ws_row > 0)?;
    Some(TerminalSize { cols: size.ws_col.into(), rows: size.ws_row.into() })
}

/// The terminal while it shows the session. Dropping it restores it.
pub(super) struct RawTerminal {
    /// The settings before, if stdin is a terminal.
    cooked: Option<Termios>,
    /// Whether stdout is a terminal.
    is_screen: bool,
    restored: bool,
}

impl RawTerminal {
    /// Whether stdin is a terminal; otherwise it is a pipe or a file.
    pub(super) fn has_keyboard() -> bool {
        termios::isatty(io::stdin())
    }

    /// Whether stdout is a terminal.
    pub(super) fn is_screen() -> bool {
        termios::isatty(io::stdout())
    }

    /// Makes the terminal raw, if stdin is one.
    pub(super) fn take() -> Result<Self, io::Error> {
        let mut cooked = None;
        if Self::has_keyboard() {
            let before = termios::tcgetattr(io::stdin())?;
            let mut raw = before.clone();
            raw.make_raw();
            termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
            cooked = Some(before);
        }
        Ok(Self { cooked, is_screen: Self::is_screen(), restored: false })
    }

    /// The sequences that make room for the session's screen. The present content scrolls up, so
    /// that it can be read afterwards.
    pub(super) fn opening(&self) -> String {
        let rows = size().map_or(0, |size| usize::try_from(size.rows).unwrap_or(0));
        if self.is_screen {
            format!("{SAVE_TITLE}\r{}{CLEAR}", "\n".repeat(rows))
        } else {
            String::new()
        }
    }

    /// The sequences that reset and clear the terminal before a snapshot is drawn.
    pub(super) fn fresh(&self) -> String {
        if self.is_screen { format!("{NORMAL}{CLEAR}") } else { String::new() }
    }

    /// The sequences that restore the user's screen.
    pub(super) fn closing(&self) -> String {
        if self.is_screen { format!("{NORMAL}{RESTORE_TITLE}\r\n") } else { String::new() }
    }

    /// A line at the bottom. It overwrites the row, because the screen is redrawn afterwards.
    pub(super) fn status(&self, text: &str) -> String {
        let width =
            size().map_or(usize::MAX, |size| usize::try_from(size.cols).unwrap_or(usize::MAX));
        let text: String = printable(text).take(width).collect();
        if self.is_screen {
            format!("\x1b[m\x1b[999;1H\x1b[2K\x1b[7m{text}\x1b[m")
        } else {
            String::new()
        }
    }

    /// A bell, and the text as title, because the screen belongs to the session.
    pub(super) fn notice(&self, text: &str) -> String {
        let text: String = printable(text).collect();
        if self.is_screen { format!("\x07\x1b]2;coop: {text}\x1b\\") } else { String::new() }
    }

    /// Restores the settings of stdin. `closing` has been written before.
    pub(super) fn restore(&mut self) {
        self.restored = true;
        if let Some(cooked) = self.cooked.take() {
            // It fails only if the terminal is gone.
            let _gone = termios::tcsetattr(io::stdin(), OptionalActions::Now, &cooked);
        }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if !self.restored {
            let mut stdout = io::stdout().lock();
            drop(stdout.write_all(self.closing().as_bytes()).and_then(|()| stdout.flush()));
            self.restore();
        }
    }
}

/// The text without controls, so that it cannot affect the terminal.
fn printable(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_control())
}
