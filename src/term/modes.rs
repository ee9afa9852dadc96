//! The terminal modes that decide how keys, mouse and paste are encoded.
//! It does not know how a screen is drawn.

/// Which mouse events the program wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseTracking {
    #[default]
    Off,
    /// Button presses only (mode 9).
    Press,
    /// Presses and releases (mode 1000).
    Buttons,
    /// Also motion while a button is down (mode 1002).
    Drag,
    /// All motion (mode 1003).
    Motion,
}

/// How mouse events are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MouseEncoding {
    #[default]
    Bytes,
    /// Mode 1005.
    Utf8,
    /// Mode 1006.
    Sgr,
    /// Mode 1015.
    Urxvt,
    /// Mode 1016.
    SgrPixels,
}

/// The modes that the program has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    pub alt_screen: bool,
    pub cursor_visible: bool,
    /// Arrow, Home and End keys start with `ESC O` instead of `ESC [`.
    pub application_cursor: bool,
    pub application_keypad: bool,
    pub bracketed_paste: bool,
    /// The program wants an event when the terminal gains or loses focus.
    pub focus_events: bool,
    pub mouse_tracking: MouseTracking,
    pub mouse_encoding: MouseEncoding,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            alt_screen: false,
            cursor_visible: true,
            application_cursor: false,
            application_keypad: false,
            bracketed_paste: false,
            focus_events: false,
            mouse_tracking: MouseTracking::Off,
            mouse_encoding: MouseEncoding::Bytes,
        }
    }
}

impl Modes {
    /// Sets or resets a private mode (`CSI ? mode h` or `l`); other modes are ignored.
    pub(super) fn set(&mut self, mode: u16, on: bool) {
        if let Some(tracking) = tracking(mode) {
            self.mouse_tracking = if on { tracking } else { MouseTracking::Off };
        }
        if let Some(encoding) = encoding(mode) {
            self.mouse_encoding = if on { encoding } else { MouseEncoding::Bytes };
        }
        match mode {
            1 => self.application_cursor = on,
            25 => self.cursor_visible = on,
            47 | 1047 | 1049 => self.alt_screen = on,
            66 => self.application_keypad = on,
            1004 => self.focus_events = on,
            2004 => self.bracketed_paste = on,
            _ => {}
        }
    }

    /// Whether a private mode is set; `None` for a mode that is not kept here.
    pub(super) fn get(&self, mode: u16) -> Option<bool> {
        if let Some(tracking) = tracking(mode) {
            return Some(self.mouse_tracking == tracking);
        }
        if let Some(encoding) = encoding(mode) {
            return Some(self.mouse_encoding == encoding);
        }
        match mode {
            1 => Some(self.application_cursor),
            25 => Some(self.cursor_visible),
            47 | 1047 | 1049 => Some(self.alt_screen),
            66 => Some(self.application_keypad),
            1004 => Some(self.focus_events),
            2004 => Some(self.bracketed_paste),
            _ => None,
        }
    }

    /// Writes the sequences that turn the input modes on in a fresh terminal. Alternate screen,
    /// cursor visibility and cursor keys are part of the screen's own dump.
    pub(super) fn write_input_modes(&self, out: &mut String) {
        let keypad = if self.application_keypad { "\x1b=" } else { "" };
        let paste = if self.bracketed_paste { "\x1b[?2004h" } else { "" };
        let focus = if self.focus_events { "\x1b[?1004h" } else { "" };
        let tracking = match self.mouse_tracking {
            MouseTracking::Off => "",
            MouseTracking::Press => "\x1b[?9h",
            MouseTracking::Buttons => "\x1b[?1000h",
            MouseTracking::Drag => "\x1b[?1002h",
            MouseTracking::Motion => "\x1b[?1003h",
        };
        let encoding = match self.mouse_encoding {
            MouseEncoding::Bytes => "",
            MouseEncoding::Utf8 => "\x1b[?1005h",
            MouseEncoding::Sgr => "\x1b[?1006h",
            MouseEncoding::Urxvt => "\x1b[?1015h",
            MouseEncoding::SgrPixels => "\x1b[?1016h",
        };
        for sequence in [keypad, paste, focus, tracking, encoding] {
            out.push_str(sequence);
        }
    }
}

fn tracking(mode: u16) -> Option<MouseTracking> {
    match mode {
        9 => Some(MouseTracking::Press),
        1000 => Some(MouseTracking::Buttons),
        1002 => Some(MouseTracking::Drag),
        1003 => Some(MouseTracking::Motion),
        _ => None,
    }
}

fn encoding(mode: u16) -> Option<MouseEncoding> {
    match mode {
        1005 => Some(MouseEncoding::Utf8),
        1006 => Some(MouseEncoding::Sgr),
        1015 => Some(MouseEncoding::Urxvt),
        1016 => Some(MouseEncoding::SgrPixels),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_is_set_reads_as_set() {
        for mode in
            [1, 9, 25, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1049, 2004]
        {
            let mut modes = Modes::default();
            modes.set(mode, false);
            assert_eq!(modes.get(mode), Some(false), "{mode}");
            modes.set(mode, true);
            assert_eq!(modes.get(mode), Some(true), "{mode}");
        }
        let mut modes = Modes::default();
        modes.set(2026, true);
        assert_eq!((modes, modes.get(2026)), (Modes::default(), None));
    }

    #[test]
    fn one_mouse_mode_replaces_another() {
        let mut modes = Modes::default();
        modes.set(1000, true);
        modes.set(1003, true);
        assert_eq!((modes.get(1000), modes.get(1003)), (Some(false), Some(true)));
    }
}
