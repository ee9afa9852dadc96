//! Reads Gemini's hooks. It does not know how a payload arrives or whether its sender is trusted.
//!
//! | event | claim |
//! |---|---|
//! | `SessionStart` | no turn is running; after a resume the log that it names is a stub |
//! | `BeforeAgent` | a turn began, with its text; also when a hook made Gemini continue |
//! | `BeforeTool`, `AfterTool` | a turn runs; `BeforeTool` comes before any dialog of the tool |
//! | `Notification` `ToolPermission` | a dialog opens: permission, question or plan |
//! | `AfterAgent` | the turn is over; other sources report that it failed or was stopped |
//! | any other | nothing |
//!
//! Gemini calls no hook after a denial, or after an interrupt of a tool; title and log report
//! those. `SessionEnd` is called three times, `PreCompress` before each model request and
//! `AfterModel` with each piece of text: none of them is installed.

use std::collections::VecDeque;

use serde_json::Value;

use super::ask::{self, Tool};
use crate::driver::agent::Tier;
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::payload;
use crate::timestamp;

/// Gemini's placeholder for a missing response.
const NO_TEXT: &str = "[no response text]";
/// The most tools that are remembered until they end.
const TOOLS: usize = 64;

/// What is kept between two calls: two hooks together describe a dialog.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    tools: VecDeque<Tool>,
    /// The file that the plan was last written to, and its content.
    plan: Option<(String, String)>,
}

impl Hooks {
    pub(super) fn read(&mut self, event: &str, payload: &Value) -> Vec<Finding> {
        let mut findings: Vec<_> = common_facts(event, payload).map(Finding::Fact).collect();
        match event {
            "BeforeTool" => findings.extend(self.tool_begins(payload)),
            "AfterTool" => self.tool_ended(payload),
            "AfterAgent" => findings.extend(said(payload).map(Finding::Fact)),
            _ => {}
        }
        if let Some((cause, claim, seen)) = self.claim(event, payload) {
            let at = payload["timestamp"].as_str().and_then(timestamp::parse);
            findings.push(Finding::new(Tier::Hooks, cause, claim, seen).at(at));
        }
        findings
    }

    fn claim<'a>(
        &mut self,
        event: &str,
        payload: &'a Value,
    ) -> Option<(&'static str, Claim, &'a str)> {
        let seen = |key: &str| payload[key].as_str().unwrap_or_default();
        let found = match event {
            "SessionStart" => ("hook:SessionStart", Claim::NotWorking, seen("source")),
            "BeforeAgent" => {
                self.tools.clear();
                let text = payload["prompt"].as_str().map(str::to_owned);
                ("hook:BeforeAgent", Claim::TurnStarted { text }, seen("prompt"))
            }
            "BeforeTool" => ("hook:BeforeTool", Claim::Working, seen("tool_name")),
            "AfterTool" => ("hook:AfterTool", Claim::Working, seen("tool_name")),
            "Notification" if seen("notification_type") == "ToolPermission" => {
                let asked = self.asked(&payload["details"])?;
                ("hook:Notification", Claim::Asked(Box::new(asked)), seen("message"))
            }
            "AfterAgent" => match said(payload) {
                Some(_) => ("hook:AfterAgent", Claim::TurnEnded, seen("prompt_response")),
                None => ("hook:AfterAgent", Claim::SeemsIdle, NO_TEXT),
            },
            _ => return None,
        };
        Some(found)
    }

    fn tool_begins(&mut self, payload: &Value) -> Option<Finding> {
        let (name, input) = payload::tool(payload)?;
        if self.tools.len() == TOOLS {
            self.tools.pop_front();
        }
        let tool = Tool { name: name.to_owned(), input: input.clone(), asked: false };
        let ask = ask::of_tool(&tool);
        self.tools.push_back(tool);
        Some(Finding::tool_use(ask))
    }

    fn tool_ended(&mut self, payload: &Value) {
        let same =
            |tool: &Tool| payload["tool_name"] == *tool.name && payload["tool_input"] == tool.input;
        if let Some(at) = self.tools.iter().position(same) {
            self.tools.remove(at);
        }
        let written = payload.pointer("/tool_response/returnDisplay").unwrap_or(&Value::Null);
        if let (Some(path), Some(text)) =
            (written["filePath"].as_str(), written["newContent"].as_str())
            && path.contains("/plans/")
        {
            self.plan = Some((path.to_owned(), text.to_owned()));
        }
    }

    fn asked(&mut self, details: &Value) -> Option<crate::driver::prompt::Ask> {
        details["type"].as_str()?;
        let tool = self.tools.iter_mut().find(|tool| !tool.asked && ask::belongs(details, tool));
        if let Some(tool) = tool {
            tool.asked = true;
            let named =
                ["plan_filename", "plan_path"].iter().find_map(|key| tool.input.get(key)?.as_str());
            let plan = self
                .plan
                .as_ref()
                .filter(|(path, _)| named.is_some_and(|name| path.ends_with(name)));
            return Some(ask::of(details, Some(&*tool), plan.map(|(_, text)| text.clone())));
        }
        Some(ask::of(details, None, None))
    }
}

