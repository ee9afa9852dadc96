//! What goes into Claude Code's composer and how it looks there. It does not know when that is done.

use crate::driver::draft;
use crate::driver::sight::Composer;

/// Words that end the program when they are the whole message.
const ENDINGS: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];

/// What is shorter than this, in characters or in line breaks, is shown as it is.
const LONG: usize = 200;
const MANY_LINES: usize = 3;

/// The message so that it is taken for a message: `/` would begin a command and `!` a shell command, a backslash at
/// the end would make the Enter a line break, and some words alone would end the program, spaces around them or not.
pub(super) fn compose(message: &str) -> String {
    let mut text = String::with_capacity(message.len() + 2);
    if message.starts_with(['/', '!']) {
        text.push(' ');
    }
    text.push_str(message);
    if ENDINGS.contains(&message.trim()) {
        text.truncate(text.trim_end().len());
        text.push('.');
    } else if message.ends_with('\\') {
        text.push(' ');
    }
    text
}

/// Whether the composer shows what was pasted, all of it and nothing else.
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    let draft = &composer.draft;
    is_label(draft, pasted) || (draft::shows(draft, pasted) && draft::same_start(draft, pasted))
}

/// Whether a field shows a text, or the label that stands for it.
pub(super) fn shows(field: &str, text: &str) -> bool {
    is_label(field, text) || draft::shows(field, text)
}

/// A long paste is shown as `[Pasted text #2 +12 lines]`, counting its line breaks, or without a count if it has none.
fn is_label(field: &str, text: &str) -> bool {
    let Some(inner) = field.trim().strip_prefix("[Pasted text #").and_then(|rest| rest.strip_suffix(']'))
    else {
        return false;
    };
    let breaks = text.matches('\n').count();
    if breaks < MANY_LINES && text.chars().count() < LONG {
        return false;
    }
    let (number, count) = match inner.split_once(" +") {
        Some((number, lines)) => {
            (number, lines.strip_suffix(" lines").or_else(|| lines.strip_suffix(" line")))
        }
        None => (inner, Some("0")),
    };
    let counted = count.and_then(|count| count.parse::<usize>().ok());
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && counted == Some(breaks)
}
