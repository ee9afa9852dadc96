//! `coop state` and `coop explain`: print, watch or wait for the agent's state, and explain it.

use std::fmt::Write as _;
use std::time::Duration;

use coop_client::{Client, StateEventKind, v1};
use tokio::time::Instant;
use tonic::Streaming;

use super::events::{self, describe_gap, describe_state, source};
use super::failure::Failure;
use super::follow::{Feed, follow};
use super::{Endpoint, RESPONSE_TIMEOUT, call, call_for, print, prompt};
use crate::{cli, timestamp};

/// The longest wait of one call; a longer wait takes several.
const CALL_LIMIT: Duration = Duration::from_secs(60);
/// How many characters of the agent's last message are shown.
const MESSAGE_LIMIT: usize = 200;

pub(super) async fn run(endpoint: &Endpoint, wanted: cli::State) -> Result<(), Failure> {
    if wanted.watch {
        return follow(
            endpoint,
            Watch { request: v1::StreamStateRequest::default(), json: wanted.json },
        )
        .await;
    }
    if !wanted.wait.is_empty() {
        return wait(endpoint, wanted).await;
    }
    let agent =
        call(endpoint.connect().await?.get_agent_state(v1::GetAgentStateRequest {})).await?;
    if wanted.json { print::json(&agent) } else { print::out(&describe(&agent)) }
}

async fn wait(endpoint: &Endpoint, wanted: cli::State) -> Result<(), Failure> {
    let stable_ms = wanted.stable.map(i32::try_from).transpose();
    let stable_ms = stable_ms.map_err(|_| Failure::Usage("--stable is too long".to_owned()))?;
    let limit = wanted.timeout.map(Duration::from_secs);
    // A limit that no clock can represent means to wait forever.
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut coop = endpoint.connect().await?;
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let slice = left.unwrap_or(CALL_LIMIT).min(CALL_LIMIT);
        let request = v1::WaitForStateRequest {
            state: wanted.wait.clone(),
            stable_ms,
            timeout_ms: i32::try_from(slice.as_millis()).ok(),
            after_seq: wanted.after,
            epoch: None,
        };
        let response = call_for(slice + RESPONSE_TIMEOUT, coop.wait_for_state(request)).await?;
        let last = left.is_some_and(|left| left <= slice);
        if !response.matched && !last {
            continue;
        }
        if wanted.json {
            print::json(&response)?;
        } else if response.matched {
            print::out(&describe(&response.agent.unwrap_or_default()))?;
        }
        if response.matched {
            return Ok(());
        }
        let waited = limit.unwrap_or_default().as_secs();
        return Err(Failure::TimedOut(format!(
            "the agent is still {} after {waited} s",
            response.state
        )));
    }
}

/// The state in the first line, and its details below.
fn describe(agent: &v1::GetAgentStateResponse) -> String {
    let since = timestamp::format(agent.state_since_epoch_ms);
    let mut lines = vec![
        format!(
            "{} since {since} ({})",
            agent.state,
            source(&agent.detection_tier, &agent.detection_cause)
        ),
        format!("agent    {}", agent.agent),
    ];
    let mut add = |name: &str, text: Option<String>| {
        lines.extend(text.map(|text| format!("{name:<8} {text}")));
    };
    add("prompt", agent.prompt.as_ref().map(prompt::summary));
    let category =
        agent.error_category.as_deref().map(|category| format!("{category}: ")).unwrap_or_default();
    add("error", agent.error_detail.as_ref().map(|detail| format!("{category}{detail}")));
    add("parked", agent.parked_reason.clone());
    add("resumes", agent.resume_at_epoch_ms.map(timestamp::format));
    add(
        "grace",
        agent.idle_grace_remaining_secs.map(|secs| format!("{secs:.0} s until it counts as idle")),
    );
    add("mode", agent.permission_mode.clone());
    add("session", agent.agent_session_id.clone());
    add("said", agent.last_message.as_deref().map(beginning));
    lines.iter().map(|line| print::one_line(line) + "\n").collect()
}

