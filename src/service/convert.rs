//! The only file that knows the session's vocabulary and the wire's together.

use std::time::Instant;

use coop_client::v1;

use crate::driver::agent::Situation;
use crate::driver::prompt::{Answer, Prompt, Question, QuestionAnswer};
use crate::driver::tracker::Vote;
use crate::driver::usage::Usage;
use crate::error::Error;
use crate::pty::Exit;
use crate::session::clock::millis;
use crate::session::command::{Dump, Replaced, View};
use crate::session::event::{Event, Generation, Missed, NudgeEvent, Restart, StateChange, What};
use crate::session::page::Page;
use crate::session::snapshot::{Agent, Snapshot};
use crate::session::talk::{Interrupted, NudgeOutcome, Nudged, Refusal, Reply, RespondOutcome, Responded};
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

pub fn agent_state(
    snapshot: &Snapshot,
    agent: &str,
    session_id: &str,
    epoch: u64,
) -> v1::GetAgentStateResponse {
    let Agent { situation, tier, cause, since, since_epoch_ms, grace_ends, facts, .. } = &snapshot.agent;
    let troubles = troubles(situation);
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
        error_detail: troubles.detail,
        error_category: troubles.category,
        parked_reason: troubles.parked_reason,
        resume_at_epoch_ms: troubles.resume_at_epoch_ms,
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

/// What is wrong, as the wire spreads it over fields.
#[derive(Default)]
struct Troubles {
    detail: Option<String>,
    category: Option<String>,
    parked_reason: Option<String>,
    resume_at_epoch_ms: Option<u64>,
}

fn troubles(situation: &Situation) -> Troubles {
    let Some(trouble) = situation.trouble() else { return Troubles::default() };
    let category = Some(trouble.category.as_str().to_owned());
    let detail = Some(trouble.detail.clone());
    match situation {
        Situation::Parked(parked) => Troubles {
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
        | Situation::Unknown => Troubles { detail, category, ..Troubles::default() },
    }
}

/// How much of a tool's input an event carries.
const EVENT_INPUT: usize = 64 << 10;

fn prompt_context(prompt: &Prompt, input_limit: usize) -> v1::PromptContext {
    let current = prompt.questions.get(prompt.question_current);
    let cut = |text: &String| {
        let end = (0..=input_limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        end.and_then(|end| text.get(..end)).unwrap_or_default().to_owned()
    };
    v1::PromptContext {
        r#type: prompt.kind.as_str().to_owned(),
        tool: prompt.tool.clone(),
        input_preview: prompt.input.clone(),
        question: current.map(|question| question.question.clone()),
        options: prompt.options.clone(),
        summary: prompt.summary.clone(),
        screen_lines: prompt.screen_lines.clone(),
        id: prompt.id.0.clone(),
        subtype: prompt.subtype.map(str::to_owned),
        input: prompt.input.clone(),
        options_fallback: prompt.options_fallback,
        questions: prompt.questions.iter().map(question_context).collect(),
        question_current: i32::try_from(prompt.question_current).unwrap_or(i32::MAX),
        ready: prompt.ready,
        input_full: prompt.input_full.as_ref().map(cut),
        message: prompt.message.clone(),
    }
}

fn question_context(question: &Question) -> v1::QuestionContext {
    v1::QuestionContext {
        question: question.question.clone(),
        header: question.header.clone(),
        multi_select: question.multi_select,
        options: question.options.iter().map(|option| option.label.clone()).collect(),
        option_descriptions: question.options.iter().map(|option| option.description.clone()).collect(),
    }
}

/// The state as a stream opens with it.
pub fn state_snapshot(snapshot: &Snapshot, epoch: u64) -> v1::AgentStateEvent {
    let agent = &snapshot.agent;
    let told = StateChange {
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
        kind: "snapshot".to_owned(),
        ..change(&told, epoch)
    }
}

pub fn state_event(event: &Event, told: &StateChange, epoch: u64) -> v1::AgentStateEvent {
    v1::AgentStateEvent { seq: event.seq.0, at_epoch_ms: event.at_epoch_ms, ..change(told, epoch) }
}

fn change(told: &StateChange, epoch: u64) -> v1::AgentStateEvent {
    let troubles = troubles(&told.next);
    v1::AgentStateEvent {
        prev: told.prev.as_str().to_owned(),
        next: told.next.state().as_str().to_owned(),
        seq: 0,
        prompt: told.next.prompt().map(|prompt| prompt_context(prompt, EVENT_INPUT)),
        at_epoch_ms: 0,
        detection_tier: told.tier.as_str().to_owned(),
        detection_cause: told.cause.to_owned(),
        error_detail: troubles.detail,
        error_category: troubles.category,
        parked_reason: troubles.parked_reason,
        resume_at_epoch_ms: troubles.resume_at_epoch_ms,
        last_message: told.message.as_deref().map(str::to_owned),
        epoch,
        kind: "transition".to_owned(),
        gap: None,
    }
}

pub fn vote(vote: &Vote) -> v1::Vote {
    v1::Vote {
        tier: vote.tier.as_str().to_owned(),
        state: vote.state.as_str().to_owned(),
        age_ms: millis(vote.at.elapsed()),
        cause: vote.cause.to_owned(),
        evidence: vote.seen.clone(),
    }
}

pub fn nudged(nudged: &Nudged) -> v1::NudgeResponse {
    let reason = match nudged.outcome {
        NudgeOutcome::Rejected(reason) => Some(reason.as_str().to_owned()),
        NudgeOutcome::Accepted
        | NudgeOutcome::Submitted
        | NudgeOutcome::Unconfirmed
        | NudgeOutcome::Queued => None,
    };
    v1::NudgeResponse {
        delivered: nudged.outcome.delivered(),
        state_before: nudged.before.as_str().to_owned(),
        reason,
        state: nudged.after.as_str().to_owned(),
        outcome: nudged.outcome.as_str().to_owned(),
        nudge_id: nudged.id.clone(),
        seq: nudged.seq.0,
    }
}

pub fn responded(responded: &Responded) -> v1::RespondResponse {
    match responded {
        Responded::Given { kind, outcome, via, after, seq } => v1::RespondResponse {
            delivered: *outcome != RespondOutcome::Superseded,
            prompt_type: kind.as_str().to_owned(),
            reason: None,
            outcome: outcome.as_str().to_owned(),
            via: via.as_str().to_owned(),
            state: after.as_str().to_owned(),
            seq: seq.0,
        },
        Responded::NoPrompt { state, seq } => v1::RespondResponse {
            reason: Some(Refusal::NoPrompt.as_str().to_owned()),
            state: state.as_str().to_owned(),
            seq: seq.0,
            ..Default::default()
        },
    }
}

pub fn interrupted(done: &Interrupted) -> v1::InterruptResponse {
    v1::InterruptResponse {
        delivered: done.delivered,
        state_before: done.before.as_str().to_owned(),
        reason: (!done.delivered).then(|| "nothing_to_stop".to_owned()),
        state: done.after.as_str().to_owned(),
        seq: done.seq.0,
    }
}

/// The answer to a prompt, as its caller meant it.
pub fn reply(request: v1::RespondRequest) -> Result<Reply, Error> {
    let option = |number: i32| {
        usize::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .ok_or_else(|| Error::bad_request(format!("option {number}: options are counted from 1")))
    };
    let answers = request.answers.into_iter().map(|answer| {
        let options =
            answer.option.into_iter().chain(answer.options).map(option).collect::<Result<_, _>>()?;
        Ok(QuestionAnswer { options, text: answer.text })
    });
    let answer = Answer {
        accept: request.accept,
        option: request.option.map(option).transpose()?,
        text: request.text,
        answers: answers.collect::<Result<_, Error>>()?,
    };
    Ok(Reply { prompt_id: request.prompt_id, answer })
}

pub fn usage(usage: &Usage) -> v1::GetUsageResponse {
    let Usage { tokens, requests, cost_usd } = usage;
    v1::GetUsageResponse {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        cache_read_tokens: tokens.cache_read,
        cache_write_tokens: tokens.cache_write,
        cost_usd: *cost_usd,
        requests: *requests,
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
        What::Prompt(_) => "prompt",
        What::Nudge(_) => "nudge",
        What::Respond(_) => "respond",
        What::Usage(_) => "usage",
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
        What::Prompt(prompt) => Payload::Prompt(prompt_context(prompt, EVENT_INPUT)),
        What::Nudge(nudge) => Payload::Nudge(nudge_event(nudge)),
        What::Respond(respond) => Payload::Respond(v1::OutcomeEvent {
            id: respond.id.0.clone(),
            outcome: respond.outcome.as_str().to_owned(),
            reason: None,
            via: Some(respond.via.as_str().to_owned()),
            payload: None,
        }),
        What::Usage(usage) => Payload::Usage(self::usage(usage)),
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

fn nudge_event(nudge: &NudgeEvent) -> v1::OutcomeEvent {
    let refusal = match nudge.outcome {
        NudgeOutcome::Rejected(reason) => Some(reason.as_str().to_owned()),
        NudgeOutcome::Accepted
        | NudgeOutcome::Submitted
        | NudgeOutcome::Unconfirmed
        | NudgeOutcome::Queued => None,
    };
    v1::OutcomeEvent {
        id: nudge.id.clone(),
        outcome: nudge.outcome.as_str().to_owned(),
        reason: nudge.failure.clone().or(refusal),
        via: None,
        payload: None,
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
