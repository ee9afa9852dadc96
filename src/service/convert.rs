//! The only file that knows the session's vocabulary and the wire's together.

use coop_client::v1;

use crate::error::Error;
use crate::pty::Exit;
use crate::session::command::{Dump, Replaced, View};
use crate::session::event::{Event, Generation, Missed, Restart, StateChange, What};
use crate::session::page::Page;
use crate::session::snapshot::Snapshot;
use crate::term::{Cursor, Modes, MouseTracking, Screen, Size};

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Ansi,
}

impl TryFrom<i32> for Format {
    type Error = Error;

    fn try_from(value: i32) -> Result<Self, Error> {
        match v1::get_screen_request::Format::try_from(value) {
            Ok(v1::get_screen_request::Format::Text) => Ok(Self::Text),
            Ok(v1::get_screen_request::Format::Ansi) => Ok(Self::Ansi),
            Err(_) => Err(Error::bad_request(format!("format {value} is neither text (0) nor ansi (1)"))),
        }
    }
}

pub fn size_from_wire(cols: i32, rows: i32) -> Result<Size, Error> {
    // A negative number is out of range as surely as zero is.
    let (cols, rows) = (u32::try_from(cols).unwrap_or(0), u32::try_from(rows).unwrap_or(0));
    Size::new(cols, rows).map_err(|error| Error::bad_request(error.to_string()))
}

pub fn terminal_size(size: Size) -> v1::TerminalSize {
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

pub fn screen_response(view: &View, format: Format, with_cursor: bool, epoch: u64) -> v1::GetScreenResponse {
    let screen = &view.screen;
    v1::GetScreenResponse {
        lines: lines(screen, format),
        cols: screen.size().cols().into(),
        rows: screen.size().rows().into(),
        alt_screen: screen.alt_screen(),
        cursor: with_cursor.then(|| cursor(screen.cursor())),
        sequence: screen.seq().0,
        title: screen.title().to_owned(),
        event_seq: view.event_seq.0,
        epoch,
    }
}

pub fn screen_snapshot(view: &View, format: Format, epoch: u64) -> v1::ScreenSnapshot {
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

pub fn scrollback_response(page: Page, epoch: u64) -> v1::GetScrollbackResponse {
    v1::GetScrollbackResponse {
        lines: page.lines,
        first_line: page.first.0,
        next_line: page.next.0,
        total_lines: page.total.0,
        epoch,
    }
}

pub fn attach_snapshot(dump: Dump, epoch: u64) -> v1::AttachSnapshot {
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

pub fn restarted(replaced: Replaced) -> v1::RestartSessionResponse {
    v1::RestartSessionResponse {
        generation: replaced.generation.0,
        pid: Some(replaced.pid),
        offset: replaced.offset.0,
    }
}

pub fn switched(replaced: Replaced) -> v1::SwitchSessionResponse {
    v1::SwitchSessionResponse {
        generation: replaced.generation.0,
        pid: Some(replaced.pid),
        offset: replaced.offset.0,
    }
}

/// The one tier that speaks without a driver.
pub const PROCESS_TIER: &str = "process";

pub fn agent_state(
    snapshot: &Snapshot,
    agent: &str,
    session_id: &str,
    epoch: u64,
) -> v1::GetAgentStateResponse {
    v1::GetAgentStateResponse {
        agent: agent.to_owned(),
        state: snapshot.agent.state.as_str().to_owned(),
        since_seq: snapshot.agent.since.0,
        screen_seq: snapshot.screen_seq.0,
        detection_tier: PROCESS_TIER.to_owned(),
        detection_cause: snapshot.agent.cause.to_owned(),
        session_id: session_id.to_owned(),
        state_since_epoch_ms: snapshot.agent.since_epoch_ms,
        event_seq: snapshot.event_seq.0,
        epoch,
        ..Default::default()
    }
}

/// The state as a stream opens with it.
pub fn state_snapshot(snapshot: &Snapshot, epoch: u64) -> v1::AgentStateEvent {
    v1::AgentStateEvent {
        next: snapshot.agent.state.as_str().to_owned(),
        seq: snapshot.event_seq.0,
        at_epoch_ms: snapshot.agent.since_epoch_ms,
        detection_tier: PROCESS_TIER.to_owned(),
        detection_cause: snapshot.agent.cause.to_owned(),
        epoch,
        kind: "snapshot".to_owned(),
        ..Default::default()
    }
}

pub fn state_event(event: &Event, change: &StateChange, epoch: u64) -> v1::AgentStateEvent {
    v1::AgentStateEvent {
        prev: change.prev.as_str().to_owned(),
        next: change.next.as_str().to_owned(),
        seq: event.seq.0,
        at_epoch_ms: event.at_epoch_ms,
        detection_tier: PROCESS_TIER.to_owned(),
        detection_cause: change.cause.to_owned(),
        epoch,
        kind: "transition".to_owned(),
        ..Default::default()
    }
}

pub fn exit_event(exit: Exit, generation: Generation) -> v1::ExitEvent {
    v1::ExitEvent { code: exit.code(), signal: exit.signal(), generation: generation.0 }
}

pub fn restart_event(restart: &Restart) -> v1::RestartEvent {
    v1::RestartEvent {
        generation: restart.generation.0,
        offset: restart.offset.0,
        pid: Some(restart.pid),
        reason: restart.reason.as_str().to_owned(),
    }
}

/// The `type` of an event on the wire.
pub fn event_type(what: &What) -> &'static str {
    match what {
        What::State(_) => "state",
        What::Exit { .. } => "exit",
        What::Restart(_) => "restart",
        What::Resize(_) => "resize",
        What::Shutdown(_) => "shutdown",
    }
}

/// Every `type` a client may filter by.
pub const EVENT_TYPES: &[&str] = &[
    "state",
    "prompt",
    "nudge",
    "respond",
    "stop",
    "start",
    "transcript",
    "usage",
    "exit",
    "restart",
    "resize",
    "shutdown",
    "gap",
    "heartbeat",
];

pub fn event(event: &Event, epoch: u64) -> v1::Event {
    use v1::event::Payload;
    let payload = match &event.what {
        What::State(change) => Payload::State(state_event(event, change, epoch)),
        What::Exit { exit, generation } => Payload::Exit(exit_event(*exit, *generation)),
        What::Restart(restart) => Payload::Restart(restart_event(restart)),
        What::Resize(size) => Payload::Resize(terminal_size(*size)),
        What::Shutdown(reason) => Payload::Shutdown(v1::ShutdownEvent { reason: reason.as_str().to_owned() }),
    };
    v1::Event {
        seq: event.seq.0,
        epoch,
        at_epoch_ms: event.at_epoch_ms,
        r#type: event_type(&event.what).to_owned(),
        payload: Some(payload),
    }
}

/// A hole that a slow reader fell into.
pub fn overrun(missed: Missed) -> v1::Gap {
    v1::Gap { reason: "overrun".to_owned(), from: missed.from.0, to: missed.to.0 }
}

/// A cursor from another coop: nothing before `to` can be told.
pub fn epoch_gap(from: u64, to: u64) -> v1::Gap {
    v1::Gap { reason: "epoch".to_owned(), from, to }
}
