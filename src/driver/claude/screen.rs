//! Reads Claude Code's screen: its composer, its dialogs, and whether a turn runs. Everything is
//! located by its position from the bottom of the screen, because the conversation above can
//! contain any text.

use std::ops::Range;

use super::{api_error, dialogs, screen_reader};
use crate::driver::agent::ApiError;
use crate::driver::layout;
use crate::driver::screen_reading::{Composer, ScreenReading};
use crate::term::Screen;

/// Marks the highlighted option, and the composer.
pub(super) const POINTER: char = '❯';
/// Marks the composer in shell mode.
const SHELL: char = '!';
/// The first character of the status line of a turn.
const SPINNER: [char; 7] = ['·', '✢', '*', '✶', '✻', '✽', '✳'];
/// How many rows above the composer the status line of a turn can be.
const NEAR: usize = 8;
/// Below this width the footer is cut off.
const NARROW: u16 = 60;
/// Claude gives its composer half of the screen without these rows, and never fewer than the lowest
/// number.
const BELOW: usize = 5;
const LOWEST: usize = 3;
/// Placeholders of the composer, for screens without colours.
const HINTS: [&str; 2] = ["Try \"", "Press up to edit queued messages"];

pub(super) fn read(screen: &Screen) -> ScreenReading {
    let Some(last) = layout::last_row(screen) else { return ScreenReading::default() };
    if let Some(rows) = composer_rows(screen, last) {
        let busy = (rows.end..=last).filter_map(|row| screen.line(row)).any(shows_a_turn);
        let spinner = spinner(screen, rows.start);
        let retrying = spinner.and_then(retrying);
        // A narrow footer is cut off before its hint that a turn runs; then the status line
        // decides.
        let cut = screen.size().cols() < NARROW && spinner.is_some_and(|line| line.contains('…'));
        return ScreenReading {
            busy: busy || cut || retrying.is_some(),
            composer: Some(composer(screen, rows)),
            retrying,
            ..ScreenReading::default()
        };
    }
    let dialog = screen_reader::find(screen, last).or_else(|| dialogs::find(screen, last));
    let listed = dialog.as_ref().map_or_else(
        || dialogs::ends_in_options(screen, last),
        |dialog| !dialog.choices.is_empty(),
    );
    ScreenReading { dialog, option_list: listed, ..ScreenReading::default() }
}

fn shows_a_turn(line: &str) -> bool {
    line.contains("esc to interrupt")
}

/// The rows between the lowest two rules, if they are the composer.
fn composer_rows(screen: &Screen, last: usize) -> Option<Range<usize>> {
    let mut rules = (0..=last)
        .rev()
        .filter(|row| screen.line(*row).is_some_and(|line| layout::is_rule(line, '─')));
    let (below, above) = (rules.next()?, rules.next()?);
    let first = screen.line(above + 1)?;
    let after = first.strip_prefix([POINTER, SHELL])?;
    (above + 1 < below && (after.is_empty() || after.starts_with([' ', '\u{a0}'])))
        .then_some(above + 1..below)
}

/// The composer in these rows. It grows up to a part of the screen; then it shows only the rows
/// around its cursor, without a mark.
fn composer(screen: &Screen, rows: Range<usize>) -> Composer {
    let tallest = (usize::from(screen.size().rows()) / 2).saturating_sub(BELOW).max(LOWEST);
    let cut = rows.len() >= tallest;
    Composer { rows: rows.len(), draft: draft(screen, rows), cut }
}

/// The text that is typed in the composer's rows.
fn draft(screen: &Screen, rows: Range<usize>) -> String {
    let mut draft = String::new();
    for row in rows.clone() {
        let Some(cells) = screen.row(row) else { continue };
        let mut begin = cells.text().char_indices().nth(2).map_or(usize::MAX, |(at, _)| at);
        if row > rows.start {
            draft.push('\n');
            // Where characters are wider than Claude assumes, a row continues at the left edge.
            if !(cells.text().starts_with("  ") || cells.text().trim().is_empty()) {
                begin = 0;
            }
        } else if cells.text().starts_with(SHELL) {
            draft.push(SHELL);
        }
        draft.push_str(&layout::field(cells, begin).typed);
    }
    if HINTS.iter().any(|hint| draft.starts_with(hint)) {
        draft.clear();
    }
    draft.truncate(draft.trim_end().len());
    draft
}

/// The status line of a running or finished turn, if it is directly above the composer.
fn spinner(screen: &Screen, composer: usize) -> Option<&str> {
    let mut near = layout::filled(screen, 0..composer).rev().take(NEAR).map(|(_, line)| line);
    near.find(|line| line.strip_prefix(SPINNER).is_some_and(|rest| rest.starts_with(' ')))
}

/// The error because of which Claude retries, if the status line says that it does.
fn retrying(spinner: &str) -> Option<ApiError> {
    let (before, _) = spinner.split_once("Retrying in ")?;
    let detail = before.trim_start_matches(SPINNER).trim().trim_end_matches('·').trim_end();
    Some(api_error::from_text(detail))
}
