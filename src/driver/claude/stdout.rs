//! What Claude prints with `--output-format stream-json`. That it prints to a terminal, and how lines are found there,
//! is not known here.

use serde_json::Value;

use super::{log, trouble};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::usage::Spent;

pub(super) fn read(line: &Value) -> Vec<Finding> {
    // What a subagent says stands in its parent's stream.
    if line["parent_tool_use_id"].is_string() {
        return Vec::new();
    }
    match (line["type"].as_str(), line["subtype"].as_str()) {
        (Some("system"), Some("init")) => init(line),
        (Some("system"), Some("api_retry")) => {
            let retrying = trouble::in_fields(line, "error_status", "");
            let seen = retrying.detail.clone();
            vec![told("stdout:api_retry", Claim::Retrying(retrying), &seen)]
        }
        (Some("assistant"), _) => assistant(line),
        (Some("user"), _) => vec![told("stdout:user", Claim::Working, "")],
        (Some("result"), subtype) => result(line, subtype.unwrap_or_default()),
        _ => Vec::new(),
    }
}

fn init(line: &Value) -> Vec<Finding> {
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let conversation = text("session_id").map(|id| Fact::Conversation { id, transcript: None });
    let facts = [conversation, text("permissionMode").map(Fact::PermissionMode), text("cwd").map(Fact::Cwd)];
    let mut findings: Vec<_> = facts.into_iter().flatten().map(Finding::Fact).collect();
    findings.push(told("stdout:init", Claim::Working, ""));
    findings
}

fn assistant(line: &Value) -> Vec<Finding> {
    let content = log::content(line);
    let mut findings: Vec<_> = log::tools(content).collect();
    // The text of an error is in the result that follows, too, and is not Claude's.
    let said = if log::synthetic(line) { None } else { log::text(content) };
    let seen = said.clone().unwrap_or_default();
    findings.extend(said.map(|said| Finding::Fact(Fact::Message(said))));
    findings.push(told("stdout:assistant", Claim::Working, &seen));
    findings
}

/// The subtype is `success` even when the API failed.
fn result(line: &Value, subtype: &str) -> Vec<Finding> {
    let cost = line["total_cost_usd"].as_f64().map(|usd| Finding::Fact(Fact::Spent(Spent::Cost(usd))));
    let mut findings: Vec<_> = cost.into_iter().collect();
    let said = line["result"].as_str().unwrap_or_default();
    let failed = line["is_error"] == true
        || line["terminal_reason"] == "api_error"
        || (!subtype.is_empty() && subtype != "success");
    if failed {
        let text = if said.is_empty() { subtype } else { said };
        let trouble = trouble::in_fields(line, "api_error_status", text);
        findings.push(told("stdout:result", trouble::claim(trouble), text));
        return findings;
    }
    let message = Some(said).filter(|said| !said.is_empty()).map(|said| Fact::Message(said.to_owned()));
    findings.extend(message.map(Finding::Fact));
    findings.push(told("stdout:result", Claim::TurnEnded, said));
    findings
}

fn told(cause: &'static str, claim: Claim, seen: &str) -> Finding {
    Finding::new(Tier::Stdout, cause, claim, seen)
}
