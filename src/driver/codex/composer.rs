//! What goes into Codex's composer and how it looks there. It does not know when that is done.

use super::screen::MORE_ABOVE;
use crate::driver::draft::{letters, same_start, shows};
use crate::driver::sight::Composer;

/// Keeps a `!` from being the first character. Blanks do not: Codex cuts them off before it looks.
const GUARD: char = '\u{2060}';

/// The message so that it is taken for a message: `/` would begin a command and `!` a shell command, and a word with
/// `@` or `$` at the end would open a list that takes the Enter for itself.
pub(super) fn compose(message: &str) -> String {
    let mut text = String::with_capacity(message.len() + 2);
    if message.trim_start().starts_with(['/', '!']) {
        text.push(GUARD);
    }
    text.push_str(message);
    let opens_list = |word: &str| word.starts_with(['@', '$']);
    if message.split(char::is_whitespace).next_back().is_some_and(opens_list) {
        text.push(' ');
    }
    text
}

/// Whether the composer shows what was pasted, all of it and nothing else.
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    let draft = &composer.draft;
    is_label(draft, pasted)
        || (shows(draft, pasted) && same_start(draft, pasted))
        || draft.strip_prefix(MORE_ABOVE).is_some_and(|rest| ends_in(pasted, rest))
}

/// What is too tall for the composer shows only its end.
fn ends_in(pasted: &str, rest: &str) -> bool {
    let (whole, rest): (String, String) = (letters(pasted).collect(), letters(rest).collect());
    !rest.is_empty() && whole.len() > rest.len() && whole.ends_with(&rest)
}

/// A long paste is shown as `[Pasted Content 5000 chars]`.
fn is_label(field: &str, text: &str) -> bool {
    let label = field.trim().strip_prefix("[Pasted Content ").and_then(|rest| rest.strip_suffix(" chars]"));
    label.and_then(|count| count.parse::<usize>().ok()) == Some(text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds_draft(draft: &str, pasted: &str) -> bool {
        holds(&Composer { draft: draft.to_owned() }, pasted)
    }

    #[test]
    fn a_message_is_nothing_else() {
        assert_eq!(compose("hello ?"), "hello ?");
        assert_eq!(compose("a / b ! c"), "a / b ! c");
        for message in ["/status", "!ls", "  !ls", "\n/quit"] {
            assert_eq!(compose(message), format!("{GUARD}{message}"));
        }
        assert_eq!(compose("look at @src"), "look at @src ");
        assert_eq!(compose("@src is it"), "@src is it");
        assert_eq!(compose("$"), "$ ");
    }

    #[test]
    fn the_composer_holds_what_was_pasted_and_nothing_more() {
        assert!(holds_draft("one two\nthree", "one two three"));
        assert!(!holds_draft("one two", "one two three"));
        assert!(holds_draft("!ls", &compose("!ls")));
        assert!(!holds_draft("", "x"));
        assert!(holds_draft("well 👍 done", "well 👍🏽 done"));
        assert!(!holds_draft("", "👍"));
        let long = "é".repeat(1200);
        assert!(holds_draft("[Pasted Content 1200 chars]", &long));
        assert!(!holds_draft("[Pasted Content 1201 chars]", &long));
        assert!(!holds_draft("[Pasted Content 1200 chars] and", &long));
        assert!(holds_draft("↑c\nd", "a\nb\nc\nd"));
        assert!(!holds_draft("↑c\nd", "c\nd"), "nothing is above it");
        assert!(!holds_draft("↑", "a"));
    }
}
