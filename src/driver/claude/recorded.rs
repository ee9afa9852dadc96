//! Recordings of the real Claude, each `<case>.jsonl` with what must be made of it beside it. With `UPDATE_EXPECT=1`
//! the expectations are written anew; look at the difference.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::*;
use crate::driver::agent::AgentState;
use crate::driver::evidence::{Claim, Evidence, Fact};
use crate::driver::prompt::PromptKind;
use crate::driver::sight::{Choice, Page, Role};
use crate::driver::tracker::{Habits, Tracker};

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude").join(folder);
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no recordings in {}", folder.display());
    cases
}

fn lines(case: &Path) -> Vec<Value> {
    let text = fs::read_to_string(case).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{} is empty", case.display());
    lines
}

#[expect(clippy::disallowed_methods, reason = "asking for new expectations is no configuration of coop")]
fn compare(case: &Path, found: &str) {
    let expectation = case.with_extension("expected");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expectation, found).unwrap();
    } else {
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        assert_eq!(found, expected, "{}", case.display());
    }
}

/// Everything found in a line, after a title that says which line it was.
fn describe(number: usize, title: &str, findings: &[Finding]) -> String {
    let mut text = format!("{} {title}\n", number + 1);
    if findings.is_empty() {
        text.push_str("    -\n");
    }
    for finding in findings {
        let line = match finding {
            Finding::Fact(Fact::Conversation { id, transcript }) => {
                format!("conversation {id} {}", transcript.as_deref().unwrap_or("-"))
            }
            Finding::Fact(Fact::PermissionMode(mode)) => format!("permission mode {mode}"),
            Finding::Fact(Fact::Cwd(cwd)) => format!("cwd {cwd}"),
            Finding::Fact(Fact::Message(message)) => format!("message {message:?}"),
            Finding::Fact(Fact::ToolUse { tool, input }) => format!("tool use {tool} {input}"),
            Finding::Evidence(evidence) => described(evidence),
        };
        writeln!(text, "    {line}").unwrap();
    }
    text
}

fn described(evidence: &Evidence) -> String {
    let Evidence { tier, claim, cause, seen, at_epoch_ms } = evidence;
    let claim = match claim {
        Claim::TurnStarted { text } => format!("turn started {text:?}"),
        Claim::Working => "working".to_owned(),
        Claim::Retrying(trouble) => format!("retrying, {}: {:?}", trouble.category.as_str(), trouble.detail),
        Claim::TurnEnded => "turn ended".to_owned(),
        Claim::NotWorking => "not working".to_owned(),
        Claim::Quiet => "quiet".to_owned(),
        Claim::Failed(trouble) => format!("failed, {}: {:?}", trouble.category.as_str(), trouble.detail),
        Claim::Parked(parked) => format!("parked, {parked:?}"),
        Claim::Waiting => "waiting".to_owned(),
        Claim::Asked(ask) => {
            let mut text = format!("asked {} {:?}", ask.kind.as_str(), ask.message);
            for question in &ask.questions {
                write!(text, "\n        {question:?}").unwrap();
            }
            if let Some(plan) = &ask.plan {
                write!(text, "\n        plan {plan:?}").unwrap();
            }
            write!(text, "\n        input {}", ask.input.as_ref().unwrap_or(&Value::Null)).unwrap();
            text
        }
    };
    let at = at_epoch_ms.map(|at| format!(" at {at}")).unwrap_or_default();
    format!("{} {cause}{at}, {seen:?}: {claim}", tier.as_str())
}

/// Reads every line of every recording in a folder with a fresh driver.
fn check(folder: &str, read: impl Fn(&mut Claude, &Value) -> (String, Vec<Finding>)) {
    for case in cases(folder) {
        let mut claude = Claude;
        let mut found = String::new();
        for (number, line) in lines(&case).iter().enumerate() {
            let (title, findings) = read(&mut claude, line);
            found.push_str(&describe(number, &title, &findings));
        }
        compare(&case, &found);
    }
}

fn kind_of(line: &Value) -> String {
    let words = ["type", "subtype"].map(|key| line[key].as_str().unwrap_or_default());
    words.join(" ").trim_end().to_owned()
}

#[test]
fn hooks_mean_what_they_should() {
    check("hooks", |claude, line| {
        let payload = &line["payload"];
        let event = payload["hook_event_name"].as_str().unwrap();
        (event.to_owned(), claude.hook(event, payload))
    });
}

#[test]
fn log_lines_mean_what_they_should() {
    check("logs", |claude, line| (kind_of(line), claude.log_line(line)));
}

#[test]
fn printed_lines_mean_what_they_should() {
    check("stream", |claude, line| (kind_of(line), claude.stdout_line(line)));
}

