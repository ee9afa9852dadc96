//! `coop events`: a line for each thing that happens, until the session ends or nobody reads on.

use coop_client::v1;
use coop_client::v1::event::Payload;

use super::failure::Failure;
use super::print;
use super::{Line, call};
use crate::error::Code;

pub(super) async fn run(line: &Line, request: v1::StreamEventsRequest, json: bool) -> Result<(), Failure> {
    let asked_for_heartbeats = request.types.iter().any(|name| name == "heartbeat");
    let mut events = call(line.connect().await?.stream_events(request)).await?;
    let unread = print::unread();
    tokio::pin!(unread);
    let mut shut_down = false;
    loop {
        let event = tokio::select! {
            event = events.message() => event.map_err(Failure::from),
            () = &mut unread => return Err(Failure::Unread),
        };
        let event = match event {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(failure) if shut_down || is_goodbye(&failure) => break,
            Err(failure) => return Err(failure),
        };
        shut_down |= matches!(event.payload, Some(Payload::Shutdown(_)));
        if json && (asked_for_heartbeats || event.r#type != "heartbeat") {
            print::json(&event)?;
        } else if json {
            continue;
        } else if let Some(text) = describe(&event) {
            print::out(&format!("{text}\n"))?;
        }
    }
    print::say("the session has ended");
    Ok(())
}

/// How coop ends its streams when it goes.
fn is_goodbye(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { code, .. } if code == Code::NotReady.as_str())
}

/// The event as a line; a heartbeat is nothing to read.
fn describe(event: &v1::Event) -> Option<String> {
    let what = match &event.payload {
        Some(payload) => text(payload),
        None if event.r#type == "heartbeat" => return None,
        None => String::new(),
    };
    let time = print::timestamp(event.at_epoch_ms);
    let line = format!("{time} {:>5} {:<8} {what}", event.seq, event.r#type);
    Some(line.trim_end().replace(char::is_control, " "))
}

fn text(payload: &Payload) -> String {
    match payload {
        Payload::Gap(gap) => {
            format!("{} to {} are missing ({})", gap.from, gap.to.saturating_sub(1), gap.reason)
        }
        Payload::State(state) => describe_state(state),
        Payload::Prompt(prompt) => format!("{} {} {}", prompt.r#type, prompt.id, prompt.message),
        Payload::Nudge(outcome)
        | Payload::Respond(outcome)
        | Payload::Stop(outcome)
        | Payload::Start(outcome) => {
            let extra = [&outcome.reason, &outcome.via].into_iter().flatten().map(|text| format!(" {text}"));
            format!("{} {}{}", outcome.id, outcome.outcome, extra.collect::<String>())
        }
        Payload::Transcript(copy) => format!("number {}, {} lines", copy.number, copy.line_count),
        Payload::Usage(usage) => {
            let cost = usage.cost_usd.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
            let (input, output, requests) = (usage.input_tokens, usage.output_tokens, usage.requests);
            format!("{input} tokens in, {output} out, {requests} requests{cost}")
        }
        Payload::Exit(exit) => describe_exit(exit),
        Payload::Restart(restart) => {
            let pid = restart.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
            format!("{}: child {}{pid}", restart.reason, restart.generation)
        }
        Payload::Resize(size) => format!("{}x{}", size.cols, size.rows),
        Payload::Shutdown(shutdown) => shutdown.reason.clone(),
    }
}

fn describe_state(state: &v1::AgentStateEvent) -> String {
    let change = match state.prev.as_str() {
        "" => state.next.clone(),
        prev => format!("{prev} -> {}", state.next),
    };
    let cause = match state.detection_cause.as_str() {
        "" => state.detection_tier.clone(),
        cause => format!("{}: {cause}", state.detection_tier),
    };
    let detail = state.error_detail.as_ref().or(state.parked_reason.as_ref());
    let detail = detail.map(|detail| format!(" {detail}")).unwrap_or_default();
    format!("{change} ({cause}){detail}")
}

/// How a child ended, in words.
pub(super) fn describe_exit(exit: &v1::ExitEvent) -> String {
    match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("killed by signal {signal}"),
        (Some(code), None) => format!("exited with {code}"),
        (None, None) => "exited, nobody knows how".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: &str, payload: Option<Payload>) -> Option<String> {
        let event = v1::Event { seq: 7, epoch: 1, at_epoch_ms: 1000, r#type: kind.to_owned(), payload };
        describe(&event).map(|line| line.strip_prefix("1970-01-01T00:00:01.000Z     7 ").unwrap().to_owned())
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
        let restart = v1::RestartEvent { generation: 2, offset: 9, pid: Some(42), reason: "switch".into() };
        for (kind, payload, wanted) in [
            (
                "state",
                Payload::State(state),
                "state    working -> error (session_log: api error) 529  [31moverloaded",
            ),
            ("exit", exit(Some(3), None), "exit     exited with 3"),
            ("exit", exit(None, Some(9)), "exit     killed by signal 9"),
            ("gap", Payload::Gap(gap), "gap      3 to 5 are missing (overrun)"),
            ("restart", Payload::Restart(restart), "restart  switch: child 2, pid 42"),
            ("resize", Payload::Resize(v1::TerminalSize { cols: 80, rows: 24 }), "resize   80x24"),
            ("shutdown", Payload::Shutdown(v1::ShutdownEvent { reason: "api".into() }), "shutdown api"),
        ] {
            assert_eq!(line(kind, Some(payload)).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_heartbeat_is_no_line_and_a_type_of_tomorrow_is_one() {
        assert_eq!(line("heartbeat", None), None);
        assert_eq!(line("novelty", None).as_deref(), Some("novelty"));
    }
}
