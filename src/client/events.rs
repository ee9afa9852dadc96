//! `coop events`: prints a line for each event, until the session ends or stdout is closed.

use coop_client::v1::event::Payload;
use coop_client::{Client, EventType, v1};
use tonic::Streaming;

use super::failure::Failure;
use super::follow::{Feed, follow};
use super::{Endpoint, call, print, prompt};
use crate::timestamp;

pub(super) async fn run(
    endpoint: &Endpoint,
    request: v1::StreamEventsRequest,
    json: bool,
) -> Result<(), Failure> {
    let heartbeats = request.types.iter().any(|name| name == EventType::Heartbeat.as_str());
    follow(endpoint, Events { request, json, heartbeats, shut_down: false }).await
}

struct Events {
    request: v1::StreamEventsRequest,
    json: bool,
    heartbeats: bool,
    shut_down: bool,
}

impl Feed for Events {
    type Item = v1::Event;

    async fn open(&self, coop: &mut Client) -> Result<Streaming<v1::Event>, Failure> {
        call(coop.stream_events(self.request.clone())).await
    }

    fn take(&mut self, event: v1::Event) -> Result<(), Failure> {
        (self.request.since_seq, self.request.epoch) = (event.seq, Some(event.epoch));
        self.shut_down |= matches!(event.payload, Some(Payload::Shutdown(_)));
        match (self.json, describe(&event)) {
            (true, None) if !self.heartbeats => Ok(()),
            (true, _) => print::json(&event),
            (false, Some(text)) => print::out(&format!("{text}\n")),
            (false, None) => Ok(()),
        }
    }

    fn is_over(&self) -> bool {
        self.shut_down
    }
}

