//! Screens, scrollback and the dump that an attached terminal starts from.

use coop_client::v1;
use coop_client::v1::attach_response::Message;

use crate::error::Error;
use crate::session::command::{Dump, ScreenView};
use crate::session::scrollback_page::ScrollbackPage;
use crate::term::{Cursor, Modes, MouseTracking, Screen, Size};

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum Format {
    Text,
    Ansi,
}

impl TryFrom<i32> for Format {
    type Error = Error;

    fn try_from(value: i32) -> Result<Self, Error> {
        match v1::get_screen_request::Format::try_from(value) {
            Ok(v1::get_screen_request::Format::Text) => Ok(Self::Text),
            Ok(v1::get_screen_request::Format::Ansi) => Ok(Self::Ansi),
            Err(_) => {
                Err(Error::bad_request(format!("format {value} is neither text (0) nor ansi (1)")))
            }
        }
    }
}

pub(in crate::service) fn terminal_size(size: Size) -> v1::TerminalSize {
    v1::TerminalSize { cols: size.cols().into(), rows: size.rows().into() }
}

fn lines(screen: &Screen, format: Format) -> Vec<String> {
    match format {
        Format::Text => screen.lines().map(str::to_owned).collect(),
        Format::Ansi => screen.ansi_lines().collect(),
    }
}

fn cursor(cursor: Cursor) -> v1::CursorPosition {
    v1::CursorPosition { row: cursor.row.into(), col: cursor.col.into(), hidden: !cursor.visible }
}

pub(in crate::service) fn screen_response(
    view: &ScreenView,
    format: Format,
    with_cursor: bool,
    epoch: u64,
) -> v1::GetScreenResponse {
    let v1::ScreenSnapshot {
        lines,
        cols,
        rows,
        alt_screen,
        cursor,
        sequence,
        title,
        event_seq,
        epoch,
    } = screen_snapshot(view, format, epoch);
    v1::GetScreenResponse {
        lines,
        cols,
        rows,
        alt_screen,
        cursor: cursor.filter(|_| with_cursor),
        sequence,
        title,
        event_seq,
        epoch,
    }
}

pub(in crate::service) fn screen_snapshot(
    view: &ScreenView,
    format: Format,
    epoch: u64,
) -> v1::ScreenSnapshot {
    let screen = &view.screen;
    v1::ScreenSnapshot {
        lines: lines(screen, format),
        cols: screen.size().cols().into(),
        rows: screen.size().rows().into(),
        alt_screen: screen.alt_screen(),
        cursor: Some(cursor(screen.cursor())),
        sequence: screen.seq().0,
        title: screen.title().to_owned(),
        event_seq: view.event_seq.0,
        epoch,
    }
}

/// Joins lines to the text of a screen, with a line feed between two and none after the last.
pub(in crate::service) fn screen_text(lines: Vec<String>) -> v1::GetScreenTextResponse {
    v1::GetScreenTextResponse { text: lines.join("\n") }
}

pub(in crate::service) fn scrollback_response(
    page: ScrollbackPage,
    epoch: u64,
) -> v1::GetScrollbackResponse {
    v1::GetScrollbackResponse {
        lines: page.lines,
        first_line: page.first.0,
        next_line: page.next.0,
        total_lines: page.total.0,
        epoch,
    }
}

pub(in crate::service) fn attach_snapshot(dump: Dump, epoch: u64) -> v1::AttachSnapshot {
    v1::AttachSnapshot {
        dump: dump.bytes.into(),
        offset: dump.offset.0,
        modes: Some(modes(dump.modes)),
        cols: dump.size.cols().into(),
        rows: dump.size.rows().into(),
        epoch,
        generation: dump.generation.0,
        sequence: dump.seq.0,
        event_seq: dump.event_seq.0,
    }
}

pub(in crate::service) fn attach_response(message: Message) -> v1::AttachResponse {
    v1::AttachResponse { message: Some(message) }
}

fn modes(modes: Modes) -> v1::TerminalModes {
    v1::TerminalModes {
        alt_screen: modes.alt_screen,
        bracketed_paste: modes.bracketed_paste,
        application_cursor: modes.application_cursor,
        focus_events: modes.focus_events,
        mouse: modes.mouse_tracking != MouseTracking::Off,
        cursor_visible: modes.cursor_visible,
    }
}
