//! Removes the queries from a terminal's output, because coop has answered them already: a second
//! answer, from the user's own terminal, would be typed into the program. It also removes what
//! would act beyond the user's screen. Everything else passes byte for byte, and no byte is held
//! once it is clear whether it passes.

use super::query::{self, Decision, StringReader};
use super::utf8::{REPLACEMENT, Utf8Position};
use crate::term::{Csi, DEL, StringKind, Terminator, Token, Tokenizer, is_printable};

const ESC: u8 = 0x1b;
const CAN: u8 = 0x18;
const BEL: u8 = 0x07;
const NUL: u8 = 0x00;
const ENQ: u8 = 0x05;
/// The first byte of every C1 control in UTF-8.
const C1_LEAD: u8 = 0xc2;

/// A longer sequence is ignored by coop's own terminal, and dropped here.
const SEQUENCE_LIMIT: usize = 256;
/// A longer string that may be a query is taken for one.
const STRING_LIMIT: usize = 16 << 10;

/// What happens to the sequence under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// None is under way.
    Ground,
    /// The bytes since ESC are held.
    Escape,
    /// ESC and an intermediate have passed: no sequence of this form is a query.
    EscapeIntermediate,
    /// The bytes are held up to the final byte.
    Csi,
    /// The CSI sequence grew too long and is dropped to its end.
    CsiTooLong,
    String(Decision),
}

/// The filter. Its memory is bounded whatever the program sends.
#[derive(Debug)]
pub(super) struct QueryFilter {
    tokenizer: Tokenizer,
    state: State,
    /// The bytes that may turn out to be a query.
    held: Vec<u8>,
    /// The parameters and intermediates of the CSI sequence under way.
    body: Vec<u8>,
    string: StringReader,
    /// Whether the program may set the user's clipboard.
    allow_clipboard: bool,
    position: Utf8Position,
    /// The last byte was the first one of what may be a C1 control, and is neither dropped nor
    /// passed yet.
    c1_lead: bool,
    /// The output ends in a sequence that was broken off, and only the ESC of the next one ends
    /// it for the terminal.
    dangling: bool,
    /// The output may end inside a character.
    in_character: bool,
    /// Something was dropped since the last byte.
    cut: bool,
}

impl QueryFilter {
    pub(super) fn new(allow_clipboard: bool) -> Self {
        Self {
            tokenizer: Tokenizer::new(),
            state: State::Ground,
            held: Vec::new(),
            body: Vec::new(),
            string: StringReader::new(StringKind::Sos, allow_clipboard),
            allow_clipboard,
            position: Utf8Position::BETWEEN,
            c1_lead: false,
            dangling: false,
            in_character: false,
            cut: false,
        }
    }

