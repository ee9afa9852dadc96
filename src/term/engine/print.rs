//! Text: which cell a character goes into, and what the cell holds then.
//! avt draws it; this decides about marks, joined emoji, insertion and wrapping.

use avt::parser::{Function, SgrOps};

use super::Engine;
use super::cells::{Direction, Glyph};
use crate::term::cluster::{Cluster, Clusters};
use crate::term::width::{JOINER, Width, is_emoji, is_skin_tone};

/// How many bytes of marks without a character before them are kept for the one that follows.
const PREFIX_LIMIT: usize = 16;

/// What the text so far means for the character that comes next.
#[derive(Debug, Default)]
pub(in crate::term) struct Text {
    /// The last character is left of the cursor: the cursor did not move since.
    pub(super) printed: bool,
    /// That character ends in a joiner, so an emoji that follows belongs to it.
    pub(super) joined: bool,
    /// The cursor stays on the last character, because it must not go further.
    pub(super) held: bool,
    /// Marks at the beginning of a line; they belong to the character that follows.
    pub(super) prefix: String,
}

impl Engine {
    /// The cursor moves by something else than text.
    pub(in crate::term) fn moved(&mut self) {
        self.text.printed = false;
        self.text.joined = false;
        self.text.held = false;
        if !self.text.prefix.is_empty() {
            self.text.prefix.clear();
        }
    }

    pub(in crate::term) fn prefix(&self) -> &str {
        &self.text.prefix
    }

    /// Draws text of narrow characters that stand for themselves.
    pub(in crate::term) fn print_plain(&mut self, text: &[u8]) {
        if self.is_plain() && self.stays_in_row(text.len()) {
            self.draw_all(text.iter().map(|byte| Function::Print(char::from(*byte))));
            self.text.printed |= !text.is_empty();
            self.text.joined &= text.is_empty();
        } else {
            for byte in text {
                self.print_char(char::from(*byte));
            }
        }
    }

