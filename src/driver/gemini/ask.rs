//! Builds what a dialog asks from two hooks: the tool's input before it runs, and the kind of the
//! dialog before it is drawn. It does not know when the dialog opens.

use serde_json::{Map, Value, json};

use crate::driver::prompt::{Ask, PromptKind, Question, QuestionOption};
use crate::driver::summary;

/// The agent's name in messages for users.
const AGENT_NAME: &str = "Gemini";

pub(super) const SHELL: &str = "run_shell_command";
pub(super) const ASK_USER: &str = "ask_user";
pub(super) const EXIT_PLAN: &str = "exit_plan_mode";

/// A tool that is about to run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) input: Value,
    /// A dialog was announced for it.
    pub(super) asked: bool,
}

/// Whether a dialog with these details can belong to this tool.
pub(super) fn belongs(details: &Value, tool: &Tool) -> bool {
    let same = |ours: &str, theirs: &str| {
        details[theirs].is_string() && tool.input.get(ours) == details.get(theirs)
    };
    let name = tool.name.as_str();
    match details["type"].as_str() {
        Some("exec") => name == SHELL && same("command", "command"),
        Some("edit") => same("file_path", "filePath"),
        Some("mcp") => mcp_name(details).is_some_and(|wanted| wanted == name),
        Some("ask_user") => name == ASK_USER,
        Some("exit_plan_mode") => name == EXIT_PLAN,
        Some("info") => {
            !(name == SHELL || name == ASK_USER || name == EXIT_PLAN || name.starts_with("mcp_"))
        }
        _ => false,
    }
}

/// What the dialog for this tool asks, if it has one.
pub(super) fn of_tool(tool: &Tool) -> Ask {
    let kind = match tool.name.as_str() {
        ASK_USER => "ask_user",
        EXIT_PLAN => "exit_plan_mode",
        _ => "exec",
    };
    of(&json!({ "type": kind }), Some(tool), None)
}

/// What the dialog with these details asks; `plan` is the content of the plan's file.
pub(super) fn of(details: &Value, tool: Option<&Tool>, plan: Option<String>) -> Ask {
    let name = tool.map(|tool| tool.name.clone()).or_else(|| likely_name(details));
    let input = tool.map(|tool| tool.input.clone()).or_else(|| likely_input(details));
    let (kind, questions, plan) = match details["type"].as_str() {
        Some("ask_user") => {
            (PromptKind::Question, input.as_ref().map(questions).unwrap_or_default(), None)
        }
        Some("exit_plan_mode") => (PromptKind::Plan, Vec::new(), plan),
        _ => (PromptKind::Permission, Vec::new(), None),
    };
    let message = match kind {
        PromptKind::Question => summary::question(AGENT_NAME, &questions),
        PromptKind::Plan => match &plan {
            Some(plan) => summary::plan(AGENT_NAME, plan),
            None => "Gemini has a plan.".to_owned(),
        },
        PromptKind::Permission | PromptKind::Setup => {
            let tool = name.as_deref().unwrap_or("a tool");
            let subject = input.as_ref().and_then(subject).or_else(|| details["prompt"].as_str());
            summary::permission(AGENT_NAME, tool, subject)
        }
    };
    Ask { kind, subtype: None, tool: name, input, questions, plan, message }
}

fn mcp_name(details: &Value) -> Option<String> {
    Some(format!("mcp_{}_{}", details["serverName"].as_str()?, details["toolName"].as_str()?))
}

/// The name of the tool, if no hook reported the tool before the dialog.
fn likely_name(details: &Value) -> Option<String> {
    match details["type"].as_str() {
        Some("exec") => Some(SHELL.to_owned()),
        Some("ask_user") => Some(ASK_USER.to_owned()),
        Some("exit_plan_mode") => Some(EXIT_PLAN.to_owned()),
        Some("mcp") => mcp_name(details),
        _ => None,
    }
}

/// The tool's input, as far as the dialog itself shows it.
fn likely_input(details: &Value) -> Option<Value> {
    let shown = [("command", "command"), ("filePath", "file_path"), ("newContent", "content")];
    let input: Map<String, Value> = shown
        .iter()
        .filter(|(theirs, _)| details[theirs].is_string())
        .map(|(theirs, ours)| ((*ours).to_owned(), details[theirs].clone()))
        .collect();
    (!input.is_empty()).then_some(Value::Object(input))
}

/// The part of a tool's input that a user wants to see first.
fn subject(input: &Value) -> Option<&str> {
    let keys = ["command", "file_path", "url", "prompt", "path", "pattern", "query", "reason"];
    keys.iter().find_map(|key| input[key].as_str()).filter(|text| !text.trim().is_empty())
}

fn questions(input: &Value) -> Vec<Question> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let plain =
        |label: &str| QuestionOption { label: label.to_owned(), description: String::new() };
    list(&input["questions"])
        .map(|question| Question {
            question: text(question, "question"),
            header: text(question, "header"),
            multi_select: question["multiSelect"].as_bool().unwrap_or(false),
            options: match question["type"].as_str() {
                Some("yesno") => vec![plain("Yes"), plain("No")],
                _ => list(&question["options"])
                    .map(|option| QuestionOption {
                        label: text(option, "label"),
                        description: text(option, "description"),
                    })
                    .collect(),
            },
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
