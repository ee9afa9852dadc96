//! The modes that a program sets, saves and resets.
//! Those about input are kept for others to read; those about drawing are carried out here.

use avt::parser::{DecMode, Function};

use super::saved::{Charsets, Saved};
use super::{Drawing, Engine, all_cols, all_rows};
use crate::term::modes::Modes;
use crate::term::rendition::Rendition;
use crate::term::sequence::Csi;
use crate::term::tabs::Tabs;
use crate::term::terminal::Signal;

/// The modes that XTSAVE keeps: all that are known, but not those that switch the screen.
const SAVED_MODES: [u16; 17] =
    [1, 6, 7, 9, 25, 45, 66, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004];

impl Engine {
    pub(in crate::term) fn set_modes(&mut self, csi: Csi<'_>, on: bool) {
        let before = self.modes;
        for mode in csi.numbers() {
            self.set_mode(mode, on);
        }
        self.report_modes(before);
    }

    pub(super) fn set_mode(&mut self, mode: u16, on: bool) {
        match (mode, on) {
            (6, _) => {
                self.moved();
                self.set_origin(on);
                self.set_column(1);
            }
            (7, _) => {
                self.drawing.auto_wrap = on;
                self.draw_mode(DecMode::AutoWrap, on);
                if on && self.text.held && !self.has_sides {
                    self.text.held = false;
                    self.wait_to_wrap();
                }
            }
            (25, _) => self.draw_mode(DecMode::TextCursorEnable, on),
            (45, _) => self.drawing.reverse_wrap = on,
            (69, _) => {
                self.drawing.sides = on;
                self.sides = all_cols(self.size);
                self.has_sides = false;
            }
            (47 | 1047, _) => self.switch_screen(on),
            (1048, true) => self.save_cursor(),
            (1048, false) => self.restore_cursor(),
            (1049, true) => {
                self.save_cursor();
                self.switch_screen(true);
            }
            (1049, false) => {
                self.switch_screen(false);
                self.modes.set(mode, false);
                self.restore_cursor();
            }
            _ => {}
        }
        self.modes.set(mode, on);
    }

    fn switch_screen(&mut self, alternate: bool) {
        self.moved();
        if alternate && !self.modes.alt_screen {
            let cursor = self.avt.cursor();
            self.primary_cursor = (cursor.row, cursor.col);
        }
        let modes = avt::parser::DecModes::from(&[DecMode::AltScreenBuffer][..]);
        self.erase(if alternate { Function::Decset(modes) } else { Function::Decrst(modes) });
    }

    /// Whether a mode is set; `None` for one that is not known.
    pub(super) fn mode(&self, private: bool, mode: u16) -> Option<bool> {
        match (private, mode) {
            (true, 6) => Some(self.drawing.origin),
            (true, 7) => Some(self.drawing.auto_wrap),
            (true, 45) => Some(self.drawing.reverse_wrap),
            (true, 69) => Some(self.drawing.sides),
            // There is always a saved cursor.
            (true, 1048) => Some(true),
            (true, mode) => self.modes.get(mode),
            (false, 4) => Some(self.drawing.insert),
            (false, 20) => Some(self.drawing.new_line),
            (false, _) => None,
        }
    }

    /// Whether side margins can be set, which is what `CSI s` means then.
    pub(in crate::term) fn can_have_sides(&self) -> bool {
        self.drawing.sides
    }

    /// Saves the values of modes (XTSAVE).
    pub(in crate::term) fn save_modes(&mut self, csi: Csi<'_>) {
        for mode in csi.numbers().filter(|mode| SAVED_MODES.contains(mode)) {
            if let Some(on) = self.mode(true, mode) {
                self.saved_modes.insert(mode, on);
            }
        }
    }

    /// Gives modes the values that were saved (XTRESTORE).
    pub(in crate::term) fn restore_modes(&mut self, csi: Csi<'_>) {
        let before = self.modes;
        for mode in csi.numbers() {
            if let Some(on) = self.saved_modes.get(&mode).copied() {
                self.set_mode(mode, on);
            }
        }
        self.report_modes(before);
    }

    pub(super) fn report_modes(&mut self, before: Modes) {
        if self.modes != before {
            self.canvas.changed = true;
            self.fed.signals.push(Signal::Modes(self.modes));
        }
    }

    pub(in crate::term) fn set_application_keypad(&mut self, on: bool) {
        let before = self.modes;
        self.modes.application_keypad = on;
        self.report_modes(before);
    }

    pub(in crate::term) fn set_ansi_modes(&mut self, csi: Csi<'_>, on: bool) {
        for mode in csi.numbers() {
            match mode {
                4 => self.drawing.insert = on,
                20 => self.drawing.new_line = on,
                _ => {}
            }
        }
    }

    pub(in crate::term) fn soft_reset(&mut self) {
        let before = self.modes;
        self.moved();
        *self.saved_mut() = Saved::default();
        self.drawing = Drawing { new_line: self.drawing.new_line, ..Drawing::default() };
        self.rendition = Rendition::default();
        self.charsets = Charsets::default();
        self.protect = false;
        self.margins = all_rows(self.size);
        self.sides = all_cols(self.size);
        self.has_sides = false;
        self.modes.cursor_visible = true;
        self.modes.application_cursor = false;
        self.modes.application_keypad = false;
        self.draw(Function::Decstr);
        self.draw_mode(DecMode::AutoWrap, true);
        self.report_modes(before);
    }

    pub(in crate::term) fn hard_reset(&mut self) {
        let before = self.modes;
        self.reset_state();
        self.canvas.scrollback.clear();
        self.draw(Function::Ris);
        self.report_modes(before);
    }

    /// Forgets everything that a program set, except the title.
    pub(super) fn reset_state(&mut self) {
        self.moved();
        self.modes = Modes::default();
        self.drawing = Drawing::default();
        self.rendition = Rendition::default();
        self.charsets = Charsets::default();
        self.protect = false;
        self.saved = [Saved::default(); 2];
        self.saved_modes.clear();
        self.margins = all_rows(self.size);
        self.sides = all_cols(self.size);
        self.has_sides = false;
        self.has_prefixes = false;
        self.tabs = Tabs::new(self.size.cols());
        self.colors.clear();
    }
}
