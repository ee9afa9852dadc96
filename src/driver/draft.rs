//! Compares a typed text with the field that shows it. The field wraps its rows, so blanks and
//! characters without width do not count. It knows no labels that agents show instead of a text.

use unicode_width::UnicodeWidthChar as _;

/// The characters of a text that a terminal shows wherever it wraps the text.
pub(super) fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| is_visible(*c))
}

pub(super) fn is_visible(c: char) -> bool {
    !c.is_whitespace() && c.width().unwrap_or(0) > 0
}

/// The same without pictographs: of several that are joined into one, a terminal shows only some.
pub(super) fn letters(text: &str) -> impl Iterator<Item = char> {
    visible(text).filter(|c| !is_pictograph(*c))
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether the field shows the same letters as the text.
pub(super) fn shows(field: &str, text: &str) -> bool {
    letters(field).eq(letters(text)) && field.trim().is_empty() == text.trim().is_empty()
}

/// Whether the field shows the end of a longer text. Only what is shown can be compared.
pub(super) fn shows_end(field: &str, text: &str) -> bool {
    let [shown, whole] = [field, text].map(|text| letters(text).collect::<String>());
    !shown.is_empty() && whole.len() > shown.len() && whole.ends_with(&shown)
}

/// Whether the field shows a part of the text, without a gap.
pub(super) fn shows_part(field: &str, text: &str) -> bool {
    let [shown, whole] = [field, text].map(|text| letters(text).collect::<String>());
    !shown.is_empty() && whole.contains(&shown)
}

/// Whether both start with a blank or both do not: a leading blank can keep a text from being taken
/// for a command.
pub(super) fn same_start(field: &str, text: &str) -> bool {
    field.starts_with(char::is_whitespace) == text.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_shows_a_part_of_a_text_without_a_gap() {
        for field in ["one", "two\n th", "one two three"] {
            assert!(shows_part(field, "one two three"), "{field:?}");
        }
        for field in ["", "one three", "one two three four"] {
            assert!(!shows_part(field, "one two three"), "{field:?}");
        }
    }

    #[test]
    fn a_field_shows_the_end_of_a_longer_text_only() {
        assert!(shows_end("c\n d", "a\nb\nc d"));
        for (field, text) in [("c d", "c d"), ("", "a"), ("b c", "a b c d"), ("x a b", "a b")] {
            assert!(!shows_end(field, text), "{field:?} {text:?}");
        }
    }
}