#[test]
fn status_files_mean_what_they_should() {
    check("registry", |claude, file| {
        let words = ["status", "waitingFor"].map(|key| file[key].as_str().unwrap_or("-"));
        (words.join(" "), claude.registry(file))
    });
}

/// A tracker that hears recordings at their own pace, and sees what the test says is on screen.
struct Bench {
    claude: Claude,
    tracker: Tracker,
    now: Instant,
    sight: Sight,
    /// Each state that was published, and when, in ms after the start.
    published: Vec<(u128, String)>,
    start: Instant,
}

impl Bench {
    fn new() -> Self {
        let habits = Habits { sure_idle_screen: true, guard: GUARD, grace: Duration::from_secs(60) };
        let start = Instant::now();
        let tracker = Tracker::new(start, habits, "1-1".to_owned());
        let sight = Sight::default();
        Self { claude: Claude, tracker, now: start, sight, published: Vec::new(), start }
    }

    fn state(&self) -> AgentState {
        self.tracker.verdict().situation.state()
    }

    fn hear(&mut self, findings: Vec<Finding>, at: impl Fn(Option<u64>) -> Option<Instant>) {
        for finding in findings {
            match finding {
                Finding::Evidence(evidence) => {
                    let at = at(evidence.at_epoch_ms).unwrap_or(self.now).min(self.now);
                    self.tracker.hear(self.now, at, evidence);
                }
                Finding::Fact(Fact::ToolUse { tool, input }) => self.tracker.tool_use(tool, input),
                Finding::Fact(_) => {}
            }
            self.note();
        }
    }

    fn look(&mut self) {
        self.tracker.look(self.now, self.sight.clone());
        self.note();
    }

    /// Lets time pass, and looks whenever the tracker wants to.
    fn pass_until(&mut self, end: Instant) {
        while let Some(due) = self.tracker.deadline(self.now).filter(|due| *due <= end) {
            self.now = due.max(self.now + Duration::from_millis(1));
            self.look();
        }
        self.now = self.now.max(end);
        self.look();
    }

    fn note(&mut self) {
        let verdict = self.tracker.verdict();
        let text = format!("{} ({})", verdict.situation.state().as_str(), verdict.cause);
        if self.published.last().is_none_or(|(_, last)| *last != text) {
            self.published.push((self.now.duration_since(self.start).as_millis(), text));
        }
    }
}

fn composer() -> Sight {
    Sight { composer: Some(Composer { draft: String::new() }), ..Sight::default() }
}

fn busy() -> Sight {
    Sight { busy: true, ..composer() }
}

fn dialog(tool: &str, shown: &str) -> Sight {
    let kind = match tool {
        "AskUserQuestion" => PromptKind::Question,
        "ExitPlanMode" => PromptKind::Plan,
        _ => PromptKind::Permission,
    };
    let choice = |label: &str| Choice {
        label: label.to_owned(),
        digit: None,
        checked: None,
        typed: None,
        role: Role::Plain,
    };
    let dialog = Dialog {
        kind,
        subtype: None,
        tool: None,
        message: shown.to_owned(),
        choices: vec![choice("Yes"), choice("No")],
        highlighted: Some(0),
        page: Page::Only,
        lines: vec![shown.to_owned(), "Yes".to_owned(), "No".to_owned()],
    };
    Sight { dialog: Some(dialog), option_list: true, ..Sight::default() }
}

/// Turns start and end where the hooks of every recording say so. The screen shows what Claude shows at such a
/// moment; what is on it while no hook comes (a rejection, an interrupt) is left out, so the next turn must do.
#[test]
fn recorded_hooks_lead_from_state_to_state() {
    let mut turns = 0;
    for case in cases("hooks") {
        let mut bench = Bench::new();
        let mut before = None;
        for (number, line) in lines(&case).iter().enumerate() {
            let payload = &line["payload"];
            let event = payload["hook_event_name"].as_str().unwrap();
            let word = |key: &str| payload[key].as_str().unwrap_or_default();
            let at = line["t_ms"].as_u64().unwrap();
            // Recorded hooks can be closer together than a screen is drawn.
            let apart = before.map_or(0, |before| at.saturating_sub(before)).max(500);
            before = Some(at);
            bench.pass_until(bench.now + Duration::from_millis(apart));
            let main = payload["agent_id"].is_null();
            let (shown, state) = match (event, word("trigger"), word("source")) {
                ("UserPromptSubmit" | "PreCompact", _, _) => (busy(), AgentState::Working),
                ("PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch", _, _) if main => {
                    (busy(), AgentState::Working)
                }
                ("PermissionRequest", _, _) => {
                    let input = payload["tool_input"].to_string();
                    (dialog(word("tool_name"), &format!("{number} {input}")), AgentState::Prompt)
                }
                ("Stop", _, _) | ("PostCompact", "manual", _) => (composer(), AgentState::Idle),
                ("SessionStart", _, "startup" | "resume" | "clear" | "fork") => {
                    (composer(), AgentState::Idle)
                }
                ("StopFailure", _, _) => (composer(), AgentState::Error),
                _ => (bench.sight.clone(), bench.state()),
            };
            turns += usize::from(event == "UserPromptSubmit");
            let findings = bench.claude.hook(event, payload);
            bench.hear(findings, |_| None);
            bench.sight = shown;
            bench.look();
            // A dialog is gone only when it has been missing for a moment, and a turn a little after its last hook.
            bench.pass_until(bench.now + Duration::from_millis(300));
            assert_eq!(bench.state(), state, "{}:{} {event}", case.display(), number + 1);
        }
    }
    assert!(turns > 20, "only {turns} turns were recorded");
}

