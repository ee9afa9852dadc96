//! The byte-level state machine: it cuts the child's output into text, controls and complete
//! sequences, at the same places however the bytes were cut into reads.
//! It knows the grammar only; what a sequence means is the sink's business.

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
    Text(StringKind),
    /// An ESC inside a string: its end if a backslash follows, else a new sequence.
    TextEscape(StringKind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringKind {
    Osc,
    Dcs,
    /// SOS, PM and APC, with the byte that opened it; nothing of them is recorded.
    Ignored(u8),
}

/// The state between two reads; its memory is bounded whatever the child sends.
#[derive(Debug)]
pub(super) struct Tap {
    state: State,
    /// The body of the sequence or string that is under way.
    body: Vec<u8>,
    /// The first bytes of a character that is not yet complete.
    partial: PartialChar,
}

#[derive(Debug, Clone, Copy, Default)]
struct PartialChar {
    bytes: [u8; 4],
    len: usize,
}

impl Tap {
    pub(super) fn new() -> Self {
        Self { state: State::Ground, body: Vec::new(), partial: PartialChar::default() }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = match self.state {
                State::Ground => self.ground(bytes, sink),
                State::Escape => self.escape(byte, bytes, rest, sink),
                State::EscapeIntermediate => self.escape_intermediate(byte, bytes, rest, sink),
                State::Csi => self.csi(bytes, sink),
                State::CsiIgnore => self.csi_ignore(byte, bytes, rest, sink),
                State::Text(kind) => self.text(kind, bytes, sink),
                State::TextEscape(kind) => self.text_escape(kind, byte, bytes, rest, sink),
            };
        }
    }

    /// The bytes that were taken in but have had no effect yet. A terminal that has been shown
    /// everything else needs them before it can make sense of the next byte.
    pub(super) fn pending(&self) -> Vec<u8> {
        let opening: &[u8] = match self.state {
            State::Ground => self.partial.as_slice(),
            State::Escape | State::EscapeIntermediate => b"\x1b",
            State::Csi => b"\x1b[",
            // A colon in the first place makes every terminal ignore the sequence.
            State::CsiIgnore => b"\x1b[:",
            State::Text(StringKind::Osc) | State::TextEscape(StringKind::Osc) => b"\x1b]",
            State::Text(StringKind::Dcs) | State::TextEscape(StringKind::Dcs) => b"\x1bP",
            State::Text(StringKind::Ignored(_)) | State::TextEscape(StringKind::Ignored(_)) => b"\x1b",
        };
        let mut pending = opening.to_vec();
        match self.state {
            State::Text(StringKind::Ignored(opener)) | State::TextEscape(StringKind::Ignored(opener)) => {
                pending.push(opener);
            }
            State::Ground
            | State::Escape
            | State::EscapeIntermediate
            | State::Csi
            | State::CsiIgnore
            | State::Text(_)
            | State::TextEscape(_) => {}
        }
        pending.extend_from_slice(&self.body);
        if let State::TextEscape(_) = self.state {
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
        if self.partial.len == 0 && text.is_ascii() {
            sink.print_ascii(text);
        } else {
            self.print(text, sink);
        }
        let Some((&byte, rest)) = rest.split_first() else { return rest };
        self.end_partial(sink);
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
            b']' => self.enter(State::Text(StringKind::Osc)),
            b'P' => self.enter(State::Text(StringKind::Dcs)),
            b'X' | b'^' | b'_' => self.enter(State::Text(StringKind::Ignored(byte))),
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

    fn csi_ignore<'a>(&mut self, byte: u8, bytes: &'a [u8], rest: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
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

    fn text<'a>(&mut self, kind: StringKind, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let (text, rest) = bytes.split_at(printable_len(bytes));
        if !matches!(kind, StringKind::Ignored(_)) {
            let room = STRING_LIMIT.saturating_sub(self.body.len());
            self.body.extend_from_slice(text.get(..room).unwrap_or(text));
        }
        let Some((&byte, rest)) = rest.split_first() else { return rest };
        match byte {
            ESC => self.state = State::TextEscape(kind),
            CAN | SUB => self.enter(State::Ground),
            BEL if kind == StringKind::Osc => self.end_string(kind, Terminator::Bell, sink),
            _ => {}
        }
        rest
    }

    fn text_escape<'a>(
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

    fn print(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while self.partial.len > 0 {
            let Some((&byte, rest)) = bytes.split_first() else { return };
            if self.partial.push(byte, sink) {
                bytes = rest;
            }
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            print_without_c1(text, sink);
            return;
        }
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            if !chunk.valid().is_empty() {
                print_without_c1(chunk.valid(), sink);
            }
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            if chunks.peek().is_none() && is_incomplete(invalid) {
                self.partial.start(invalid);
            } else {
                sink.print("\u{fffd}");
            }
        }
    }

    fn end_partial(&mut self, sink: &mut impl Sink) {
        if self.partial.len > 0 {
            self.partial.len = 0;
            sink.print("\u{fffd}");
        }
    }
}

impl PartialChar {
    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn start(&mut self, bytes: &[u8]) {
        self.len = 0;
        for (slot, byte) in self.bytes.iter_mut().zip(bytes) {
            *slot = *byte;
            self.len += 1;
        }
    }

    /// Adds a byte if the character can go on with it. If it cannot, the character is invalid and
    /// the byte, which may start another one, is left to the caller.
    fn push(&mut self, byte: u8, sink: &mut impl Sink) -> bool {
        let mut candidate = *self;
        if let Some(slot) = candidate.bytes.get_mut(candidate.len) {
            *slot = byte;
            candidate.len += 1;
        }
        if let Ok(text) = std::str::from_utf8(candidate.as_slice()) {
            self.len = 0;
            print_without_c1(text, sink);
            return true;
        }
        if is_incomplete(candidate.as_slice()) {
            *self = candidate;
            return true;
        }
        self.len = 0;
        sink.print("\u{fffd}");
        false
    }
}

fn dispatch_csi(body: &[u8], last: u8, sink: &mut impl Sink) {
    let limited = limit_numbers(body);
    if let Some(csi) = Csi::parse(&limited, last) {
        sink.csi(csi);
    }
}

/// Whether the bytes are the beginning of a valid character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// The length of the part before the first C0 control or DEL. Whole blocks are tested at once,
/// which the compiler turns into vector instructions.
fn printable_len(bytes: &[u8]) -> usize {
    const BLOCK: usize = 16;
    let is_printable = |byte: &u8| (*byte >= b' ') & (*byte != DEL);
    let blocks = bytes
        .chunks_exact(BLOCK)
        .take_while(|block| block.iter().fold(true, |all, byte| all & is_printable(byte)))
        .count();
    let tested = blocks * BLOCK;
    tested + bytes.iter().skip(tested).take_while(|byte| is_printable(byte)).count()
}

/// C1 controls are dropped: in UTF-8 they are more often damage than intent, and a terminal that
/// obeyed them would see other sequences than one that does not.
fn print_without_c1(text: &str, sink: &mut impl Sink) {
    let is_c1 = |c: char| ('\u{80}'..'\u{a0}').contains(&c);
    // Every C1 control starts with this byte, which is rare in other text.
    if memchr::memchr(0xc2, text.as_bytes()).is_none() {
        sink.print(text);
        return;
    }
    for part in text.split(is_c1).filter(|part| !part.is_empty()) {
        sink.print(part);
    }
}