/// The event as a line; `None` for a heartbeat.
fn describe(event: &v1::Event) -> Option<String> {
    let what = match &event.payload {
        Some(payload) => text(payload),
        None if EventType::parse(&event.r#type) == Some(EventType::Heartbeat) => return None,
        None => String::new(),
    };
    let by = event.by.as_ref().map(|by| format!(" [{by}]")).unwrap_or_default();
    Some(line(event.at_epoch_ms, event.seq, &format!("{:<8} {what}{by}", event.r#type)))
}

/// One line of output, with time and number. A gap has no time.
pub(super) fn line(at_epoch_ms: u64, seq: u64, text: &str) -> String {
    let time = if at_epoch_ms == 0 { "-".to_owned() } else { timestamp::format(at_epoch_ms) };
    print::one_line(&format!("{time:<24} {seq:>5} {text}"))
}

fn text(payload: &Payload) -> String {
    match payload {
        Payload::Gap(gap) => describe_gap(gap),
        Payload::State(state) => describe_state(state),
        Payload::Prompt(prompt) => prompt::summary(prompt),
        Payload::Nudge(outcome)
        | Payload::Respond(outcome)
        | Payload::Stop(outcome)
        | Payload::Start(outcome) => {
            let via = outcome.via.as_deref().map(|via| format!(" via {via}")).unwrap_or_default();
            let reason =
                outcome.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let other = outcome.superseded_by.as_deref();
            let other = other.map(|by| format!(" by {by}")).unwrap_or_default();
            format!("{} {}{other}{via}{reason}", outcome.id, outcome.outcome)
        }
        Payload::Transcript(copy) => format!("number {}, {} lines", copy.number, copy.line_count),
        Payload::Usage(usage) => {
            let cost = usage.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
            let (input, output, requests) =
                (usage.input_tokens, usage.output_tokens, usage.requests);
            format!("{input} tokens in, {output} out, {requests} requests{cost}")
        }
        Payload::Exit(exit) => describe_exit(exit),
        Payload::Restart(restart) => {
            let pid = restart.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
            format!("{}: child {}{pid}", restart.reason, restart.generation)
        }
        Payload::Resize(size) => format!("{}x{}", size.cols, size.rows),
        Payload::Shutdown(shutdown) => shutdown.reason.clone(),
        Payload::Interrupt(interrupt) => {
            format!("{}: {} -> {}", interrupt.outcome, interrupt.state_before, interrupt.state)
        }
        Payload::Lease(lease) => format!("{} of {}", lease.action, lease.holder),
        Payload::Signal(signal) => signal.signal.clone(),
        Payload::Env(env) => format!("{} {}", env.action, env.key),
    }
}

pub(super) fn describe_gap(gap: &v1::Gap) -> String {
    format!("{} to {} are missing ({})", gap.from, gap.to.saturating_sub(1), gap.reason)
}

pub(super) fn describe_state(state: &v1::AgentStateEvent) -> String {
    let change = match state.prev.as_str() {
        "" => state.next.clone(),
        prev => format!("{prev} -> {}", state.next),
    };
    let source = source(&state.detection_tier, &state.detection_cause);
    let detail = state.error_detail.as_ref().or(state.parked_reason.as_ref());
    let detail = detail.map(|detail| format!(" {detail}")).unwrap_or_default();
    format!("{change} ({source}){detail}")
}

/// The source of a state, and its cause.
pub(super) fn source(tier: &str, cause: &str) -> String {
    if cause.is_empty() { tier.to_owned() } else { format!("{tier}: {cause}") }
}

/// How a child ended, in words.
pub(super) fn describe_exit(exit: &v1::ExitEvent) -> String {
    match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("killed by signal {signal}"),
        (Some(code), None) => format!("exited with {code}"),
        (None, None) => "exited; its status is unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, payload: Option<Payload>) -> Option<String> {
        let event = v1::Event {
            seq: 7,
            epoch: 1,
            at_epoch_ms: 1000,
            r#type: kind.to_owned(),
            payload,
            by: None,
        };
        describe(&event)
            .map(|line| line.strip_prefix("1970-01-01T00:00:01.000Z     7 ").unwrap().to_owned())
    }

    #[test]
    fn each_event_is_one_readable_line() {
        let state = v1::AgentStateEvent {
            prev: "working".into(),
            next: "error".into(),
            detection_tier: "session_log".into(),
            detection_cause: "api error".into(),
            error_detail: Some("529\n\x1b[31moverloaded".into()),
            ..Default::default()
        };
        let exit = |code, signal| Payload::Exit(v1::ExitEvent { code, signal, generation: 1 });
        let gap = v1::Gap { reason: "overrun".into(), from: 3, to: 6 };
        let prompt = v1::PromptContext {
            r#type: "setup".into(),
            subtype: Some("trust".into()),
            id: "1-p-1".into(),
            message: "Trust?".into(),
            ..Default::default()
        };
        let outcome =
            |id: &str, outcome: &str, reason: Option<&str>, via: Option<&str>| v1::OutcomeEvent {
                id: id.into(),
                outcome: outcome.into(),
                reason: reason.map(str::to_owned),
                via: via.map(str::to_owned),
                payload: None,
                superseded_by: None,
            };
        let restart =
            v1::RestartEvent { generation: 2, offset: 9, pid: Some(42), reason: "switch".into() };
        for (kind, payload, wanted) in [
            (
                "state",
                Payload::State(state),
                "state    working -> error (session_log: api error) 529  [31moverloaded",
            ),
            ("prompt", Payload::Prompt(prompt), "prompt   setup/trust 1-p-1 Trust?"),
            (
                "nudge",
                Payload::Nudge(outcome("1-n-1", "accepted", None, None)),
                "nudge    1-n-1 accepted",
            ),
            (
                "nudge",
                Payload::Nudge(outcome("1-n-2", "rejected", Some("dialog_open"), None)),
                "nudge    1-n-2 rejected: dialog_open",
            ),
            (
                "respond",
                Payload::Respond(outcome("1-p-1", "answered", None, Some("hook"))),
                "respond  1-p-1 answered via hook",
            ),
            ("exit", exit(Some(3), None), "exit     exited with 3"),
            ("exit", exit(None, Some(9)), "exit     killed by signal 9"),
            ("gap", Payload::Gap(gap), "gap      3 to 5 are missing (overrun)"),
            ("restart", Payload::Restart(restart), "restart  switch: child 2, pid 42"),
            ("resize", Payload::Resize(v1::TerminalSize { cols: 80, rows: 24 }), "resize   80x24"),
            (
                "shutdown",
                Payload::Shutdown(v1::ShutdownEvent { reason: "api".into() }),
                "shutdown api",
            ),
            (
                "interrupt",
                Payload::Interrupt(v1::InterruptEvent {
                    outcome: "stopped".into(),
                    state_before: "working".into(),
                    state: "idle".into(),
                }),
                "interrupt stopped: working -> idle",
            ),
            (
                "lease",
                Payload::Lease(v1::LeaseEvent {
                    action: "expired".into(),
                    holder: "uid:7".into(),
                    expires_at_epoch_ms: None,
                }),
                "lease    expired of uid:7",
            ),
            (
                "signal",
                Payload::Signal(v1::SignalEvent { signal: "SIGINT".into() }),
                "signal   SIGINT",
            ),
            (
                "env",
                Payload::Env(v1::EnvEvent { action: "put".into(), key: "A".into() }),
                "env      put A",
            ),
        ] {
            assert_eq!(line(kind, Some(payload)).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn an_event_that_a_caller_caused_ends_with_the_caller() {
        let event = v1::Event {
            at_epoch_ms: 1000,
            r#type: "respond".to_owned(),
            payload: Some(Payload::Respond(v1::OutcomeEvent {
                id: "1-p-1".into(),
                outcome: "superseded".into(),
                superseded_by: Some("terminal".into()),
                ..Default::default()
            })),
            by: Some("token:ada".into()),
            ..Default::default()
        };
        let line = describe(&event).expect("a line");
        assert!(line.ends_with("respond  1-p-1 superseded by terminal [token:ada]"), "{line}");
    }

    #[test]
    fn a_heartbeat_prints_nothing_and_an_unknown_type_prints_a_line() {
        assert_eq!(line("heartbeat", None), None);
        assert_eq!(line("novelty", None).as_deref(), Some("novelty"));
    }
}
