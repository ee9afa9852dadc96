//! Makes text safe to show to people: characters that are not drawn, or that change the order in
//! which others are drawn, are spelled out. It does not know what the text is about.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Joins the emoji around it into one.
const JOINER: char = '\u{200d}';

/// The text with every character visible, as in `\u{202e}`. Line ends, tabs and the joiners inside
/// of emoji stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = '\0';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let in_emoji =
            c == JOINER && is_emoji(before) && chars.peek().copied().is_some_and(is_emoji);
        if is_hidden(c) && !in_emoji {
            let written = write!(shown, "{}", c.escape_unicode());
            // Writing into a String cannot fail.
            debug_assert!(written.is_ok());
        } else {
            shown.push(c);
        }
        before = c;
    }
    Cow::Owned(shown)
}

fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}'
    )
}

/// Controls, characters without width, and those that reorder the text around them.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_spelled_out() {
        for (text, shown) in [
            ("ls -la\n\tmore", "ls -la\n\tmore"),
            ("rm \u{202e}txt.exe", r"rm \u{202e}txt.exe"),
            ("a\u{2066}b\u{2069}c\u{200f}", r"a\u{2066}b\u{2069}c\u{200f}"),
            ("zero\u{200b}width\u{feff}\u{2060}\u{ad}", r"zero\u{200b}width\u{feff}\u{2060}\u{ad}"),
            ("esc\u{1b}[2J\r\u{9b}\u{7f}", r"esc\u{1b}[2J\u{d}\u{9b}\u{7f}"),
            ("tag\u{e0041}", r"tag\u{e0041}"),
            ("join\u{200d}ed", r"join\u{200d}ed"),
            (
                "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥",
                "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥",
            ),
            ("é日本 שלום", "é日本 שלום"),
            ("", ""),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
