//! Prepares messages for Claude Code's composer and recognises them there. It does not know when
//! they are typed.

use crate::driver::draft;
use crate::driver::screen_reading::Composer;

/// Messages that would quit the program.
const ENDINGS: [&str; 6] = ["exit", "quit", ":q", ":q!", ":wq", ":wq!"];

/// Claude shows a paste as it is below this many characters and below this many line breaks.
const LONG: usize = 200;
const MANY_LINES: usize = 3;

/// The message in a form that Claude takes as a message: a leading `/` would start a command and a
/// leading `!` a shell command, a trailing backslash would turn Enter into a line break, and some
/// words alone would quit the program, even with spaces around them.
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

/// Whether the composer shows exactly the pasted text.
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    let draft = &composer.draft;
    is_label(draft, pasted)
        || (draft::shows(draft, pasted) && draft::same_start(draft, pasted))
        || (composer.cut && draft::shows_end(draft, pasted))
}

/// Whether a field shows a text, or the label that replaces a long paste.
pub(super) fn shows(field: &str, text: &str) -> bool {
    is_label(field, text) || draft::shows(field, text)
}

/// Claude shows a long paste as `[Pasted text #2 +12 lines]`, where the count is that of line
/// breaks, or without a count if there are none.
fn is_label(field: &str, text: &str) -> bool {
    let Some(inner) =
        field.trim().strip_prefix("[Pasted text #").and_then(|rest| rest.strip_suffix(']'))
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
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && counted == Some(breaks)
}
