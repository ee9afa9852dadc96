//! Takes the questions out of a terminal's output, because coop has answered them already: a
//! second answer, from the person's own terminal, would be typed into the program.
//! Everything else passes byte for byte, and nothing is held longer than it takes to tell.

use super::query::{self, Fate, StringKind, StringReader};
use crate::term::Csi;

const ESC: u8 = 0x1b;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const BEL: u8 = 0x07;
const NUL: u8 = 0x00;
const ENQ: u8 = 0x05;
const DEL: u8 = 0x7f;
/// The first byte of every C1 control in UTF-8.
const C1_LEAD: u8 = 0xc2;

/// A longer sequence is ignored by coop's own terminal, and dropped here.
const SEQUENCE_LIMIT: usize = 256;
/// A string that may ask something and is longer is taken for a question.
const STRING_LIMIT: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    /// After ESC, which is held.
    Escape,
    /// After ESC and an intermediate, which have passed: nothing of this form is a question.
    EscapeIntermediate,
    /// Held up to the final byte.
    Csi,
    /// A CSI sequence that grew too long: dropped to its end.
    CsiTooLong,
    String(StringKind, Fate),
    /// After an ESC inside a string: its end if a backslash follows, else a new sequence.
    StringEscape(Fate),
}

/// The filter. Its memory is bounded whatever comes.
#[derive(Debug)]
pub(super) struct Mute {
    state: State,
    /// What may still turn out to be a question.
    held: Vec<u8>,
    /// The parameters and intermediates of the CSI sequence under way.
    body: Vec<u8>,
    string: StringReader,
    /// The first byte of what may become a C1 control.
    lead: bool,
    /// What has passed ends in a sequence that was broken off, and only the ESC of the next one
    /// tells the terminal so.
    dangling: bool,
    /// What has passed may end inside a character.
    in_character: bool,
    /// Something was dropped since the last byte.
    cut: bool,
}

impl Mute {
    pub(super) fn new() -> Self {
        Self {
            state: State::Ground,
            held: Vec::new(),
            body: Vec::new(),
            string: StringReader::new(StringKind::Silent),
            lead: false,
            dangling: false,
            in_character: false,
            cut: false,
        }
    }

