//! The byte-level state machine: it cuts the child's output into text, controls and complete
//! sequences, at the same places however the bytes were cut into reads.
//! It knows the grammar only; what a sequence means is the sink's business.

use super::decoder::Decoder;
use super::sequence::{Csi, limit_numbers};

const ESC: u8 = 0x1b;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const BEL: u8 = 0x07;
const DEL: u8 = 0x7f;

/// A CSI sequence longer than this is ignored; 32 parameters of four digits fit.
const SEQUENCE_LIMIT: usize = 192;
/// What is recorded of an OSC or DCS string; the rest is dropped up to its terminator.
const STRING_LIMIT: usize = 4096;

/// Receives what the tap finds, in the order of the bytes.
pub(super) trait Sink {
    /// Printable ASCII.
    fn print_ascii(&mut self, text: &[u8]);
    /// Printable characters; no control, neither C0 nor C1, is among them.
    fn print(&mut self, text: &str);
    /// A C0 control other than those that belong to the grammar.
    fn control(&mut self, byte: u8);
    /// A complete escape sequence that is neither CSI nor a string.
    fn escape(&mut self, intermediates: &[u8], last: u8);
    fn csi(&mut self, csi: Csi<'_>);
    fn osc(&mut self, payload: &[u8], end: Terminator);
    fn dcs(&mut self, payload: &[u8]);
}

/// How an OSC string ended; a reply ends the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminator {
    Bell,
    StringTerminator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    /// A CSI sequence that grew too long.
    CsiIgnore,
    String(StringKind),
    /// An ESC inside a string: its end if a backslash follows, else a new sequence.
    StringEscape(StringKind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringKind {
    Osc,
    Dcs,
    /// SOS, PM and APC, with the byte that opened it; nothing of them is recorded.
    Ignored(u8),
}

impl StringKind {
    fn opener(self) -> u8 {
        match self {
            Self::Osc => b']',
            Self::Dcs => b'P',
            Self::Ignored(opener) => opener,
        }
    }
}

/// The state between two reads; its memory is bounded whatever the child sends.
#[derive(Debug)]
pub(super) struct Tap {
    state: State,
    /// The body of the sequence or string that is under way.
    body: Vec<u8>,
    decoder: Decoder,
}

impl Tap {
    pub(super) fn new() -> Self {
        Self { state: State::Ground, body: Vec::new(), decoder: Decoder::default() }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = match self.state {
                State::Ground => self.ground(bytes, sink),
                State::Escape => self.escape(byte, bytes, rest, sink),
                State::EscapeIntermediate => self.escape_intermediate(byte, bytes, rest, sink),
                State::Csi => self.csi(bytes, sink),
                State::CsiIgnore => self.csi_ignore(byte, bytes, rest, sink),
                State::String(kind) => self.string(kind, bytes, sink),
                State::StringEscape(kind) => self.string_escape(kind, byte, bytes, rest, sink),
            };
        }
    }

    /// The bytes that were taken in but have had no effect yet. A terminal that has been shown
    /// everything else needs them before it can make sense of the next byte.
    pub(super) fn pending(&self) -> Vec<u8> {
        let mut pending = match self.state {
            State::Ground => self.decoder.pending().to_vec(),
            State::Escape | State::EscapeIntermediate => vec![ESC],
            State::Csi => vec![ESC, b'['],
            // A colon in the first place makes every terminal ignore the sequence.
            State::CsiIgnore => vec![ESC, b'[', b':'],
            State::String(kind) | State::StringEscape(kind) => vec![ESC, kind.opener()],
        };
        pending.extend_from_slice(&self.body);
        if let State::StringEscape(_) = self.state {
            pending.push(ESC);
        }
        pending
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.body.clear();
    }

    fn ground<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let (text, rest) = bytes.split_at(printable_len(bytes));
        if self.decoder.pending().is_empty() && text.is_ascii() {
            sink.print_ascii(text);
        } else {
            self.decoder.decode(text, &mut |text| sink.print(text));
        }
        let Some((&byte, rest)) = rest.split_first() else { return rest };
        self.decoder.finish(&mut |text| sink.print(text));
        match byte {
            ESC => self.enter(State::Escape),
            DEL => {}
            byte => sink.control(byte),
        }
        rest
    }

