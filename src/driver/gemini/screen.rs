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
/// How many rows below the rule, which divides it from the conversation, the composer can begin.
const NEAR: usize = 4;
/// What an empty composer says. It says so while a turn runs, too.
const HINTS: [&str; 5] = [
    "Type your message or",
    "Type your shell command",
    "Press 'Esc' for NORMAL mode.",
    "Press 'i' for INSERT mode.",
    "Type your feedback",
];
/// What is left on screen when the program replaces itself.
const RESTARTING: &str = "Gemini CLI is restarting";

pub(super) fn see(screen: &Screen) -> Sight {
    // Until it shows what it wants, nobody knows that it wants nothing.
    let not_yet = Sight { option_list: true, ..Sight::default() };
    let Some(last) = layout::last_row(screen) else { return not_yet };
    if let Some(frame) = Frame::lowest(screen) {
        let dialog = dialogs::find(screen, &frame);
        // While it signs in, it may still ask how.
        let option_list = dialog.is_some() || !frame.items().is_empty() || spins(frame.first());
        return Sight { dialog, option_list, ..Sight::default() };
    }
    let Some((rule, rows)) = composer_rows(screen, last) else {
        let restarts = screen.line(last).is_some_and(|line| line.trim_start().starts_with(RESTARTING));
        return if restarts { not_yet } else { Sight::default() };
    };
    // It is drawn a moment before it takes a paste.
    if !screen.modes().bracketed_paste {
        return not_yet;
    }
    let above = layout::filled(screen, 0..rule).next_back().map(|(_, line)| line);
    Sight {
        composer: Some(Composer { draft: draft(screen, rows) }),
        busy: above.is_some_and(shows_a_turn),
        ..Sight::default()
    }
}

/// The line above the rule. Names of hooks stay there for a while after the turn, but without a spinner.
fn shows_a_turn(line: &str) -> bool {
    layout::indent(line) <= 1 && spins(line) || line.trim_start().starts_with("! Shell awaiting input")
}

fn spins(line: &str) -> bool {
    line.trim_start().starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c))
}

/// The row of the rule above the composer, and the rows of its text. What was said before looks the same, but has no rule
/// of its own.
fn composer_rows(screen: &Screen, last: usize) -> Option<(usize, Range<usize>)> {
    let line = |row: usize| screen.line(row).unwrap_or_default();
    let rule = (0..=last).rev().find(|row| layout::is_rule(line(*row), '─'))?;
    let marked = |row: &usize| {
        let after = line(*row).strip_prefix(' ').and_then(|text| text.strip_prefix(MARKS));
        after.is_some_and(|after| after.is_empty() || after.starts_with(' '))
    };
    let first = (rule + 1..=(rule + NEAR).min(last)).find(marked)?;
    if (rule..=last).any(|row| line(row).starts_with(['╭', '╰', '✦', 'ℹ', '✕'])) {
        return None;
    }
    // Its rows have a background where the terminal has colours enough.
    let backed = |row: usize| screen.row(row).is_some_and(|row| row.pieces().any(|piece| piece.look.backed));
    let coloured = backed(first);
    let belongs = |row: &usize| {
        let text = line(*row);
        !layout::is_rule(text, '▀') && if coloured { backed(*row) } else { text.starts_with("   ") }
    };
    let more = (first + 1..=last).take_while(belongs).count();
    Some((rule, first..first + 1 + more))
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
