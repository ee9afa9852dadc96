//! What Codex prints with `exec --json`. That it prints to a terminal, and how lines are found there, is not known
//! here.

use serde_json::Value;

use super::trouble;
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
        Some("turn.started") => vec![told("stdout:turn.started", Claim::TurnStarted { text: None }, "")],
        Some("item.started" | "item.updated" | "item.completed") => {
            let said = item["text"].as_str().filter(|_| item["type"] == "agent_message");
            let mut findings: Vec<_> =
                said.map(|said| Finding::Fact(Fact::Message(said.to_owned()))).into_iter().collect();
            let seen = said.or(item["command"].as_str()).or(item["type"].as_str()).unwrap_or_default();
            findings.push(told("stdout:item", Claim::Working, seen));
            findings
        }
        Some("turn.completed") => vec![told("stdout:turn.completed", Claim::TurnEnded, "")],
        // The last `error` is repeated by `turn.failed`, which alone ends the turn.
        Some("error") => {
            let text = line["message"].as_str().unwrap_or_default();
            let retrying = text.starts_with("Reconnecting");
            retrying
                .then(|| told("stdout:error", Claim::Retrying(trouble::from_text(text)), text))
                .into_iter()
                .collect()
        }
        Some("turn.failed") => {
            let failed = trouble::of(error);
            let seen = failed.detail.clone();
            vec![told("stdout:turn.failed", Claim::Failed(failed), &seen)]
        }
        _ => Vec::new(),
    }
}

fn told(cause: &'static str, claim: Claim, seen: &str) -> Finding {
    Finding::new(Tier::Stdout, cause, claim, seen)
}
