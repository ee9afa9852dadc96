//! Builds what a dialog asks from the input of the tool that opens it. It knows neither the source
//! nor when the dialog opens.

use serde_json::Value;

use crate::driver::prompt::{Ask, PromptKind, Question, QuestionOption};
use crate::driver::summary;

/// The agent's name in messages for users.
const AGENT_NAME: &str = "Claude";

/// The tools that always open a dialog, in every permission mode.
pub(super) const ASKING_TOOLS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

/// What the dialog of this tool with this input asks.
pub(super) fn of(tool: &str, input: &Value) -> Ask {
    let (kind, questions, plan) = match tool {
        "AskUserQuestion" => (PromptKind::Question, questions(input), None),
        "ExitPlanMode" => (PromptKind::Plan, Vec::new(), text(input, "plan")),
        _ => (PromptKind::Permission, Vec::new(), None),
    };
    let message = match kind {
        PromptKind::Question => summary::question(AGENT_NAME, &questions),
        PromptKind::Plan => match &plan {
            Some(plan) => summary::plan(AGENT_NAME, plan),
            None => "Claude wants to leave plan mode.".to_owned(),
        },
        PromptKind::Permission | PromptKind::Setup => {
            summary::permission(AGENT_NAME, tool, subject(input))
        }
    };
    Ask {
        kind,
        subtype: None,
        tool: Some(tool.to_owned()),
        input: Some(input.clone()),
        questions,
        plan,
        message,
    }
}

/// The part of a tool's input that a user wants to see first.
fn subject(input: &Value) -> Option<&str> {
    let keys =
        ["command", "file_path", "notebook_path", "url", "path", "pattern", "query", "description"];
    keys.iter().find_map(|key| input[key].as_str()).filter(|text| !text.trim().is_empty())
}

fn questions(input: &Value) -> Vec<Question> {
    list(&input["questions"])
        .map(|question| Question {
            question: text(question, "question").unwrap_or_default(),
            header: text(question, "header").unwrap_or_default(),
            multi_select: question["multiSelect"].as_bool().unwrap_or(false),
            options: list(&question["options"])
                .map(|option| QuestionOption {
                    label: text(option, "label").unwrap_or_default(),
                    description: text(option, "description").unwrap_or_default(),
                })
                .collect(),
        })
        .collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_keeps_all_its_fields() {
        let input = json!({"questions": [
            {"question": "Which colour?", "header": "Colour", "multiSelect": true,
             "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue"}]},
            {"question": "How big?"},
        ]});
        let ask = of("AskUserQuestion", &input);
        assert_eq!(ask.kind, PromptKind::Question);
        assert_eq!(ask.message, "Which colour? (and 1 more)");
        assert_eq!(ask.input, Some(input));
        assert_eq!(ask.questions.len(), 2);
        assert!(ask.questions[0].multi_select && !ask.questions[1].multi_select);
        assert_eq!(ask.questions[0].header, "Colour");
        let option = |label: &str, description: &str| QuestionOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        assert_eq!(ask.questions[0].options, [option("Red", "Warm"), option("Blue", "")]);
    }

    #[test]
    fn a_plan_has_its_text_unless_it_is_blank() {
        let ask = of("ExitPlanMode", &json!({"plan": "# The plan\n\n1. Go\n"}));
        assert_eq!(
            (ask.kind, ask.plan.as_deref()),
            (PromptKind::Plan, Some("# The plan\n\n1. Go\n"))
        );
        assert_eq!(ask.message, "Claude has a plan: The plan");
        let ask = of("ExitPlanMode", &json!({"plan": " "}));
        assert_eq!((ask.kind, ask.plan), (PromptKind::Plan, None));
    }

    #[test]
    fn any_other_tool_asks_for_permission() {
        let ask = of("Bash", &json!({"command": "ls\nrm x"}));
        assert_eq!(ask.kind, PromptKind::Permission);
        assert_eq!(ask.message, "Claude wants to use Bash: ls … (1 more line)");
        assert_eq!(of("mcp__x__y", &json!([1])).message, "Claude wants to use mcp__x__y.");
    }
}