    /// Appends what may pass to `out`.
    pub(super) fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        self.in_character = bytes.last().is_some_and(|byte| !byte.is_ascii());
        loop {
            if self.state == State::Ground && !self.lead && !self.cut {
                let plain = memchr::memchr3(ESC, ENQ, C1_LEAD, bytes).unwrap_or(bytes.len());
                let (text, rest) = bytes.split_at(plain);
                out.extend_from_slice(text);
                bytes = rest;
            }
            let Some((&byte, rest)) = bytes.split_first() else { return };
            bytes = rest;
            self.byte(byte, out);
        }
    }

    /// What ends a sequence that has passed in part, so that something else can be written.
    pub(super) fn settle(&self) -> &'static [u8] {
        let open = match self.state {
            State::EscapeIntermediate => true,
            State::String(_, fate) | State::StringEscape(fate) => fate == Fate::Pass,
            State::Ground | State::Escape | State::Csi | State::CsiTooLong => false,
        };
        if open || self.dangling { &[CAN] } else { &[] }
    }

    /// Whether something else can be written without cutting a sequence or a character.
    pub(super) fn is_between(&self) -> bool {
        self.settle().is_empty() && !self.in_character
    }

    /// C1 controls are left out, as in coop's own terminal: one that obeys them would see other
    /// sequences than those looked at here.
    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.lead {
            self.lead = false;
            if matches!(byte, 0x80..=0x9f) {
                self.c1(out);
                return;
            }
            self.step(C1_LEAD, out);
        }
        if byte == C1_LEAD {
            self.lead = true;
        } else {
            self.step(byte, out);
        }
    }

    /// The control itself does nothing, but it ends a sequence as every other character does.
    fn c1(&mut self, out: &mut Vec<u8>) {
        self.cut = true;
        match self.state {
            State::Escape | State::Csi | State::CsiTooLong => self.drop_sequence(out),
            State::EscapeIntermediate => {
                out.push(CAN);
                self.state = State::Ground;
            }
            State::StringEscape(fate) => {
                self.break_off(fate, out);
                self.drop_sequence(out);
            }
            State::Ground | State::String(..) => {}
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.cut) && matches!(byte, 0x80..=0xbf) {
            // What was on both sides of something dropped must not become one character.
            self.step(NUL, out);
        }
        match self.state {
            State::Ground => match byte {
                ESC => self.start(),
                ENQ => self.cut = true,
                _ => out.push(byte),
            },
            State::Escape => self.escape(byte, out),
            State::EscapeIntermediate => self.escape_intermediate(byte, out),
            State::Csi => self.csi(byte, out),
            State::CsiTooLong => self.csi_too_long(byte, out),
            State::String(kind, fate) => self.in_string(kind, fate, byte, out),
            State::StringEscape(fate) => self.string_escape(fate, byte, out),
        }
    }

    fn start(&mut self) {
        self.state = State::Escape;
        self.held.clear();
        self.held.push(ESC);
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b'[' => {
                self.hold(byte, out);
                self.body.clear();
                self.state = State::Csi;
            }
            b']' => self.start_string(StringKind::Osc, byte),
            b'P' => self.start_string(StringKind::Dcs, byte),
            b'_' => self.start_string(StringKind::Apc, byte),
            b'X' | b'^' => self.start_string(StringKind::Silent, byte),
            // The old way to ask for the device attributes.
            b'Z' => self.drop_sequence(out),
            b' '..=b'/' => {
                self.release(out);
                out.push(byte);
                self.state = State::EscapeIntermediate;
            }
            b'0'..=b'~' => {
                self.release(out);
                out.push(byte);
            }
            _ => self.control(byte, out),
        }
    }

    fn escape_intermediate(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => {
                self.dangling = true;
                self.start();
            }
            ENQ => self.cut = true,
            b'0'..=b'~' | CAN | SUB | 0x80.. => {
                self.state = State::Ground;
                out.push(byte);
            }
            _ => out.push(byte),
        }
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b' '..=b'?' => {
                self.body.push(byte);
                self.hold(byte, out);
            }
            b'@'..=b'~' => {
                if Csi::parse(&self.body, byte).is_some_and(query::asks) {
                    self.drop_sequence(out);
                } else {
                    self.release(out);
                    out.push(byte);
                }
            }
            _ => self.control(byte, out),
        }
    }

    fn csi_too_long(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b' '..=b'?' | ENQ | DEL => {}
            b'@'..=b'~' | CAN | SUB => self.drop_sequence(out),
            ESC => self.start(),
            0x80.. => {
                self.drop_sequence(out);
                out.push(byte);
            }
            control => out.push(control),
        }
    }

    /// What a held sequence does with bytes that cannot be part of it.
    fn control(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => {
                self.release(out);
                self.dangling = true;
                self.start();
            }
            ENQ => self.cut = true,
            CAN | SUB => {
                self.release(out);
                out.push(byte);
            }
            0x80.. => {
                self.release(out);
                self.dangling = true;
                out.push(byte);
            }
            // Other controls work as if they came before the sequence.
            control => self.hold(control, out),
        }
    }

    fn hold(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.held.len() < SEQUENCE_LIMIT {
            self.held.push(byte);
            return;
        }
        let introduced = self.state == State::Csi;
        self.drop_sequence(out);
        if introduced {
            self.state = State::CsiTooLong;
            if byte < b' ' {
                out.push(byte);
            }
        } else {
            self.start();
            self.held.push(byte);
        }
    }

    fn start_string(&mut self, kind: StringKind, opener: u8) {
        self.held.push(opener);
        self.string = StringReader::new(kind);
        self.state = State::String(kind, Fate::Undecided);
    }

    fn in_string(&mut self, kind: StringKind, fate: Fate, byte: u8, out: &mut Vec<u8>) {
        match byte {
            ESC => self.state = State::StringEscape(fate),
            CAN | SUB => self.end_string(fate, &[byte], out),
            BEL if kind == StringKind::Osc => self.end_string(fate, &[BEL], out),
            byte => match fate {
                Fate::Pass => out.push(byte),
                Fate::Query => {}
                Fate::Undecided => {
                    self.held.push(byte);
                    // Terminals skip controls inside a string, so they hide no question.
                    let told = if is_printable(byte) { self.string.push(byte) } else { Fate::Undecided };
                    let fate = match told {
                        Fate::Undecided if self.held.len() >= STRING_LIMIT => Fate::Query,
                        Fate::Undecided | Fate::Pass | Fate::Query => told,
                    };
                    match fate {
                        Fate::Pass => self.release(out),
                        Fate::Query => self.held.clear(),
                        Fate::Undecided => {}
                    }
                    self.state = State::String(kind, fate);
                }
            },
        }
    }

    fn string_escape(&mut self, fate: Fate, byte: u8, out: &mut Vec<u8>) {
        if byte == b'\\' {
            self.end_string(fate, &[ESC, b'\\'], out);
            return;
        }
        self.break_off(fate, out);
        self.start();
        self.step(byte, out);
    }

    /// Some terminals act on a string that is broken off, so it is judged as if complete.
    fn break_off(&mut self, fate: Fate, out: &mut Vec<u8>) {
        match self.settled(fate) {
            Fate::Pass | Fate::Undecided => {
                out.append(&mut self.held);
                self.dangling = true;
            }
            Fate::Query => self.held.clear(),
        }
    }

    fn end_string(&mut self, fate: Fate, end: &[u8], out: &mut Vec<u8>) {
        match self.settled(fate) {
            Fate::Pass | Fate::Undecided => {
                self.release(out);
                out.extend_from_slice(end);
            }
            Fate::Query => self.drop_silently(out),
        }
    }

    fn settled(&mut self, fate: Fate) -> Fate {
        if fate == Fate::Undecided { self.string.end() } else { fate }
    }

    /// Passes what is held: it asks nothing.
    fn release(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.dangling = false;
        self.state = State::Ground;
    }

    /// Drops a question, and keeps the controls that stood inside: they work all the same.
    fn drop_sequence(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        self.drop_silently(out);
        out.extend(held.iter().filter(|byte| **byte < b' ' && **byte != ESC));
    }

    fn drop_silently(&mut self, out: &mut Vec<u8>) {
        if self.dangling {
            // The question's ESC would have ended what was broken off before it.
            out.extend_from_slice(&[ESC, CAN]);
        }
        self.dangling = false;
        self.cut = true;
        self.held.clear();
        self.state = State::Ground;
    }
}

fn is_printable(byte: u8) -> bool {
    byte >= b' ' && byte != DEL
}

#[cfg(test)]
mod tests;
