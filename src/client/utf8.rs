//! Where a stream of UTF-8 stands: which bytes continue a character, and which C1 control codes
//! stand alone. It keeps no bytes.

use std::ops::RangeInclusive;

/// What a UTF-8 decoder shows for a byte that belongs to no character.
pub(super) const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The position in the character under way.
#[derive(Debug)]
pub(super) struct Utf8Position {
    /// How many bytes the character still lacks.
    missing: u8,
    /// What the next of them can be.
    next: RangeInclusive<u8>,
}

impl Utf8Position {
    pub(super) const BETWEEN: Self = Self { missing: 0, next: 0x80..=0xbf };

    /// Takes the next byte. Returns true if it is a C1 control code of one byte, which belongs to
    /// no character: a terminal that does not decode UTF-8 strictly obeys it.
    pub(super) fn is_lone_c1(&mut self, byte: u8) -> bool {
        if self.missing > 0 && self.next.contains(&byte) {
            *self = Self { missing: self.missing - 1, ..Self::BETWEEN };
            return false;
        }
        let (missing, next) = match byte {
            0xc2..=0xdf => (1, 0x80..=0xbf),
            0xe0 => (2, 0xa0..=0xbf),
            0xed => (2, 0x80..=0x9f),
            0xe1..=0xef => (2, 0x80..=0xbf),
            0xf0 => (3, 0x90..=0xbf),
            0xf1..=0xf3 => (3, 0x80..=0xbf),
            0xf4 => (3, 0x80..=0x8f),
            _ => (0, 0x80..=0xbf),
        };
        *self = Self { missing, next };
        matches!(byte, 0x80..=0x9f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lone(bytes: &[u8]) -> Vec<u8> {
        let mut position = Utf8Position::BETWEEN;
        bytes.iter().copied().filter(|byte| position.is_lone_c1(*byte)).collect()
    }

    #[test]
    fn no_byte_of_a_character_stands_alone() {
        let all: String = ('\0'..=char::MAX).step_by(7).collect();
        assert_eq!(lone(all.as_bytes()), b"");
    }

    #[test]
    fn bytes_that_continue_no_character_stand_alone() {
        let cases: [(&[u8], &[u8]); 7] = [
            (b"a\x9d52", b"\x9d"),
            (b"\xc3\xa9\x9b", b"\x9b"),
            (b"\xe2\x9d\x9d\x9d", b"\x9d"),
            (b"\xe0\x9d", b"\x9d"),
            (b"\xf0\x8f", b"\x8f"),
            (b"\xc3a\x90", b"\x90"),
            (b"\xff\xa0\xc0\x9c", b"\x9c"),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(lone(bytes), wanted, "{}", bytes.escape_ascii());
        }
    }
}
