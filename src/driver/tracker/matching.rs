//! Whether an announced dialog is the one on screen. It compares values and remembers nothing.

use serde_json::{Map, Value};

use crate::driver::prompt::{Ask, PromptKind};
use crate::driver::screen_reading::Dialog;

/// How many characters of an input are searched for: a longer text may be wrapped or cut off.
const EXCERPT_CHARS: usize = 24;

/// Whether the agent is being set up, so that the dialog is not in the middle of a turn.
pub(super) fn is_setup(dialog: &Dialog) -> bool {
    dialog.kind == PromptKind::Setup || dialog.subtype.is_some()
}

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

/// How many characters of the tool's input and of the questions the dialog shows, each from its
/// beginning on. Of two dialogs that were announced, the one on screen shows more of its own.
pub(super) fn shown_length(ask: &Ask, dialog: &Dialog) -> usize {
    let shown: String = dialog.lines.iter().map(|line| without_blanks(line)).collect();
    let input = ask.input.as_ref().and_then(Value::as_object);
    let inputs = input.into_iter().flat_map(Map::values).filter_map(Value::as_str);
    let questions = ask.questions.iter().map(|question| question.question.as_str());
    inputs.chain(questions).map(|text| shown_start(&shown, &without_blanks(text))).sum()
}

/// The length of the longest beginning of the text that is shown.
fn shown_start(shown: &str, text: &str) -> usize {
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    ends.partition_point(|end| text.get(..*end).is_some_and(|start| shown.contains(start)))
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The beginning of a text without blanks, so that line breaks of the screen do not matter.
fn excerpt(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).take(EXCERPT_CHARS).collect()
}

/// Whether an ask with a summary of its input can be about the same dialog as the whole one. Each
/// text of the summary is the beginning of a text, on one line.
pub(super) fn summarises(summary: &Ask, whole: &Ask) -> bool {
    let same_tool = match (&summary.tool, &whole.tool) {
        (Some(one), Some(other)) => one == other,
        (Some(_) | None, Some(_) | None) => true,
    };
    let fields = summary.input.as_ref().and_then(Value::as_object).into_iter().flatten();
    let mut texts = fields.filter_map(|(key, text)| Some((key, text.as_str()?)));
    let begins = |(key, text): (&String, &str)| {
        let whole = whole.input.as_ref().and_then(|input| input.get(key)?.as_str());
        whole.is_some_and(|whole| words(whole).starts_with(words(text).trim_end_matches('…')))
    };
    // The line for people is the question, perhaps cut, or with its options behind it.
    let same_question = whole.questions.first().is_none_or(|asked| {
        let (line, asked) = (words(&summary.message), words(&asked.question));
        line.starts_with(&asked) || asked.starts_with(line.trim_end_matches('…'))
    });
    summary.kind == whole.kind && same_tool && same_question && texts.all(begins)
}

/// The text with one blank for each run of blanks and line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether two announcements are about the same dialog.
pub(super) fn same_ask(one: &Ask, other: &Ask) -> bool {
    one.kind == other.kind && one.tool == other.tool && one.input == other.input
}
