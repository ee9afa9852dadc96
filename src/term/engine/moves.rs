//! Moves of the cursor, and of the text around it, that depend on margins and tab stops.
//! What avt does right alone is not here.

use avt::parser::Function;

use super::Engine;
use super::cells::Direction;
use super::print::number;
use crate::term::sequence::Csi;
use crate::term::tabs::Tabs;

/// Which cells an erasing sequence is about, seen from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::term) enum Extent {
    After,
    Before,
    All,
}

impl Extent {
    pub(in crate::term) fn from_number(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::After),
            1 => Some(Self::Before),
            2 => Some(Self::All),
            _ => None,
        }
    }
}

impl Engine {
    /// Where the row ends for text at the cursor.
    pub(super) fn row_end(&self) -> usize {
        let cols = usize::from(self.size.cols());
        let right = *self.sides.end();
        if self.has_sides && self.avt.cursor().col <= right { right + 1 } else { cols }
    }

    /// Where the row begins for text that wraps.
    pub(super) fn row_start(&self) -> usize {
        if self.has_sides { *self.sides.start() } else { 0 }
    }

    /// The cursor no longer waits to wrap.
    fn unwait(&mut self) {
        if self.avt.cursor().col == usize::from(self.size.cols()) {
            self.draw(Function::Cha(self.size.cols()));
        }
    }

    fn is_between_sides(&self) -> bool {
        !self.has_sides || self.sides.contains(&self.avt.cursor().col)
    }

    fn is_in_margins(&self) -> bool {
        self.margins.contains(&self.avt.cursor().row) && self.is_between_sides()
    }

    /// Draws what erases or adds blanks, which get no attribute but the background.
    pub(super) fn erase(&mut self, function: Function) {
        if self.rendition.shows_on_blanks() {
            let functions = [
                Function::Sgr(self.rendition.erased().ops()),
                function,
                Function::Sgr(self.rendition.ops()),
            ];
            self.draw_all(functions.into_iter());
        } else {
            self.draw(function);
        }
    }

    /// Moves one row down, at the bottom margin by scrolling.
    pub(in crate::term) fn index(&mut self) {
        self.unwait();
        if self.has_sides && self.avt.cursor().row == *self.margins.end() {
            if self.is_between_sides() {
                self.shift_region(Direction::Up, 1);
            }
        } else {
            self.erase(Function::Lf);
        }
    }

    pub(in crate::term) fn line_feed(&mut self) {
        self.index();
        if self.drawing.new_line {
            self.carriage_return();
        }
    }

    pub(in crate::term) fn next_line(&mut self) {
        self.index();
        self.carriage_return();
    }

    pub(in crate::term) fn carriage_return(&mut self) {
        let left = *self.sides.start();
        if self.has_sides && (self.drawing.origin || self.avt.cursor().col >= left) {
            self.draw(Function::Cha(number(left + 1)));
        } else {
            self.draw(Function::Cr);
        }
    }

    pub(in crate::term) fn reverse_index(&mut self) {
        self.unwait();
        // avt adds the margin twice in origin mode; away from the margin, moving up is the same
        // operation.
        let on_margin = self.avt.cursor().row == *self.margins.start();
        if on_margin && self.has_sides {
            if self.is_between_sides() {
                self.shift_region(Direction::Down, 1);
            }
        } else if self.drawing.origin && !on_margin {
            self.draw(Function::Cuu(1));
        } else {
            self.erase(Function::Ri);
        }
    }

    pub(in crate::term) fn backspace(&mut self) {
        let cursor = self.avt.cursor();
        if !self.drawing.reverse_wrap {
            self.back(1);
        } else if cursor.col > 0 {
            // The cursor that waits to wrap is behind the last column then.
            self.draw(Function::Cha(number(cursor.col)));
        } else if self.margins.contains(&cursor.row)
            && cursor.row > *self.margins.start()
            && self.avt.screen().line(cursor.row - 1).is_some_and(avt::Line::is_wrapped)
        {
            let last = usize::from(self.size.cols()) - 1;
            // A wide character that did not fit left the last column empty.
            let cell = |row, col| self.cells(row).and_then(|cells| cells.get(col));
            let left_out = cell(cursor.row - 1, last)
                .is_some_and(|cell| cell.char() == ' ' && cell.width() == 1)
                && cell(cursor.row, 0).is_some_and(|cell| cell.width() == 2);
            self.go(cursor.row - 1, last - usize::from(left_out));
        }
    }

