//! The state behind the terminal and the operations on it: drawing goes to avt, queries get their
//! reply, modes and titles are recorded, and lines that leave the screen go into the scrollback.
//! It knows neither the bytes before the tap has cut them nor anybody who looks at the result.

use std::fmt::Write;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use avt::parser::Function;
use avt::{Observation, Observer};

use super::modes::Modes;
use super::row::{Row, RowBuilder};
use super::scrollback::Scrollback;
use super::sequence::Csi;
use super::size::Size;
use super::terminal::{Fed, Progress, Signal};

/// How many titles a program can save (`CSI 22 t`); the oldest is dropped beyond that.
const TITLE_STACK_LIMIT: usize = 16;

/// The meaning of the stream so far.
pub(super) struct Engine {
    avt: avt::Terminal,
    /// Turns complete sequences into avt's operations; it never holds a partial one.
    parser: avt::Parser,
    canvas: Canvas,
    pub(super) modes: Modes,
    drawing: Drawing,
    /// What DECSC keeps of `drawing`, for the primary and for the alternate screen.
    saved: [Drawing; 2],
    /// The rows of the scrolling region, counted from 0.
    margins: RangeInclusive<usize>,
    pub(super) title: Arc<str>,
    title_stack: Vec<Arc<str>>,
    pub(super) progress: Progress,
    size: Size,
    version: Arc<str>,
    /// The last character was a joiner: a picture that follows belongs to the one before.
    pub(super) joined: bool,
    pub(super) fed: Fed,
}

/// Modes of drawing that avt keeps to itself but programs can ask for, followed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Drawing {
    origin: bool,
    auto_wrap: bool,
    insert: bool,
    new_line: bool,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { origin: false, auto_wrap: true, insert: false, new_line: false }
    }
}

/// What drawing leaves behind besides avt's own state.
struct Canvas {
    scrollback: Scrollback,
    builder: RowBuilder,
    /// One flag for each row: whether it may differ from the last snapshot.
    dirty: Vec<bool>,
    changed: bool,
}

impl Observer for &mut Canvas {
    type Output = ();

    fn resized(&mut self, _cols: usize, rows: usize) {
        self.dirty.clear();
        self.dirty.resize(rows, true);
        self.changed = true;
    }

    fn dirty(&mut self, rows: Range<usize>) {
        self.changed = true;
        // Nearly every call is about the one row that is printed on.
        if rows.len() == 1 {
            if let Some(row) = self.dirty.get_mut(rows.start) {
                *row = true;
            }
        } else if let Some(rows) = self.dirty.get_mut(rows) {
            rows.fill(true);
        }
    }

    fn evicted(&mut self, _: &mut Observation<'_>, line: &avt::Line) {
        let row = self.builder.build(line.cells());
        self.scrollback.push(row);
    }

