//! The sequences that must not reach the user's terminal: queries, which it would answer, and those
//! that act beyond its screen, on the clipboard, fonts, files or a printer. It does not know what
//! happens to them.

use crate::term::{Csi, StringKind};

/// The bytes of one parameter beyond this decide nothing.
const PART_LIMIT: usize = 64;

/// Whether a terminal answers this CSI sequence.
pub(super) fn is_query(csi: Csi<'_>) -> bool {
    match (csi.prefix, csi.intermediates, csi.last) {
        // Device attributes; with `?` it is the Linux console's cursor shape.
        (None | Some(b'>' | b'='), [], b'c') => true,
        // Status and position; with `>` it sets modified keys.
        (None | Some(b'?'), [], b'n') => true,
        // Whether a mode is set.
        (None | Some(b'?'), [b'$'], b'p') => true,
        // Name and version.
        (Some(b'>'), [], b'q') => true,
        // Kitty's keyboard flags.
        (Some(b'?'), [], b'u') => true,
        // Modified keys, and the limits of graphics.
        (Some(b'?'), [], b'm' | b'S') => true,
        // Terminal parameters.
        (None, [], b'x') => true,
        // Window state, position, sizes and titles; the other numbers act on the window.
        (None, [], b't') => matches!(csi.number(0), 11 | 13..=16 | 18..=21),
        // Presentation, terminal state, supplemental set, checksum, displayed extent, locator.
        (None, [b'$'], b'w' | b'u') | (None, [b'&'], b'u') | (None, [b'*'], b'y') => true,
        (None, [b'"'], b'v') | (None, [b'\''], b'|') => true,
        // The colour stack and the attributes of a rectangle.
        (None, [b'#'], b'R' | b'|') => true,
        _ => false,
    }
}

/// Whether a CSI sequence with this final byte prints the screen, or sends what follows it to a
/// printer instead of the screen.
pub(super) fn is_media_copy(last: u8) -> bool {
    last == b'i'
}

/// Whether a string passes, as far as the bytes read so far decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Undecided,
    Pass,
    /// It is a query, or acts beyond the screen.
    Drop,
}

/// What makes an OSC string a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Its number is not complete yet.
    Number,
    /// A parameter that is, or starts with, a question mark.
    QuestionMark,
    /// The same, after any blanks. The terminal's own reply, echoed, looks so too.
    ProgramStatus,
    /// The same, but only in the second parameter after the number, which may be long otherwise.
    Clipboard,
    /// A key with the value `?` among the first parameter's.
    Keys,
}

/// The start of a DCS string whose content tmux passes on to the terminal around it.
const PASSTHROUGH: &[u8] = b"tmux;";

/// Reads a string byte by byte until it is clear whether it is a query.
#[derive(Debug)]
pub(super) struct StringReader {
    kind: StringKind,
    /// Whether the program may set the clipboard. It may never read it.
    allow_clipboard: bool,
    rule: Rule,
    /// The number of parameters after the first.
    index: u16,
    /// The parameter under way, up to `PART_LIMIT`.
    part: Vec<u8>,
}

impl StringReader {
    pub(super) fn new(kind: StringKind, allow_clipboard: bool) -> Self {
        Self { kind, allow_clipboard, rule: Rule::Number, index: 0, part: Vec::new() }
    }

    /// Takes the next byte of the string.
    pub(super) fn push(&mut self, byte: u8) -> Decision {
        match self.kind {
            StringKind::Osc => self.osc(byte),
            StringKind::Dcs => self.dcs(byte),
            StringKind::Apc => self.apc(byte),
            StringKind::Sos | StringKind::Pm => Decision::Pass,
        }
    }

    /// The string is complete.
    pub(super) fn end(&mut self) -> Decision {
        let decision = match self.kind {
            StringKind::Osc => self.osc_part(),
            StringKind::Apc => self.apc_key(),
            StringKind::Dcs | StringKind::Sos | StringKind::Pm => Decision::Pass,
        };
        if decision == Decision::Drop { Decision::Drop } else { Decision::Pass }
    }

    fn keep(&mut self, byte: u8) {
        if self.part.len() < PART_LIMIT {
            self.part.push(byte);
        }
    }