    /// Moves left, not beyond a margin.
    pub(in crate::term) fn back(&mut self, count: u16) {
        self.unwait();
        let (col, left) = (self.avt.cursor().col, *self.sides.start());
        let limit = if self.has_sides && col >= left { left } else { 0 };
        let target = col.saturating_sub(usize::from(count.max(1))).max(limit);
        self.draw(Function::Cha(number(target + 1)));
    }

    /// Moves right, not beyond a margin.
    pub(in crate::term) fn forth(&mut self, count: u16) {
        let target = self.avt.cursor().col + usize::from(count.max(1));
        self.draw(Function::Cha(number(target.min(self.row_end() - 1) + 1)));
    }

    /// Moves down, not stopped by the margins.
    pub(in crate::term) fn down(&mut self, count: u16) {
        self.unwait();
        let cursor = self.avt.cursor();
        let last = usize::from(self.size.rows()) - 1;
        let last = if self.drawing.origin { *self.margins.end() } else { last };
        self.go((cursor.row + usize::from(count.max(1))).min(last), cursor.col);
    }

    /// Moves to a column as a program counts it.
    pub(in crate::term) fn set_column(&mut self, count: u16) {
        let col = usize::from(count.max(1)) - 1;
        let col = if self.has_sides && self.drawing.origin {
            (self.sides.start() + col).min(*self.sides.end())
        } else {
            col
        };
        self.draw(Function::Cha(number(col + 1)));
    }

    pub(in crate::term) fn set_position(&mut self, row: u16, col: u16) {
        self.draw(Function::Cup(row, col));
        if self.has_sides {
            self.set_column(col);
        }
    }

    pub(in crate::term) fn tab(&mut self, count: u16) {
        let col = self.avt.cursor().col;
        // In the last column with a character, a tab does not cancel the wrap.
        if col == usize::from(self.size.cols()) || self.text.held {
            return;
        }
        let limit = self.row_end() - 1;
        let mut target = col;
        for _ in 0..count.clamp(1, self.size.cols()) {
            target = self.tabs.after(target).min(limit);
        }
        self.draw(Function::Cha(number(target + 1)));
    }

    pub(in crate::term) fn back_tab(&mut self, count: u16) {
        let mut target = self.avt.cursor().col;
        if target == usize::from(self.size.cols()) || self.text.held {
            return;
        }
        for _ in 0..count.clamp(1, self.size.cols()) {
            target = self.tabs.before(target);
        }
        self.draw(Function::Cha(number(target + 1)));
    }

    pub(in crate::term) fn set_tab(&mut self, stop: bool) {
        self.tabs.set(self.avt.cursor().col, stop);
    }

    pub(in crate::term) fn clear_tabs(&mut self) {
        self.tabs.clear();
    }

    pub(in crate::term) fn reset_tabs(&mut self) {
        self.tabs = Tabs::new(self.size.cols());
    }

    /// Sets the scrolling region. As on real terminals a bottom below the screen means its last
    /// row, and an impossible region changes nothing, not even the cursor.
    pub(in crate::term) fn set_margins(&mut self, top: u16, bottom: u16) {
        let rows = self.size.rows();
        let top = top.max(1);
        let bottom = if bottom == 0 { rows } else { bottom.min(rows) };
        if top < bottom {
            self.margins = usize::from(top) - 1..=usize::from(bottom) - 1;
            self.draw(Function::Decstbm(top, bottom));
            self.set_column(1);
        }
    }

    /// Sets the left and the right margin (DECSLRM), in the same way.
    pub(in crate::term) fn set_sides(&mut self, left: u16, right: u16) {
        let cols = self.size.cols();
        let left = left.max(1);
        let right = if right == 0 { cols } else { right.min(cols) };
        if left < right {
            self.sides = usize::from(left) - 1..=usize::from(right) - 1;
            self.has_sides = (left, right) != (1, cols);
            self.set_position(1, 1);
        }
    }

    fn shift_region(&mut self, direction: Direction, count: u16) {
        let (rows, cols) = (self.margins.clone(), self.sides.clone());
        let count = usize::from(count.max(1));
        self.shift(*rows.start()..rows.end() + 1, *cols.start()..cols.end() + 1, direction, count);
    }

