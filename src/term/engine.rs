//! Gives the tap's sequences their meaning: drawing goes to avt, queries get their reply, modes and
//! OSC strings are recorded, and lines that leave the screen are put into the scrollback.
//! It knows no bytes before the tap has cut them, and nobody who looks at the result.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use avt::parser::Function;
use avt::{Observation, Observer};

use super::modes::Modes;
use super::osc::Osc;
use super::row::{Row, RowBuilder};
use super::scrollback::Scrollback;
use super::sequence::Csi;
use super::sgr;
use super::size::Size;
use super::tap::{Sink, Terminator};
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
    /// The first row of the scrolling region, counted from 0.
    top_margin: usize,
    pub(super) title: Arc<str>,
    title_stack: Vec<Arc<str>>,
    pub(super) progress: Progress,
    size: Size,
    version: Arc<str>,
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
            top_margin: 0,
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
            self.top_margin = 0;
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
        self.top_margin = 0;
        self.title = Arc::from("");
        self.title_stack.clear();
        self.progress = Progress::Cleared;
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

    fn draw(&mut self, function: Function) {
        self.avt.execute_with(function, &mut self.canvas);
    }

    /// Lets avt's own parser name the operation of a complete sequence, and draws it.
    fn execute(&mut self, opening: &[u8], body: &[u8], last: u8) {
        for byte in opening.iter().chain(body) {
            let incomplete = self.parser.feed(char::from(*byte));
            debug_assert_eq!(incomplete, None, "only a final byte completes a sequence");
        }
        if let Some(function) = self.parser.feed(char::from(last)) {
            self.draw(function);
        }
    }

    fn forward(&mut self, csi: Csi<'_>) {
        self.execute(b"\x1b[", csi.body, csi.last);
    }

    fn reply(&mut self, reply: std::fmt::Arguments<'_>) {
        let mut text = String::new();
        let written = text.write_fmt(reply);
        // Writing into a String cannot fail.
        debug_assert!(written.is_ok());
        self.fed.replies.extend_from_slice(text.as_bytes());
    }

    fn device_attributes(&mut self) {
        // A VT220 with colours.
        self.reply(format_args!("\x1b[?62;22c"));
    }

    /// Row and column as the program counts them: from 1, and from the margin in origin mode.
    fn reported_cursor(&self) -> (usize, usize) {
        let cursor = self.avt.cursor();
        let top = if self.drawing.origin { self.top_margin } else { 0 };
        (cursor.row.saturating_sub(top) + 1, (cursor.col + 1).min(usize::from(self.size.cols())))
    }

    fn saved_drawing(&mut self) -> &mut Drawing {
        let [primary, alternate] = &mut self.saved;
        if self.modes.alt_screen { alternate } else { primary }
    }

    fn save_cursor(&mut self) {
        *self.saved_drawing() = self.drawing;
    }

    fn restore_cursor(&mut self) {
        let saved = *self.saved_drawing();
        self.drawing.origin = saved.origin;
        self.drawing.auto_wrap = saved.auto_wrap;
    }

    fn set_modes(&mut self, csi: Csi<'_>, on: bool) {
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

    fn set_ansi_modes(&mut self, csi: Csi<'_>, on: bool) {
        for mode in csi.numbers() {
            match mode {
                4 => self.drawing.insert = on,
                20 => self.drawing.new_line = on,
                _ => {}
            }
        }
        self.forward(csi);
    }

    fn report_mode(&mut self, private: bool, mode: u16) {
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

    fn set_margins(&mut self, csi: Csi<'_>) {
        let rows = usize::from(self.size.rows());
        let top = usize::from(csi.number(0)).max(1) - 1;
        let bottom = match usize::from(csi.number(1)) {
            0 => rows,
            bottom => bottom,
        };
        // The same rule as avt's: an impossible region changes nothing.
        if top + 1 < bottom && bottom <= rows {
            self.top_margin = top;
        }
        self.forward(csi);
    }

    /// A window operation. Only the title stack and the size report mean something without a
    /// window; above all the program cannot resize the terminal.
    fn window_operation(&mut self, csi: Csi<'_>) {
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

    fn set_title(&mut self, title: Arc<str>) {
        if title != self.title {
            self.fed.signals.push(Signal::Title(title.as_ref().to_owned()));
            self.title = title;
            self.canvas.changed = true;
        }
    }

    fn soft_reset(&mut self, csi: Csi<'_>) {
        let before = self.modes;
        self.drawing.origin = false;
        self.drawing.insert = false;
        *self.saved_drawing() = Drawing::default();
        self.top_margin = 0;
        self.modes.cursor_visible = true;
        self.modes.application_cursor = false;
        self.modes.application_keypad = false;
        self.forward(csi);
        self.execute(b"\x1b[", b"?1", b'l');
        self.report_modes(before);
    }

    fn hard_reset(&mut self) {
        let before = self.modes;
        self.modes = Modes::default();
        self.drawing = Drawing::default();
        self.saved = [Drawing::default(); 2];
        self.top_margin = 0;
        self.canvas.scrollback.clear();
        self.draw(Function::Ris);
        self.report_modes(before);
    }

    fn reverse_index(&mut self) {
        // avt adds the margin once too often in origin mode; moving up is the same operation
        // everywhere but on the margin itself.
        let on_margin = self.avt.cursor().row == self.top_margin;
        self.draw(if self.drawing.origin && !on_margin { Function::Cuu(1) } else { Function::Ri });
    }
}

impl Sink for Engine {
    fn print_ascii(&mut self, text: &[u8]) {
        self.avt.execute_with(text.iter().map(|byte| Function::Print(char::from(*byte))), &mut self.canvas);
    }

    fn print(&mut self, text: &str) {
        // Joiners, selectors and other format characters take a cell of their own in avt, which
        // would shift everything to the right of an emoji; marks that carry text are kept.
        let draws = |c: &char| !is_format(*c);
        self.avt.execute_with(text.chars().filter(draws).map(Function::Print), &mut self.canvas);
    }

    fn control(&mut self, byte: u8) {
        match byte {
            0x08 => self.draw(Function::Bs),
            b'\t' => self.draw(Function::Ht),
            b'\n' | 0x0b | 0x0c => self.draw(Function::Lf),
            b'\r' => self.draw(Function::Cr),
            0x0e => self.draw(Function::So),
            0x0f => self.draw(Function::Si),
            _ => {}
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        match (intermediates, last) {
            ([], b'=' | b'>') => {
                let before = self.modes;
                self.modes.application_keypad = last == b'=';
                self.report_modes(before);
            }
            ([], b'Z') => self.device_attributes(),
            ([], b'c') => self.hard_reset(),
            ([], b'M') => self.reverse_index(),
            ([], b'7') => {
                self.save_cursor();
                self.draw(Function::Decsc);
            }
            ([], b'8') => {
                self.restore_cursor();
                self.draw(Function::Decrc);
            }
            ([], b'D') => self.draw(Function::Lf),
            ([], b'E') => self.draw(Function::Nel),
            ([], b'H') => self.draw(Function::Hts),
            ([b'#' | b'(' | b')'], _) => {
                self.execute(b"\x1b", intermediates, last);
            }
            _ => {}
        }
    }

    fn csi(&mut self, csi: Csi<'_>) {
        match (csi.prefix, csi.intermediates, csi.last) {
            (None, [], b'm') => self.draw(Function::Sgr(sgr::parse(csi.params))),
            (None, [], b'c') if csi.number(0) == 0 => self.device_attributes(),
            (Some(b'>'), [], b'c') if csi.number(0) == 0 => self.reply(format_args!("\x1b[>0;10;0c")),
            (None, [], b'n') if csi.number(0) == 5 => self.reply(format_args!("\x1b[0n")),
            (None, [], b'n') if csi.number(0) == 6 => {
                let (row, col) = self.reported_cursor();
                self.reply(format_args!("\x1b[{row};{col}R"));
            }
            (Some(b'?'), [], b'n') if csi.number(0) == 6 => {
                let (row, col) = self.reported_cursor();
                self.reply(format_args!("\x1b[?{row};{col}R"));
            }
            (Some(b'?'), [b'$'], b'p') => self.report_mode(true, csi.number(0)),
            (None, [b'$'], b'p') => self.report_mode(false, csi.number(0)),
            (Some(b'>'), [], b'q') if csi.number(0) == 0 => {
                let version = Arc::clone(&self.version);
                self.reply(format_args!("\x1bP>|coop {version}\x1b\\"));
            }
            (Some(b'?'), [], b'u') => self.reply(format_args!("\x1b[?0u")),
            (Some(b'?'), [], b'h') => self.set_modes(csi, true),
            (Some(b'?'), [], b'l') => self.set_modes(csi, false),
            (None, [b'!'], b'p') => self.soft_reset(csi),
            (None, [], b'h') => self.set_ansi_modes(csi, true),
            (None, [], b'l') => self.set_ansi_modes(csi, false),
            (None, [], b'r') => self.set_margins(csi),
            (None, [], b't') => self.window_operation(csi),
            (None, [], b'J') if csi.number(0) == 3 => self.canvas.scrollback.clear(),
            (None, [], b's') if csi.params.is_empty() => {
                self.save_cursor();
                self.draw(Function::Scosc);
            }
            (None, [], b'u') if csi.params.is_empty() => {
                self.restore_cursor();
                self.draw(Function::Scorc);
            }
            (None, [], b's' | b'u') => {}
            // A repetition beyond one row is never meant, and would be work without bound.
            (None, [], b'b') => self.draw(Function::Rep(csi.number(0).clamp(1, self.size.cols()))),
            (None, [], _) => self.forward(csi),
            _ => {}
        }
    }

    fn osc(&mut self, payload: &[u8], end: Terminator) {
        match Osc::parse(payload) {
            Some(Osc::Title(title)) => self.set_title(Arc::from(title)),
            Some(Osc::Progress(progress)) => {
                if progress != self.progress {
                    self.progress = progress;
                    self.fed.signals.push(Signal::Progress(progress));
                }
            }
            Some(Osc::Notification(notification)) => self.fed.signals.push(Signal::Notification(notification)),
            Some(Osc::ProgramStatus(status)) => self.fed.signals.push(Signal::ProgramStatus(status)),
            Some(Osc::ColorQuery(colors)) => {
                let end = match end {
                    Terminator::Bell => "\x07",
                    Terminator::StringTerminator => "\x1b\\",
                };
                for color in colors {
                    self.reply(format_args!("\x1b]{}{end}", color.reply()));
                }
            }
            None => {}
        }
    }

    fn dcs(&mut self, payload: &[u8]) {
        // Requests for settings and capabilities get the reply for one that is not known, so that
        // no program waits for it; nothing of the request is repeated.
        if payload.starts_with(b"$q") {
            self.reply(format_args!("\x1bP0$r\x1b\\"));
        } else if payload.starts_with(b"+q") {
            self.reply(format_args!("\x1bP0+r\x1b\\"));
        }
    }
}

fn blank_screen(size: Size) -> avt::Terminal {
    avt::Terminal::new(usize::from(size.cols()), usize::from(size.rows()))
        .expect("a Size has at least one column and one row")
}

/// Characters without width that carry no text of their own.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}
