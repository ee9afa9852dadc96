//! The colours that a program sets and asks for. There may be no real terminal, so the ones that
//! were not set are those of a dark one. It does not know how a colour is drawn.

use std::collections::BTreeMap;

/// A colour with 16 bits for each part, as it is written in replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb(pub(super) [u16; 3]);

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// One of the 256 of the palette (OSC 4).
    Palette(u8),
    /// OSC 10.
    Foreground,
    /// OSC 11.
    Background,
    /// OSC 12.
    Cursor,
}

impl Slot {
    /// One of the colours with an OSC number of their own.
    pub(super) fn from_number(number: u16) -> Option<Self> {
        match number {
            10 => Some(Self::Foreground),
            11 => Some(Self::Background),
            12 => Some(Self::Cursor),
            _ => None,
        }
    }

    /// How a reply about it begins.
    fn name(self) -> String {
        match self {
            Self::Palette(index) => format!("4;{index}"),
            Self::Foreground => "10".to_owned(),
            Self::Background => "11".to_owned(),
            Self::Cursor => "12".to_owned(),
        }
    }

    fn standard(self) -> Rgb {
        match self {
            Self::Palette(index) => palette(index),
            Self::Foreground | Self::Cursor => bytes(0xd8, 0xd8, 0xd8),
            Self::Background => bytes(0x1e, 0x1e, 0x1e),
        }
    }
}

/// The colours that were set; at most one for each slot.
#[derive(Debug, Default)]
pub(super) struct Colors {
    set: BTreeMap<Slot, Rgb>,
}

impl Colors {
    pub(super) fn set(&mut self, slot: Slot, color: Rgb) {
        self.set.insert(slot, color);
    }

    /// Gives one colour its standard value again.
    pub(super) fn reset(&mut self, slot: Slot) {
        self.set.remove(&slot);
    }

    pub(super) fn reset_palette(&mut self) {
        self.set.retain(|slot, _| !matches!(slot, Slot::Palette(_)));
    }

    pub(super) fn clear(&mut self) {
        self.set.clear();
    }

    /// The body of the reply to a query.
    pub(super) fn reply(&self, slot: Slot) -> String {
        let Rgb([r, g, b]) = self.set.get(&slot).copied().unwrap_or(slot.standard());
        format!("{};rgb:{r:04x}/{g:04x}/{b:04x}", slot.name())
    }
}

/// Reads `rgb:r/g/b` with one to four digits each, or `#` with as many for each part. The names of
/// X11 are not known here, so a colour that is set by name keeps its value.
pub(super) fn parse(text: &str) -> Option<Rgb> {
    if let Some(parts) = text.strip_prefix("rgb:") {
        let mut parts = parts.split('/');
        let [r, g, b] = [parts.next()?, parts.next()?, parts.next()?];
        return if parts.next().is_none() {
            Some(Rgb([scaled(r)?, scaled(g)?, scaled(b)?]))
        } else {
            None
        };
    }
    let digits = text.strip_prefix('#')?;
    let len = digits.len() / 3;
    if digits.len() % 3 != 0 || !digits.is_ascii() {
        return None;
    }
    let part = |index: usize| digits.get(index * len..(index + 1) * len).and_then(shifted);
    Some(Rgb([part(0)?, part(1)?, part(2)?]))
}

/// The digits as a fraction of the largest number that they can say.
fn scaled(digits: &str) -> Option<u16> {
    let value = u32::from(hex(digits)?);
    let largest = (1_u32 << (4 * digits.len())) - 1;
    u16::try_from(value * 0xffff / largest).ok()
}

/// The digits as the upper ones of four, which is what `#` means.
fn shifted(digits: &str) -> Option<u16> {
    Some(hex(digits)? << (16 - 4 * digits.len()))
}

fn hex(digits: &str) -> Option<u16> {
    let valid = (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if valid { u16::from_str_radix(digits, 16).ok() } else { None }
}

fn bytes(r: u8, g: u8, b: u8) -> Rgb {
    Rgb([r, g, b].map(|part| u16::from(part) * 0x101))
}

/// The palette of xterm.
fn palette(index: u8) -> Rgb {
    const BASE: [(u8, u8, u8); 16] = [
        (0x00, 0x00, 0x00),
        (0xcd, 0x00, 0x00),
        (0x00, 0xcd, 0x00),
        (0xcd, 0xcd, 0x00),
        (0x00, 0x00, 0xee),
        (0xcd, 0x00, 0xcd),
        (0x00, 0xcd, 0xcd),
        (0xe5, 0xe5, 0xe5),
        (0x7f, 0x7f, 0x7f),
        (0xff, 0x00, 0x00),
        (0x00, 0xff, 0x00),
        (0xff, 0xff, 0x00),
        (0x5c, 0x5c, 0xff),
        (0xff, 0x00, 0xff),
        (0x00, 0xff, 0xff),
        (0xff, 0xff, 0xff),
    ];
    if let Some((r, g, b)) = BASE.get(usize::from(index)) {
        return bytes(*r, *g, *b);
    }
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return bytes(grey, grey, grey);
    }
    let cube = index - 16;
    let level = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
    bytes(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_every_length() {
        let cases = [
            ("rgb:ff/00/80", Some([0xffff, 0, 0x8080])),
            ("rgb:f/0/8", Some([0xffff, 0, 0x8888])),
            ("rgb:1234/abcd/fff", Some([0x1234, 0xabcd, 0xffff])),
            ("#fff", Some([0xf000, 0xf000, 0xf000])),
            ("#123456", Some([0x1200, 0x3400, 0x5600])),
            ("#123456789abc", Some([0x1234, 0x5678, 0x9abc])),
            ("rgb:1/2", None),
            ("rgb:1/2/3/4", None),
            ("rgb:12345/0/0", None),
            ("rgb:+1/0/0", None),
            ("#12", None),
            ("#", None),
            ("#é1", None),
            ("red", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(parse(text), wanted.map(Rgb), "{text}");
        }
    }

    #[test]
    fn a_colour_that_was_set_is_in_the_reply_until_it_is_reset() {
        let mut colors = Colors::default();
        assert_eq!(colors.reply(Slot::Background), "11;rgb:1e1e/1e1e/1e1e");
        assert_eq!(colors.reply(Slot::Palette(196)), "4;196;rgb:ffff/0000/0000");
        assert_eq!(colors.reply(Slot::Palette(255)), "4;255;rgb:eeee/eeee/eeee");
        colors.set(Slot::Palette(1), Rgb([1, 2, 3]));
        colors.set(Slot::Cursor, Rgb([4, 5, 6]));
        assert_eq!(colors.reply(Slot::Palette(1)), "4;1;rgb:0001/0002/0003");
        colors.reset_palette();
        assert_eq!(colors.reply(Slot::Palette(1)), "4;1;rgb:cdcd/0000/0000");
        assert_eq!(colors.reply(Slot::Cursor), "12;rgb:0004/0005/0006");
        colors.reset(Slot::Cursor);
        assert_eq!(colors.reply(Slot::Cursor), "12;rgb:d8d8/d8d8/d8d8");
    }
}
