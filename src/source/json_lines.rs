//! Bytes become JSON values, one a line. It knows neither where the bytes come from nor what the values mean, and it
//! keeps no more of a line than its limit.

use memchr::memchr;
use serde_json::Value;

/// Cuts a stream of bytes into values.
#[derive(Debug)]
pub struct JsonLines {
    limit: usize,
    partial: Vec<u8>,
    /// The line that is coming in is too long already; its rest goes nowhere.
    skipping: bool,
    spoiled: Spoiled,
}

/// Lines that gave no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spoiled {
    pub malformed: u64,
    pub too_long: u64,
}

impl JsonLines {
    /// For lines of at most so many bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), skipping: false, spoiled: Spoiled::default() }
    }

    /// The values of the lines that these bytes complete. Lines that are none are counted, empty ones are not.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Value> {
        let mut values = Vec::new();
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() && !self.skipping && head.len() <= self.limit {
                self.take(head, &mut values);
                continue;
            }
            self.keep(head);
            let line = std::mem::take(&mut self.partial);
            if !std::mem::take(&mut self.skipping) {
                self.take(&line, &mut values);
            }
        }
        self.keep(bytes);
        values
    }

    /// Gives up on the line that is coming in: what follows is no part of it.
    pub fn cut(&mut self) {
        if !self.partial.is_empty() {
            self.spoiled.malformed += 1;
        }
        self.partial = Vec::new();
        self.skipping = false;
    }

    /// What was spoiled since this was last asked.
    pub fn take_spoiled(&mut self) -> Spoiled {
        std::mem::take(&mut self.spoiled)
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.partial.len() + bytes.len() > self.limit {
            self.partial = Vec::new();
            self.skipping = true;
            self.spoiled.too_long += 1;
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn take(&mut self, line: &[u8], values: &mut Vec<Value>) {
        let line = without_sequences(line.trim_ascii());
        if line.is_empty() {
            return;
        }
        match parse(line).or_else(|| parse(String::from_utf8_lossy(line).as_bytes())) {
            Some(value) => values.push(value),
            None => self.spoiled.malformed += 1,
        }
    }
}

/// One value; only a terminal's control sequences may follow it.
fn parse(line: &[u8]) -> Option<Value> {
    let mut stream = serde_json::Deserializer::from_slice(line).into_iter::<Value>();
    let value = stream.next()?.ok()?;
    let rest = line.get(stream.byte_offset()..)?;
    matches!(rest.trim_ascii_start().first(), None | Some(0x1b)).then_some(value)
}

/// The line without the control sequences (`ESC [ … letter`) that a terminal program put before it.
fn without_sequences(mut line: &[u8]) -> &[u8] {
    while let Some(sequence) = line.strip_prefix(b"\x1b[") {
        let Some(end) = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte)) else { break };
        line = sequence.get(end + 1..).unwrap_or_default().trim_ascii_start();
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn spoiled(malformed: u64, too_long: u64) -> Spoiled {
        Spoiled { malformed, too_long }
    }

    #[test]
    fn lines_may_come_in_any_pieces() {
        let text = b"{\"a\":1}\r\n\n[2]\n{\"b\":\"x\"}\n{\"half\"";
        for size in 1..text.len() {
            let mut lines = JsonLines::new(100);
            let values: Vec<Value> = text.chunks(size).flat_map(|piece| lines.push(piece)).collect();
            assert_eq!(values, [json!({"a": 1}), json!([2]), json!({"b": "x"})], "{size}");
            assert_eq!(lines.push(b":3}\n"), [json!({"half": 3})]);
            assert_eq!(lines.take_spoiled(), spoiled(0, 0));
        }
    }

    #[test]
    fn what_is_no_json_is_counted_and_survived() {
        let mut lines = JsonLines::new(100);
        assert_eq!(lines.push(b"{\"a\":\nplain words\n{\"a\":1} {\"b\":2}\n{\"a\":2}\n"), [json!({"a": 2})]);
        assert_eq!(lines.take_spoiled(), spoiled(3, 0));
        assert_eq!(lines.take_spoiled(), spoiled(0, 0), "counted once");
    }

    #[test]
    fn bytes_that_are_no_text_spoil_only_themselves() {
        let mut lines = JsonLines::new(100);
        assert_eq!(lines.push(b"{\"a\":\"x\xffy\"}\n\xff\xfe\n"), [json!({"a": "x\u{fffd}y"})]);
        assert_eq!(lines.take_spoiled(), spoiled(1, 0));
    }

    #[test]
    fn a_terminals_sequences_around_a_line_are_no_part_of_it() {
        let mut lines = JsonLines::new(100);
        let printed = b"\x1b[?25l\x1b[2K{\"a\":1}\x1b[0m\r\n\x1b[?2004h\r\n{\"a\":\"\x1b\"}\n";
        assert_eq!(lines.push(printed), [json!({"a": 1})]);
        assert_eq!(lines.take_spoiled(), spoiled(1, 0), "a bare escape inside of a string is no JSON");
    }

    #[test]
    fn long_lines_are_skipped_to_their_end() {
        let mut lines = JsonLines::new(10);
        assert_eq!(lines.push(b"{\"a\":\"01234567890\"}\n{\"a\":1}\n"), [json!({"a": 1})]);
        for _ in 0..100 {
            assert!(lines.push(b"0123456789").is_empty());
            assert!(lines.partial.len() <= 10);
        }
        assert_eq!(lines.push(b"\n2\n"), [json!(2)]);
        assert_eq!(lines.take_spoiled(), spoiled(0, 2));
    }

    #[test]
    fn a_cut_line_does_not_run_into_the_next() {
        let mut lines = JsonLines::new(100);
        lines.push(b"{\"a\":");
        lines.cut();
        assert_eq!(lines.push(b"1\n"), [json!(1)]);
        lines.cut();
        assert_eq!(lines.take_spoiled(), spoiled(1, 0));
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
            let mut lines = JsonLines::new(16);
            for piece in &pieces {
                lines.push(piece);
                prop_assert!(lines.partial.len() <= 16);
            }
            lines.cut();
            prop_assert_eq!(lines.push(b"{}\n"), vec![json!({})]);
        }
    }
}
