//! The state behind the terminal and the operations on it: drawing goes to avt, queries get their
//! reply, modes and titles are recorded, and lines that leave the screen go into the scrollback.
//! It knows neither how the tap cuts the bytes nor the readers of the screen.

mod cells;
mod dump;
mod moves;
mod print;
mod replies;
mod saved;
mod switches;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use avt::parser::Function;

use self::print::Text;
use self::saved::{Charsets, Saved};
use super::canvas::Canvas;
use super::colors::Colors;
use super::modes::Modes;
use super::rendition::Rendition;
use super::row::Row;
use super::scrollback::Scrollback;
use super::sequence::Csi;
use super::size::Size;
use super::tabs::Tabs;
use super::terminal::{Fed, Progress, Signal};

/// How many titles a program can save (`CSI 22 t`); the oldest is dropped beyond that.
const TITLE_STACK_LIMIT: usize = 16;

pub(super) use self::cells::Direction;
#[cfg(test)]
pub(super) use self::cells::Glyph;
pub(super) use self::moves::Extent;

/// The state of the terminal after the stream so far.
pub(super) struct Engine {
    avt: avt::Terminal,
    /// Turns complete sequences into avt's operations; it never holds part of one.
    parser: avt::Parser,
    canvas: Canvas,
    pub(super) modes: Modes,
    drawing: Drawing,
    rendition: Rendition,
    charsets: Charsets,
    /// Whether what is drawn is protected from selective erasing.
    protect: bool,
    text: Text,
    /// What DECSC saves, for the primary and for the alternate screen.
    saved: [Saved; 2],
    saved_modes: BTreeMap<u16, bool>,
    /// Row and column of the cursor on the primary screen, while the alternate one is shown.
    primary_cursor: (usize, usize),
    /// The rows of the scrolling region, counted from 0.
    margins: RangeInclusive<usize>,
    /// Its columns, in the same way.
    sides: RangeInclusive<usize>,
    /// Whether those are not all columns.
    has_sides: bool,
    /// Whether there may be marks that stand before their character.
    has_prefixes: bool,
    tabs: Tabs,
    pub(super) colors: Colors,
    pub(super) title: Arc<str>,
    title_stack: Vec<Arc<str>>,
    pub(super) progress: Progress,
    size: Size,
    version: Arc<str>,
    pub(super) fed: Fed,
}

/// Drawing modes. avt does not expose its own; some it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Drawing {
    origin: bool,
    auto_wrap: bool,
    insert: bool,
    new_line: bool,
    /// A backspace in the first column goes back to the row that wrapped.
    reverse_wrap: bool,
    /// Left and right margins can be set (DECLRMM).
    sides: bool,
}

impl Default for Drawing {
    fn default() -> Self {
        Self {
            origin: false,
            auto_wrap: true,
            insert: false,
            new_line: false,
            reverse_wrap: false,
            sides: false,
        }
    }
}

impl Engine {
    pub(super) fn new(size: Size, scrollback: Scrollback, version: Arc<str>) -> Self {
        Self {
            avt: blank_screen(size),
            parser: avt::Parser::new(),
            canvas: Canvas::new(size, scrollback),
            modes: Modes::default(),
            drawing: Drawing::default(),
            rendition: Rendition::default(),
            charsets: Charsets::default(),
            protect: false,
            text: Text::default(),
            saved: [Saved::default(); 2],
            saved_modes: BTreeMap::new(),
            primary_cursor: (0, 0),
            margins: all_rows(size),
            sides: all_cols(size),
            has_sides: false,
            has_prefixes: false,
            tabs: Tabs::new(size.cols()),
            colors: Colors::default(),
            title: Arc::from(""),
            title_stack: Vec::new(),
            progress: Progress::Cleared,
            size,
            version,
            fed: Fed::default(),
        }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(super) fn scrollback(&self) -> &Scrollback {
        &self.canvas.scrollback
    }

    pub(super) fn scrollback_mut(&mut self) -> &mut Scrollback {
        &mut self.canvas.scrollback
    }

    pub(super) fn cursor(&self) -> avt::Cursor {
        self.avt.cursor()
    }

    /// Whether anything was drawn since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.canvas.changed)
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.moved();
        self.avt.resize_with(usize::from(size.cols()), usize::from(size.rows()), &mut self.canvas);
        if size.rows() != self.size.rows() {
            self.margins = all_rows(size);
        }
        if size.cols() != self.size.cols() {
            self.sides = all_cols(size);
            self.has_sides = false;
            self.tabs.resize(size.cols());
        }
        self.size = size;
        let (last_row, last_col) = (usize::from(size.rows()) - 1, usize::from(size.cols()) - 1);
        for saved in &mut self.saved {
            saved.row = saved.row.min(last_row);
            saved.waits &= saved.col == last_col;
            saved.col = saved.col.min(last_col);
        }
        let (row, col) = self.primary_cursor;
        self.primary_cursor = (row.min(last_row), col.min(last_col));
        let row = self.avt.cursor().row;
        if self.drawing.origin && !self.margins.contains(&row) {
            self.go(row, self.avt.cursor().col);
        }
        self.clean_prefixes();
    }

