//! One complete CSI sequence, split into its prefix, parameters, intermediates and final byte.
//! It does not know what a sequence means.

use std::borrow::Cow;

/// The largest parameter value kept. Every real mode, and every size this terminal can have, is
/// smaller, so a larger number means the same as this one.
const LARGEST: u16 = 9999;

/// A complete CSI sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Csi<'a> {
    /// Everything between `ESC [` and the final byte; the next three are its parts.
    pub(crate) body: &'a [u8],
    /// `<`, `=`, `>` or `?` when the sequence starts with one.
    pub(crate) prefix: Option<u8>,
    /// Digits, `;` and `:`.
    pub(crate) params: &'a [u8],
    /// Bytes from space to `/`.
    pub(crate) intermediates: &'a [u8],
    pub(crate) last: u8,
}

impl<'a> Csi<'a> {
    /// Splits the bytes between `ESC [` and the final byte; `None` if they are out of order.
    pub(crate) fn parse(body: &'a [u8], last: u8) -> Option<Self> {
        let (prefix, rest) = match body.split_first() {
            Some((&first @ b'<'..=b'?', rest)) => (Some(first), rest),
            Some(_) | None => (None, body),
        };
        let params_len = rest.iter().take_while(|byte| matches!(byte, b'0'..=b';')).count();
        let (params, intermediates) = rest.split_at_checked(params_len)?;
        let in_order = intermediates.iter().all(|byte| matches!(byte, b' '..=b'/'));
        // A sequence that starts with a colon is reserved, and ignored by every terminal.
        (in_order && !params.starts_with(b":")).then_some(Self {
            body,
            prefix,
            params,
            intermediates,
            last,
        })
    }

    /// The parameters' first parts; an empty one is 0, as everywhere in these sequences.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u16> {
        self.params.split(|byte| *byte == b';').map(|param| {
            param.iter().take_while(|byte| byte.is_ascii_digit()).fold(0_u16, |number, digit| {
                number.saturating_mul(10).saturating_add(u16::from(digit - b'0')).min(LARGEST)
            })
        })
    }

    /// Whether the only parameter is this number; none is the same as 0. A query has exactly its
    /// own form, so that no reply is taken for a query.
    pub(crate) fn asks(&self, number: u16) -> bool {
        !self.params.contains(&b';') && !self.params.contains(&b':') && self.number(0) == number
    }

    pub(crate) fn number(&self, index: usize) -> u16 {
        self.numbers().nth(index).unwrap_or(0)
    }
}

/// Rewrites numbers of more than four digits, because avt would let them wrap around at 65536.
pub(super) fn limit_numbers(body: &[u8]) -> Cow<'_, [u8]> {
    let mut run = 0;
    let too_long = body.iter().any(|byte| {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        run > 4
    });
    if !too_long {
        return Cow::Borrowed(body);
    }
    let mut limited = Vec::with_capacity(body.len());
    for part in body.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        let significant = part.iter().position(|byte| *byte != b'0').unwrap_or(part.len());
        match part.get(significant..) {
            Some(digits) if part.first().is_some_and(u8::is_ascii_digit) => {
                limited.extend_from_slice(if digits.len() > 4 { b"9999" } else { digits });
            }
            Some(_) | None => limited.extend_from_slice(part),
        }
    }
    Cow::Owned(limited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_into_parts() {
        let csi = Csi::parse(b"?2026$", b'p').unwrap();
        assert_eq!(
            (csi.prefix, csi.params, csi.intermediates, csi.last),
            (Some(b'?'), &b"2026"[..], &b"$"[..], b'p')
        );
        let csi = Csi::parse(b"", b'm').unwrap();
        assert_eq!((csi.prefix, csi.number(0), csi.number(7)), (None, 0, 0));
        let csi = Csi::parse(b";5;38:2:1", b'm').unwrap();
        assert_eq!(csi.numbers().collect::<Vec<_>>(), [0, 5, 38]);
        for out_of_order in [&b"1?"[..], b"$1", b"1$?", b":1"] {
            assert_eq!(Csi::parse(out_of_order, b'h'), None);
        }
    }

    #[test]
    fn long_numbers_saturate() {
        let cases = [
            ("1;2", "1;2"),
            ("99999", "9999"),
            ("65536;3", "9999;3"),
            ("00000012;1", "12;1"),
            ("?0000000h", "?h"),
            ("1;00001:70000;", "1;1:9999;"),
        ];
        for (body, wanted) in cases {
            assert_eq!(std::str::from_utf8(&limit_numbers(body.as_bytes())).unwrap(), wanted);
        }
        assert_eq!(Csi::parse(b"123456789012345678901234567890", b'A').unwrap().number(0), LARGEST);
    }
}
