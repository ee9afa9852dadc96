//! Reads Gemini CLI's screen: its composer, its dialogs, and whether a turn runs. Everything is
//! located by its position from the bottom of the screen, because the conversation above can
//! contain any text, and old dialogs.

use std::ops::Range;

use super::dialogs;
use super::frame::Frame;
use crate::driver::layout;
use crate::driver::screen_reading::{Composer, ScreenReading};
use crate::term::Screen;

/// Marks the composer: normally, when everything is allowed, and in shell mode.
const MARKS: [char; 3] = ['>', '*', '!'];
/// How many rows below the rule that separates it from the conversation the composer can start.
const NEAR: usize = 4;
/// How many rows can be below the composer.
const FOOTER: usize = 4;
/// How many rows of its text the composer shows.
const TALLEST: usize = 10;
/// Placeholders of an empty composer, which it shows during a turn as well.
const HINTS: [&str; 5] = [
    "Type your message or",
    "Type your shell command",
    "Press 'Esc' for NORMAL mode.",
    "Press 'i' for INSERT mode.",
    "Type your feedback",
];
/// The last line on screen while the program restarts itself.
const RESTARTING: &str = "Gemini CLI is restarting";

pub(super) fn read(screen: &Screen) -> ScreenReading {
    // Before anything is drawn, a dialog may still follow, so the agent does not count as idle.
    let not_yet = ScreenReading { option_list: true, ..ScreenReading::default() };
    let Some(last) = layout::last_row(screen) else { return not_yet };
    if let Some(frame) = Frame::lowest(screen) {
        let dialog = dialogs::find(screen, &frame);
        // While Gemini logs in, it may still ask for the login method.
        let option_list =
            dialog.is_some() || !frame.items().is_empty() || has_spinner(frame.first());
        return ScreenReading { dialog, option_list, ..ScreenReading::default() };
    }
    let Some((rule, rows)) =
        composer_rows(screen, last).or_else(|| composer_below_the_top(screen, last))
    else {
        let restarts =
            screen.line(last).is_some_and(|line| line.trim_start().starts_with(RESTARTING));
        return if restarts { not_yet } else { ScreenReading::default() };
    };
    // The composer is drawn a moment before it accepts a paste.
    if !screen.modes().bracketed_paste {
        return not_yet;
    }
    let above = layout::filled(screen, 0..rule).next_back().map(|(_, line)| line);
    ScreenReading {
        composer: Some(composer(screen, rows)),
        busy: above.is_some_and(shows_a_turn),
        ..ScreenReading::default()
    }
}

/// Whether the line above the rule shows a running turn. Names of hooks stay there for a while
/// after the turn, without a spinner.
fn shows_a_turn(line: &str) -> bool {
    layout::indent(line) <= 1 && has_spinner(line)
        || line.trim_start().starts_with("! Shell awaiting input")
}

fn has_spinner(line: &str) -> bool {
    line.trim_start().starts_with(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c))
}

/// The row of the rule above the composer, and the rows of its text. A sent message looks the same,
/// but has no rule.
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
    // The composer's rows have a background colour if the terminal has enough colours.
    let backed = |row: usize| {
        screen.row(row).is_some_and(|row| row.pieces().any(|piece| piece.style.backed))
    };
    let coloured = backed(first);
    let belongs = |row: &usize| {
        let text = line(*row);
        !layout::is_rule(text, '▀') && if coloured { backed(*row) } else { text.starts_with("   ") }
    };
    let more = (first + 1..=last).take_while(belongs).count();
    Some((rule, first..first + 1 + more))
}

/// The rows of a composer so tall that the rule above it is not on screen. It has the cursor, which
/// a sent message has not, and only the footer is below it.
fn composer_below_the_top(screen: &Screen, last: usize) -> Option<(usize, Range<usize>)> {
    let line = |row: usize| screen.line(row).unwrap_or_default();
    let backed = |row: &usize| {
        screen.row(*row).is_some_and(|row| row.pieces().any(|piece| piece.style.backed))
    };
    let has_cursor = |row: usize| {
        let mut pieces = screen.row(row)?.pieces();
        pieces.find(|piece| piece.style.backed && piece.style.inverse)
    };
    let end = (last.saturating_sub(FOOTER)..=last).rev().find(backed)? + 1;
    let begin = (0..end).rev().take_while(backed).last()?;
    if begin >= NEAR || !(begin..end).any(|row| has_cursor(row).is_some()) {
        return None;
    }
    let typed = |row: &usize| !line(*row).trim().is_empty();
    let above = (begin..end).find(typed)?;
    let after = line(above).strip_prefix(' ').and_then(|text| text.strip_prefix(MARKS));
    let marked = after.is_some_and(|after| after.is_empty() || after.starts_with(' '));
    // Without its mark, the text goes on above the screen.
    let first = if marked { above } else { Some(0).filter(|_| begin == 0)? };
    let below = (first..end).rev().find(|row| typed(row) || has_cursor(*row).is_some())?;
    Some((begin, first..below + 1))
}

/// The composer in these rows. A tall text scrolls in it, without a mark.
fn composer(screen: &Screen, rows: Range<usize>) -> Composer {
    let marked = screen.line(rows.start).is_some_and(|line| line.trim_start().starts_with(MARKS));
    let cut = !marked || rows.len() >= TALLEST;
    Composer { rows: rows.len(), draft: draft(screen, rows), cut }
}

/// The text that is typed in the composer's rows.
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
