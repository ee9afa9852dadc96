//! A snapshot of the terminal's screen, as an immutable value that any number of readers share.
//! It knows neither bytes nor avt.

use std::sync::Arc;

use super::modes::Modes;
use super::row::Row;
use super::size::Size;

/// The screen counter: it grows with every visible change, also across restarts of the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ScreenSeq(pub u64);

/// The position of the cursor, counted from 0; a cursor that waits to wrap is on the last column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
}

/// A snapshot of the visible screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    pub(super) rows: Vec<Arc<Row>>,
    pub(super) cursor: Cursor,
    pub(super) size: Size,
    pub(super) seq: ScreenSeq,
    pub(super) title: Arc<str>,
    pub(super) modes: Modes,
}

impl Screen {
    /// The rows from top to bottom; always as many as the size says.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &Row> + DoubleEndedIterator {
        self.rows.iter().map(|row| &**row)
    }

    /// One row, or `None` below the screen.
    pub fn row(&self, row: usize) -> Option<&Row> {
        self.rows.get(row).map(|row| &**row)
    }

    /// The text of the rows, right-trimmed; nothing is copied.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.rows.iter().map(|row| row.text())
    }

    /// The text of one row, or `None` below the screen.
    pub fn line(&self, row: usize) -> Option<&str> {
        self.rows.get(row).map(|row| row.text())
    }

    /// The rows with SGR sequences, each complete in itself.
    pub fn ansi_lines(&self) -> impl ExactSizeIterator<Item = String> + DoubleEndedIterator {
        self.rows.iter().map(|row| row.ansi())
    }

    /// All rows as one text, a line feed after each.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.lines().map(|line| line.len() + 1).sum());
        for line in self.lines() {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    pub fn size(&self) -> Size {
        self.size
    }

    pub fn seq(&self) -> ScreenSeq {
        self.seq
    }

    /// The title that the program set last; empty if it set none.
    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn modes(&self) -> Modes {
        self.modes
    }

    pub fn alt_screen(&self) -> bool {
        self.modes.alt_screen
    }

    /// Whether two snapshots show the same, apart from their counters.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn shows_the_same(&self, other: &Screen) -> bool {
        self.rows == other.rows
            && self.cursor == other.cursor
            && self.size == other.size
            && self.title == other.title
            && self.modes == other.modes
    }
}
