//! What Codex shows: its composer, its dialogs, and whether a turn runs. Everything is found from the bottom of the
//! screen by where it stands, because the conversation above can contain any words.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::{dialogs, trouble};
use crate::driver::agent::Trouble;
use crate::driver::layout;
use crate::driver::sight::{Composer, Sight};
use crate::term::Screen;

/// What marks the highlighted option, and where a message goes.
pub(super) const POINTER: char = '›';
/// What marks the composer while it takes a shell command.
const SHELL: char = '!';
/// What the line of a running turn begins with.
const BULLETS: [char; 2] = ['•', '◦'];
/// How many rows above the composer the line of a running turn can stand: queued messages come between.
const NEAR: usize = 12;
/// What stands at the right edge of a composer that holds more than it can show.
pub(super) const MORE_ABOVE: char = '↑';
/// The hint of the composer, for a look at a screen without colours.
const HINT: &str = "Ask Codex to do anything";

pub(super) fn see(screen: &Screen) -> Sight {
    let Some(last) = layout::last_row(screen) else { return Sight::default() };
    if let Some(dialog) = dialogs::find(screen, last) {
        let option_list = !dialog.choices.is_empty();
        return Sight { dialog: Some(dialog), option_list, ..Sight::default() };
    }
    let Some(rows) = composer_rows(screen, last) else {
        let option_list = dialogs::lists(screen, last);
        return Sight { option_list, ..Sight::default() };
    };
    let running = running(screen, rows.start);
    Sight {
        busy: running.is_some(),
        retrying: running.and_then(|row| retrying(screen, row)),
        composer: Some(Composer { draft: draft(screen, rows) }),
        ..Sight::default()
    }
}

/// The rows that a message goes to. They end above an empty row and the row or two of the footer.
fn composer_rows(screen: &Screen, last: usize) -> Option<Range<usize>> {
    let empty = |row: usize| screen.line(row).is_some_and(|line| line.trim().is_empty());
    let above = |row: usize| last.checked_sub(row);
    let end = above(1).filter(|row| empty(*row)).or_else(|| above(2).filter(|row| empty(*row)))?;
    let belongs = |line: &str| line.trim().is_empty() || line.starts_with("  ");
    for row in (0..end).rev() {
        let line = screen.line(row)?;
        if line.strip_prefix([POINTER, SHELL]).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) {
            // A message that was sent looks the same, but for its pale mark.
            let sent = screen.row(row)?.pieces().next().is_some_and(|piece| piece.look.faint);
            return (!sent).then_some(row..end);
        }
        if !belongs(line) {
            return None;
        }
    }
    None
}

/// Whether a line reaches to the right edge.
fn fills(screen: &Screen, line: &str) -> bool {
    line.width() == usize::from(screen.size().cols())
}

/// What is typed in the composer's rows. If it is too tall for them, what is above the first row is left out, and an
/// arrow stands for it.
fn draft(screen: &Screen, rows: Range<usize>) -> String {
    let mut draft = String::new();
    for row in rows.clone() {
        let Some(cells) = screen.row(row) else { continue };
        let begin = cells.text().char_indices().nth(2).map_or(usize::MAX, |(at, _)| at);
        if row > rows.start {
            draft.push('\n');
        } else if cells.text().starts_with(SHELL) {
            draft.push(SHELL);
        }
        let typed = layout::field(cells, begin).typed;
        if row == rows.start && cells.text().ends_with(MORE_ABOVE) && fills(screen, cells.text()) {
            draft.push(MORE_ABOVE);
            draft.push_str(typed.trim_end_matches([MORE_ABOVE, ' ']));
        } else {
            draft.push_str(&typed);
        }
    }
    if draft == HINT {
        draft.clear();
    }
    draft.truncate(draft.trim_end().len());
    draft
}

/// The line that shows a running turn, above the composer.
fn running(screen: &Screen, composer: usize) -> Option<usize> {
    let shows = |line: &str| line.starts_with(BULLETS) && line.contains("esc to interrupt)");
    let rows = layout::filled(screen, 0..composer).rev().take(NEAR);
    rows.into_iter().find(|(_, line)| shows(line)).map(|(row, _)| row)
}

/// Why the agent tries its API again, if the line of the running turn says that it does.
fn retrying(screen: &Screen, row: usize) -> Option<Trouble> {
    let header = screen.line(row)?.trim_start_matches(BULLETS).trim_start();
    if !header.starts_with("Reconnecting") {
        return None;
    }
    let reason = screen.line(row + 1).and_then(|line| line.trim_start().strip_prefix("└ "));
    let header = header.rsplit_once(" (").map_or(header, |(header, _)| header);
    let detail = match reason.filter(|reason| !reason.starts_with("Tip:")) {
        Some(reason) => format!("{header}: {}", reason.trim_end()),
        None => header.to_owned(),
    };
    Some(trouble::from_text(&detail))
}
