//! Whether a field on screen shows a text that was typed into it. Its rows are wrapped, so neither blanks count nor what
//! has no width. Labels that stand for a text are their agent's own.

use unicode_width::UnicodeWidthChar as _;

/// What of a text a terminal shows wherever it is wrapped.
pub fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| is_visible(*c))
}

pub fn is_visible(c: char) -> bool {
    !c.is_whitespace() && c.width().unwrap_or(0) > 0
}

/// The same without pictures: of several that are joined into one, a terminal shows some.
pub fn letters(text: &str) -> impl Iterator<Item = char> {
    visible(text).filter(|c| !is_picture(*c))
}

fn is_picture(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether the field shows the text, as far as its letters tell.
pub fn shows(field: &str, text: &str) -> bool {
    letters(field).eq(letters(text)) && field.trim().is_empty() == text.trim().is_empty()
}

/// Blanks at the start can be what keeps a command from being one, so they must be there.
pub fn same_start(field: &str, text: &str) -> bool {
    field.starts_with(char::is_whitespace) == text.starts_with(char::is_whitespace)
}
