//! The state as a stream: bytes that make a fresh terminal look and behave like this one.
//! It does not know which readers want them.

use std::fmt::Write as _;

use avt::{Cell, Line, Screen, ScreenKind};

use super::Engine;
use super::cells::Glyph;
use super::saved::Saved;
use crate::term::rendition::Rendition;
use crate::term::width::{JOINER, Width, is_emoji, is_skin_tone};

impl Engine {
    /// Everything but input modes and title. The colours that a program set are left out: a reader
    /// has its own.
    pub(in crate::term) fn screen_dump(&self) -> String {
        let mut out = String::new();
        let alternate = self.avt.active_screen_kind() == ScreenKind::Alternate;
        let [primary_saved, alternate_saved] = &self.saved;
        self.dump_saved_modes(&mut out);
        self.dump_rows(self.avt.primary_screen(), &mut out);
        self.dump_tabs(&mut out);
        self.dump_saved(primary_saved, self.avt.primary_screen(), &mut out);
        if alternate {
            let (row, col) = self.primary_cursor;
            put(&mut out, format_args!("\x1b[{};{}H", row + 1, col + 1));
        }
        if alternate || *alternate_saved != Saved::default() {
            out.push_str("\x1b[?1047h");
        }
        if alternate {
            out.push_str("\x1b[H");
            self.dump_rows(self.avt.screen(), &mut out);
        }
        if *alternate_saved != Saved::default() {
            self.dump_saved(alternate_saved, self.avt.screen(), &mut out);
            if !alternate {
                out.push_str("\x1b[?1047l");
            }
        }
        self.dump_margins(&mut out);
        self.dump_cursor(&mut out);
        self.dump_drawing(&mut out);
        out
    }

    fn dump_saved_modes(&self, out: &mut String) {
        for (mode, on) in &self.saved_modes {
            let fresh = matches!(mode, 7 | 25);
            let value = |on: bool| if on { 'h' } else { 'l' };
            put(out, format_args!("\x1b[?{mode}{}\x1b[?{mode}s", value(*on)));
            put(out, format_args!("\x1b[?{mode}{}", value(fresh)));
        }
    }

    fn dump_rows(&self, screen: Screen<'_>, out: &mut String) {
        let lines: Vec<&Line> = screen.visible_lines().collect();
        let mut rendition = Rendition::default();
        let mut protect = false;
        let mut wrapped = false;
        let used = lines
            .iter()
            .enumerate()
            .rposition(|(row, line)| {
                let after = row.checked_sub(1).and_then(|row| lines.get(row));
                after.is_some_and(|line| line.is_wrapped())
                    || line.is_wrapped()
                    || used_len(line.cells()) > 0
            })
            .map_or(0, |last| last + 1);
        for (row, line) in lines.iter().take(used).enumerate() {
            let cells = line.cells();
            let len = if line.is_wrapped() { cells.len() } else { used_len(cells) };
            let cells = cells.get(..len.max(usize::from(wrapped))).unwrap_or_default();
            if wrapped && cells.first().is_some_and(|cell| self.belongs_to_another(cell.char())) {
                out.push_str(" \r");
            }
            let mut last = None;
            for cell in cells.iter().filter(|cell| cell.width() > 0) {
                let glyph = Glyph::from(cell);
                if glyph.rendition != rendition {
                    glyph.rendition.write(out);
                    rendition = glyph.rendition;
                }
                if self.is_protected(&glyph) != protect {
                    protect = !protect;
                    out.push_str(if protect { "\x1b[1\"q" } else { "\x1b[\"q" });
                }
                let text = self.text_of(&glyph);
                if last.is_some_and(|last| joins(last, &text)) {
                    // The cursor moves and comes back, so that the two are not taken for one.
                    out.push_str("\x08\x1b[C");
                }
                out.push_str(&text);
                last = text.chars().next_back();
            }
            wrapped = line.is_wrapped();
            if row + 1 < lines.len() && !wrapped {
                out.push_str("\r\n");
            }
        }
        if protect {
            out.push_str("\x1b[\"q");
        }
        out.push_str("\x1b[m");
    }

    /// Whether a character at the beginning of a row would be taken for a part of the row before.
    fn belongs_to_another(&self, c: char) -> bool {
        let first = match self.canvas.clusters.get(c) {
            Some(cluster) => cluster.text.chars().next(),
            None => Some(c),
        };
        first.is_some_and(|c| Width::of(c) == Width::Zero || is_skin_tone(c) || is_emoji(c))
    }

    fn dump_tabs(&self, out: &mut String) {
        if self.tabs.is_default() {
            return;
        }
        out.push_str("\x1b[3g");
        for col in self.tabs.stops() {
            put(out, format_args!("\x1b[{}G\x1bH", col + 1));
        }
    }