    /// Scrolls the region: up and down as one, or within its side margins.
    pub(in crate::term) fn scroll(&mut self, direction: Direction, count: u16) {
        match direction {
            Direction::Up if !self.has_sides => self.erase(Function::Su(count)),
            Direction::Down if !self.has_sides => self.erase(Function::Sd(count)),
            Direction::Up | Direction::Down => self.shift_region(direction, count),
            Direction::Left | Direction::Right => {
                if self.margins.contains(&self.avt.cursor().row) {
                    self.shift_region(direction, count);
                }
            }
        }
    }

    /// Inserts (down) or deletes (up) lines at the cursor, which then is in the first column.
    pub(in crate::term) fn shift_lines(&mut self, direction: Direction, count: u16) {
        self.unwait();
        if !self.is_in_margins() {
            return;
        }
        let row = self.avt.cursor().row;
        if self.has_sides {
            let (end, cols) = (self.margins.end() + 1, self.sides.clone());
            let count = usize::from(count.max(1));
            self.shift(row..end, *cols.start()..cols.end() + 1, direction, count);
        } else {
            let down = direction == Direction::Down;
            self.erase(if down { Function::Il(count) } else { Function::Dl(count) });
        }
        self.draw(Function::Cha(number(self.row_start() + 1)));
    }

    /// Inserts blanks at the cursor (right) or deletes characters (left).
    pub(in crate::term) fn shift_characters(&mut self, direction: Direction, count: u16) {
        self.unwait();
        if self.has_sides {
            let cursor = self.avt.cursor();
            if self.is_between_sides() {
                let cols = cursor.col..self.sides.end() + 1;
                let count = usize::from(count.max(1));
                self.shift(cursor.row..cursor.row + 1, cols, direction, count);
            }
        } else if direction == Direction::Right {
            self.erase(Function::Ich(count));
            self.clean_prefixes();
        } else {
            self.erase(Function::Dch(count));
        }
    }

    /// Inserts (right) or deletes (left) columns at the cursor, in all rows of the region.
    pub(in crate::term) fn shift_columns(&mut self, direction: Direction, count: u16) {
        self.unwait();
        if self.is_in_margins() {
            let rows = *self.margins.start()..self.margins.end() + 1;
            let cols = self.avt.cursor().col..self.sides.end() + 1;
            self.shift(rows, cols, direction, usize::from(count.max(1)));
        }
    }

    /// Erases in the row or on the screen, as avt reads it.
    pub(in crate::term) fn erase_parsed(&mut self, csi: Csi<'_>) {
        if self.rendition.shows_on_blanks() {
            self.draw(Function::Sgr(self.rendition.erased().ops()));
            self.forward(csi);
            self.draw(Function::Sgr(self.rendition.ops()));
        } else {
            self.forward(csi);
        }
    }

    pub(in crate::term) fn erase_characters(&mut self, count: u16) {
        self.unwait();
        self.erase(Function::Ech(count));
    }

    /// Erases what is not protected, in the cursor's row (DECSEL) or on the screen (DECSED).
    pub(in crate::term) fn erase_selectively(&mut self, extent: Extent, screen: bool) {
        let cursor = self.avt.cursor();
        let (cols, rows) = (usize::from(self.size.cols()), usize::from(self.size.rows()));
        let here = match extent {
            Extent::After => cursor.col..cols,
            Extent::Before => 0..(cursor.col + 1).min(cols),
            Extent::All => 0..cols,
        };
        if screen {
            let others = match extent {
                Extent::After => cursor.row + 1..rows,
                Extent::Before => 0..cursor.row,
                Extent::All => 0..rows,
            };
            for row in others {
                self.erase_unprotected(row, 0..cols);
            }
        }
        if !here.is_empty() {
            self.erase_unprotected(cursor.row, here);
        }
    }

    pub(in crate::term) fn alignment_pattern(&mut self) {
        self.margins = super::all_rows(self.size);
        self.sides = super::all_cols(self.size);
        self.has_sides = false;
        self.draw_all([Function::Decaln, Function::Decstbm(1, self.size.rows())].into_iter());
        self.go(0, 0);
    }
}
