//! What a program saves and restores: the cursor with what belongs to it, and modes.
//! avt saves the cursor, too, but neither the character sets nor a cursor that waits to wrap.

use avt::Charset;
use avt::parser::{DecMode, DecModes, Function};

use super::Engine;
use crate::term::rendition::Rendition;

/// The two character sets that a program can choose, and which of them is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::term) struct Charsets {
    sets: [Charset; 2],
    shifted: bool,
}

impl Default for Charsets {
    fn default() -> Self {
        Self { sets: [Charset::Ascii; 2], shifted: false }
    }
}

impl Charsets {
    pub(super) fn active(&self) -> Charset {
        let [first, second] = self.sets;
        if self.shifted { second } else { first }
    }

    pub(super) fn translate(&self, c: char) -> char {
        self.active().translate(c)
    }

    /// The operations that choose these, whatever was chosen before.
    pub(super) fn functions(&self) -> [Function; 3] {
        let [first, second] = self.sets;
        let shift = if self.shifted { Function::So } else { Function::Si };
        [Function::Gzd4(first), Function::G1d4(second), shift]
    }

    /// Writes the sequences that choose these in a fresh terminal.
    pub(super) fn write(&self, out: &mut String) {
        let [first, second] = self.sets;
        for (set, sequence) in [(first, "\x1b(0"), (second, "\x1b)0")] {
            if set == Charset::Drawing {
                out.push_str(sequence);
            }
        }
        if self.shifted {
            out.push('\x0e');
        }
    }
}

/// The cursor as DECSC saves it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::term) struct Saved {
    pub(super) row: usize,
    pub(super) col: usize,
    /// It waits in the last column, so that the next character wraps.
    pub(super) waits: bool,
    pub(super) rendition: Rendition,
    pub(super) charsets: Charsets,
    pub(super) origin: bool,
    pub(super) protect: bool,
}

impl Engine {
    pub(in crate::term) fn designate(&mut self, second: bool, charset: Charset) {
        let [first_set, second_set] = &mut self.charsets.sets;
        *(if second { second_set } else { first_set }) = charset;
        self.draw(if second { Function::G1d4(charset) } else { Function::Gzd4(charset) });
    }

    pub(in crate::term) fn shift_charset(&mut self, shifted: bool) {
        self.charsets.shifted = shifted;
        self.draw(if shifted { Function::So } else { Function::Si });
    }

    pub(super) fn saved_mut(&mut self) -> &mut Saved {
        let [primary, alternate] = &mut self.saved;
        if self.modes.alt_screen { alternate } else { primary }
    }

    pub(in crate::term) fn save_cursor(&mut self) {
        let cursor = self.avt.cursor();
        let last = usize::from(self.size.cols()) - 1;
        let saved = Saved {
            row: cursor.row,
            col: cursor.col.min(last),
            waits: cursor.col > last,
            rendition: self.rendition,
            charsets: self.charsets,
            origin: self.drawing.origin,
            protect: self.protect,
        };
        *self.saved_mut() = saved;
    }

    /// Restores what was saved, which is not whether text wraps.
    pub(in crate::term) fn restore_cursor(&mut self) {
        self.moved();
        let saved = *self.saved_mut();
        self.rendition = saved.rendition;
        self.charsets = saved.charsets;
        self.protect = saved.protect;
        self.draw(Function::Sgr(saved.rendition.ops()));
        self.draw_all(saved.charsets.functions().into_iter());
        if saved.origin != self.drawing.origin {
            self.set_origin(saved.origin);
        }
        self.go(saved.row, saved.col);
        if saved.waits && self.drawing.auto_wrap {
            self.wait_to_wrap();
        }
    }

    pub(super) fn set_origin(&mut self, on: bool) {
        self.drawing.origin = on;
        self.draw_mode(DecMode::Origin, on);
    }

    pub(super) fn draw_mode(&mut self, mode: DecMode, on: bool) {
        let modes = DecModes::from(&[mode][..]);
        self.draw(if on { Function::Decset(modes) } else { Function::Decrst(modes) });
    }

    /// Moves to an absolute place, in origin mode to the nearest one within the margins.
    pub(in crate::term) fn go(&mut self, row: usize, col: usize) {
        let top = if self.drawing.origin { *self.margins.start() } else { 0 };
        let row = super::print::number(row.saturating_sub(top) + 1);
        self.draw(Function::Cup(row, super::print::number(col + 1)));
    }
}
