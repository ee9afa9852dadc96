//! Splits a stream of bytes into lines and parses each as one JSON value, with a limit on the
//! length of a line. It must not know where the bytes come from, nor what the values mean.

use memchr::memchr;
use serde_json::Value;

use super::bounded_json::BoundedJson;

/// The parser of one stream.
#[derive(Debug)]
pub(crate) struct JsonLines {
    limit: usize,
    partial: Vec<u8>,
    /// The current line is too long already, and its rest is dropped.
    skipping: bool,
    rejected: RejectedLines,
}

/// How many lines gave no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RejectedLines {
    /// Not JSON, or with too many values.
    pub malformed: u64,
    pub too_long: u64,
}

impl JsonLines {
    /// Creates a parser for lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), skipping: false, rejected: RejectedLines::default() }
    }

    /// Returns the values of the lines that these bytes complete. Counts lines that are not JSON,
    /// but not empty ones.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Vec<Value> {
        let mut values = Vec::new();
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() && !self.skipping && head.len() <= self.limit {
                self.parse_line(head, &mut values);
                continue;
            }
            self.store(head);
            let line = std::mem::take(&mut self.partial);
            if !std::mem::take(&mut self.skipping) {
                self.parse_line(&line, &mut values);
            }
        }
        self.store(bytes);
        values
    }

    /// Drops the current line: the bytes that follow do not belong to it.
    pub(crate) fn discard_partial(&mut self) {
        if !self.partial.is_empty() {
            self.rejected.malformed += 1;
        }
        self.partial = Vec::new();
        self.skipping = false;
    }

    /// Returns the counts since the last call.
    pub(crate) fn take_rejected(&mut self) -> RejectedLines {
        std::mem::take(&mut self.rejected)
    }

    fn store(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.partial.len() + bytes.len() > self.limit {
            self.partial = Vec::new();
            self.skipping = true;
            self.rejected.too_long += 1;
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn parse_line(&mut self, line: &[u8], values: &mut Vec<Value>) {
        let line = without_sequences(line.trim_ascii());
        if line.is_empty() {
            return;
        }
        match parse(line).or_else(|| parse(String::from_utf8_lossy(line).as_bytes())) {
            Some(value) => values.push(value),
            None => self.rejected.malformed += 1,
        }
    }
}

/// Parses one value of a bounded number of values; only control sequences of a terminal may follow
/// it.
fn parse(line: &[u8]) -> Option<Value> {
    let mut stream = serde_json::Deserializer::from_slice(line).into_iter::<BoundedJson>();
    let BoundedJson(value) = stream.next()?.ok()?;
    let rest = line.get(stream.byte_offset()..)?;
    matches!(rest.trim_ascii_start().first(), None | Some(0x1b)).then_some(value)
}

/// Returns the line without the control sequences (`ESC [ … letter`) before it, as a program on a
/// terminal prints them.
fn without_sequences(mut line: &[u8]) -> &[u8] {
    while let Some(sequence) = line.strip_prefix(b"\x1b[") {
        let Some(end) = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
            break;
        };
        line = sequence.get(end + 1..).unwrap_or_default().trim_ascii_start();
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rejected(malformed: u64, too_long: u64) -> RejectedLines {
        RejectedLines { malformed, too_long }
    }

    #[test]
    fn a_line_may_arrive_in_any_pieces() {
        let text = b"{\"a\":1}\r\n\n[2]\n{\"b\":\"x\"}\n{\"half\"";
        for size in 1..text.len() {
            let mut lines = JsonLines::new(100);
            let values: Vec<Value> =
                text.chunks(size).flat_map(|piece| lines.push(piece)).collect();
            assert_eq!(values, [json!({"a": 1}), json!([2]), json!({"b": "x"})], "{size}");
            assert_eq!(lines.push(b":3}\n"), [json!({"half": 3})]);
            assert_eq!(lines.take_rejected(), rejected(0, 0));
        }
    }

    #[test]
    fn a_line_that_is_not_json_is_counted_and_skipped() {
        let mut lines = JsonLines::new(100);
        assert_eq!(
            lines.push(b"{\"a\":\nplain words\n{\"a\":1} {\"b\":2}\n{\"a\":2}\n"),
            [json!({"a": 2})]
        );
        assert_eq!(lines.take_rejected(), rejected(3, 0));
        assert_eq!(lines.take_rejected(), rejected(0, 0), "counted once");
    }

    #[test]
    fn invalid_utf8_is_replaced_and_affects_no_other_line() {
        let mut lines = JsonLines::new(100);
        assert_eq!(lines.push(b"{\"a\":\"x\xffy\"}\n\xff\xfe\n"), [json!({"a": "x\u{fffd}y"})]);
        assert_eq!(lines.take_rejected(), rejected(1, 0));
    }

    #[test]
    fn control_sequences_around_a_line_are_ignored() {
        let mut lines = JsonLines::new(100);
        let printed = b"\x1b[?25l\x1b[2K{\"a\":1}\x1b[0m\r\n\x1b[?2004h\r\n{\"a\":\"\x1b\"}\n";
        assert_eq!(lines.push(printed), [json!({"a": 1})]);
        assert_eq!(
            lines.take_rejected(),
            rejected(1, 0),
            "a bare escape inside of a string is not JSON"
        );
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
        assert_eq!(lines.take_rejected(), rejected(0, 2));
    }

    /// Four megabytes of brackets would take more than a hundred in memory.
    #[test]
    fn a_line_of_very_many_values_is_rejected() {
        let mut lines = JsonLines::new(8 << 20);
        let many = format!("[{}]\n{{\"a\":1}}\n", vec!["{}"; 1 << 20].join(","));
        assert_eq!(lines.push(many.as_bytes()), [json!({"a": 1})]);
        assert_eq!(lines.take_rejected(), rejected(1, 0));
    }

    #[test]
    fn a_discarded_line_does_not_run_into_the_next() {
        let mut lines = JsonLines::new(100);
        lines.push(b"{\"a\":");
        lines.discard_partial();
        assert_eq!(lines.push(b"1\n"), [json!(1)]);
        lines.discard_partial();
        assert_eq!(lines.take_rejected(), rejected(1, 0));
    }

    proptest! {
        #[test]
        fn any_bytes_leave_the_parser_usable(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
        ) {
            let mut lines = JsonLines::new(16);
            for piece in &pieces {
                lines.push(piece);
                prop_assert!(lines.partial.len() <= 16);
            }
            lines.discard_partial();
            prop_assert_eq!(lines.push(b"{}\n"), vec![json!({})]);
        }
    }
}
