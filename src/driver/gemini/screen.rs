//! What Gemini CLI shows: its composer, its dialogs, and whether a turn runs. Everything is found from the bottom of the
//! screen by where it stands, because the conversation above can contain any words, and old dialogs.

use std::ops::Range;

use super::dialogs;
use super::frame::Frame;
use crate::driver::layout;
use crate::driver::sight::{Composer, Sight};
use crate::term::Screen;

/// What stands in front of the composer's text: usually, when everything is allowed, and for shell commands.
const MARKS: [char; 3] = ['>', '*', '!'];
/// How many rows above the composer the rule can stand that divides it from the conversation.
const NEAR: usize = 4;
/// What an empty composer says. It says so while a turn runs, too.
const HINTS: [&str; 5] = [
    "Type your message or",
    "Type your shell command",
    "Press 'Esc' for NORMAL mode.",
    "Press 'i' for INSERT mode.",
    "Type your feedback",
];
/// What the last row says while the program replaces itself.
const RESTARTING: &str = "Gemini CLI is restarting";

pub(super) fn see(screen: &Screen) -> Sight {
    let Some(last) = layout::last_row(screen) else { return Sight::default() };
    if let Some(frame) = Frame::lowest(screen) {
        let dialog = dialogs::find(screen, &frame);
        let option_list = dialog.is_some() || !frame.items().is_empty();
        return Sight { dialog, option_list, ..Sight::default() };
    }
    if screen.line(last).is_some_and(|line| line.trim_start().starts_with(RESTARTING)) {
        return Sight { busy: true, ..Sight::default() };
    }
    let Some((rule, rows)) = composer_rows(screen, last) else { return Sight::default() };
    let above = layout::filled(screen, 0..rule).next_back().map(|(_, line)| line);
    Sight {
        composer: Some(Composer { draft: draft(screen, rows) }),
        busy: above.is_some_and(shows_a_turn),
        ..Sight::default()
    }
}

/// The line above the rule. Names of hooks stay there for a while after the turn, but without a spinner.
fn shows_a_turn(line: &str) -> bool {
    let spins = line.trim_start().starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c));
    layout::indent(line) <= 1 && spins || line.trim_start().starts_with("! Shell awaiting input")
}

/// The row of the rule above the composer, and the rows of its text. What was said stands between the same edges, so the
/// rule and the end of the screen count.
fn composer_rows(screen: &Screen, last: usize) -> Option<(usize, Range<usize>)> {
    let ruled = |row: usize, dash: char| screen.line(row).is_some_and(|line| layout::is_rule(line, dash));
    let below = (0..=last).rev().find(|row| ruled(*row, '▀'))?;
    let above = (0..below).rev().find(|row| ruled(*row, '▄'))?;
    let rule = (above.saturating_sub(NEAR)..above).rev().find(|row| ruled(*row, '─'))?;
    let first = screen.line(above + 1)?.strip_prefix(' ')?;
    let after = first.strip_prefix(MARKS)?;
    let spoken =
        |row: usize| screen.line(row).is_some_and(|line| line.starts_with(['╭', '╰', '✦', 'ℹ', '✕']));
    let lowest = !(below..=last).any(spoken);
    (above + 1 < below && lowest && (after.is_empty() || after.starts_with(' ')))
        .then_some((rule, above + 1..below))
}

/// What is typed in the composer's rows.
fn draft(screen: &Screen, rows: Range<usize>) -> String {
    let mut draft = String::new();
    for row in rows.clone() {
        let line = screen.line(row).unwrap_or_default();
        if row > rows.start {
            draft.push('\n');
        } else if line.starts_with(" !") {
            draft.push_str("! ");
        }
        draft.push_str(line.get(3..).unwrap_or_default().trim_end());
    }
    if HINTS.iter().any(|hint| draft.trim_start_matches(['!', ' ']).starts_with(hint)) {
        draft.clear();
    }
    draft.truncate(draft.trim_end().len());
    draft
}