/// The beginning of a message, up to `MESSAGE_LIMIT` characters.
fn beginning(message: &str) -> String {
    let mut chars = message.trim().chars();
    let text: String = chars.by_ref().take(MESSAGE_LIMIT).collect();
    if chars.next().is_some() { text + "…" } else { text }
}

/// The stream of states from now on.
struct Watch {
    request: v1::StreamStateRequest,
    json: bool,
}

impl Watch {
    /// Whether to print the event. The snapshot of a resumed stream is new only after a gap.
    fn is_news(&self, state: &v1::AgentStateEvent) -> bool {
        match StateEventKind::parse(&state.kind) {
            Some(StateEventKind::Heartbeat) => false,
            Some(StateEventKind::Snapshot) => self.request.epoch.is_none() || state.gap.is_some(),
            Some(StateEventKind::Transition | StateEventKind::Gap) | None => true,
        }
    }
}

/// The gap, if there was one, and the new state.
fn change(state: &v1::AgentStateEvent) -> String {
    let mut text = String::new();
    if let Some(gap) = &state.gap {
        text = events::line(0, state.seq, &describe_gap(gap)) + "\n";
    }
    if StateEventKind::parse(&state.kind) != Some(StateEventKind::Gap) {
        let prompt = state.prompt.as_ref().map(|prompt| format!(" {}", prompt::summary(prompt)));
        let now = describe_state(state) + &prompt.unwrap_or_default();
        text += &events::line(state.at_epoch_ms, state.seq, &now);
        text += "\n";
    }
    text
}

impl Feed for Watch {
    type Item = v1::AgentStateEvent;

    async fn open(&self, coop: &mut Client) -> Result<Streaming<v1::AgentStateEvent>, Failure> {
        call(coop.stream_state(self.request)).await
    }

    fn take(&mut self, state: v1::AgentStateEvent) -> Result<(), Failure> {
        let news = self.is_news(&state);
        self.request = v1::StreamStateRequest { since_seq: state.seq, epoch: Some(state.epoch) };
        match (news, self.json) {
            (false, _) => Ok(()),
            (true, true) => print::json(&state),
            (true, false) => print::out(&change(&state)),
        }
    }

    fn is_over(&self) -> bool {
        false
    }
}

pub(super) async fn explain(endpoint: &Endpoint, json: bool) -> Result<(), Failure> {
    let response =
        call(endpoint.connect().await?.explain_state(v1::ExplainStateRequest {})).await?;
    if json { print::json(&response) } else { print::out(&explanation(&response)) }
}

/// The state, its reason, a table of every source's last vote, the newest first, what the program
/// reports about itself, and what coop could not use of the sources.
fn explanation(response: &v1::ExplainStateResponse) -> String {
    let mut text = format!("{}: {}\n", response.state, print::one_line(&response.reason));
    let mut votes: Vec<&v1::Vote> = response.votes.iter().collect();
    votes.sort_by_key(|vote| vote.age_ms);
    for vote in votes {
        let age = Duration::from_millis(vote.age_ms).as_secs_f32();
        let v1::Vote { tier, state, cause, evidence, .. } = vote;
        let row = format!("{tier:<12} {state:<9} {age:>8.1} s ago  {cause:<24} {evidence}");
        // Writing into a String cannot fail.
        let _always = writeln!(text, "{}", print::one_line(&row));
    }
    for report in &response.program_status {
        let _always = writeln!(text, "{}", print::one_line(&reported(report)));
    }
    for v1::RefusedReport { report, reason, count, .. } in &response.refused_reports {
        let row = format!("refused {count}: {report} ({reason})");
        let _always = writeln!(text, "{}", print::one_line(&row));
    }
    for v1::SourceCounter { name, count } in &response.source_counters {
        let row = format!("not used: {name} {count}");
        let _always = writeln!(text, "{}", print::one_line(&row));
    }
    text
}

