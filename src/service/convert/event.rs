//! Events of the log, with the heartbeats and gaps that a stream adds to them.

use coop_client::v1::event::Payload;
use coop_client::{EventType, v1};

use super::outcome::rejection;
use super::prompt::{EVENT_INPUT, prompt_context};
use super::screen::terminal_size;
use super::session::usage;
use super::state::state_event;
use crate::pty::Exit;
use crate::session::by::By;
use crate::session::clock::Now;
use crate::session::event::{
    Event, EventKind, EventSeq, Generation, InterruptEvent, LeaseAction, LeaseEvent, Missed,
    NudgeEvent, Restart,
};

pub(in crate::service) fn exit_event(exit: Exit, generation: Generation) -> v1::ExitEvent {
    v1::ExitEvent { code: exit.code(), signal: exit.signal(), generation: generation.0 }
}

pub(in crate::service) fn restart_event(restart: &Restart) -> v1::RestartEvent {
    v1::RestartEvent {
        generation: restart.generation.0,
        offset: restart.offset.0,
        pid: Some(restart.pid),
        reason: restart.reason.as_str().to_owned(),
    }
}

/// The type that an event has on the wire, known before the event is converted.
pub(in crate::service) fn event_type(kind: &EventKind) -> EventType {
    match kind {
        EventKind::State(_) => EventType::State,
        EventKind::Prompt(_) => EventType::Prompt,
        EventKind::Nudge(_) => EventType::Nudge,
        EventKind::Respond(_) => EventType::Respond,
        EventKind::Usage(_) => EventType::Usage,
        EventKind::Exit { .. } => EventType::Exit,
        EventKind::Restart(_) => EventType::Restart,
        EventKind::Resize(_) => EventType::Resize,
        EventKind::Shutdown(_) => EventType::Shutdown,
        EventKind::Interrupt(_) => EventType::Interrupt,
        EventKind::Lease(_) => EventType::Lease,
        EventKind::Signal(_) => EventType::Signal,
        EventKind::Env { .. } => EventType::Env,
    }
}

pub(in crate::service) fn event(event: &Event, epoch: u64) -> v1::Event {
    let payload = match &event.kind {
        EventKind::State(change) => Payload::State(state_event(event, change, epoch)),
        EventKind::Prompt(prompt) => Payload::Prompt(prompt_context(prompt, EVENT_INPUT)),
        EventKind::Nudge(nudge) => Payload::Nudge(nudge_event(nudge)),
        EventKind::Respond(respond) => Payload::Respond(v1::OutcomeEvent {
            id: respond.id.0.clone(),
            outcome: respond.outcome.as_str().to_owned(),
            reason: None,
            via: Some(respond.via.as_str().to_owned()),
            payload: None,
            superseded_by: respond.superseded_by.as_ref().map(By::to_string),
        }),
        EventKind::Interrupt(interrupt) => Payload::Interrupt(interrupt_event(interrupt)),
        EventKind::Lease(lease) => Payload::Lease(lease_event(lease)),
        EventKind::Signal(signal) => {
            Payload::Signal(v1::SignalEvent { signal: signal.to_string() })
        }
        EventKind::Env { action, key } => {
            Payload::Env(v1::EnvEvent { action: action.as_str().to_owned(), key: key.clone() })
        }
        EventKind::Usage(counted) => Payload::Usage(usage(counted)),
        EventKind::Exit { exit, generation } => Payload::Exit(exit_event(*exit, *generation)),
        EventKind::Restart(restart) => Payload::Restart(restart_event(restart)),
        EventKind::Resize(size) => Payload::Resize(terminal_size(*size)),
        EventKind::Shutdown(reason) => {
            Payload::Shutdown(v1::ShutdownEvent { reason: reason.as_str().to_owned() })
        }
    };
    v1::Event {
        seq: event.seq.0,
        epoch,
        at_epoch_ms: event.at_epoch_ms,
        r#type: payload.event_type().as_str().to_owned(),
        payload: Some(payload),
        by: event.by.as_ref().map(By::to_string),
    }
}

fn nudge_event(nudge: &NudgeEvent) -> v1::OutcomeEvent {
    v1::OutcomeEvent {
        id: nudge.id.clone(),
        outcome: nudge.outcome.as_str().to_owned(),
        reason: nudge.failure.clone().or_else(|| rejection(&nudge.outcome)),
        via: None,
        payload: None,
        superseded_by: None,
    }
}

fn interrupt_event(interrupt: &InterruptEvent) -> v1::InterruptEvent {
    v1::InterruptEvent {
        outcome: interrupt.outcome.as_str().to_owned(),
        state_before: interrupt.before.as_str().to_owned(),
        state: interrupt.after.as_str().to_owned(),
    }
}

fn lease_event(lease: &LeaseEvent) -> v1::LeaseEvent {
    let expires_at_epoch_ms = match lease.action {
        LeaseAction::Acquired { expires_at_epoch_ms } => Some(expires_at_epoch_ms),
        LeaseAction::Released | LeaseAction::Expired => None,
    };
    v1::LeaseEvent {
        action: lease.action.as_str().to_owned(),
        holder: lease.holder.to_string(),
        expires_at_epoch_ms,
    }
}

/// Its `seq` is the last event that the reader has: resuming there repeats and misses nothing.
pub(in crate::service) fn heartbeat(after: EventSeq, epoch: u64) -> v1::Event {
    v1::Event {
        seq: after.0,
        epoch,
        at_epoch_ms: Now::read().epoch_ms,
        r#type: EventType::Heartbeat.as_str().to_owned(),
        payload: None,
        by: None,
    }
}

/// Its `seq` is the number just before the gap's end, so that resuming there misses nothing.
pub(in crate::service) fn gap_event(gap: v1::Gap, epoch: u64) -> v1::Event {
    v1::Event {
        seq: gap.to.saturating_sub(1),
        epoch,
        r#type: EventType::Gap.as_str().to_owned(),
        payload: Some(Payload::Gap(gap)),
        ..Default::default()
    }
}

/// A gap because the reader was too slow.
pub(in crate::service) fn overrun(missed: Missed) -> v1::Gap {
    v1::Gap { reason: "overrun".to_owned(), from: missed.from.0, to: missed.to.0 }
}

/// A gap because the reader's position is from another coop process.
pub(in crate::service) fn epoch_gap(from: u64, to: u64) -> v1::Gap {
    v1::Gap { reason: "epoch".to_owned(), from, to }
}