/// Gemini's message at the end of a turn, if there is one.
fn said(payload: &Value) -> Option<Fact> {
    let text = payload["prompt_response"].as_str()?;
    (!text.trim().is_empty() && text != NO_TEXT).then(|| Fact::Message(text.trim().to_owned()))
}

/// The facts that every payload has.
fn common_facts(event: &str, payload: &Value) -> impl Iterator<Item = Fact> {
    let stub = event == "SessionStart" && payload["source"] == "resume";
    let facts = payload::common_facts(payload).map(move |fact| match fact {
        Fact::Conversation { id, .. } if stub => Fact::Conversation { id, transcript: None },
        fact => fact,
    });
    facts.filter(move |_| event != "SessionEnd")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::evidence::Evidence;
    use crate::driver::prompt::{Ask, PromptKind};

    fn asked(findings: Vec<Finding>) -> Ask {
        let ask = findings.into_iter().find_map(|finding| match finding {
            Finding::Evidence(Evidence { claim: Claim::Asked(ask), .. }) => Some(*ask),
            Finding::Evidence(_) | Finding::Fact(_) => None,
        });
        ask.expect("a dialog was announced")
    }

    fn notification(details: Value) -> Value {
        json!({ "notification_type": "ToolPermission", "message": "?", "details": details })
    }

    #[test]
    fn each_of_two_tools_gets_its_own_dialog() {
        let mut hooks = Hooks::default();
        for command in ["rm a", "rm b"] {
            let input = json!({ "command": command, "description": format!("of {command}") });
            hooks.read(
                "BeforeTool",
                &json!({ "tool_name": "run_shell_command", "tool_input": input }),
            );
        }
        for command in ["rm b", "rm a"] {
            let details = json!({ "type": "exec", "command": command });
            let ask = asked(hooks.read("Notification", &notification(details)));
            assert_eq!(ask.input.unwrap()["description"], format!("of {command}"));
        }
    }

    #[test]
    fn a_dialog_without_a_tool_hook_shows_what_its_details_say() {
        let mut hooks = Hooks::default();
        let ask = asked(
            hooks.read("Notification", &notification(json!({ "type": "exec", "command": "ls" }))),
        );
        assert_eq!(
            (ask.kind, ask.tool.as_deref()),
            (PromptKind::Permission, Some("run_shell_command"))
        );
        assert_eq!(ask.input, Some(json!({ "command": "ls" })));
        let details = json!({ "type": "mcp", "serverName": "s", "toolName": "t" });
        let ask = asked(hooks.read("Notification", &notification(details)));
        assert_eq!((ask.tool.as_deref(), ask.input), (Some("mcp_s_t"), None));
        let ask = asked(hooks.read("Notification", &notification(json!({ "type": "ask_user" }))));
        assert_eq!((ask.kind, ask.questions), (PromptKind::Question, Vec::new()));
        assert_eq!(hooks.read("Notification", &notification(json!({}))), []);
        assert_eq!(hooks.read("Notification", &json!({ "details": { "type": "exec" } })), []);
    }

    #[test]
    fn tools_that_never_end_are_dropped() {
        let mut hooks = Hooks::default();
        for number in 0..3 * TOOLS {
            let input = json!({ "command": number.to_string() });
            hooks.read(
                "BeforeTool",
                &json!({ "tool_name": "run_shell_command", "tool_input": input }),
            );
        }
        assert_eq!(hooks.tools.len(), TOOLS);
        hooks.read("BeforeAgent", &json!({ "prompt": "next" }));
        assert_eq!(hooks.tools.len(), 0);
    }

    #[test]
    fn the_log_path_of_a_resumed_conversation_is_ignored() {
        let payload =
            |source: &str| json!({ "session_id": "s", "transcript_path": "/t", "source": source });
        let named = |source: &str| {
            let findings = Hooks::default().read("SessionStart", &payload(source));
            let transcript = findings.into_iter().find_map(|finding| match finding {
                Finding::Fact(Fact::Conversation { transcript, .. }) => Some(transcript),
                Finding::Fact(_) | Finding::Evidence(_) => None,
            });
            transcript.expect("a conversation")
        };
        assert_eq!(named("startup").as_deref(), Some("/t"));
        assert_eq!(named("clear").as_deref(), Some("/t"));
        assert_eq!(named("resume"), None);
    }
}
