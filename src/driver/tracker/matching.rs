//! Whether an announced dialog is the one on screen. It compares values and remembers nothing.

use serde_json::{Map, Value};

use crate::driver::prompt::Ask;
use crate::driver::screen_reading::Dialog;

/// How many characters of an input are searched for: a longer text may be wrapped or cut off.
const EXCERPT_CHARS: usize = 24;

/// Whether an announced dialog can be the one on screen.
pub(super) fn can_be(ask: &Ask, dialog: &Dialog) -> bool {
    let same_tool = match (&ask.tool, dialog.tool) {
        (Some(announced), Some(shown)) => announced == shown,
        (Some(_) | None, Some(_) | None) => true,
    };
    ask.kind == dialog.kind && ask.subtype == dialog.subtype && same_tool
}

/// Whether the dialog shows the beginning of the tool's input or of a question, which
/// distinguishes two dialogs of one tool. An announcement without text matches every dialog.
pub(super) fn shows_input(ask: &Ask, dialog: &Dialog) -> bool {
    let shown: String =
        dialog.lines.iter().flat_map(|line| line.chars()).filter(|c| !c.is_whitespace()).collect();
    let input = ask.input.as_ref().and_then(Value::as_object);
    let inputs = input.into_iter().flat_map(Map::values).filter_map(Value::as_str);
    let questions = ask.questions.iter().map(|question| question.question.as_str());
    let mut excerpts =
        inputs.chain(questions).map(excerpt).filter(|excerpt| !excerpt.is_empty()).peekable();
    excerpts.peek().is_none() || excerpts.any(|excerpt| shown.contains(&excerpt))
}

/// The beginning of a text without blanks, so that line breaks of the screen do not matter.
fn excerpt(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).take(EXCERPT_CHARS).collect()
}

/// Whether two announcements are about the same dialog.
pub(super) fn same_ask(one: &Ask, other: &Ask) -> bool {
    one.kind == other.kind && one.tool == other.tool && one.input == other.input
}
