//! Prepares messages for Gemini CLI's composer and recognises them there. It does not know when
//! they are typed.

use crate::driver::draft::{is_visible, shows_end, visible};
use crate::driver::screen_reading::Composer;

/// Gemini shows a paste with more lines or more characters than this as a label.
const LINES: usize = 5;
const CHARS: usize = 500;
/// Word joiner: invisible, not whitespace, and not dropped by Gemini.
const WORD_JOINER: char = '\u{2060}';
const JOINER: char = '\u{200d}';

/// The message in a form that Gemini takes as a message: `/` would start a command, even after
/// spaces; a lone `!` would switch to shell mode; after `@` and the start of a name, Enter would
/// complete the name; and after a backslash it would be a line break.
pub(super) fn compose(message: &str) -> String {
    let mut text = String::with_capacity(message.len() + 4);
    if message.trim_start().starts_with('/') {
        text.push(WORD_JOINER);
    }
    if matches!(message, "!" | "?") {
        text.push(' ');
    }
    text.push_str(message);
    let last_word = message.rsplit(char::is_whitespace).next().unwrap_or_default();
    if message.ends_with('\\') || last_word.contains('@') {
        text.push(' ');
    }
    text
}

/// Whether the composer shows exactly the pasted text.
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    shows(&composer.draft, pasted) || (composer.cut && shows_end(&composer.draft, pasted))
}

/// Whether a field shows a text, or the label that replaces a long paste.
pub(super) fn shows(field: &str, text: &str) -> bool {
    match label(field) {
        Some(count) => count.fits(text),
        None => visible(field).eq(visible(text)) || visible(field).eq(unjoined(text)),
    }
}

/// The characters that a terminal shows if it draws only the first of several joined ones.
fn unjoined(text: &str) -> impl Iterator<Item = char> {
    let mut joined = false;
    let shown = move |c: &char| !std::mem::replace(&mut joined, *c == JOINER) && is_visible(*c);
    text.chars().filter(shown)
}

/// The count in a label that replaces a paste.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Lines(usize),
    Chars(usize),
}

impl Count {
    fn fits(self, text: &str) -> bool {
        let lines = text.split('\n').count();
        match self {
            Self::Lines(count) => lines > LINES && count == lines,
            Self::Chars(count) => {
                let chars: usize =
                    text.chars().filter(|c| !is_dropped(*c)).map(char::len_utf16).sum();
                lines <= LINES && chars > CHARS && count == chars
            }
        }
    }
}

/// Whether Gemini drops this character from a paste.
fn is_dropped(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
    ) || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Gemini shows a long paste as `[Pasted Text: 40 lines]` or `[Pasted Text: 2000 chars]`, followed
/// by a number if there is another with the same label.
fn label(field: &str) -> Option<Count> {
    let inner = field.trim().strip_prefix("[Pasted Text: ")?.strip_suffix(']')?;
    let mut words = inner.split(' ');
    let count = words.next()?.parse().ok()?;
    match words.next()? {
        "lines" => Some(Count::Lines(count)),
        "chars" => Some(Count::Chars(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(draft: &str, pasted: &str) -> bool {
        holds(&Composer { draft: draft.to_owned(), rows: 1, cut: false }, pasted)
    }

    #[test]
    fn a_message_is_not_taken_as_a_command() {
        assert_eq!(compose("hello\nyou"), "hello\nyou");
        assert_eq!(compose("wow! really?"), "wow! really?");
        assert_eq!(compose("/help me"), "\u{2060}/help me");
        assert_eq!(compose(" /help"), "\u{2060} /help");
        assert_eq!(compose("!"), " !");
        assert_eq!(compose("look at @src/ma"), "look at @src/ma ");
        assert_eq!(compose("a @b c"), "a @b c");
        assert_eq!(compose("back\\"), "back\\ ");
        assert_eq!(compose(""), "");
    }

    #[test]
    fn wrapped_text_is_recognised_in_the_composer() {
        assert!(held("one two\nthree", "one two three"));
        assert!(held("/help me", "\u{2060}/help me"));
        assert!(!held("one two", "one two three"));
        let family = "a 👩\u{200d}👩\u{200d}👧 b";
        assert!(held("a 👩 b", family) && held("a 👩👩👧 b", family) && !held("a b", family));
        assert!(!held("", "x"));
    }

    #[test]
    fn a_long_paste_is_recognised_by_its_label() {
        let lines = vec!["line"; 40].join("\n");
        assert!(held("[Pasted Text: 40 lines]", &lines));
        assert!(held("[Pasted Text: 40 lines #2]", &lines));
        assert!(!held("[Pasted Text: 41 lines]", &lines));
        let long = "é".repeat(2000);
        assert!(held("[Pasted Text: 2000 chars]", &long));
        assert!(
            held("[Pasted Text: 2000 chars]", &format!("\u{feff}{long}")),
            "a byte order mark is dropped"
        );
        assert!(!held("[Pasted Text: 2000 chars]", &lines));
        assert!(!held("[Pasted Text: 4 chars]", "text"));
        assert!(!held("[Pasted Text: 40 lines] and a word", &lines));
    }
}
