//! What goes into Codex's composer and how it looks there. It does not know when that is done.

use unicode_width::UnicodeWidthChar as _;

use crate::driver::sight::Composer;

/// The message so that it is taken for a message: `/` would begin a command and `!` a shell command, and a word with
/// `@` or `$` at the end would open a list that takes the Enter for itself.
pub(super) fn compose(message: &str) -> String {
    let mut text = String::with_capacity(message.len() + 2);
    if message.starts_with(['/', '!']) {
        text.push(' ');
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
    is_label(draft, pasted) || (shows(draft, pasted) && same_start(draft, pasted))
}

/// A leading blank is what keeps a command from being one, so it must be there.
fn same_start(draft: &str, pasted: &str) -> bool {
    draft.starts_with(char::is_whitespace) == pasted.starts_with(char::is_whitespace)
}

/// Whether a field shows a text. Its rows are wrapped at blanks, so blanks do not count, nor does what has no width.
pub(super) fn shows(field: &str, text: &str) -> bool {
    visible(field).eq(visible(text))
}

fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace() && c.width().unwrap_or(0) > 0)
}

/// A long paste is shown as `[Pasted Content 5000 chars]`.
fn is_label(field: &str, text: &str) -> bool {
    let label = field.trim().strip_prefix("[Pasted Content ").and_then(|rest| rest.strip_suffix(" chars]"));
    label.and_then(|count| count.parse::<usize>().ok()) == Some(text.chars().count())
}