/// All sources of one session, as they were heard, lead to the states in which the person at the keyboard knew the
/// agent to be. The screen follows the title, and shows a dialog from where it was seen until it was answered.
#[test]
fn a_recorded_session_is_followed_by_all_sources_together() {
    for case in cases("timelines") {
        let mut bench = Bench::new();
        let rows = lines(&case);
        let zero = rows[0]["at"].as_u64().unwrap();
        let start = bench.start;
        let moment = |epoch: u64| start + Duration::from_millis(epoch.saturating_sub(zero));
        let mut tool = String::new();
        for (number, row) in rows.iter().enumerate() {
            bench.pass_until(moment(row["at"].as_u64().unwrap()));
            let payload = &row["hook"];
            let findings = if payload.is_object() {
                let event = payload["hook_event_name"].as_str().unwrap();
                if event == "PermissionRequest" {
                    tool = payload["tool_name"].as_str().unwrap().to_owned();
                }
                bench.claude.hook(event, payload)
            } else if let Some(title) = row["title"].as_str() {
                if bench.sight.dialog.is_none() {
                    bench.sight = match title.chars().next() {
                        Some('✳') => composer(),
                        Some(_) => busy(),
                        None => Sight::default(),
                    };
                }
                bench.claude.signal(&Signal::Title(title.to_owned()))
            } else if row["registry"].is_object() {
                bench.claude.registry(&row["registry"])
            } else if row["log"].is_object() {
                bench.claude.log_line(&row["log"])
            } else if row["dialog"].is_string() {
                bench.sight = dialog(&tool, row["dialog"].as_str().unwrap());
                Vec::new()
            } else if row["sent"].is_string() {
                let known = row["state"].as_str().unwrap();
                assert_eq!(bench.state().as_str(), known, "{}:{}", case.display(), number + 1);
                if bench.sight.dialog.is_some() {
                    bench.sight = composer();
                }
                Vec::new()
            } else {
                bench.tracker.exited(bench.now);
                Vec::new()
            };
            bench.hear(findings, |epoch| epoch.map(moment));
            bench.look();
        }
        let mut found = String::new();
        for (at, state) in &bench.published {
            writeln!(found, "{at:>6} {state}").unwrap();
        }
        compare(&case, &found);
    }
}

/// Each value with one of its parts, at any depth, replaced by something that nobody expects there.
fn damaged(value: &Value) -> Vec<Value> {
    let odd = [Value::Null, true.into(), (-1).into(), "".into(), "{\u{fffd}".into(), Value::Array(vec![])];
    let mut all = odd.to_vec();
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                all.extend(damaged(field).into_iter().map(|field| {
                    let mut copy = fields.clone();
                    copy.insert(key.clone(), field);
                    Value::Object(copy)
                }));
            }
        }
        Value::Array(items) => {
            all.extend(items.iter().flat_map(damaged).map(|item| Value::Array(vec![item])));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

#[test]
fn nothing_that_is_damaged_does_any_harm() {
    let mut read = 0;
    for folder in ["hooks", "logs", "registry", "stream"] {
        for case in cases(folder) {
            // The first of a kind stands for all of them.
            let mut seen = std::collections::BTreeSet::new();
            for line in lines(&case) {
                let value = if folder == "hooks" { &line["payload"] } else { &line };
                let event = value["hook_event_name"].as_str().unwrap_or_default();
                if !seen.insert(format!("{event} {}", kind_of(value))) {
                    continue;
                }
                for odd in damaged(value) {
                    let mut claude = Claude;
                    claude.hook(event, &odd);
                    claude.log_line(&odd);
                    claude.stdout_line(&odd);
                    claude.registry(&odd);
                    read += 1;
                }
            }
        }
    }
    assert!(read > 1000, "only {read} were tried");
}