    /// Appends to `out` what passes.
    pub(super) fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        self.in_character = bytes.last().is_some_and(|byte| !byte.is_ascii());
        while let Some(token) = self.tokenizer.next(&mut bytes) {
            self.token(token, out);
        }
    }

    /// The byte, if one is needed, that ends a sequence which has passed in part, so that
    /// something else can be written.
    pub(super) fn sequence_end(&self) -> &'static [u8] {
        let open = match self.state {
            State::EscapeIntermediate => true,
            State::String(decision) => decision == Decision::Pass,
            State::Ground | State::Escape | State::Csi | State::CsiTooLong => false,
        };
        if open || self.dangling { &[CAN] } else { &[] }
    }

    /// Whether something else can be written without cutting a sequence or a character.
    pub(super) fn is_between(&self) -> bool {
        self.sequence_end().is_empty() && !self.in_character
    }

    fn token(&mut self, token: Token<'_>, out: &mut Vec<u8>) {
        if let Token::Text(text) | Token::StringText(text) = token {
            self.text(text, out);
            return;
        }
        if std::mem::take(&mut self.c1_lead) {
            self.character_byte(C1_LEAD, out);
        }
        self.position = Utf8Position::BETWEEN;
        self.cut = false;
        match token {
            Token::Text(_) | Token::StringText(_) | Token::StringEscape => {}
            Token::Control(byte) => self.control(byte, out),
            Token::Escape => self.escape(out),
            Token::Intermediate(byte) => {
                if self.state == State::Escape {
                    self.release(out);
                    self.state = State::EscapeIntermediate;
                }
                out.push(byte);
            }
            Token::EscapeEnd(byte) => self.escape_end(byte, out),
            Token::CsiStart => {
                self.hold(b'[', out);
                self.body.clear();
                self.state = State::Csi;
            }
            Token::Csi { body, last } => self.csi(body, last, out),
            Token::StringStart(kind) => {
                self.held.push(kind.opener());
                self.string = StringReader::new(kind, self.allow_clipboard);
                self.state = State::String(Decision::Undecided);
            }
            Token::StringControl(byte) => self.string_byte(byte, out),
            Token::StringEnd(Terminator::Bell) => self.end_string(&[BEL], out),
            Token::StringEnd(Terminator::StringTerminator) => self.end_string(&[ESC, b'\\'], out),
            Token::Cancel(byte) => self.cancel(byte, out),
        }
    }

    /// Passes the characters of text or of a string. C1 controls are left out, as in coop's own
    /// terminal: a terminal that obeys them would see other sequences than this filter does. Those
    /// of one byte are not UTF-8, and become what a terminal shows for such a byte.
    fn text(&mut self, mut text: &[u8], out: &mut Vec<u8>) {
        loop {
            if self.state == State::Ground && !self.c1_lead && !self.cut {
                let plain = text.iter().take_while(|byte| byte.is_ascii()).count();
                let (before, after) = text.split_at(plain);
                out.extend_from_slice(before);
                text = after;
                if plain > 0 {
                    self.position = Utf8Position::BETWEEN;
                }
            }
            let Some((&byte, rest)) = text.split_first() else { return };
            text = rest;
            let lone_c1 = self.position.is_lone_c1(byte);
            if std::mem::take(&mut self.c1_lead) {
                if matches!(byte, 0x80..=0x9f) {
                    self.c1_control(out);
                    continue;
                }
                self.character_byte(C1_LEAD, out);
            }
            if byte == C1_LEAD {
                self.c1_lead = true;
            } else if lone_c1 {
                REPLACEMENT.iter().for_each(|byte| self.character_byte(*byte, out));
            } else {
                self.character_byte(byte, out);
            }
        }
    }

    /// The control itself is dropped, but it ends a sequence as every other character does.
    fn c1_control(&mut self, out: &mut Vec<u8>) {
        match self.state {
            State::Escape | State::Csi | State::CsiTooLong => self.drop_sequence(out),
            State::EscapeIntermediate => {
                out.push(CAN);
                self.state = State::Ground;
            }
            State::Ground | State::String(_) => {}
        }
        self.cut = true;
    }

    /// Passes a byte of a character, which breaks off a sequence but not a string.
    fn character_byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Escape | State::Csi => {
                self.release(out);
                self.dangling = true;
            }
            State::CsiTooLong => self.drop_sequence(out),
            State::EscapeIntermediate => self.state = State::Ground,
            State::Ground | State::String(_) => {}
        }
        // The bytes on both sides of something dropped must not become one character.
        let separator = std::mem::take(&mut self.cut) && matches!(byte, 0x80..=0xbf);
        for byte in separator.then_some(NUL).into_iter().chain([byte]) {
            match self.state {
                State::String(_) => self.string_byte(byte, out),
                _ => out.push(byte),
            }
        }
    }

    fn control(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::CsiTooLong if matches!(byte, ENQ | DEL) => {}
            // A terminal answers it.
            _ if byte == ENQ => self.cut = true,
            // Controls work as if they came before the sequence.
            State::Escape | State::Csi => self.hold(byte, out),
            State::Ground | State::EscapeIntermediate | State::CsiTooLong | State::String(_) => {
                out.push(byte);
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) {
        match self.state {
            State::Ground | State::CsiTooLong => {}
            State::Escape | State::Csi => {
                self.release(out);
                self.dangling = true;
            }
            State::EscapeIntermediate => self.dangling = true,
            // Some terminals act on a string that is broken off, so it is judged as if complete.
            State::String(decision) => match self.final_decision(decision) {
                Decision::Pass | Decision::Undecided => {
                    self.release(out);
                    self.dangling = true;
                }
                Decision::Drop => {}
            },
        }
        self.start();
    }

    fn start(&mut self) {
        self.state = State::Escape;
        self.held.clear();
        self.held.push(ESC);
    }

    fn escape_end(&mut self, byte: u8, out: &mut Vec<u8>) {
        // The old query for the device attributes.
        if self.state == State::Escape && byte == b'Z' {
            self.drop_sequence(out);
            return;
        }
        self.release(out);
        out.push(byte);
    }

    fn csi(&mut self, body: &[u8], last: Option<u8>, out: &mut Vec<u8>) {
        for byte in body {
            if self.state == State::Csi {
                self.body.push(*byte);
                self.hold(*byte, out);
            }
        }
        let Some(last) = last else { return };
        let is_query = || Csi::parse(&self.body, last).is_some_and(query::is_query);
        if self.state == State::CsiTooLong || query::is_media_copy(last) || is_query() {
            self.drop_sequence(out);
        } else {
            self.release(out);
            out.push(last);
        }
    }

    fn cancel(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::CsiTooLong => self.drop_sequence(out),
            State::String(_) => self.end_string(&[byte], out),
            State::Ground | State::Escape | State::EscapeIntermediate | State::Csi => {
                self.release(out);
                out.push(byte);
            }
        }
    }

    /// Holds a byte of an escape or CSI sequence.
    fn hold(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.held.len() < SEQUENCE_LIMIT {
            self.held.push(byte);
            return;
        }
        let is_csi = self.state == State::Csi;
        self.drop_sequence(out);
        if is_csi {
            self.state = State::CsiTooLong;
            if byte < b' ' {
                out.push(byte);
            }
        } else {
            self.start();
            self.held.push(byte);
        }
    }

    fn string_byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::String(Decision::Drop) => {}
            State::String(Decision::Undecided) => {
                self.held.push(byte);
                // Terminals skip controls inside a string, so they hide no query.
                let decision =
                    if is_printable(byte) { self.string.push(byte) } else { Decision::Undecided };
                let decision = match decision {
                    Decision::Undecided if self.held.len() >= STRING_LIMIT => Decision::Drop,
                    Decision::Undecided | Decision::Pass | Decision::Drop => decision,
                };
                match decision {
                    Decision::Pass => self.release(out),
                    Decision::Drop => self.held.clear(),
                    Decision::Undecided => {}
                }
                self.state = State::String(decision);
            }
            _ => out.push(byte),
        }
    }

    fn end_string(&mut self, end: &[u8], out: &mut Vec<u8>) {
        let State::String(decision) = self.state else { return };
        match self.final_decision(decision) {
            Decision::Pass | Decision::Undecided => {
                self.release(out);
                out.extend_from_slice(end);
            }
            Decision::Drop => self.drop_string(out),
        }
    }

    fn final_decision(&mut self, decision: Decision) -> Decision {
        if decision == Decision::Undecided { self.string.end() } else { decision }
    }

    /// Passes the held bytes: they are no query.
    fn release(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.dangling = false;
        self.state = State::Ground;
    }

    /// Drops a query, and passes the controls inside it, which take effect all the same.
    fn drop_sequence(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        self.drop_string(out);
        out.extend(held.iter().filter(|byte| **byte < b' ' && **byte != ESC));
    }

    fn drop_string(&mut self, out: &mut Vec<u8>) {
        if self.dangling {
            // The query's ESC would have ended the sequence that was broken off before it.
            out.extend_from_slice(&[ESC, CAN]);
        }
        self.dangling = false;
        self.cut = true;
        self.held.clear();
        self.state = State::Ground;
    }
}

#[cfg(test)]
mod tests;