    fn osc(&mut self, byte: u8) -> Decision {
        if byte == b';' {
            let decision = self.osc_part();
            self.part.clear();
            self.index = self.index.saturating_add(1);
            return decision;
        }
        self.keep(byte);
        match self.rule {
            Rule::Clipboard if self.index == 2 && byte != b'?' => Decision::Pass,
            Rule::Number if self.part.len() == PART_LIMIT && self.is_digits() => Decision::Drop,
            Rule::Number if self.part.len() == PART_LIMIT => Decision::Pass,
            Rule::ProgramStatus if byte == b'?' => Decision::Drop,
            Rule::ProgramStatus if !byte.is_ascii_whitespace() => Decision::Pass,
            Rule::Number
            | Rule::QuestionMark
            | Rule::ProgramStatus
            | Rule::Clipboard
            | Rule::Keys => Decision::Undecided,
        }
    }

    /// One parameter is complete.
    fn osc_part(&mut self) -> Decision {
        let marked = self.part.starts_with(b"?") || self.part.ends_with(b"=?");
        match self.rule {
            Rule::Number => self.osc_number(),
            Rule::QuestionMark | Rule::Clipboard if marked => Decision::Drop,
            Rule::QuestionMark | Rule::Clipboard => Decision::Undecided,
            Rule::ProgramStatus => Decision::Pass,
            Rule::Keys if self.part.split(|byte| *byte == b':').any(|key| key.ends_with(b"=?")) => {
                Decision::Drop
            }
            Rule::Keys => Decision::Pass,
        }
    }

    fn is_digits(&self) -> bool {
        !self.part.is_empty() && self.part.iter().all(u8::is_ascii_digit)
    }

    fn osc_number(&mut self) -> Decision {
        let number = std::str::from_utf8(&self.part).ok().and_then(|text| text.parse::<u16>().ok());
        self.rule = match number {
            // An X property, colours of all kinds, the pointer, and rxvt's own.
            Some(3..=5 | 10..=22 | 701..=708) => Rule::QuestionMark,
            Some(7501) => Rule::ProgramStatus,
            Some(52) if self.allow_clipboard => Rule::Clipboard,
            // The clipboard; the font, whose name xterm may take from a program; iTerm's files,
            // clipboard and much else; kitty's file transfer and clipboard.
            Some(52 | 50 | 1337 | 5113 | 5522) => return Decision::Drop,
            // Which features are allowed: the number alone is the query.
            Some(60 | 61) => return Decision::Drop,
            Some(99) => Rule::Keys,
            // A terminal may take a number that overflows for any other number.
            None if self.is_digits() => return Decision::Drop,
            Some(_) | None => return Decision::Pass,
        };
        Decision::Undecided
    }

    /// A request for settings or capabilities, or a string that tmux passes on. Parameters and
    /// intermediates may come before either.
    fn dcs(&mut self, byte: u8) -> Decision {
        let is_before = |byte: &u8| matches!(byte, b' '..=b'?');
        let before = self.part.iter().take_while(|byte| is_before(byte)).count();
        let params = self.part.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).count();
        match (self.part.get(params..), byte) {
            _ if before < self.part.len() || byte == b't' => {}
            _ if is_before(&byte) && self.part.len() == PART_LIMIT => return Decision::Drop,
            _ if is_before(&byte) => {
                self.part.push(byte);
                return Decision::Undecided;
            }
            (Some(b"$" | b"+"), b'q') | (Some(b"+"), b'Q') => return Decision::Drop,
            _ => return Decision::Pass,
        }
        self.part.push(byte);
        match self.part.get(before..) {
            Some(PASSTHROUGH) => Decision::Drop,
            Some(name) if PASSTHROUGH.starts_with(name) => Decision::Undecided,
            Some(_) | None => Decision::Pass,
        }
    }

    /// A query of kitty's graphics protocol has the action `q`; keys end at the semicolon.
    fn apc(&mut self, byte: u8) -> Decision {
        match byte {
            b'G' if self.index == 0 => self.index = 1,
            _ if self.index == 0 => return Decision::Pass,
            b',' => {
                let decision = self.apc_key();
                self.part.clear();
                return decision;
            }
            b';' => {
                return if self.apc_key() == Decision::Drop {
                    Decision::Drop
                } else {
                    Decision::Pass
                };
            }
            byte => self.keep(byte),
        }
        Decision::Undecided
    }

    fn apc_key(&self) -> Decision {
        if self.part == b"a=q" { Decision::Drop } else { Decision::Undecided }
    }
}
