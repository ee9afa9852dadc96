//! The person's own terminal: made raw, cleared for the session's screen, and given back as it
//! was on every way out. It knows nothing of the session that is shown on it.

use std::io::{self, Write as _};

use coop_client::v1::TerminalSize;
use rustix::termios::{self, OptionalActions, Termios};

/// Turns off whatever the session's program may have turned on. The cursor stays where it is:
/// saving it first makes leaving the alternate screen harmless where there is none.
const NORMAL: &str = concat!(
    "\x1b7\x1b[?1049l",
    "\x1b7\x1b[?6l\x1b[?69l\x1b[r\x1b8",
    "\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l",
    "\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[?2031l\x1b[?2048l",
    "\x1b[?1l\x1b>\x1b[4l\x1b[20l\x1b[?5l\x1b[?7h",
    "\x1b(B\x1b)B\x0f\x1b[m\x1b[0 q\x1b[?25h",
    "\x1b[>4m\x1b[<99u",
);
/// Title and icon are kept by the terminal meanwhile.
const KEEP_TITLE: &str = "\x1b[22;0t";
const GIVE_TITLE_BACK: &str = "\x1b[23;0t";
const CLEAR: &str = "\x1b[H\x1b[2J";

/// The size of the terminal, if there is one.
pub(super) fn size() -> Option<TerminalSize> {
    let size = match LocalTerminal::is_screen() {
        true => termios::tcgetwinsize(io::stdout()),
        false => termios::tcgetwinsize(io::stdin()),
    };
    let size = size.ok().filter(|size| size.ws_col > 0 && size.ws_row > 0)?;
    Some(TerminalSize { cols: size.ws_col.into(), rows: size.ws_row.into() })
}

/// The terminal while the session has it. Dropping it gives it back.
pub(super) struct LocalTerminal {
    /// What the keyboard was like, if there is one.
    cooked: Option<Termios>,
    /// Whether what is written is seen.
    is_screen: bool,
    given_back: bool,
}

impl LocalTerminal {
    /// Whether keys are typed here; else stdin is a pipe or a file.
    pub(super) fn has_keyboard() -> bool {
        termios::isatty(io::stdin())
    }

    /// Whether stdout is a terminal.
    pub(super) fn is_screen() -> bool {
        termios::isatty(io::stdout())
    }

    /// Takes the terminal, as far as stdin and stdout are one.
    pub(super) fn take() -> Result<Self, io::Error> {
        let mut cooked = None;
        if Self::has_keyboard() {
            let before = termios::tcgetattr(io::stdin())?;
            let mut raw = before.clone();
            raw.make_raw();
            termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
            cooked = Some(before);
        }
        Ok(Self { cooked, is_screen: Self::is_screen(), given_back: false })
    }

    /// What makes room for the session's screen: everything that stands here scrolls up, so
    /// that it can be read again afterwards.
    pub(super) fn opening(&self) -> String {
        let rows = size().map_or(0, |size| usize::try_from(size.rows).unwrap_or(0));
        if self.is_screen { format!("{KEEP_TITLE}\r{}{CLEAR}", "\n".repeat(rows)) } else { String::new() }
    }

    /// What makes this a fresh terminal, to be drawn on.
    pub(super) fn fresh(&self) -> String {
        if self.is_screen { format!("{NORMAL}{CLEAR}") } else { String::new() }
    }

    /// What makes it the person's own again.
    pub(super) fn closing(&self) -> String {
        if self.is_screen { format!("{NORMAL}{GIVE_TITLE_BACK}\r\n") } else { String::new() }
    }

    /// A line at the bottom, over whatever stands there: the screen is drawn anew afterwards.
    pub(super) fn status(&self, text: &str) -> String {
        let width = size().map_or(usize::MAX, |size| usize::try_from(size.cols).unwrap_or(usize::MAX));
        let text: String = printable(text).take(width).collect();
        if self.is_screen { format!("\x1b[m\x1b[999;1H\x1b[2K\x1b[7m{text}\x1b[m") } else { String::new() }
    }

    /// A bell, and the title says why: the screen belongs to the session.
    pub(super) fn notice(&self, text: &str) -> String {
        let text: String = printable(text).collect();
        if self.is_screen { format!("\x07\x1b]2;coop: {text}\x1b\\") } else { String::new() }
    }

    /// Makes the keyboard what it was. The screen's closing has been written by now.
    pub(super) fn give_back(&mut self) {
        self.given_back = true;
        if let Some(cooked) = self.cooked.take() {
            // A terminal that is gone needs nothing back.
            let _gone = termios::tcsetattr(io::stdin(), OptionalActions::Now, &cooked);
        }
    }
}

impl Drop for LocalTerminal {
    fn drop(&mut self) {
        if !self.given_back {
            let mut stdout = io::stdout().lock();
            drop(stdout.write_all(self.closing().as_bytes()).and_then(|()| stdout.flush()));
            self.give_back();
        }
    }
}

/// Words from elsewhere must not be able to do anything here.
fn printable(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_control())
}
