//! Which sequences a terminal answers. It knows the questions and not what is done about them.

use crate::term::Csi;

/// More of one parameter than this decides nothing.
const PART_LIMIT: usize = 64;

/// Whether a terminal answers this CSI sequence.
pub(super) fn asks(csi: Csi<'_>) -> bool {
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

/// The kinds of strings that can ask something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringKind {
    Osc,
    Dcs,
    Apc,
    /// SOS and PM, which no terminal answers.
    Silent,
}

/// What is to become of a string, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Undecided,
    Pass,
    Query,
}

/// What makes an OSC string a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Its number is not complete yet.
    Number,
    /// A parameter that is, or starts with, a question mark.
    QuestionMark,
    /// The same, but only in the second parameter; everything else may be long.
    Clipboard,
    /// One of these words.
    Words(&'static [&'static [u8]]),
    /// A key with the value `?` among the first parameter's.
    Keys,
}

const ITERM_QUESTIONS: &[&[u8]] =
    &[b"ReportCellSize", b"ReportVariable=", b"RequestUpload=", b"Capabilities"];

/// Reads a string byte by byte until it is clear whether it asks something.
#[derive(Debug)]
pub(super) struct StringReader {
    kind: StringKind,
    rule: Rule,
    /// How many parameters came after the number.
    index: u16,
    /// The parameter under way, as far as it can matter.
    part: Vec<u8>,
}

impl StringReader {
    pub(super) fn new(kind: StringKind) -> Self {
        Self { kind, rule: Rule::Number, index: 0, part: Vec::new() }
    }

    /// Takes the next byte of the string.
    pub(super) fn push(&mut self, byte: u8) -> Fate {
        match self.kind {
            StringKind::Osc => self.osc(byte),
            StringKind::Dcs => self.dcs(byte),
            StringKind::Apc => self.apc(byte),
            StringKind::Silent => Fate::Pass,
        }
    }

    /// The string is complete.
    pub(super) fn end(&mut self) -> Fate {
        let fate = match self.kind {
            StringKind::Osc => self.osc_part(),
            StringKind::Apc => self.apc_key(),
            StringKind::Dcs | StringKind::Silent => Fate::Pass,
        };
        if fate == Fate::Query { Fate::Query } else { Fate::Pass }
    }

    fn keep(&mut self, byte: u8) {
        if self.part.len() < PART_LIMIT {
            self.part.push(byte);
        }
    }

    fn osc(&mut self, byte: u8) -> Fate {
        if byte == b';' {
            let fate = self.osc_part();
            self.part.clear();
            self.index = self.index.saturating_add(1);
            return fate;
        }
        self.keep(byte);
        match self.rule {
            Rule::Clipboard if self.index == 2 && byte != b'?' => Fate::Pass,
            Rule::Words(words) => among(words, &self.part),
            Rule::Number if self.part.len() == PART_LIMIT => Fate::Pass,
            Rule::Number | Rule::QuestionMark | Rule::Clipboard | Rule::Keys => Fate::Undecided,
        }
    }

    /// One parameter is complete.
    fn osc_part(&mut self) -> Fate {
        let marked = self.part.starts_with(b"?") || self.part.ends_with(b"=?");
        match self.rule {
            Rule::Number => self.osc_number(),
            Rule::QuestionMark | Rule::Clipboard if marked => Fate::Query,
            Rule::QuestionMark | Rule::Clipboard => Fate::Undecided,
            Rule::Keys if self.part.split(|byte| *byte == b':').any(|key| key.ends_with(b"=?")) => {
                Fate::Query
            }
            Rule::Keys | Rule::Words(_) => Fate::Pass,
        }
    }

    fn osc_number(&mut self) -> Fate {
        let number = std::str::from_utf8(&self.part).ok().and_then(|text| text.parse::<u16>().ok());
        self.rule = match number {
            // An X property, colours of all kinds, the pointer, the font, and rxvt's own.
            Some(3..=5 | 10..=22 | 50 | 701..=708) => Rule::QuestionMark,
            Some(52) => Rule::Clipboard,
            // Which features are allowed: the number alone asks.
            Some(60 | 61) => return Fate::Query,
            Some(99) => Rule::Keys,
            Some(1337) => Rule::Words(ITERM_QUESTIONS),
            Some(_) | None => return Fate::Pass,
        };
        Fate::Undecided
    }

    /// A request for settings or capabilities; parameters may come before it.
    fn dcs(&mut self, byte: u8) -> Fate {
        if matches!(byte, b' '..=b'?') && self.part.len() < PART_LIMIT {
            self.part.push(byte);
            return Fate::Undecided;
        }
        let params = self.part.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).count();
        match (self.part.get(params..), byte) {
            (Some(b"$" | b"+"), b'q') | (Some(b"+"), b'Q') => Fate::Query,
            _ => Fate::Pass,
        }
    }

    /// Kitty's graphics ask with the action `q`; keys end at the semicolon.
    fn apc(&mut self, byte: u8) -> Fate {
        match byte {
            b'G' if self.index == 0 => self.index = 1,
            _ if self.index == 0 => return Fate::Pass,
            b',' => {
                let fate = self.apc_key();
                self.part.clear();
                return fate;
            }
            b';' => return if self.apc_key() == Fate::Query { Fate::Query } else { Fate::Pass },
            byte => self.keep(byte),
        }
        Fate::Undecided
    }

    fn apc_key(&self) -> Fate {
        if self.part == b"a=q" { Fate::Query } else { Fate::Undecided }
    }
}

/// Whether the text starts with one of the words, or still may.
fn among(words: &[&[u8]], text: &[u8]) -> Fate {
    if words.iter().any(|word| text.starts_with(word)) {
        Fate::Query
    } else if words.iter().any(|word| word.starts_with(text)) {
        Fate::Undecided
    } else {
        Fate::Pass
    }
}
