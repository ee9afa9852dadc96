//! The status file that Claude keeps for its process. Which process a file belongs to is not known here.

use serde_json::Value;

use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};

/// A missing or unknown status is no vote: the file exists before Claude knows what it is doing.
pub(super) fn read(file: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(id) = file["sessionId"].as_str() {
        let conversation = Fact::Conversation { id: id.to_owned(), transcript: None };
        findings.push(Finding::Fact(conversation));
    }
    let (claim, cause) = match file["status"].as_str() {
        // It is the agent's own word that neither a turn runs nor a dialog stands.
        Some("idle") => (Claim::TurnEnded, "registry:idle"),
        Some("busy") => (Claim::Working, "registry:busy"),
        Some("waiting") => (Claim::Waiting, "registry:waiting"),
        Some(_) | None => return findings,
    };
    let seen = file["waitingFor"].as_str().or(file["status"].as_str()).unwrap_or_default();
    findings.push(Finding::new(Tier::Registry, cause, claim, seen).at(file["statusUpdatedAt"].as_u64()));
    findings
}
