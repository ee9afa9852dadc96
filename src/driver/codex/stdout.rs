//! Reads what Codex prints with `exec --json`. It does not know how lines are extracted from the
//! terminal.

use serde_json::Value;

use super::api_error;
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};

pub(super) fn read(line: &Value) -> Vec<Finding> {
    let (item, error) = (&line["item"], &line["error"]);
    match line["type"].as_str() {
        Some("thread.started") => {
            let conversation = line["thread_id"]
                .as_str()
                .map(|id| Fact::Conversation { id: id.to_owned(), transcript: None });
            conversation.map(Finding::Fact).into_iter().collect()
        }
        Some("turn.started") => {
            vec![evidence("stdout:turn.started", Claim::TurnStarted { text: None }, "")]
        }
        Some("item.started" | "item.updated" | "item.completed") => {
            let said = item["text"].as_str().filter(|_| item["type"] == "agent_message");
            let mut findings: Vec<_> = said
                .map(|said| Finding::Fact(Fact::Message(said.to_owned())))
                .into_iter()
                .collect();
            let seen =
                said.or(item["command"].as_str()).or(item["type"].as_str()).unwrap_or_default();
            findings.push(evidence("stdout:item", Claim::Working, seen));
            findings
        }
        Some("turn.completed") => vec![evidence("stdout:turn.completed", Claim::TurnEnded, "")],
        // `turn.failed` repeats the last `error`, and only `turn.failed` ends the turn.
        Some("error") => {
            let text = line["message"].as_str().unwrap_or_default();
            let retrying = text.starts_with("Reconnecting");
            retrying
                .then(|| {
                    evidence("stdout:error", Claim::Retrying(api_error::from_text(text)), text)
                })
                .into_iter()
                .collect()
        }
        Some("turn.failed") => {
            let failed = api_error::of(error);
            let seen = failed.detail.clone();
            vec![evidence("stdout:turn.failed", Claim::Failed(failed), &seen)]
        }
        _ => Vec::new(),
    }
}

fn evidence(cause: &'static str, claim: Claim, seen: &str) -> Finding {
    Finding::new(Tier::Stdout, cause, claim, seen)
}
