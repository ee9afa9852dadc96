//! The agent's state: the snapshot, its transitions, and the votes that led to it.

use std::time::Instant;

use coop_client::{StateEventKind, v1};

use super::prompt::{EVENT_INPUT, prompt_context};
use crate::driver::agent::Situation;
use crate::driver::status_report::{ReportedState, StatusReport};
use crate::driver::tracker::Vote;
use crate::session::clock::{Now, millis};
use crate::session::command::Explanation;
use crate::session::event::{Event, EventSeq, StateChange};
use crate::session::program_status::RefusedReport;
use crate::session::snapshot::{Agent, Snapshot};
use crate::source::SourceCounters;

pub(in crate::service) fn agent_state(
    snapshot: &Snapshot,
    agent: &str,
    session_id: &str,
    epoch: u64,
) -> v1::GetAgentStateResponse {
    let Agent { situation, tier, cause, since, since_epoch_ms, grace_ends, facts, .. } =
        &snapshot.agent;
    let error = error_fields(situation);
    v1::GetAgentStateResponse {
        agent: agent.to_owned(),
        state: situation.state().as_str().to_owned(),
        since_seq: since.0,
        screen_seq: snapshot.screen_seq.0,
        detection_tier: tier.as_str().to_owned(),
        prompt: situation.prompt().map(|prompt| prompt_context(prompt, usize::MAX)),
        idle_grace_remaining_secs: grace_ends
            .map(|ends| ends.saturating_duration_since(Instant::now()).as_secs_f32()),
        detection_cause: (*cause).to_owned(),
        error_detail: error.detail,
        error_category: error.category,
        parked_reason: error.parked_reason,
        resume_at_epoch_ms: error.resume_at_epoch_ms,
        last_message: facts.message.as_deref().map(str::to_owned),
        session_id: session_id.to_owned(),
        agent_session_id: facts.conversation.clone(),
        state_since_epoch_ms: *since_epoch_ms,
        event_seq: snapshot.event_seq.0,
        epoch,
        permission_mode: facts.permission_mode.clone(),
        transcript_path: facts.transcript.clone(),
        cwd: facts.cwd.clone(),
    }
}

/// The API error of a situation, as the fields of the message.
#[derive(Default)]
struct ErrorFields {
    detail: Option<String>,
    category: Option<String>,
    parked_reason: Option<String>,
    resume_at_epoch_ms: Option<u64>,
}

fn error_fields(situation: &Situation) -> ErrorFields {
    let Some(api_error) = situation.api_error() else { return ErrorFields::default() };
    let category = Some(api_error.category.as_str().to_owned());
    let detail = Some(api_error.detail.clone());
    match situation {
        Situation::Parked(parked) => ErrorFields {
            parked_reason: category.clone(),
            resume_at_epoch_ms: parked.resume_at_epoch_ms,
            category,
            detail,
        },
        Situation::Starting
        | Situation::Working { .. }
        | Situation::Idle
        | Situation::Prompt(_)
        | Situation::Error(_)
        | Situation::Restarting
        | Situation::Exited
        | Situation::Unknown => ErrorFields { detail, category, ..ErrorFields::default() },
    }
}

pub(in crate::service) fn waited(
    matched: bool,
    agent: v1::GetAgentStateResponse,
) -> v1::WaitForStateResponse {
    v1::WaitForStateResponse { matched, state: agent.state.clone(), agent: Some(agent) }
}

pub(in crate::service) fn explanation(
    explanation: Explanation,
    counters: &SourceCounters,
    snapshot: &Snapshot,
    agent: &str,
) -> v1::ExplainStateResponse {
    v1::ExplainStateResponse {
        agent: agent.to_owned(),
        state: snapshot.agent.state().as_str().to_owned(),
        detection_tier: snapshot.agent.tier.as_str().to_owned(),
        reason: explanation.reason,
        votes: explanation.votes.iter().map(vote).collect(),
        event_seq: snapshot.event_seq.0,
        source_counters: source_counters(counters),
        program_status: explanation.status.iter().map(program_status).collect(),
        refused_reports: explanation.refused.iter().map(refused_report).collect(),
    }
}