    /// Resets everything for another child. The last screen of the one before goes into the
    /// scrollback.
    pub(super) fn reset(&mut self) {
        self.execute(b"\x1b[", b"?1047", b'l');
        self.execute(b"\x1b[", b"", b'm');
        self.execute(b"\x1b[", b"2", b'J');
        self.avt = blank_screen(self.size);
        self.canvas.dirty.fill(true);
        self.reset_state();
        self.title = Arc::from("");
        self.title_stack.clear();
        self.progress = Progress::Cleared;
    }

    /// The current rows of the screen; those that were not drawn on since the last call are reused.
    pub(super) fn snapshot(&mut self, last: &[Arc<Row>]) -> Vec<Arc<Row>> {
        let canvas = &mut self.canvas;
        let lines = self.avt.screen().visible_lines();
        let rows = lines
            .zip(&canvas.dirty)
            .enumerate()
            .map(|(index, (line, dirty))| match last.get(index) {
                Some(row) if !dirty => Arc::clone(row),
                Some(_) | None => Arc::new(canvas.builder.build(line.cells(), &canvas.clusters)),
            })
            .collect();
        canvas.dirty.fill(false);
        rows
    }

    pub(super) fn draw(&mut self, function: Function) {
        self.avt.execute_with(function, &mut self.canvas);
    }

    pub(super) fn draw_all(&mut self, functions: impl Iterator<Item = Function>) {
        self.avt.execute_with(functions, &mut self.canvas);
    }

    /// Draws a complete sequence, parsed by avt's own parser.
    pub(super) fn execute(&mut self, opening: &[u8], body: &[u8], last: u8) {
        for byte in opening.iter().chain(body) {
            let incomplete = self.parser.feed(char::from(*byte));
            debug_assert_eq!(incomplete, None, "only a final byte completes a sequence");
        }
        if let Some(function) = self.parser.feed(char::from(last)) {
            self.draw(function);
        }
    }

    pub(super) fn forward(&mut self, csi: Csi<'_>) {
        self.execute(b"\x1b[", csi.body, csi.last);
    }

    /// A window operation. Only the title stack and the size report make sense without a window;
    /// in particular the program cannot resize the terminal.
    pub(super) fn window_operation(&mut self, csi: Csi<'_>) {
        match (csi.number(0), csi.number(1)) {
            (18, _) if csi.asks(18) => {
                let (rows, cols) = (self.size.rows(), self.size.cols());
                self.reply(format_args!("\x1b[8;{rows};{cols}t"));
            }
            (22, 0 | 2) => {
                if self.title_stack.len() == TITLE_STACK_LIMIT {
                    self.title_stack.remove(0);
                }
                self.title_stack.push(Arc::clone(&self.title));
            }
            (23, 0 | 2) => {
                if let Some(title) = self.title_stack.pop() {
                    self.set_title(title);
                }
            }
            _ => {}
        }
    }

    pub(super) fn set_title(&mut self, title: Arc<str>) {
        if title != self.title {
            self.fed.signals.push(Signal::Title(title.as_ref().to_owned()));
            self.title = title;
            self.canvas.changed = true;
        }
    }

    pub(super) fn set_progress(&mut self, progress: Progress) {
        if progress != self.progress {
            self.progress = progress;
            self.fed.signals.push(Signal::Progress(progress));
        }
    }
}

fn all_rows(size: Size) -> RangeInclusive<usize> {
    0..=usize::from(size.rows()) - 1
}

fn all_cols(size: Size) -> RangeInclusive<usize> {
    0..=usize::from(size.cols()) - 1
}

fn blank_screen(size: Size) -> avt::Terminal {
    avt::Terminal::new(usize::from(size.cols()), usize::from(size.rows()))
        .expect("a Size has at least one column and one row")
}
