//! Builds what a dialog asks from what hooks and log report about it. It does not know when the
//! dialog opens.

use serde_json::Value;

use crate::driver::prompt::{Ask, PromptKind, Question, QuestionOption};
use crate::driver::summary;

/// The agent's name in messages for users.
const AGENT_NAME: &str = "Codex";

/// The tool with which the model asks the user.
pub(super) const ASKING_TOOL: &str = "request_user_input";
/// The name of the command tool in hooks.
pub(super) const SHELL: &str = "Bash";
/// The name of the edit tool in hooks.
pub(super) const PATCH: &str = "apply_patch";

/// A tool asks for permission.
pub(super) fn permission(tool: &str, input: &Value) -> Ask {
    let subject =
        input["command"].as_str().filter(|_| tool == SHELL).or_else(|| patched(tool, input));
    Ask {
        kind: PromptKind::Permission,
        subtype: None,
        tool: Some(tool.to_owned()),
        input: Some(input.clone()),
        questions: Vec::new(),
        plan: None,
        message: summary::permission(AGENT_NAME, tool, subject),
    }
}

/// The first file in a patch.
fn patched<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    let patch = input["command"].as_str().filter(|_| tool == PATCH)?;
    patch
        .lines()
        .find_map(|line| line.strip_prefix("*** ")?.split_once(" File: ").map(|(_, file)| file))
}

/// What the dialog for this tool and input asks.
pub(super) fn of(tool: &str, input: &Value) -> Ask {
    if tool == ASKING_TOOL { question(input) } else { permission(tool, input) }
}

/// The model asks the user questions.
pub(super) fn question(input: &Value) -> Ask {
    let questions = questions(input);
    Ask {
        kind: PromptKind::Question,
        subtype: None,
        tool: Some(ASKING_TOOL.to_owned()),
        input: Some(input.clone()),
        message: summary::question(AGENT_NAME, &questions),
        questions,
        plan: None,
    }
}

/// The turn ended with a plan.
pub(super) fn plan(plan: String) -> Ask {
    Ask {
        kind: PromptKind::Plan,
        subtype: None,
        tool: None,
        input: None,
        questions: Vec::new(),
        message: summary::plan(AGENT_NAME, &plan),
        plan: Some(plan),
    }
}

fn questions(input: &Value) -> Vec<Question> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let option = |value: &Value| QuestionOption {
        label: text(value, "label"),
        description: text(value, "description"),
    };
    let question = |value: &Value| Question {
        question: text(value, "question"),
        header: text(value, "header"),
        multi_select: false,
        options: list(&value["options"]).map(option).collect(),
    };
    list(&input["questions"]).map(question).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_have_one_line() {
        let ask = permission(SHELL, &json!({"command": "ls\nrm x", "description": "May I?"}));
        assert_eq!(ask.message, "Codex wants to use Bash: ls … (1 more line)");
        let patch = "*** Begin Patch\n*** Update File: /x/a b.txt\n+1\n*** End Patch";
        assert_eq!(
            permission(PATCH, &json!({"command": patch})).message,
            "Codex wants to use apply_patch: /x/a b.txt"
        );
        assert_eq!(permission("mcp__x__y", &json!(7)).message, "Codex wants to use mcp__x__y.");
        assert_eq!(plan("# Do it\n\n1. Go".to_owned()).message, "Codex has a plan: Do it");
    }

    #[test]
    fn questions_are_read_with_their_options() {
        let input = json!({"questions": [
            {"id": "q1", "header": "Colour", "question": "Which?",
             "options": [{"label": "Red", "description": "Warm"}]},
            {"id": "q2", "question": "How big?"}, 7,
        ]});
        let ask = question(&input);
        assert_eq!(ask.message, "Which? (and 2 more)");
        assert_eq!(ask.questions[0].options[0].description, "Warm");
        assert_eq!(ask.questions[1].options, []);
        assert_eq!(question(&json!(null)).message, "Codex asks a question.");
    }
}