/// What a program reports about itself or one of its tasks, on one line.
fn reported(report: &v1::ProgramStatus) -> String {
    let v1::ProgramStatus { id, app, state, kind, progress, title, message } = report;
    let mut row = String::from("reported:");
    for word in [app, id].into_iter().chain(title).chain([state]).filter(|word| !word.is_empty()) {
        let _always = write!(row, " {word}");
    }
    for detail in kind.iter().cloned().chain(progress.map(|percent| format!("{percent} %"))) {
        let _always = write!(row, ", {detail}");
    }
    match message {
        Some(message) => row + ": " + message,
        None => row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line() {
        let report = v1::ProgramStatus {
            app: "make".into(),
            id: "build/tests".into(),
            state: "blocked".into(),
            kind: Some("question".into()),
            progress: Some(40),
            title: Some("Tests".into()),
            message: Some("Again?".into()),
        };
        let wanted = "reported: make build/tests Tests blocked, question, 40 %: Again?";
        assert_eq!(reported(&report), wanted);
        let idle = v1::ProgramStatus { state: "idle".into(), ..Default::default() };
        assert_eq!(reported(&idle), "reported: idle");
    }

    #[test]
    fn the_description_starts_with_the_state() {
        let agent = v1::GetAgentStateResponse {
            agent: "toy".into(),
            state: "error".into(),
            detection_tier: "hooks".into(),
            detection_cause: "hook:StopFailure".into(),
            error_category: Some("rate_limited".into()),
            error_detail: Some("429\n\x1b]0;title\x07".into()),
            state_since_epoch_ms: 1000,
            ..Default::default()
        };
        let wanted = "error since 1970-01-01T00:00:01.000Z (hooks: hook:StopFailure)\n\
                      agent    toy\n\
                      error    rate_limited: 429  ]0;title\n";
        assert_eq!(describe(&agent), wanted);
    }

    #[test]
    fn a_resumed_stream_prints_gaps_and_repeats_nothing() {
        let event = |kind: &str, prev: &str, gap: Option<v1::Gap>| v1::AgentStateEvent {
            kind: kind.into(),
            prev: prev.into(),
            next: "idle".into(),
            detection_tier: "hooks".into(),
            seq: 4,
            at_epoch_ms: 1000,
            gap,
            ..Default::default()
        };
        let gap = || Some(v1::Gap { reason: "epoch".into(), from: 7, to: 9 });
        let first = Watch { request: v1::StreamStateRequest::default(), json: false };
        let again =
            Watch { request: v1::StreamStateRequest { since_seq: 4, epoch: Some(1) }, json: false };
        assert!(
            first.is_news(&event("snapshot", "", None))
                && !again.is_news(&event("snapshot", "", None))
        );
        assert!(
            again.is_news(&event("snapshot", "", gap())) && again.is_news(&event("gap", "", gap()))
        );
        assert!(again.is_news(&event("transition", "working", None)));
        assert!(!first.is_news(&event("heartbeat", "", None)));

        let missed = "-                            4 7 to 8 are missing (epoch)\n";
        let now = "1970-01-01T00:00:01.000Z     4 idle (hooks)\n";
        assert_eq!(change(&event("snapshot", "", gap())), format!("{missed}{now}"));
        assert_eq!(change(&event("gap", "", gap())), missed);
        let changed = "1970-01-01T00:00:01.000Z     4 working -> idle (hooks)\n";
        assert_eq!(change(&event("transition", "working", None)), changed);
    }

    #[test]
    fn the_newest_vote_comes_first() {
        let vote = |tier: &str, age_ms, evidence: &str| v1::Vote {
            tier: tier.into(),
            state: "idle".into(),
            age_ms,
            cause: "c".into(),
            evidence: evidence.into(),
        };
        let response = v1::ExplainStateResponse {
            state: "idle".into(),
            reason: "because".into(),
            votes: vec![vote("hooks", 61_000, "two\nlines"), vote("terminal", 40, "")],
            ..Default::default()
        };
        let wanted = "idle: because\n\
                      terminal     idle           0.0 s ago  c\n\
                      hooks        idle          61.0 s ago  c                        two lines\n";
        assert_eq!(explanation(&response), wanted);
    }
}