    fn escape<'a>(&mut self, byte: u8, bytes: &'a [u8], rest: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        match byte {
            b'[' => self.enter(State::Csi),
            b']' => self.enter(State::String(StringKind::Osc)),
            b'P' => self.enter(State::String(StringKind::Dcs)),
            b'X' | b'^' | b'_' => self.enter(State::String(StringKind::Ignored(byte))),
            b' '..=b'/' => {
                self.state = State::EscapeIntermediate;
                self.body.push(byte);
            }
            b'0'..=b'~' => {
                self.enter(State::Ground);
                sink.escape(&[], byte);
            }
            _ => return self.inside_sequence(byte, bytes, rest, sink),
        }
        rest
    }

    fn escape_intermediate<'a>(
        &mut self,
        byte: u8,
        bytes: &'a [u8],
        rest: &'a [u8],
        sink: &mut impl Sink,
    ) -> &'a [u8] {
        match byte {
            b' '..=b'/' => {
                if self.body.len() < SEQUENCE_LIMIT {
                    self.body.push(byte);
                }
            }
            b'0'..=b'~' => {
                self.state = State::Ground;
                sink.escape(&self.body, byte);
                self.body.clear();
            }
            _ => return self.inside_sequence(byte, bytes, rest, sink),
        }
        rest
    }

    fn csi<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let body_len = bytes.iter().take_while(|byte| matches!(byte, b' '..=b'?')).count();
        let (body, after) = bytes.split_at(body_len);
        if self.body.len() + body.len() > SEQUENCE_LIMIT {
            self.enter(State::CsiIgnore);
            return after;
        }
        match after.split_first() {
            // Most sequences arrive in one piece and need not be collected.
            Some((&last @ b'@'..=b'~', rest)) if self.body.is_empty() => {
                self.state = State::Ground;
                dispatch_csi(body, last, sink);
                rest
            }
            Some((&last @ b'@'..=b'~', rest)) => {
                self.body.extend_from_slice(body);
                self.state = State::Ground;
                dispatch_csi(&self.body, last, sink);
                self.body.clear();
                rest
            }
            Some((&byte, rest)) => {
                self.body.extend_from_slice(body);
                self.inside_sequence(byte, after, rest, sink)
            }
            None => {
                self.body.extend_from_slice(body);
                after
            }
        }
    }

    fn csi_ignore<'a>(
        &mut self,
        byte: u8,
        bytes: &'a [u8],
        rest: &'a [u8],
        sink: &mut impl Sink,
    ) -> &'a [u8] {
        match byte {
            b' '..=b'?' => {}
            b'@'..=b'~' => self.enter(State::Ground),
            _ => return self.inside_sequence(byte, bytes, rest, sink),
        }
        rest
    }

    /// What every sequence does with bytes that cannot be part of it: controls work as always,
    /// and anything that is not ASCII ends the sequence and is text again.
    fn inside_sequence<'a>(
        &mut self,
        byte: u8,
        bytes: &'a [u8],
        rest: &'a [u8],
        sink: &mut impl Sink,
    ) -> &'a [u8] {
        match byte {
            ESC => self.enter(State::Escape),
            CAN | SUB => self.enter(State::Ground),
            DEL => {}
            0x80.. => {
                self.enter(State::Ground);
                return bytes;
            }
            control => sink.control(control),
        }
        rest
    }

    fn string<'a>(&mut self, kind: StringKind, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let (text, rest) = bytes.split_at(printable_len(bytes));
        if !matches!(kind, StringKind::Ignored(_)) {
            let room = STRING_LIMIT.saturating_sub(self.body.len());
            self.body.extend_from_slice(text.get(..room).unwrap_or(text));
        }
        let Some((&byte, rest)) = rest.split_first() else { return rest };
        match byte {
            ESC => self.state = State::StringEscape(kind),
            CAN | SUB => self.enter(State::Ground),
            BEL if kind == StringKind::Osc => self.end_string(kind, Terminator::Bell, sink),
            _ => {}
        }
        rest
    }

    fn string_escape<'a>(
        &mut self,
        kind: StringKind,
        byte: u8,
        bytes: &'a [u8],
        rest: &'a [u8],
        sink: &mut impl Sink,
    ) -> &'a [u8] {
        if byte == b'\\' {
            self.end_string(kind, Terminator::StringTerminator, sink);
            return rest;
        }
        self.enter(State::Escape);
        bytes
    }

    fn end_string(&mut self, kind: StringKind, end: Terminator, sink: &mut impl Sink) {
        match kind {
            StringKind::Osc => sink.osc(&self.body, end),
            StringKind::Dcs => sink.dcs(&self.body),
            StringKind::Ignored(_) => {}
        }
        self.enter(State::Ground);
    }
}

fn dispatch_csi(body: &[u8], last: u8, sink: &mut impl Sink) {
    let limited = limit_numbers(body);
    if let Some(csi) = Csi::parse(&limited, last) {
        sink.csi(csi);
    }
}

/// The length of the part before the first C0 control or DEL. Eight bytes are tested at once, as one number: every byte
/// of a flood comes by here.
fn printable_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const DELS: u64 = u64::from_ne_bytes([DEL; 8]);
    const BLANKS: u64 = u64::from_ne_bytes([b' '; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    // A byte that is smaller than what is taken from it borrows its top bit, which only a byte below 0x80 did not have.
    let all_printable = |block: u64| {
        let other_than_del = block ^ DELS;
        let controls = block.wrapping_sub(BLANKS) & !block;
        let dels = other_than_del.wrapping_sub(ONES) & !other_than_del;
        (controls | dels) & TOPS == 0
    };
    let (blocks, _) = bytes.as_chunks::<8>();
    let tested = 8 * blocks.iter().take_while(|block| all_printable(u64::from_ne_bytes(**block))).count();
    let is_printable = |byte: &&u8| **byte >= b' ' && **byte != DEL;
    tested + bytes.iter().skip(tested).take_while(is_printable).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_ends_what_is_printable_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            let printable = byte >= b' ' && byte != DEL;
            for length in 1..20 {
                for at in 0..length {
                    let mut bytes = vec![0xe9; length];
                    bytes[at] = byte;
                    assert_eq!(printable_len(&bytes), if printable { length } else { at }, "{byte} at {at}");
                }
            }
        }
    }
}
