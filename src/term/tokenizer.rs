//! The grammar of a terminal's stream: cuts bytes into text, controls and the parts of sequences.
//! It finds the same tokens wherever the reads cut the bytes, keeps no bytes itself, and does not
//! know what a sequence means.

use super::printable::{is_printable, take_printable};

const ESC: u8 = 0x1b;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const BEL: u8 = 0x07;

/// A piece of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Bytes outside of sequences, without C0 controls and DEL. If a sequence is under way, a
    /// character that is not ASCII starts here and breaks the sequence off.
    Text(&'a [u8]),
    /// A C0 control or DEL, outside of sequences or inside an escape or CSI sequence, which goes
    /// on after it.
    Control(u8),
    /// ESC, which starts a sequence. A sequence or string under way is broken off.
    Escape,
    /// An intermediate byte of an escape sequence.
    Intermediate(u8),
    /// The final byte of an escape sequence that is neither a CSI sequence nor a string.
    EscapeEnd(u8),
    /// The `[` after ESC.
    CsiStart,
    /// More parameters and intermediates of a CSI sequence, and its final byte if it is here.
    Csi {
        body: &'a [u8],
        last: Option<u8>,
    },
    /// The byte after ESC that starts a string.
    StringStart(StringKind),
    /// Bytes of a string, without C0 controls and DEL.
    StringText(&'a [u8]),
    /// A control inside a string, which terminals skip.
    StringControl(u8),
    /// ESC inside a string: `StringEnd` follows, or `Escape` for this same ESC.
    StringEscape,
    StringEnd(Terminator),
    /// CAN or SUB, which cancels the sequence or string under way.
    Cancel(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringKind {
    Osc,
    Dcs,
    Apc,
    Sos,
    Pm,
}

impl StringKind {
    /// The byte after ESC that starts such a string.
    pub(crate) fn opener(self) -> u8 {
        match self {
            Self::Osc => b']',
            Self::Dcs => b'P',
            Self::Apc => b'_',
            Self::Sos => b'X',
            Self::Pm => b'^',
        }
    }
}

/// How a string ends; the reply to an OSC query ends the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terminator {
    /// BEL, which ends an OSC string only.
    Bell,
    /// ESC and a backslash.
    StringTerminator,
}

impl Terminator {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Bell => "\x07",
            Self::StringTerminator => "\x1b\\",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    String(StringKind),
    StringEscape(StringKind),
}

/// The state between two reads.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    state: State,
}

impl Tokenizer {
    pub(crate) fn new() -> Self {
        Self { state: State::Ground }
    }

    /// Takes the next token from the start of `bytes`; `None` if there are no more bytes.
    // Inlined because it runs for every few bytes of a flood, and the compiler optimises for size.
    #[inline(always)]
    pub(crate) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Token<'a>> {
        let (&byte, rest) = bytes.split_first()?;
        Some(match self.state {
            State::Ground => self.ground(byte, rest, bytes),
            State::Escape => self.escape(byte, rest, bytes),
            State::EscapeIntermediate => self.escape_intermediate(byte, rest, bytes),
            State::Csi => self.csi(bytes),
            State::String(kind) => self.string(kind, byte, rest, bytes),
            State::StringEscape(_) => self.string_escape(byte, rest, bytes),
        })
    }

    /// Whether no sequence and no string is under way.
    pub(crate) fn is_ground(&self) -> bool {
        self.state == State::Ground
    }

    /// The bytes that started the sequence or string under way.
    pub(crate) fn opening(&self) -> Vec<u8> {
        match self.state {
            State::Ground => Vec::new(),
            State::Escape | State::EscapeIntermediate => vec![ESC],
            State::Csi => vec![ESC, b'['],
            State::String(kind) | State::StringEscape(kind) => vec![ESC, kind.opener()],
        }
    }

    /// The ESC that may end the string under way, if that is the last byte so far.
    pub(crate) fn closing(&self) -> &'static [u8] {
        if let State::StringEscape(_) = self.state { &[ESC] } else { &[] }
    }

    #[inline(always)]
    fn ground<'a>(&mut self, byte: u8, rest: &'a [u8], bytes: &mut &'a [u8]) -> Token<'a> {
        if is_printable(byte) {
            return Token::Text(take_printable(bytes));
        }
        *bytes = rest;
        if byte == ESC {
            self.state = State::Escape;
            return Token::Escape;
        }
        Token::Control(byte)
    }

    #[inline(always)]
    fn escape<'a>(&mut self, byte: u8, rest: &'a [u8], bytes: &mut &'a [u8]) -> Token<'a> {
        let kind = match byte {
            b'[' => {
                *bytes = rest;
                self.state = State::Csi;
                return Token::CsiStart;
            }
            b']' => StringKind::Osc,
            b'P' => StringKind::Dcs,
            b'_' => StringKind::Apc,
            b'X' => StringKind::Sos,
            b'^' => StringKind::Pm,
            _ => return self.escape_intermediate(byte, rest, bytes),
        };
        *bytes = rest;
        self.state = State::String(kind);
        Token::StringStart(kind)
    }

    fn escape_intermediate<'a>(
        &mut self,
        byte: u8,
        rest: &'a [u8],
        bytes: &mut &'a [u8],
    ) -> Token<'a> {
        match byte {
            b' '..=b'/' => {
                *bytes = rest;
                self.state = State::EscapeIntermediate;
                Token::Intermediate(byte)
            }
            b'0'..=b'~' => {
                *bytes = rest;
                self.state = State::Ground;
                Token::EscapeEnd(byte)
            }
            _ => self.inside_sequence(byte, rest, bytes),
        }
    }

    #[inline(always)]
    fn csi<'a>(&mut self, bytes: &mut &'a [u8]) -> Token<'a> {
        let body_len = bytes.iter().take_while(|byte| matches!(byte, b' '..=b'?')).count();
        let (body, after) = bytes.split_at(body_len);
        match after.split_first() {
            Some((&last @ b'@'..=b'~', rest)) => {
                *bytes = rest;
                self.state = State::Ground;
                Token::Csi { body, last: Some(last) }
            }
            Some((&byte, rest)) if body.is_empty() => self.inside_sequence(byte, rest, bytes),
            Some(_) | None => {
                *bytes = after;
                Token::Csi { body, last: None }
            }
        }
    }

    /// What every sequence does with bytes that cannot be part of it: controls work as always,
    /// and anything that is not ASCII ends the sequence and is text again.
    #[cold]
    fn inside_sequence<'a>(&mut self, byte: u8, rest: &'a [u8], bytes: &mut &'a [u8]) -> Token<'a> {
        if !byte.is_ascii() {
            self.state = State::Ground;
            return Token::Text(take_printable(bytes));
        }
        *bytes = rest;
        match byte {
            ESC => {
                self.state = State::Escape;
                Token::Escape
            }
            CAN | SUB => {
                self.state = State::Ground;
                Token::Cancel(byte)
            }
            control => Token::Control(control),
        }
    }

    fn string<'a>(
        &mut self,
        kind: StringKind,
        byte: u8,
        rest: &'a [u8],
        bytes: &mut &'a [u8],
    ) -> Token<'a> {
        if is_printable(byte) {
            return Token::StringText(take_printable(bytes));
        }
        *bytes = rest;
        match byte {
            ESC => {
                self.state = State::StringEscape(kind);
                Token::StringEscape
            }
            CAN | SUB => {
                self.state = State::Ground;
                Token::Cancel(byte)
            }
            BEL if kind == StringKind::Osc => {
                self.state = State::Ground;
                Token::StringEnd(Terminator::Bell)
            }
            control => Token::StringControl(control),
        }
    }

    fn string_escape<'a>(&mut self, byte: u8, rest: &'a [u8], bytes: &mut &'a [u8]) -> Token<'a> {
        if byte == b'\\' {
            *bytes = rest;
            self.state = State::Ground;
            return Token::StringEnd(Terminator::StringTerminator);
        }
        self.state = State::Escape;
        Token::Escape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(mut bytes: &[u8]) -> Vec<Token<'_>> {
        let mut tokenizer = Tokenizer::new();
        std::iter::from_fn(|| tokenizer.next(&mut bytes)).collect()
    }

    #[test]
    fn a_stream_is_cut_into_its_tokens() {
        let cases: [(&[u8], &[Token<'_>]); 10] = [
            (b"hi\x07", &[Token::Text(b"hi"), Token::Control(BEL)]),
            (b"\x1bM", &[Token::Escape, Token::EscapeEnd(b'M')]),
            (b"\x1b(B", &[Token::Escape, Token::Intermediate(b'('), Token::EscapeEnd(b'B')]),
            (
                b"\x1b[?25$p",
                &[Token::Escape, Token::CsiStart, Token::Csi { body: b"?25$", last: Some(b'p') }],
            ),
            (
                b"\x1b[1\n2m",
                &[
                    Token::Escape,
                    Token::CsiStart,
                    Token::Csi { body: b"1", last: None },
                    Token::Control(b'\n'),
                    Token::Csi { body: b"2", last: Some(b'm') },
                ],
            ),
            (
                b"\x1b[1\xc3\xa9",
                &[
                    Token::Escape,
                    Token::CsiStart,
                    Token::Csi { body: b"1", last: None },
                    Token::Text("é".as_bytes()),
                ],
            ),
            (b"\x1b[\x18", &[Token::Escape, Token::CsiStart, Token::Cancel(CAN)]),
            (
                b"\x1b]2;t\x07",
                &[
                    Token::Escape,
                    Token::StringStart(StringKind::Osc),
                    Token::StringText(b"2;t"),
                    Token::StringEnd(Terminator::Bell),
                ],
            ),
            (
                b"\x1bPq\x07\x1b\\",
                &[
                    Token::Escape,
                    Token::StringStart(StringKind::Dcs),
                    Token::StringText(b"q"),
                    Token::StringControl(BEL),
                    Token::StringEscape,
                    Token::StringEnd(Terminator::StringTerminator),
                ],
            ),
            (
                b"\x1b_a\x1b7",
                &[
                    Token::Escape,
                    Token::StringStart(StringKind::Apc),
                    Token::StringText(b"a"),
                    Token::StringEscape,
                    Token::Escape,
                    Token::EscapeEnd(b'7'),
                ],
            ),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(tokens(bytes), wanted, "{}", bytes.escape_ascii());
        }
    }
}