    fn end(&mut self, _: &mut Observation<'_>) {}
}

impl Engine {
    pub(super) fn new(size: Size, scrollback: Scrollback, version: Arc<str>) -> Self {
        Self {
            avt: blank_screen(size),
            parser: avt::Parser::new(),
            canvas: Canvas {
                scrollback,
                builder: RowBuilder::default(),
                dirty: vec![true; usize::from(size.rows())],
                changed: false,
            },
            modes: Modes::default(),
            drawing: Drawing::default(),
            saved: [Drawing::default(); 2],
            margins: all_rows(size),
            title: Arc::from(""),
            title_stack: Vec::new(),
            progress: Progress::Cleared,
            size,
            version,
            joined: false,
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

    pub(super) fn screen_dump(&self) -> String {
        self.avt.dump()
    }

    /// Whether anything was drawn since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.canvas.changed)
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.avt.resize_with(usize::from(size.cols()), usize::from(size.rows()), &mut self.canvas);
        if size.rows() != self.size.rows() {
            self.margins = all_rows(size);
        }
        self.size = size;
    }

    /// Starts over for another child. The last screen of the one before goes into the scrollback.
    pub(super) fn reset(&mut self) {
        self.execute(b"\x1b[", b"?1047", b'l');
        self.execute(b"\x1b[", b"", b'm');
        self.execute(b"\x1b[", b"2", b'J');
        self.avt = blank_screen(self.size);
        self.canvas.dirty.fill(true);
        self.modes = Modes::default();
        self.drawing = Drawing::default();
        self.saved = [Drawing::default(); 2];
        self.margins = all_rows(self.size);
        self.title = Arc::from("");
        self.title_stack.clear();
        self.progress = Progress::Cleared;
        self.joined = false;
    }

    /// The rows of the screen now; those that were not drawn on since the last call are taken over.
    pub(super) fn snapshot(&mut self, last: &[Arc<Row>]) -> Vec<Arc<Row>> {
        let canvas = &mut self.canvas;
        let lines = self.avt.screen().visible_lines();
        let rows = lines
            .zip(&canvas.dirty)
            .enumerate()
            .map(|(index, (line, dirty))| match last.get(index) {
                Some(row) if !dirty => Arc::clone(row),
                Some(_) | None => Arc::new(canvas.builder.build(line.cells())),
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

    /// Lets avt's own parser name the operation of a complete sequence, and draws it.
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

    pub(super) fn reply(&mut self, reply: std::fmt::Arguments<'_>) {
        let mut text = String::new();
        let written = text.write_fmt(reply);
        // Writing into a String cannot fail.
        debug_assert!(written.is_ok());
        self.fed.replies.extend_from_slice(text.as_bytes());
    }

    pub(super) fn device_attributes(&mut self) {
        // A VT220 with colours.
        self.reply(format_args!("\x1b[?62;22c"));
    }

    pub(super) fn report_version(&mut self) {
        let version = Arc::clone(&self.version);
        self.reply(format_args!("\x1bP>|coop {version}\x1b\\"));
    }

    /// Row and column as the program counts them: from 1, and from the margin in origin mode.
    pub(super) fn reported_cursor(&self) -> (usize, usize) {
        let cursor = self.avt.cursor();
        let top = if self.drawing.origin { *self.margins.start() } else { 0 };
        (cursor.row.saturating_sub(top) + 1, (cursor.col + 1).min(usize::from(self.size.cols())))
    }

    fn saved_drawing(&mut self) -> &mut Drawing {
        let [primary, alternate] = &mut self.saved;
        if self.modes.alt_screen { alternate } else { primary }
    }

    pub(super) fn save_cursor(&mut self) {
        *self.saved_drawing() = self.drawing;
    }

    pub(super) fn restore_cursor(&mut self) {
        let saved = *self.saved_drawing();
        self.drawing.origin = saved.origin;
        self.drawing.auto_wrap = saved.auto_wrap;
    }

    pub(super) fn set_modes(&mut self, csi: Csi<'_>, on: bool) {
        let before = self.modes;
        for mode in csi.numbers() {
            match (mode, on) {
                (6, _) => self.drawing.origin = on,
                (7, _) => self.drawing.auto_wrap = on,
                (1048 | 1049, true) => self.save_cursor(),
                (1048, false) => self.restore_cursor(),
                _ => {}
            }
            self.modes.set(mode, on);
            if (mode, on) == (1049, false) {
                self.restore_cursor();
            }
        }
        self.forward(csi);
        self.report_modes(before);
    }

    fn report_modes(&mut self, before: Modes) {
        if self.modes != before {
            self.canvas.changed = true;
            self.fed.signals.push(Signal::Modes(self.modes));
        }
    }

    pub(super) fn set_application_keypad(&mut self, on: bool) {
        let before = self.modes;
        self.modes.application_keypad = on;
        self.report_modes(before);
    }

    pub(super) fn set_ansi_modes(&mut self, csi: Csi<'_>, on: bool) {
        for mode in csi.numbers() {
            match mode {
                4 => self.drawing.insert = on,
                20 => self.drawing.new_line = on,
                _ => {}
            }
        }
        self.forward(csi);
    }

    pub(super) fn report_mode(&mut self, private: bool, mode: u16) {
        let on = match (private, mode) {
            (true, 6) => Some(self.drawing.origin),
            (true, 7) => Some(self.drawing.auto_wrap),
            (true, mode) => self.modes.get(mode),
            (false, 4) => Some(self.drawing.insert),
            (false, 20) => Some(self.drawing.new_line),
            (false, _) => None,
        };
        let prefix = if private { "?" } else { "" };
        let value = match on {
            Some(true) => 1,
            Some(false) => 2,
            None => 0,
        };
        self.reply(format_args!("\x1b[{prefix}{mode};{value}$y"));
    }

    /// Sets the scrolling region. As on real terminals a bottom below the screen means its last
    /// row, and an impossible region changes nothing, not even the cursor.
    pub(super) fn set_margins(&mut self, top: u16, bottom: u16) {
        let rows = self.size.rows();
        let top = top.max(1);
        let bottom = if bottom == 0 { rows } else { bottom.min(rows) };
        if top < bottom {
            self.margins = usize::from(top) - 1..=usize::from(bottom) - 1;
            self.draw(Function::Decstbm(top, bottom));
        }
    }

    /// Inserts or deletes lines, which has no effect outside of the scrolling region.
    pub(super) fn draw_in_region(&mut self, function: Function) {
        if self.margins.contains(&self.avt.cursor().row) {
            self.draw(function);
        }
    }

    /// A window operation. Only the title stack and the size report mean something without a
    /// window; above all the program cannot resize the terminal.
    pub(super) fn window_operation(&mut self, csi: Csi<'_>) {
        match (csi.number(0), csi.number(1)) {
            (18, _) => {
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

    pub(super) fn soft_reset(&mut self, csi: Csi<'_>) {
        let before = self.modes;
        self.drawing.origin = false;
        self.drawing.insert = false;
        *self.saved_drawing() = Drawing::default();
        self.margins = all_rows(self.size);
        self.modes.cursor_visible = true;
        self.modes.application_cursor = false;
        self.modes.application_keypad = false;
        self.forward(csi);
        self.execute(b"\x1b[", b"?1", b'l');
        self.report_modes(before);
    }

    pub(super) fn hard_reset(&mut self) {
        let before = self.modes;
        self.modes = Modes::default();
        self.drawing = Drawing::default();
        self.saved = [Drawing::default(); 2];
        self.margins = all_rows(self.size);
        self.canvas.scrollback.clear();
        self.draw(Function::Ris);
        self.report_modes(before);
    }

    pub(super) fn reverse_index(&mut self) {
        // avt adds the margin once too often in origin mode; moving up is the same operation
        // everywhere but on the margin itself.
        let on_margin = self.avt.cursor().row == *self.margins.start();
        self.draw(if self.drawing.origin && !on_margin { Function::Cuu(1) } else { Function::Ri });
    }
}

fn all_rows(size: Size) -> RangeInclusive<usize> {
    0..=usize::from(size.rows()) - 1
}

fn blank_screen(size: Size) -> avt::Terminal {
    avt::Terminal::new(usize::from(size.cols()), usize::from(size.rows()))
        .expect("a Size has at least one column and one row")
}
