//! Collects the child's output into text, controls and complete sequences for a sink, the same
//! ones wherever the reads cut the bytes. It does not know what a sequence means.

use super::decoder::Decoder;
use super::printable::DEL;
use super::sequence::{Csi, limit_numbers};
use super::tokenizer::{StringKind, Terminator, Token, Tokenizer};

/// A CSI sequence longer than this is ignored; 32 parameters of four digits fit.
const SEQUENCE_LIMIT: usize = 192;
/// How much of an OSC or DCS string is kept; the rest is dropped up to its terminator.
const STRING_LIMIT: usize = 4096;

/// Receives what the tap finds, in the order of the bytes.
pub(super) trait Sink {
    /// Printable ASCII.
    fn print_ascii(&mut self, text: &[u8]);
    /// Printable characters, without C0 and C1 controls.
    fn print(&mut self, text: &str);
    /// A C0 control that is not part of the grammar.
    fn control(&mut self, byte: u8);
    /// A complete escape sequence that is neither CSI nor a string.
    fn escape(&mut self, intermediates: &[u8], last: u8);
    fn csi(&mut self, csi: Csi<'_>);
    fn osc(&mut self, payload: &[u8], end: Terminator);
    fn dcs(&mut self, payload: &[u8]);
}

/// The state between two reads; its memory is bounded whatever the child sends.
#[derive(Debug)]
pub(super) struct Tap {
    tokenizer: Tokenizer,
    decoder: Decoder,
    /// The kind of the string under way.
    string: StringKind,
    /// The body of the sequence or string under way.
    body: Vec<u8>,
    /// The CSI sequence under way grew too long and is ignored.
    too_long: bool,
}

impl Tap {
    pub(super) fn new() -> Self {
        Self {
            tokenizer: Tokenizer::new(),
            decoder: Decoder::default(),
            string: StringKind::Osc,
            body: Vec::new(),
            too_long: false,
        }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while let Some(token) = self.tokenizer.next(&mut bytes) {
            match token {
                Token::Text(text) => self.text(text, sink),
                Token::Control(byte) => {
                    self.decoder.finish(&mut |text| sink.print(text));
                    if byte != DEL {
                        sink.control(byte);
                    }
                }
                Token::Escape => {
                    self.decoder.finish(&mut |text| sink.print(text));
                    self.body.clear();
                    self.too_long = false;
                }
                Token::Csi { body, last } => self.csi(body, last, sink),
                Token::Intermediate(byte) => {
                    if self.body.len() < SEQUENCE_LIMIT {
                        self.body.push(byte);
                    }
                }
                Token::EscapeEnd(last) => sink.escape(&self.body, last),
                Token::StringStart(kind) => self.string = kind,
                Token::StringText(text) => self.string_text(text),
                Token::StringEnd(end) => match self.string {
                    StringKind::Osc => sink.osc(&self.body, end),
                    StringKind::Dcs => sink.dcs(&self.body),
                    StringKind::Apc | StringKind::Sos | StringKind::Pm => {}
                },
                Token::CsiStart
                | Token::StringControl(_)
                | Token::StringEscape
                | Token::Cancel(_) => {}
            }
        }
    }

    /// The bytes that were taken in but have had no effect yet. A terminal that was fed
    /// everything else needs them before it can interpret the next byte.
    pub(super) fn pending(&self) -> Vec<u8> {
        if self.tokenizer.is_ground() {
            return self.decoder.pending().to_vec();
        }
        let mut pending = self.tokenizer.opening();
        if self.too_long {
            // A colon in the first place makes every terminal ignore the sequence.
            pending.push(b':');
        } else {
            pending.extend_from_slice(&self.body);
        }
        pending.extend_from_slice(self.tokenizer.closing());
        pending
    }

    #[inline(always)]
    fn text(&mut self, text: &[u8], sink: &mut impl Sink) {
        if self.decoder.pending().is_empty() && text.is_ascii() {
            sink.print_ascii(text);
        } else {
            self.decoder.decode(text, &mut |text| sink.print(text));
        }
    }

    #[inline(always)]
    fn csi(&mut self, body: &[u8], last: Option<u8>, sink: &mut impl Sink) {
        if self.too_long || self.body.len() + body.len() > SEQUENCE_LIMIT {
            self.too_long = true;
            return;
        }
        match last {
            // Most sequences arrive in one piece and need not be collected.
            Some(last) if self.body.is_empty() => dispatch_csi(body, last, sink),
            Some(last) => {
                self.body.extend_from_slice(body);
                dispatch_csi(&self.body, last, sink);
            }
            None => self.body.extend_from_slice(body),
        }
    }

    fn string_text(&mut self, text: &[u8]) {
        if matches!(self.string, StringKind::Osc | StringKind::Dcs) {
            let room = STRING_LIMIT.saturating_sub(self.body.len());
            self.body.extend_from_slice(text.get(..room).unwrap_or(text));
        }
    }
}

fn dispatch_csi(body: &[u8], last: u8, sink: &mut impl Sink) {
    let limited = limit_numbers(body);
    if let Some(csi) = Csi::parse(&limited, last) {
        sink.csi(csi);
    }
}
