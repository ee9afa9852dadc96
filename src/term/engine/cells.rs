//! Operations that avt does not have, made of its own: cells are read, moved and drawn again.
//! Cursor, attributes and modes are afterwards as before.

use std::ops::Range;

use avt::parser::{DecMode, DecModes, Function};
use avt::{Cell, Charset, Line};

use super::Engine;
use super::print::number;
use crate::term::cluster::Cluster;
use crate::term::rendition::Rendition;
use crate::term::width::Width;

/// What one cell shows; a wide one shows it in the next cell, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::term) struct Glyph {
    pub(super) c: char,
    wide: bool,
    pub(super) rendition: Rendition,
}

impl From<&Cell> for Glyph {
    fn from(cell: &Cell) -> Self {
        Self { c: cell.char(), wide: cell.width() == 2, rendition: Rendition::from(cell.pen()) }
    }
}

impl Glyph {
    fn blank(rendition: Rendition) -> Self {
        Self { c: ' ', wide: false, rendition }
    }

    pub(super) fn width(&self) -> Width {
        if self.wide { Width::Wide } else { Width::Narrow }
    }
}

/// In which direction the cells of a rectangle move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::term) enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Engine {
    pub(in crate::term) fn cells(&self, row: usize) -> Option<&[Cell]> {
        self.avt.screen().line(row).map(Line::cells)
    }

    /// The glyphs of some columns, one for each column; half of a wide character is a blank.
    fn glyphs(&self, row: usize, cols: &Range<usize>) -> Vec<Option<Glyph>> {
        let cells = self.cells(row).and_then(|cells| cells.get(cols.clone())).unwrap_or_default();
        let last = cells.len().saturating_sub(1);
        let mut glyphs = Vec::with_capacity(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            let cut = cell.width() == 0 && index == 0 || cell.width() == 2 && index == last;
            let glyph = Glyph::from(cell);
            glyphs.push(match cell.width() {
                _ if cut => Some(Glyph::blank(self.rendition.erased())),
                0 => None,
                _ => Some(glyph),
            });
        }
        glyphs
    }

    /// Draws glyphs side by side, from a column on.
    pub(super) fn repaint(&mut self, row: usize, col: usize, glyphs: &[Glyph]) {
        let cursor = self.avt.cursor();
        let waits = cursor.col == usize::from(self.size.cols());
        let drawing = self.charsets.active() == Charset::Drawing;
        let origin = DecModes::from(&[DecMode::Origin][..]);
        let mut functions = Vec::with_capacity(2 * glyphs.len() + 8);
        if self.drawing.origin {
            functions.push(Function::Decrst(origin.clone()));
        }
        if drawing {
            functions.extend([Function::Gzd4(Charset::Ascii), Function::Si]);
        }
        functions.push(Function::Cup(number(row + 1), number(col + 1)));
        let mut rendition = None;
        for glyph in glyphs {
            if rendition != Some(glyph.rendition) {
                functions.push(Function::Sgr(glyph.rendition.ops()));
                rendition = Some(glyph.rendition);
            }
            functions.push(Function::Print(glyph.c));
        }
        functions.push(Function::Sgr(self.rendition.ops()));
        if drawing {
            functions.extend(self.charsets.functions());
        }
        let top = if self.drawing.origin { *self.margins.start() } else { 0 };
        if self.drawing.origin {
            functions.push(Function::Decset(origin));
        }
        functions.push(Function::Cup(
            number(cursor.row.saturating_sub(top) + 1),
            number(cursor.col + 1),
        ));
        self.draw_all(functions.into_iter());
        if waits {
            self.wait_to_wrap();
        }
    }

    /// Draws a glyph in the cursor's row; the cursor is behind it then.
    pub(super) fn repaint_here(&mut self, col: usize, glyph: Glyph) {
        let drawing = self.charsets.active() == Charset::Drawing;
        let mut functions =
            vec![Function::Cha(number(col + 1)), Function::Sgr(glyph.rendition.ops())];
        if drawing {
            functions.extend([Function::Gzd4(Charset::Ascii), Function::Si]);
        }
        functions.extend([Function::Print(glyph.c), Function::Sgr(self.rendition.ops())]);
        if drawing {
            functions.extend(self.charsets.functions());
        }
        self.draw_all(functions.into_iter());
    }

    /// Moves the cells of a rectangle, and fills what becomes free with blanks.
    pub(super) fn shift(
        &mut self,
        rows: Range<usize>,
        cols: Range<usize>,
        direction: Direction,
        count: usize,
    ) {
        let blank = Glyph::blank(self.rendition.erased());
        let before: Vec<_> = rows.clone().map(|row| self.glyphs(row, &cols)).collect();
        let height = before.len();
        let blanks = vec![Some(blank); cols.len()];
        for (index, row) in rows.enumerate() {
            let source = match direction {
                Direction::Up => index.checked_add(count).filter(|index| *index < height),
                Direction::Down => index.checked_sub(count),
                Direction::Left | Direction::Right => Some(index),
            };
            let mut glyphs = source.and_then(|index| before.get(index)).unwrap_or(&blanks).clone();
            let count = count.min(glyphs.len());
            match direction {
                Direction::Up | Direction::Down => {}
                Direction::Left => {
                    glyphs.rotate_left(count);
                    let kept = glyphs.len() - count;
                    glyphs.iter_mut().skip(kept).for_each(|glyph| *glyph = Some(blank));
                }
                Direction::Right => {
                    glyphs.rotate_right(count);
                    glyphs.iter_mut().take(count).for_each(|glyph| *glyph = Some(blank));
                }
            }
            self.repaint(row, cols.start, &whole(&glyphs, blank));
        }
        self.clean_prefixes();
    }

    /// Erases the cells that are not protected.
    pub(super) fn erase_unprotected(&mut self, row: usize, cols: Range<usize>) {
        let blank = Glyph::blank(self.rendition.erased());
        // A wide character is erased as a whole, or not at all.
        let tail = |col: usize| {
            let cells = self.cells(row).unwrap_or_default();
            usize::from(cells.get(col).is_some_and(|cell| cell.width() == 0))
        };
        let cols = cols.start - tail(cols.start)..cols.end + tail(cols.end);
        let glyphs: Vec<_> = self
            .glyphs(row, &cols)
            .into_iter()
            .map(|glyph| match glyph {
                Some(glyph) if self.is_protected(&glyph) => Some(glyph),
                Some(glyph) if glyph.wide => Some(glyph),
                Some(_) => Some(blank),
                None => None,
            })
            .collect();
        let mut drawn = Vec::with_capacity(glyphs.len());
        for glyph in whole(&glyphs, blank) {
            if glyph.wide && !self.is_protected(&glyph) {
                drawn.push(blank);
                drawn.push(blank);
            } else {
                drawn.push(glyph);
            }
        }
        self.repaint(row, cols.start, &drawn);
    }

    /// Marks before a character are only at the beginning of a row; anywhere else they would read
    /// as marks of the character before, so they go when their cell is moved.
    pub(super) fn clean_prefixes(&mut self) {
        if !self.has_prefixes {
            return;
        }
        for row in 0..usize::from(self.size.rows()) {
            let Some(cells) = self.cells(row) else { continue };
            let moved: Vec<_> = cells
                .iter()
                .enumerate()
                .skip(1)
                .filter(|(_, cell)| self.starts_with_mark(cell.char()))
                .map(|(col, cell)| (col, Glyph::from(cell)))
                .collect();
            for (col, mut glyph) in moved {
                let text = self.text_of(&glyph);
                let rest = text.trim_start_matches(|c| Width::of(c) == Width::Zero);
                let cluster = Cluster::new(rest, glyph.width(), self.is_protected(&glyph));
                let known = cluster.and_then(|cluster| self.intern(cluster));
                glyph.c = known.unwrap_or(char::REPLACEMENT_CHARACTER);
                self.repaint(row, col, &[glyph]);
            }
        }
    }

    pub(super) fn starts_with_mark(&self, c: char) -> bool {
        let cluster = self.canvas.clusters.get(c);
        let first = cluster.and_then(|cluster| cluster.text.chars().next());
        first.is_some_and(|first| Width::of(first) == Width::Zero)
    }
}

/// The glyphs without half characters: a wide one keeps its second column, or becomes a blank.
fn whole(glyphs: &[Option<Glyph>], blank: Glyph) -> Vec<Glyph> {
    let mut drawn = Vec::with_capacity(glyphs.len());
    let mut rest = glyphs.iter().peekable();
    while let Some(glyph) = rest.next() {
        drawn.push(match glyph {
            Some(glyph) if glyph.wide && rest.next_if(|next| next.is_none()).is_none() => blank,
            Some(glyph) => *glyph,
            None => blank,
        });
    }
    drawn
}