    /// Saves a cursor again; the margins are not set yet.
    fn dump_saved(&self, saved: &Saved, screen: Screen<'_>, out: &mut String) {
        if *saved == Saved::default() {
            return;
        }
        if saved.origin {
            out.push_str("\x1b[?6h");
        }
        put(out, format_args!("\x1b[{};{}H", saved.row + 1, saved.col + 1));
        let cells = screen.line(saved.row).map(Line::cells).unwrap_or_default();
        if saved.waits
            && let Some((col, glyph)) = last_glyph(cells)
        {
            self.dump_glyph(col, &glyph, out);
        }
        saved.rendition.write(out);
        saved.charsets.write(out);
        if saved.protect {
            out.push_str("\x1b[1\"q");
        }
        out.push_str("\x1b7\x1b[\"q\x1b(B\x1b)B\x0f\x1b[m");
        if saved.origin {
            out.push_str("\x1b[?6l");
        }
    }

    /// Draws a glyph of the cursor's row again; the cursor is behind it then.
    fn dump_glyph(&self, col: usize, glyph: &Glyph, out: &mut String) {
        put(out, format_args!("\x1b[{}G", col + 1));
        glyph.rendition.write(out);
        let protected = self.is_protected(glyph);
        if protected {
            out.push_str("\x1b[1\"q");
        }
        out.push_str(&self.text_of(glyph));
        if protected {
            out.push_str("\x1b[\"q");
        }
    }

    fn dump_margins(&self, out: &mut String) {
        if self.margins != super::all_rows(self.size) {
            let (top, bottom) = (self.margins.start() + 1, self.margins.end() + 1);
            put(out, format_args!("\x1b[{top};{bottom}r"));
        }
        if self.drawing.sides {
            out.push_str("\x1b[?69h");
        }
        if self.has_sides {
            let (left, right) = (self.sides.start() + 1, self.sides.end() + 1);
            put(out, format_args!("\x1b[{left};{right}s"));
        }
        if self.drawing.origin {
            out.push_str("\x1b[?6h");
        }
    }

    fn dump_cursor(&self, out: &mut String) {
        let cursor = self.avt.cursor();
        let (mut row, mut col) = (cursor.row, cursor.col);
        if self.drawing.origin {
            row -= (*self.margins.start()).min(row);
            col -= self.row_start().min(col);
        }
        put(out, format_args!("\x1b[{};{}H", row + 1, col + 1));
        if !self.drawing.auto_wrap {
            out.push_str("\x1b[?7l");
        }
        let waits = cursor.col == usize::from(self.size.cols());
        if (waits || self.text.printed)
            && let Some((col, glyph)) = self.left_glyph()
        {
            let col = if self.drawing.origin { col - self.row_start().min(col) } else { col };
            self.dump_glyph(col, &glyph, out);
            if !self.text.printed {
                // Here a tab moves nothing, but what comes next is not about this character.
                out.push('\t');
            }
        }
        self.rendition.write(out);
    }

    /// The rest of the modes, none of which moves the cursor.
    fn dump_drawing(&self, out: &mut String) {
        self.charsets.write(out);
        let drawing = &self.drawing;
        let modes = [
            (drawing.insert, "\x1b[4h"),
            (drawing.new_line, "\x1b[20h"),
            (drawing.reverse_wrap, "\x1b[?45h"),
            (self.protect, "\x1b[1\"q"),
            (self.modes.application_cursor, "\x1b[?1h"),
            (!self.modes.cursor_visible, "\x1b[?25l"),
        ];
        for (set, sequence) in modes {
            if set {
                out.push_str(sequence);
            }
        }
    }
}

/// The number of cells up to the last one that differs from those of a fresh terminal.
fn used_len(cells: &[Cell]) -> usize {
    let fresh = |cell: &Cell| cell.char() == ' ' && cell.width() == 1 && cell.pen().is_default();
    cells.iter().rposition(|cell| !fresh(cell)).map_or(0, |last| last + 1)
}

fn last_glyph(cells: &[Cell]) -> Option<(usize, Glyph)> {
    let last = cells.len().checked_sub(1)?;
    let col = if cells.get(last)?.width() == 0 { last.checked_sub(1)? } else { last };
    Some((col, Glyph::from(cells.get(col)?)))
}

/// Whether a character would be taken for a part of the one before, which ends in `last`.
fn joins(last: char, text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| {
        last == JOINER && is_emoji(first) || is_skin_tone(first) && is_emoji(last)
    })
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    // Writing into a String cannot fail.
    debug_assert!(written.is_ok());
}
