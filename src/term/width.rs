//! How many columns a character takes, and which characters belong to the one before.
//! It does not know what is on the screen.

use unicode_width::UnicodeWidthChar as _;

/// Joins the two emoji around it into one.
pub(super) const JOINER: char = '\u{200d}';

/// The columns of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Width {
    /// It belongs to the character before.
    Zero,
    Narrow,
    Wide,
}

impl Width {
    pub(super) fn of(c: char) -> Self {
        // Nothing before the first combining mark is other than narrow, not even the soft hyphen.
        if c < '\u{300}' {
            return Self::Narrow;
        }
        match c.width() {
            Some(0) => Self::Zero,
            Some(2) => Self::Wide,
            Some(_) | None => Self::Narrow,
        }
    }

    pub(super) fn columns(self) -> usize {
        match self {
            Self::Zero => 0,
            Self::Narrow => 1,
            Self::Wide => 2,
        }
    }
}

/// Whether the character may belong to the emoji before, depending on that.
pub(super) fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Whether the character can be part of a joined emoji.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{24ff}'
            | '\u{25a0}'..='\u{2bff}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_take_no_column_and_the_rest_what_terminals_give_it() {
        let zero = "\u{301}\u{e35}\u{93c}\u{941}\u{64e}\u{5bc}\u{1161}\u{11ab}\u{20e3}\u{fe0f}\
                    \u{200b}\u{200d}\u{200e}\u{2060}\u{feff}\u{e0067}\u{e0100}";
        for c in zero.chars() {
            assert_eq!(Width::of(c), Width::Zero, "{c:?}");
        }
        for c in "aé\u{ad}─→⚠\u{93e}\u{e33}\u{1f1e9}\u{600}\u{fffd}\u{f0001}".chars() {
            assert_eq!(Width::of(c), Width::Narrow, "{c:?}");
        }
        for c in "界あ😀👍\u{1f3fd}\u{1112}✅".chars() {
            assert_eq!(Width::of(c), Width::Wide, "{c:?}");
        }
    }
}
