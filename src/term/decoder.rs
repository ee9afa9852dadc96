//! Decodes UTF-8 that arrives in pieces: a character cut by a read is completed by the next one,
//! and invalid bytes become U+FFFD. Its input contains no C0 controls.

/// The bytes that are not decoded yet: at most the beginning of one character.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Decoder {
    bytes: [u8; 4],
    len: usize,
}

impl Decoder {
    /// The beginning of a character that is not complete yet.
    pub(super) fn pending(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Decodes bytes without C0 controls, and prints the characters except C1 controls.
    pub(super) fn decode(&mut self, mut bytes: &[u8], print: &mut impl FnMut(&str)) {
        while self.len > 0 {
            let Some((&byte, rest)) = bytes.split_first() else { return };
            if self.push(byte, print) {
                bytes = rest;
            }
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            print_without_c1(text, print);
            return;
        }
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            print_without_c1(chunk.valid(), print);
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_incomplete(invalid) {
                self.start(invalid);
            } else if !invalid.is_empty() {
                print("\u{fffd}");
            }
        }
    }

    /// A control follows, so an incomplete character is invalid.
    pub(super) fn finish(&mut self, print: &mut impl FnMut(&str)) {
        if self.len > 0 {
            self.len = 0;
            print("\u{fffd}");
        }
    }

    fn start(&mut self, bytes: &[u8]) {
        self.len = 0;
        for (slot, byte) in self.bytes.iter_mut().zip(bytes) {
            *slot = *byte;
            self.len += 1;
        }
    }

    /// Adds a byte if it can continue the character. If it cannot, the character is invalid, and
    /// the caller keeps the byte, which may start another one.
    fn push(&mut self, byte: u8, print: &mut impl FnMut(&str)) -> bool {
        let mut candidate = *self;
        if let Some(slot) = candidate.bytes.get_mut(candidate.len) {
            *slot = byte;
            candidate.len += 1;
        }
        if let Ok(text) = std::str::from_utf8(candidate.pending()) {
            self.len = 0;
            print_without_c1(text, print);
            return true;
        }
        if is_incomplete(candidate.pending()) {
            *self = candidate;
            return true;
        }
        self.finish(print);
        false
    }
}

/// Whether the bytes are the beginning of a valid character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// C1 controls are dropped: in UTF-8 they are more often damage than intent, and a terminal that
/// obeyed them would see other sequences than one that does not.
fn print_without_c1(text: &str, print: &mut impl FnMut(&str)) {
    let is_c1 = |c: char| ('\u{80}'..'\u{a0}').contains(&c);
    // Every C1 control starts with this byte, which is rare in other text.
    if memchr::memchr(0xc2, text.as_bytes()).is_none() {
        print(text);
        return;
    }
    for part in text.split(is_c1) {
        print(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(pieces: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for piece in pieces {
            decoder.decode(piece, &mut |part| text.push_str(part));
        }
        decoder.finish(&mut |part| text.push_str(part));
        text
    }

    #[test]
    fn it_agrees_with_the_standard_library_wherever_bytes_are_cut() {
        let samples: [&[u8]; 9] = [
            "añ界😀z".as_bytes(),
            b"\xff\xfe",
            b"\xe7\x95a",
            b"\xf0\x9f\x98\xf0\x9f\x98\x80",
            b"\xed\xa0\x80",
            b"\xc0\xaf\xe0\x80\x80",
            b"\xf4\x90\x80\x80",
            b"\x80\x80x\xf0\x90",
            b"",
        ];
        for sample in samples {
            let wanted = String::from_utf8_lossy(sample);
            for cut in 0..=sample.len() {
                let (one, other) = sample.split_at(cut);
                assert_eq!(decoded(&[one, other]), wanted, "{sample:?} cut at {cut}");
            }
            assert_eq!(decoded(&sample.chunks(1).collect::<Vec<_>>()), wanted, "{sample:?}");
        }
    }

    #[test]
    fn c1_controls_are_left_out() {
        assert_eq!(decoded(&["a\u{9b}b\u{80}\u{9f}c\u{a0}d".as_bytes()]), "abc\u{a0}d");
        assert_eq!(decoded(&[b"a\xc2", b"\x9bb"]), "ab");
    }
}
