//! Prepares messages for Codex's composer and recognises them there. It does not know when they are
//! typed.

use crate::driver::draft::{same_start, shows, shows_end};
use crate::driver::screen_reading::Composer;

/// Put before a `!` or `/` so that it is not the first character. A space would not do: Codex trims
/// it.
const WORD_JOINER: char = '\u{2060}';

/// The message in a form that Codex takes as a message: a leading `/` would start a command and a
/// leading `!` a shell command, and a last word with `@` or `$` would open a list that consumes the
/// Enter.
pub(super) fn compose(message: &str) -> String {
    let mut text = String::with_capacity(message.len() + 2);
    if message.trim_start().starts_with(['/', '!']) {
        text.push(WORD_JOINER);
    }
    text.push_str(message);
    let opens_list = |word: &str| word.starts_with(['@', '$']);
    if message.split(char::is_whitespace).next_back().is_some_and(opens_list) {
        text.push(' ');
    }
    text
}

/// Whether the composer shows exactly the pasted text.
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    let draft = &composer.draft;
    is_label(draft, pasted)
        || (shows(draft, pasted) && same_start(draft, pasted))
        || (composer.cut && shows_end(draft, pasted))
}

/// Codex shows a long paste as `[Pasted Content 5000 chars]`.
fn is_label(field: &str, text: &str) -> bool {
    let label =
        field.trim().strip_prefix("[Pasted Content ").and_then(|rest| rest.strip_suffix(" chars]"));
    label.and_then(|count| count.parse::<usize>().ok()) == Some(text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds_draft(draft: &str, pasted: &str) -> bool {
        holds(&Composer { draft: draft.to_owned(), rows: 1, cut: false }, pasted)
    }

    #[test]
    fn a_message_is_not_taken_as_a_command() {
        assert_eq!(compose("hello ?"), "hello ?");
        assert_eq!(compose("a / b ! c"), "a / b ! c");
        for message in ["/status", "!ls", "  !ls", "\n/quit"] {
            assert_eq!(compose(message), format!("{WORD_JOINER}{message}"));
        }
        assert_eq!(compose("look at @src"), "look at @src ");
        assert_eq!(compose("@src is it"), "@src is it");
        assert_eq!(compose("$"), "$ ");
    }

    #[test]
    fn the_composer_holds_exactly_the_pasted_text() {
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
        let end = Composer { draft: "c\nd".to_owned(), rows: 2, cut: true };
        assert!(holds(&end, "a\nb\nc\nd"));
        assert!(!holds(&end, "a\nb\nc\nd\ne"));
    }
}
