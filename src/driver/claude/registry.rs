//! Reads the status file that Claude keeps for its process. It does not know to which process a
//! file belongs.

use serde_json::Value;

use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};

/// A missing or unknown status is no evidence: the file exists before Claude has a status.
pub(super) fn read(file: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(id) = file["sessionId"].as_str() {
        let conversation = Fact::Conversation { id: id.to_owned(), transcript: None };
        findings.push(Finding::Fact(conversation));
    }
    let (claim, cause) = match file["status"].as_str() {
        // Claude itself reports that no turn runs and no dialog is open.
        Some("idle") => (Claim::TurnEnded, "registry:idle"),
        Some("busy") => (Claim::Working, "registry:busy"),
        Some("waiting") => (Claim::AtDialog, "registry:waiting"),
        Some(_) | None => return findings,
    };
    let seen = file["waitingFor"].as_str().or(file["status"].as_str()).unwrap_or_default();
    findings.push(
        Finding::new(Tier::Registry, cause, claim, seen).at(file["statusUpdatedAt"].as_u64()),
    );
    findings
}