fn program_status(report: &StatusReport) -> v1::ProgramStatus {
    let (kind, progress) = match report.state {
        ReportedState::Working { progress } => (None, progress),
        ReportedState::Blocked { kind, progress } => (kind, progress),
        ReportedState::Idle | ReportedState::Done | ReportedState::Error => (None, None),
    };
    v1::ProgramStatus {
        id: report.id.clone().unwrap_or_default(),
        app: report.app.clone().unwrap_or_default(),
        state: report.state.as_str().to_owned(),
        kind: kind.map(|kind| kind.as_str().to_owned()),
        progress: progress.map(i32::from),
        title: report.title.clone(),
        message: report.message.clone(),
    }
}

fn refused_report(refused: &RefusedReport) -> v1::RefusedReport {
    v1::RefusedReport {
        report: refused.report.clone(),
        reason: refused.reason.to_owned(),
        age_ms: millis(refused.at.elapsed()),
        count: refused.count,
    }
}

fn source_counters(counters: &SourceCounters) -> Vec<v1::SourceCounter> {
    let counted = counters.entries().into_iter().filter(|(_, count)| *count > 0);
    counted.map(|(name, count)| v1::SourceCounter { name: name.to_owned(), count }).collect()
}

fn vote(vote: &Vote) -> v1::Vote {
    v1::Vote {
        tier: vote.tier.as_str().to_owned(),
        state: vote.state.as_str().to_owned(),
        age_ms: millis(vote.at.elapsed()),
        cause: vote.cause.to_owned(),
        evidence: vote.detail.clone(),
    }
}

/// The first message of a state stream.
pub(in crate::service) fn state_snapshot(snapshot: &Snapshot, epoch: u64) -> v1::AgentStateEvent {
    let agent = &snapshot.agent;
    let current = StateChange {
        prev: agent.state(),
        next: agent.situation.clone(),
        tier: agent.tier,
        cause: agent.cause,
        message: agent.facts.message.clone(),
    };
    v1::AgentStateEvent {
        prev: String::new(),
        seq: snapshot.event_seq.0,
        at_epoch_ms: agent.since_epoch_ms,
        kind: StateEventKind::Snapshot.as_str().to_owned(),
        ..transition(&current, epoch)
    }
}

pub(in crate::service) fn state_event(
    event: &Event,
    change: &StateChange,
    epoch: u64,
) -> v1::AgentStateEvent {
    v1::AgentStateEvent {
        seq: event.seq.0,
        at_epoch_ms: event.at_epoch_ms,
        ..transition(change, epoch)
    }
}

fn transition(change: &StateChange, epoch: u64) -> v1::AgentStateEvent {
    let error = error_fields(&change.next);
    v1::AgentStateEvent {
        prev: change.prev.as_str().to_owned(),
        next: change.next.state().as_str().to_owned(),
        seq: 0,
        prompt: change.next.prompt().map(|prompt| prompt_context(prompt, EVENT_INPUT)),
        at_epoch_ms: 0,
        detection_tier: change.tier.as_str().to_owned(),
        detection_cause: change.cause.to_owned(),
        error_detail: error.detail,
        error_category: error.category,
        parked_reason: error.parked_reason,
        resume_at_epoch_ms: error.resume_at_epoch_ms,
        last_message: change.message.as_deref().map(str::to_owned),
        epoch,
        kind: StateEventKind::Transition.as_str().to_owned(),
        gap: None,
    }
}

/// Its `seq` is the number just before the gap's end, so that resuming there misses nothing.
pub(in crate::service) fn state_gap(gap: v1::Gap, epoch: u64) -> v1::AgentStateEvent {
    v1::AgentStateEvent {
        seq: gap.to.saturating_sub(1),
        kind: StateEventKind::Gap.as_str().to_owned(),
        gap: Some(gap),
        epoch,
        ..Default::default()
    }
}

/// Its `seq` is the last event that the reader has.
pub(in crate::service) fn state_heartbeat(after: EventSeq, epoch: u64) -> v1::AgentStateEvent {
    v1::AgentStateEvent {
        seq: after.0,
        at_epoch_ms: Now::read().epoch_ms,
        kind: StateEventKind::Heartbeat.as_str().to_owned(),
        epoch,
        ..Default::default()
    }
}
