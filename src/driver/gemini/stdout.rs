//! Reads what Gemini prints with `--output-format stream-json`. It does not know how lines are
//! extracted from the terminal.

use serde_json::Value;

use super::api_error;
use super::ask::{self, Tool};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};

/// The most bytes of a message that are collected.
const LONGEST: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Stdout {
    /// The message so far; Gemini prints it in pieces.
    said: String,
}

impl Stdout {
    pub(super) fn read(&mut self, line: &Value) -> Vec<Finding> {
        let text = |key: &str| line[key].as_str().unwrap_or_default();
        match (text("type"), text("role")) {
            ("init", _) => {
                let id = line["session_id"].as_str().map(str::to_owned);
                let conversation =
                    id.map(|id| Finding::Fact(Fact::Conversation { id, transcript: None }));
                conversation
                    .into_iter()
                    .chain([evidence("stdout:init", Claim::Working, "")])
                    .collect()
            }
            ("message", "user") => {
                let began =
                    Claim::TurnStarted { text: line["content"].as_str().map(str::to_owned) };
                vec![evidence("stdout:user", began, text("content"))]
            }
            ("message", _) => {
                if line["delta"] != true {
                    self.said.clear();
                }
                if self.said.len() + text("content").len() <= LONGEST {
                    self.said.push_str(text("content"));
                }
                vec![evidence("stdout:message", Claim::Working, text("content"))]
            }
            ("tool_use", _) => {
                // The text before a tool use is a message of its own.
                let mut findings: Vec<_> = self.message().into_iter().collect();
                if let Some(name) = line["tool_name"].as_str().map(str::to_owned) {
                    let tool = Tool { name, input: line["parameters"].clone(), asked: false };
                    findings.push(Finding::tool_use(ask::of_tool(&tool)));
                }
                findings.push(evidence("stdout:tool_use", Claim::Working, text("tool_name")));
                findings
            }
            ("tool_result", _) => {
                vec![evidence("stdout:tool_result", Claim::Working, text("status"))]
            }
            ("result", _) => {
                let mut findings: Vec<_> = self.message().into_iter().collect();
                let error =
                    line.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
                let claim = match text("status") {
                    "success" => Claim::TurnEnded,
                    _ => Claim::Failed(api_error::from_text(error)),
                };
                findings.push(evidence("stdout:result", claim, error));
                findings
            }
            _ => Vec::new(),
        }
    }

    fn message(&mut self) -> Option<Finding> {
        let said = std::mem::take(&mut self.said);
        (!said.trim().is_empty()).then_some(Finding::Fact(Fact::Message(said)))
    }
}

fn evidence(cause: &'static str, claim: Claim, seen: &str) -> Finding {
    Finding::new(Tier::Stdout, cause, claim, seen)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(findings: Vec<Finding>) -> Option<String> {
        findings.into_iter().find_map(|finding| match finding {
            Finding::Fact(Fact::Message(text)) => Some(text),
            Finding::Fact(_) | Finding::Evidence(_) => None,
        })
    }

    fn piece(text: &str) -> Value {
        json!({ "type": "message", "role": "assistant", "content": text, "delta": true })
    }

    #[test]
    fn a_message_is_joined_from_its_pieces() {
        let mut stdout = Stdout::default();
        let end = json!({ "type": "result", "status": "success" });
        for text in ["one ", "answer"] {
            assert_eq!(said(stdout.read(&piece(text))), None);
        }
        assert_eq!(said(stdout.read(&end)).as_deref(), Some("one answer"));
        assert_eq!(said(stdout.read(&end)), None, "it is reported once");
    }

    #[test]
    fn an_endless_message_takes_bounded_memory() {
        let mut stdout = Stdout::default();
        let text = "x".repeat(LONGEST / 3);
        for _ in 0..10 {
            stdout.read(&piece(&text));
        }
        assert!(stdout.said.len() <= LONGEST);
    }
}
