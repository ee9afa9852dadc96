//! Reads Codex's screen: its composer, its dialogs, and whether a turn runs. Everything is located
//! by its position from the bottom of the screen, because the conversation above can contain any
//! text.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::{api_error, dialogs};
use crate::driver::agent::ApiError;
use crate::driver::layout;
use crate::driver::screen_reading::{Composer, ScreenReading};
use crate::term::Screen;

/// Marks the highlighted option, and the composer.
pub(super) const POINTER: char = '›';
/// Marks the composer in shell mode.
const SHELL: char = '!';
/// The first character of the status line of a turn.
const BULLETS: [char; 2] = ['•', '◦'];
/// How many rows above the composer the status line of a turn can be, with queued messages between.
const NEAR: usize = 12;
/// At the right edge of a composer that holds more text than it shows.
const MORE_ABOVE: char = '↑';
/// The placeholder of the composer, for screens without colours.
const HINT: &str = "Ask Codex to do anything";

pub(super) fn read(screen: &Screen) -> ScreenReading {
    let Some(last) = layout::last_row(screen) else { return ScreenReading::default() };
    if let Some(dialog) = dialogs::find(screen, last) {
        let option_list = !dialog.choices.is_empty();
        return ScreenReading { dialog: Some(dialog), option_list, ..ScreenReading::default() };
    }
    let Some(rows) = composer_rows(screen, last) else {
        let option_list = dialogs::ends_in_options(screen, last);
        return ScreenReading { option_list, ..ScreenReading::default() };
    };
    let running = running(screen, rows.start);
    ScreenReading {
        busy: running.is_some(),
        retrying: running.and_then(|row| retrying(screen, row)),
        composer: Some(composer(screen, rows)),
        ..ScreenReading::default()
    }
}

/// The rows of the composer. They end above an empty row and a footer of one or two rows.
fn composer_rows(screen: &Screen, last: usize) -> Option<Range<usize>> {
    let empty = |row: usize| screen.line(row).is_some_and(|line| line.trim().is_empty());
    let above = |row: usize| last.checked_sub(row);
    let end = above(1).filter(|row| empty(*row)).or_else(|| above(2).filter(|row| empty(*row)))?;
    let belongs = |line: &str| line.trim().is_empty() || line.starts_with("  ");
    for row in (0..end).rev() {
        let line = screen.line(row)?;
        if line
            .strip_prefix([POINTER, SHELL])
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            // A sent message looks the same, except that its mark is faint.
            let sent = screen.row(row)?.pieces().next().is_some_and(|piece| piece.style.faint);
            return (!sent).then_some(row..end);
        }
        if !belongs(line) {
            return None;
        }
    }
    None
}

/// Whether a line reaches the right edge.
fn fills(screen: &Screen, line: &str) -> bool {
    line.width() == usize::from(screen.size().cols())
}

/// The composer in these rows. If its text is too tall, the first rows are missing, and an arrow
/// shows that.
fn composer(screen: &Screen, rows: Range<usize>) -> Composer {
    let mut draft = String::new();
    let mut cut = false;
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
            cut = true;
            draft.push_str(typed.trim_end_matches([MORE_ABOVE, ' ']));
        } else {
            draft.push_str(&typed);
        }
    }
    if draft == HINT {
        draft.clear();
    }
    draft.truncate(draft.trim_end().len());
    Composer { draft, rows: rows.len(), cut }
}

/// The row of a running turn's status line, above the composer.
fn running(screen: &Screen, composer: usize) -> Option<usize> {
    let shows = |line: &str| line.starts_with(BULLETS) && line.contains("esc to interrupt)");
    let rows = layout::filled(screen, 0..composer).rev().take(NEAR);
    rows.into_iter().find(|(_, line)| shows(line)).map(|(row, _)| row)
}

/// The error because of which Codex retries, if the status line says that it does.
fn retrying(screen: &Screen, row: usize) -> Option<ApiError> {
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
    Some(api_error::from_text(&detail))
}
