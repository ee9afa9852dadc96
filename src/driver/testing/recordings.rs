//! Checks the recordings of real agents, each `<case>.jsonl` with the findings that its driver must
//! return beside it (see [`fixtures`]). It knows no agent, only where its recordings are.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::driver::evidence::{Claim, Evidence, Fact, Finding};
use crate::driver::{Driver, maker, names};
use crate::fixtures;
use crate::term::Signal;

/// Gives a driver one line to read. Returns the title of the line and the findings.
type Reader = fn(&mut dyn Driver, &Value) -> (String, Vec<Finding>);

/// The folders that an agent may have, each with the method of the driver that reads its lines.
const FOLDERS: [(&str, Reader); 5] = [
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
    ("status", |driver, line| {
        let [from, text] = ["from", "text"].map(|key| line[key].as_str().unwrap());
        let report = text.strip_prefix("7501;").filter(|_| from != "terminal");
        let findings = report.map(|text| driver.signal(&Signal::ProgramStatus(text.to_owned())));
        (format!("{from} {text}"), findings.unwrap_or_default())
    }),
];

/// A new driver of each agent.
pub(in crate::driver) fn drivers() -> impl Iterator<Item = (&'static str, Box<dyn Driver>)> {
    names().filter_map(|name| Some((name, maker(name)?())))
}

/// All recordings of an agent that a driver reads line by line; having none fails the test.
fn readable(agent: &str) -> Vec<(PathBuf, Reader)> {
    let folders = FOLDERS.iter().filter(|(name, _)| fixtures::folder(agent).join(name).is_dir());
    let all: Vec<_> = folders
        .flat_map(|(name, read)| cases(agent, name).into_iter().map(|case| (case, *read)))
        .collect();
    assert!(!all.is_empty(), "{agent} has no recordings");
    all
}

/// The recordings in a folder of the agent; a folder without any fails the test.
pub(in crate::driver) fn cases(agent: &str, folder: &str) -> Vec<PathBuf> {
    fixtures::recordings(&fixtures::folder(agent).join(folder), &["jsonl"])
}

/// The lines of a recording; an empty one fails the test.
pub(in crate::driver) fn lines(case: &Path) -> Vec<Value> {
    let text = fs::read_to_string(case).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{} is empty", case.display());
    lines
}

/// The findings of one line, below the title of the line.
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
            Finding::Fact(Fact::Usage(report)) => format!("usage {report:?}"),
            Finding::Evidence(evidence) => describe_evidence(evidence),
        };
        writeln!(text, "    {line}").unwrap();
    }
    text
}

fn describe_evidence(evidence: &Evidence) -> String {
    let Evidence { tier, claim, cause, detail, at_epoch_ms } = evidence;
    let claim = match claim {
        Claim::TurnStarted { text } => format!("turn started {text:?}"),
        Claim::Working => "working".to_owned(),
        Claim::Retrying(api_error) => {
            format!("retrying, {}: {:?}", api_error.category.as_str(), api_error.detail)
        }
        Claim::TurnEnded => "turn ended".to_owned(),
        Claim::NotWorking => "not working".to_owned(),
        Claim::SeemsIdle => "seems idle".to_owned(),
        Claim::Failed(api_error) => {
            format!("failed, {}: {:?}", api_error.category.as_str(), api_error.detail)
        }
        Claim::Parked(parked) => format!("parked, {parked:?}"),
        Claim::AtDialog => "at dialog".to_owned(),
        Claim::Asked(ask) | Claim::AskedInPart(ask) => {
            let part = if matches!(claim, Claim::AskedInPart(_)) { " in part" } else { "" };
            let mut text = format!("asked{part} {} {:?}", ask.kind.as_str(), ask.message);
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
    format!("{} {cause}{at}, {detail:?}: {claim}", tier.as_str())
}

/// The claims among the findings.
pub(in crate::driver) fn claims(findings: Vec<Finding>) -> Vec<Claim> {
    let claim = |finding| match finding {
        Finding::Evidence(evidence) => Some(evidence.claim),
        Finding::Fact(_) => None,
    };
    findings.into_iter().filter_map(claim).collect()
}

#[test]
fn drivers_return_the_expected_findings_for_every_recorded_line() {
    for agent in drivers().map(|(agent, _)| agent) {
        for (case, read) in readable(agent) {
            let mut driver = maker(agent).unwrap()();
            let mut found = String::new();
            for (number, line) in lines(&case).iter().enumerate() {
                let (title, findings) = read(&mut *driver, line);
                found.push_str(&describe(number, &title, &findings));
            }
            fixtures::compare(&case, &found);
        }
    }
}

fn kind_of(line: &Value) -> String {
    let words = ["type", "subtype"].map(|key| line[key].as_str().unwrap_or_default());
    words.join(" ").trim_end().to_owned()
}

/// Copies of the value, each with one part at any depth replaced by something unexpected.
fn damaged(value: &Value) -> Vec<Value> {
    let odd = [
        Value::Null,
        true.into(),
        (-1).into(),
        "".into(),
        "{\u{fffd}".into(),
        Value::Array(vec![]),
    ];
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

/// Gives every kind of line of every recording, damaged in every way, to all methods of the driver.
#[test]
fn damaged_lines_do_not_panic() {
    for agent in drivers().map(|(agent, _)| agent) {
        let mut read = 0;
        for (case, _) in readable(agent) {
            // One line of each kind is enough.
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
        assert!(read > 1000, "only {read} damaged lines of {agent} were read");
    }
}
