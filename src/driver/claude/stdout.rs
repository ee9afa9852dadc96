//! Reads what Claude prints with `--output-format stream-json`. It does not know how lines are
//! extracted from the terminal.

use serde_json::Value;

use super::{api_error, log};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::usage::UsageReport;

pub(super) fn read(line: &Value) -> Vec<Finding> {
    // A subagent's messages are part of its parent's stream.
    if line["parent_tool_use_id"].is_string() {
        return Vec::new();
    }
    match (line["type"].as_str(), line["subtype"].as_str()) {
        (Some("system"), Some("init")) => init(line),
        (Some("system"), Some("api_retry")) => {
            let retrying = api_error::in_fields(line, "error_status", "");
            let seen = retrying.detail.clone();
            vec![evidence("stdout:api_retry", Claim::Retrying(retrying), &seen)]
        }
        (Some("assistant"), _) => assistant(line),
        (Some("user"), _) => vec![evidence("stdout:user", Claim::Working, "")],
        (Some("result"), subtype) => result(line, subtype.unwrap_or_default()),
        _ => Vec::new(),
    }
}

fn init(line: &Value) -> Vec<Finding> {
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let conversation = text("session_id").map(|id| Fact::Conversation { id, transcript: None });
    let facts = [
        conversation,
        text("permissionMode").map(Fact::PermissionMode),
        text("cwd").map(Fact::Cwd),
    ];
    let mut findings: Vec<_> = facts.into_iter().flatten().map(Finding::Fact).collect();
    findings.push(evidence("stdout:init", Claim::Working, ""));
    findings
}

fn assistant(line: &Value) -> Vec<Finding> {
    let content = log::content(line);
    let mut findings: Vec<_> = log::tools(content).collect();
    // An error is repeated by the `result` that follows, and its text is not Claude's message.
    let said = if log::synthetic(line) { None } else { log::text(content) };
    let seen = said.clone().unwrap_or_default();
    findings.extend(said.map(|said| Finding::Fact(Fact::Message(said))));
    findings.push(evidence("stdout:assistant", Claim::Working, &seen));
    findings
}

/// The subtype is `success` even when the API failed.
fn result(line: &Value, subtype: &str) -> Vec<Finding> {
    let cost = line["total_cost_usd"]
        .as_f64()
        .map(|usd| Finding::Fact(Fact::Usage(UsageReport::Cost(usd))));
    let mut findings: Vec<_> = cost.into_iter().collect();
    let said = line["result"].as_str().unwrap_or_default();
    let failed = line["is_error"] == true
        || line["terminal_reason"] == "api_error"
        || (!subtype.is_empty() && subtype != "success");
    if failed {
        let text = if said.is_empty() { subtype } else { said };
        let api_error = api_error::in_fields(line, "api_error_status", text);
        findings.push(evidence("stdout:result", api_error::claim(api_error), text));
        return findings;
    }
    let message =
        Some(said).filter(|said| !said.is_empty()).map(|said| Fact::Message(said.to_owned()));
    findings.extend(message.map(Finding::Fact));
    findings.push(evidence("stdout:result", Claim::TurnEnded, said));
    findings
}

fn evidence(cause: &'static str, claim: Claim, seen: &str) -> Finding {
    Finding::new(Tier::Stdout, cause, claim, seen)
}
