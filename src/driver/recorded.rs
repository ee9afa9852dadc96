//! Recordings of real agents, each `<case>.jsonl` with what must be made of it beside it. With `UPDATE_EXPECT=1` the
//! expectations are written anew; look at the difference. It knows no agent, only where its recordings are.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::agent::AgentState;
use super::evidence::{Claim, Evidence, Fact, Finding};
use super::prompt::PromptKind;
use super::sight::{Choice, Composer, Dialog, Page, Role, Sight};
use super::tracker::{Habits, Tracker};
use super::{Driver, maker, names};

/// What a driver is given to read, and what each of its lines is called.
type Reader = fn(&mut dyn Driver, &Value) -> (String, Vec<Finding>);

/// The folders that an agent may have, each with what its driver reads them with.
const FOLDERS: [(&str, Reader); 4] = [
    ("hooks", |driver, line| {
        let payload = &line["payload"];
        let event = payload["hook_event_name"].as_str().unwrap();
        (event.to_owned(), driver.hook(event, payload))
    }),
    ("logs", |driver, line| (kind_of(line), driver.log_line(line))),
    ("stream", |driver, line| (kind_of(line), driver.stdout_line(line))),
    ("registry", |driver, file| {
        let words = ["status", "waitingFor"].map(|key| file[key].as_str().unwrap_or("-"));
        (words.join(" "), driver.registry(file))
    }),
];

/// A fresh driver of each agent.
pub(super) fn drivers() -> impl Iterator<Item = (&'static str, Box<dyn Driver>)> {
    names().filter_map(|name| Some((name, maker(name)?())))
}

fn folder(agent: &str, folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent).join(folder)
}

/// All recordings of an agent's that are read line by line; there must be some.
fn readable(agent: &str) -> Vec<(PathBuf, Reader)> {
    let there = FOLDERS.iter().filter(|(name, _)| folder(agent, name).is_dir());
    let all: Vec<_> =
        there.flat_map(|(name, read)| cases(agent, name).into_iter().map(|case| (case, *read))).collect();
    assert!(!all.is_empty(), "{agent} has no recordings");
    all
}

/// The recordings in a folder of the agent's; there must be some.
pub(super) fn cases(agent: &str, name: &str) -> Vec<PathBuf> {
    let folder = folder(agent, name);
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no recordings in {}", folder.display());
    cases
}

pub(super) fn lines(case: &Path) -> Vec<Value> {
    let text = fs::read_to_string(case).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{} is empty", case.display());
    lines
}

#[expect(clippy::disallowed_methods, reason = "asking for new expectations is no configuration of coop")]
pub(super) fn compare(case: &Path, found: &str) {
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
            Finding::Fact(Fact::ToolUse(ask)) => {
                let (tool, input) =
                    (ask.tool.clone().unwrap_or_default(), ask.input.clone().unwrap_or_default());
                format!("tool use {tool} {input}")
            }
            Finding::Fact(Fact::Spent(spent)) => format!("spent {spent:?}"),
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

/// What is claimed, without the facts beside it.
pub(super) fn claims(findings: Vec<Finding>) -> Vec<Claim> {
    let claim = |finding| match finding {
        Finding::Evidence(evidence) => Some(evidence.claim),
        Finding::Fact(_) => None,
    };
    findings.into_iter().filter_map(claim).collect()
}

#[test]
fn every_recorded_line_means_what_it_should() {
    for agent in drivers().map(|(agent, _)| agent) {
        for (case, read) in readable(agent) {
            let mut driver = maker(agent).unwrap()();
            let mut found = String::new();
            for (number, line) in lines(&case).iter().enumerate() {
                let (title, findings) = read(&mut *driver, line);
                found.push_str(&describe(number, &title, &findings));
            }
            compare(&case, &found);
        }
    }
}

fn kind_of(line: &Value) -> String {
    let words = ["type", "subtype"].map(|key| line[key].as_str().unwrap_or_default());
    words.join(" ").trim_end().to_owned()
}

/// A tracker that hears recordings at their own pace, and sees what the test says is on screen.
pub(super) struct Bench<D> {
    pub(super) driver: D,
    pub(super) tracker: Tracker,
    pub(super) now: Instant,
    pub(super) sight: Sight,
    /// Each state that was published, and when, in ms after the start.
    pub(super) published: Vec<(u128, String)>,
    pub(super) start: Instant,
}

impl<D: Driver + Default> Bench<D> {
    pub(super) fn new() -> Self {
        let driver = D::default();
        let habits = Habits::of(&driver, Duration::from_secs(60));
        let start = Instant::now();
        let tracker = Tracker::new(start, habits, "1-1".to_owned());
        Self { driver, tracker, now: start, sight: Sight::default(), published: Vec::new(), start }
    }

    pub(super) fn state(&self) -> AgentState {
        self.tracker.verdict().situation.state()
    }

    pub(super) fn hear(&mut self, findings: Vec<Finding>, at: impl Fn(Option<u64>) -> Option<Instant>) {
        for finding in findings {
            match finding {
                Finding::Evidence(evidence) => {
                    let at = at(evidence.at_epoch_ms).unwrap_or(self.now).min(self.now);
                    self.tracker.hear(self.now, at, evidence);
                }
                Finding::Fact(Fact::ToolUse(ask)) => self.tracker.tool_use(*ask),
                Finding::Fact(_) => {}
            }
            self.note();
        }
    }

    pub(super) fn look(&mut self) {
        self.tracker.look(self.now, self.sight.clone());
        self.note();
    }

    /// Lets time pass, and looks whenever the tracker wants to.
    pub(super) fn pass_until(&mut self, end: Instant) {
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

pub(super) fn composer() -> Sight {
    Sight { composer: Some(Composer { draft: String::new() }), ..Sight::default() }
}

pub(super) fn busy() -> Sight {
    Sight { busy: true, ..composer() }
}

/// A dialog that shows this text.
pub(super) fn dialog(kind: PromptKind, shown: &str) -> Sight {
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

/// Every kind of line of every recording, damaged in every way, is read by all of the driver's readers.
#[test]
fn nothing_that_is_damaged_does_any_harm() {
    for agent in drivers().map(|(agent, _)| agent) {
        let mut read = 0;
        for (case, _) in readable(agent) {
            // The first of a kind stands for all of them.
            let mut seen = BTreeSet::new();
            for line in lines(&case) {
                let value = line.get("payload").unwrap_or(&line);
                let event = value["hook_event_name"].as_str().unwrap_or_default();
                if !seen.insert(format!("{event} {}", kind_of(value))) {
                    continue;
                }
                for odd in damaged(value) {
                    let mut driver = maker(agent).unwrap()();
                    driver.hook(event, &odd);
                    driver.log_line(&odd);
                    driver.stdout_line(&odd);
                    driver.registry(&odd);
                    read += 1;
                }
            }
        }
        assert!(read > 1000, "only {read} were tried of {agent}");
    }
}
