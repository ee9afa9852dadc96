//! What goes into Gemini CLI's composer and how it looks there. It does not know when that is done.

use crate::driver::draft::{is_visible, visible};
use crate::driver::sight::Composer;

/// A paste with more lines or characters than this is shown as a label.
const LINES: usize = 5;
const CHARS: usize = 500;
/// A character that is neither seen nor taken for a blank, and that Gemini does not throw away.
const UNSEEN: char = '\u{2060}';
const JOINER: char = '\u{200d}';

/// The message so that it is taken for a message. `/` would begin a command, blanks before it or not; `!` alone would
/// switch to shell commands; after `@` and the beginning of a name the Enter would complete the name, and after a
/// backslash it would be a line break.
pub(super) fn compose(message: &str) -> String {
    let mut text = String::with_capacity(message.len() + 4);
    if message.trim_start().starts_with('/') {
        text.push(UNSEEN);
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

/// Whether the composer shows what was pasted, all of it and nothing else.
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    shows(&composer.draft, pasted)
}

/// Whether a field shows a text, or the label that stands for it.
pub(super) fn shows(field: &str, text: &str) -> bool {
    match label(field) {
        Some(count) => count.fits(text),
        None => visible(field).eq(visible(text)) || visible(field).eq(unjoined(text)),
    }
}

/// Of characters that are joined to one, the first is all that a terminal may show.
fn unjoined(text: &str) -> impl Iterator<Item = char> {
    let mut joined = false;
    let shown = move |c: &char| !std::mem::replace(&mut joined, *c == JOINER) && is_visible(*c);
    text.chars().filter(shown)
}

/// What a label says of the text that it stands for.
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
                let chars: usize = text.chars().filter(|c| !is_dropped(*c)).map(char::len_utf16).sum();
                lines <= LINES && chars > CHARS && count == chars
            }
        }
    }
}

/// What Gemini throws away of a paste.
fn is_dropped(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A long paste is shown as `[Pasted Text: 40 lines]` or `[Pasted Text: 2000 chars]`, with a number behind if there is
/// another like it.
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
        holds(&Composer { draft: draft.to_owned() }, pasted)
    }

    #[test]
    fn what_would_be_taken_for_something_else_is_disguised() {
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
    fn the_composer_holds_a_text_however_it_is_wrapped() {
        assert!(held("one two\nthree", "one two three"));
        assert!(held("/help me", "\u{2060}/help me"));
        assert!(!held("one two", "one two three"));
        let family = "a 👩\u{200d}👩\u{200d}👧 b";
        assert!(held("a 👩 b", family) && held("a 👩👩👧 b", family) && !held("a b", family));
        assert!(!held("", "x"));
    }

    #[test]
    fn a_long_paste_is_known_by_its_label() {
        let lines = vec!["line"; 40].join("\n");
        assert!(held("[Pasted Text: 40 lines]", &lines));
        assert!(held("[Pasted Text: 40 lines #2]", &lines));
        assert!(!held("[Pasted Text: 41 lines]", &lines));
        let long = "é".repeat(2000);
        assert!(held("[Pasted Text: 2000 chars]", &long));
        assert!(held("[Pasted Text: 2000 chars]", &format!("\u{feff}{long}")), "a mark that is dropped");
        assert!(!held("[Pasted Text: 2000 chars]", &lines));
        assert!(!held("[Pasted Text: 4 chars]", "text"));
        assert!(!held("[Pasted Text: 40 lines] and a word", &lines));
    }
}
