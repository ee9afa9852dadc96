//! What Claude Code shows: its composer, its dialogs, and whether a turn runs. Everything is found from the bottom of
//! the screen by where it stands, because the conversation above can contain any words.

use std::ops::Range;

use super::{dialogs, spoken, trouble};
use crate::driver::agent::Trouble;
use crate::driver::layout;
use crate::driver::sight::{Composer, Sight};
use crate::term::Screen;

/// What marks the highlighted option, and where a message goes.
pub(super) const POINTER: char = '❯';
/// What marks the composer while it takes a shell command.
const SHELL: char = '!';
/// What the line of a running turn begins with.
const SPINNER: [char; 7] = ['·', '✢', '*', '✶', '✻', '✽', '✳'];
/// How many rows above the composer the line of a running turn can stand.
const NEAR: usize = 8;
/// In fewer columns the footer has no room for its words.
const NARROW: u16 = 60;
/// Hints of the composer, for a look at a screen without colours.
const HINTS: [&str; 2] = ["Try \"", "Press up to edit queued messages"];

pub(super) fn see(screen: &Screen) -> Sight {
    let Some(last) = layout::last_row(screen) else { return Sight::default() };
    if let Some(rows) = composer_rows(screen, last) {
        let busy = (rows.end..=last).filter_map(|row| screen.line(row)).any(shows_a_turn);
        let spinner = spinner(screen, rows.start);
        let retrying = spinner.and_then(retrying);
        // A narrow footer is cut off before it says that a turn runs; then the line above must do.
        let cut = screen.size().cols() < NARROW && spinner.is_some_and(|line| line.contains('…'));
        return Sight {
            busy: busy || cut || retrying.is_some(),
            composer: Some(Composer { draft: draft(screen, rows) }),
            retrying,
            ..Sight::default()
        };
    }
    let dialog = spoken::find(screen, last).or_else(|| dialogs::find(screen, last));
    let listed =
        dialog.as_ref().map_or_else(|| dialogs::lists(screen, last), |dialog| !dialog.choices.is_empty());
    Sight { dialog, option_list: listed, ..Sight::default() }
}

fn shows_a_turn(line: &str) -> bool {
    line.contains("esc to interrupt")
}

/// The rows between the lowest two rules, if they are where a message goes.
fn composer_rows(screen: &Screen, last: usize) -> Option<Range<usize>> {
    let mut rules =
        (0..=last).rev().filter(|row| screen.line(*row).is_some_and(|line| layout::is_rule(line, '─')));
    let (below, above) = (rules.next()?, rules.next()?);
    let first = screen.line(above + 1)?;
    let after = first.strip_prefix([POINTER, SHELL])?;
    (above + 1 < below && (after.is_empty() || after.starts_with([' ', '\u{a0}'])))
        .then_some(above + 1..below)
}

/// What is typed in the composer's rows.
fn draft(screen: &Screen, rows: Range<usize>) -> String {
    let mut draft = String::new();
    for row in rows.clone() {
        let Some(cells) = screen.row(row) else { continue };
        let mut begin = cells.text().char_indices().nth(2).map_or(usize::MAX, |(at, _)| at);
        if row > rows.start {
            draft.push('\n');
            // A row of characters that are wider here than the agent thought goes on at the very left.
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

/// The line of a turn that runs or ran, if it stands right above the composer.
fn spinner(screen: &Screen, composer: usize) -> Option<&str> {
    let mut near = layout::filled(screen, 0..composer).rev().take(NEAR).map(|(_, line)| line);
    near.find(|line| line.strip_prefix(SPINNER).is_some_and(|rest| rest.starts_with(' ')))
}

/// Why the agent tries its API again, if the line of its turn says that it does.
fn retrying(spinner: &str) -> Option<Trouble> {
    let (before, _) = spinner.split_once("Retrying in ")?;
    let detail = before.trim_start_matches(SPINNER).trim().trim_end_matches('·').trim_end();
    Some(trouble::from_text(detail))
}