    pub(in crate::term) fn print_text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(is_special).unwrap_or(rest.len());
            let (run, tail) = rest.split_at(end);
            self.print_run(run);
            let mut chars = tail.chars();
            if let Some(c) = chars.next() {
                self.print_char(c);
            }
            rest = chars.as_str();
        }
    }

    /// Draws characters that do not belong to others, except the first one after a joiner.
    fn print_run(&mut self, mut run: &str) {
        if self.text.joined
            && let Some(c) = run.chars().next()
        {
            self.print_char(c);
            run = run.get(c.len_utf8()..).unwrap_or_default();
        }
        if run.is_empty() {
            return;
        }
        let wide = || run.chars().any(|c| c >= '\u{1100}');
        let columns = || run.chars().map(|c| Width::of(c).columns()).sum();
        if self.is_plain() && (!wide() || self.fits(columns())) && self.stays_in_row(run.len()) {
            self.draw_all(run.chars().map(Function::Print));
            self.text.printed = true;
        } else {
            for c in run.chars() {
                self.print_char(c);
            }
        }
    }

    /// Whether avt alone does the right thing with characters that stand for themselves.
    fn is_plain(&self) -> bool {
        let drawing = &self.drawing;
        drawing.auto_wrap
            && !drawing.insert
            && !self.has_sides
            && !self.protect
            && self.text.prefix.is_empty()
    }

    fn fits(&self, columns: usize) -> bool {
        self.avt.cursor().col + columns <= usize::from(self.size.cols())
    }

    /// Whether no row appears that avt would fill with more than the background.
    fn stays_in_row(&self, columns: usize) -> bool {
        !self.rendition.shows_on_blanks() || self.fits(columns)
    }

    pub(super) fn print_char(&mut self, c: char) {
        let width = Width::of(c);
        let belongs = width == Width::Zero
            || is_skin_tone(c) && self.is_after_emoji()
            || self.text.joined && is_emoji(c);
        if belongs {
            if self.attach(c) {
                return;
            }
            if width == Width::Zero {
                if self.text.prefix.len() + c.len_utf8() <= PREFIX_LIMIT {
                    self.text.prefix.push(c);
                }
                return;
            }
        }
        self.text.joined = false;
        if self.text.prefix.is_empty() && !self.protect && !Clusters::reserves(c) {
            self.put(c, width);
            return;
        }
        let mut text = std::mem::take(&mut self.text.prefix);
        self.has_prefixes |= !text.is_empty();
        text.push(self.charsets.translate(c));
        let cluster = Cluster::new(&text, width, self.protect);
        let known = cluster.and_then(|cluster| self.intern(cluster));
        let unknown = if Clusters::reserves(c) { char::REPLACEMENT_CHARACTER } else { c };
        self.put(known.unwrap_or(unknown), width);
    }

    fn is_after_emoji(&self) -> bool {
        let left = self.text.printed.then(|| self.left_glyph()).flatten();
        left.is_some_and(|(_, glyph)| {
            self.text_of(&glyph).chars().next_back().is_some_and(is_emoji)
        })
    }

    /// Adds a character to the cell left of the cursor; `false` if there is none.
    fn attach(&mut self, c: char) -> bool {
        let Some((col, glyph)) = self.left_glyph() else { return false };
        let mut text = self.text_of(&glyph);
        text.push(c);
        let cluster = Cluster::new(&text, glyph.width(), self.is_protected(&glyph));
        if let Some(known) = cluster.and_then(|cluster| self.intern(cluster)) {
            let before = self.avt.cursor().col;
            let mut functions = vec![Function::Cha(number(col + 1))];
            let own = glyph.rendition == self.rendition;
            if !own {
                functions.push(Function::Sgr(glyph.rendition.ops()));
            }
            functions.push(Function::Print(known));
            if !own {
                functions.push(Function::Sgr(self.rendition.ops()));
            }
            self.draw_all(functions.into_iter());
            if self.avt.cursor().col != before {
                self.draw(Function::Cha(number(before + 1)));
            }
            self.text.joined = c == JOINER;
        }
        self.text.printed = true;
        true
    }

    /// The character before the cursor and its column.
    pub(super) fn left_glyph(&self) -> Option<(usize, Glyph)> {
        let cursor = self.avt.cursor();
        let col = if self.text.held { cursor.col } else { cursor.col.checked_sub(1)? };
        let cells = self.cells(cursor.row)?;
        let col = if cells.get(col)?.width() == 0 { col.checked_sub(1)? } else { col };
        Some((col, Glyph::from(cells.get(col)?)))
    }

    pub(in crate::term) fn text_of(&self, glyph: &Glyph) -> String {
        match self.canvas.clusters.get(glyph.c) {
            Some(cluster) => cluster.text.to_string(),
            None => glyph.c.to_string(),
        }
    }

    pub(super) fn is_protected(&self, glyph: &Glyph) -> bool {
        self.canvas.clusters.get(glyph.c).is_some_and(|cluster| cluster.protected)
    }

    /// The code point of a cluster, for which unused ones are given up if need be.
    pub(super) fn intern(&mut self, cluster: Cluster) -> Option<char> {
        let clusters = &mut self.canvas.clusters;
        if let Some(known) = clusters.intern(cluster.clone()) {
            return Some(known);
        }
        if !clusters.wants_search() {
            return None;
        }
        let lines = self.avt.screen().all_lines().chain(self.avt.primary_screen().all_lines());
        clusters.retain(lines.flat_map(avt::Line::cells).map(avt::Cell::char));
        clusters.intern(cluster)
    }

    /// Draws one character where the cursor is, or in the next row.
    pub(super) fn put(&mut self, c: char, width: Width) {
        let columns = width.columns();
        let end = self.row_end();
        let mut col = self.avt.cursor().col;
        let waits = self.text.held && self.drawing.auto_wrap;
        if waits || col + columns > end {
            if !self.drawing.auto_wrap {
                if columns > 1 {
                    return;
                }
            } else if self.row_start() + columns <= end {
                if !waits && col < end {
                    self.draw(Function::Ech(1));
                }
                self.wrap();
                col = self.avt.cursor().col;
            }
        }
        if self.drawing.insert && self.has_sides {
            self.shift_characters(Direction::Right, number(columns));
        } else if self.drawing.insert {
            self.draw(Function::Ich(number(columns)));
            self.clean_prefixes();
        }
        self.draw(Function::Print(c));
        self.text.printed = true;
        self.text.held = false;
        let cols = usize::from(self.size.cols());
        if col + columns >= end && (end < cols || !self.drawing.auto_wrap) {
            // The cursor stays within the margin, and the next character is the one that wraps.
            self.draw(Function::Cha(number(end)));
            self.text.held = true;
        }
    }

    /// Goes to the next row as text does: the two rows are then one line.
    fn wrap(&mut self) {
        let cursor = self.avt.cursor();
        self.text.held = false;
        if self.has_sides {
            self.index();
            self.draw(Function::Cha(number(self.row_start() + 1)));
            return;
        }
        let scrolls = cursor.row == *self.margins.end();
        let row = (cursor.row + 1).min(usize::from(self.size.rows()) - 1);
        let first = self.cells(row).and_then(|cells| cells.first()).map(Glyph::from);
        // Whatever avt prints makes it wrap; what was there comes back.
        self.wait_to_wrap();
        self.erase(Function::Print(' '));
        self.draw(Function::Cr);
        if let Some(first) = first
            && !scrolls
        {
            self.repaint(row, 0, &[first]);
        }
    }

    /// Repeats the last character (REP), if the cursor is still behind it. A repetition beyond one
    /// row is not intended, and would be unbounded work.
    pub(in crate::term) fn repeat(&mut self, count: u16) {
        if self.text.printed
            && let Some((_, glyph)) = self.left_glyph()
        {
            self.text.joined = false;
            for _ in 0..count.clamp(1, self.size.cols()) {
                self.put(glyph.c, glyph.width());
            }
        }
    }

    pub(in crate::term) fn set_rendition(&mut self, ops: SgrOps) {
        self.rendition.apply(&ops);
        self.draw(Function::Sgr(ops));
    }

    /// Protects what is drawn from now on from selective erasing (DECSCA), or no longer.
    pub(in crate::term) fn set_protection(&mut self, number: u16) {
        match number {
            1 => self.protect = true,
            0 | 2 => self.protect = false,
            _ => {}
        }
    }

    /// Makes the next character wrap, wherever in its row the cursor is.
    pub(super) fn wait_to_wrap(&mut self) {
        let cols = usize::from(self.size.cols());
        let row = self.avt.cursor().row;
        let Some(cells) = self.cells(row) else { return };
        let tail = cells.get(cols - 1).is_some_and(|cell| cell.width() == 0);
        let col = if tail { cols.saturating_sub(2) } else { cols - 1 };
        let Some(glyph) = cells.get(col).map(Glyph::from) else { return };
        self.repaint_here(col, glyph);
    }
}

/// Whether the character is not simply drawn in a cell of its own.
fn is_special(c: char) -> bool {
    c >= '\u{300}' && (Width::of(c) == Width::Zero || is_skin_tone(c) || Clusters::reserves(c))
}

/// A column or row for avt, which counts from 1.
pub(super) fn number(position: usize) -> u16 {
    u16::try_from(position).unwrap_or(u16::MAX)
}
