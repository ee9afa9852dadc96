//! Printable bytes: everything but C0 controls and DEL, as fast as a flood of output needs it.

pub(crate) const DEL: u8 = 0x7f;

/// Whether the byte is neither a C0 control nor DEL.
pub(crate) fn is_printable(byte: u8) -> bool {
    byte >= b' ' && byte != DEL
}

/// Takes the bytes before the first C0 control or DEL.
#[inline(always)]
pub(super) fn take_printable<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let (text, rest) = bytes.split_at(printable_len(bytes));
    *bytes = rest;
    text
}

/// The length of the part before the first C0 control or DEL. Eight bytes are tested at once, as
/// one number, because every byte of a flood passes through here.
fn printable_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const DELS: u64 = u64::from_ne_bytes([DEL; 8]);
    const BLANKS: u64 = u64::from_ne_bytes([b' '; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    // Subtracting a larger byte from a smaller one sets the top bit, and `& !block` leaves out the
    // bytes that had it set before.
    let all_printable = |block: u64| {
        let other_than_del = block ^ DELS;
        let controls = block.wrapping_sub(BLANKS) & !block;
        let dels = other_than_del.wrapping_sub(ONES) & !other_than_del;
        (controls | dels) & TOPS == 0
    };
    let (blocks, _) = bytes.as_chunks::<8>();
    let tested =
        8 * blocks.iter().take_while(|block| all_printable(u64::from_ne_bytes(**block))).count();
    tested + bytes.iter().skip(tested).take_while(|byte| is_printable(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_ends_the_printable_part_at_any_position() {
        for byte in 0..=u8::MAX {
            let printable = byte >= b' ' && byte != DEL;
            for length in 1..20 {
                for at in 0..length {
                    let mut bytes = vec![0xe9; length];
                    bytes[at] = byte;
                    assert_eq!(
                        printable_len(&bytes),
                        if printable { length } else { at },
                        "{byte} at {at}"
                    );
                }
            }
        }
    }
}
