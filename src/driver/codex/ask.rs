//! What a dialog of Codex's asks for, made from what hooks and log say of it. When the dialog opens is not known here.

use serde_json::Value;

use crate::driver::prompt::{Ask, PromptKind, Question, QuestionOption};
use crate::driver::wording;

/// What it is called in lines for people.
const CALLED: &str = "Codex";

/// The tool by which the model asks the user.
pub(super) const ASKING_TOOL: &str = "request_user_input";
/// What hooks call the tool that runs commands.
pub(super) const SHELL: &str = "Bash";
/// What hooks call the tool that edits files.
pub(super) const PATCH: &str = "apply_patch";

/// A tool wants to be allowed.
pub(super) fn permission(tool: &str, input: &Value) -> Ask {
    let subject = input["command"].as_str().filter(|_| tool == SHELL).or_else(|| patched(tool, input));
    Ask {
        kind: PromptKind::Permission,
        subtype: None,
        tool: Some(tool.to_owned()),
        input: Some(input.clone()),
        questions: Vec::new(),
        plan: None,
        message: wording::permission(CALLED, tool, subject),
    }
}

/// The first file that a patch is about.
fn patched<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    let patch = input["command"].as_str().filter(|_| tool == PATCH)?;
    patch.lines().find_map(|line| line.strip_prefix("*** ")?.split_once(" File: ").map(|(_, file)| file))
}

/// What the dialog of this tool with this input would ask.
pub(super) fn of(tool: &str, input: &Value) -> Ask {
    if tool == ASKING_TOOL { question(input) } else { permission(tool, input) }
}

/// The model asks the user.
pub(super) fn question(input: &Value) -> Ask {
    let questions = questions(input);
    Ask {
        kind: PromptKind::Question,
        subtype: None,
        tool: Some(ASKING_TOOL.to_owned()),
        input: Some(input.clone()),
        message: wording::question(CALLED, &questions),
        questions,
        plan: None,
    }
}

/// The turn has ended in a plan.
pub(super) fn plan(plan: String) -> Ask {
    Ask {
        kind: PromptKind::Plan,
        subtype: None,
        tool: None,
        input: None,
        questions: Vec::new(),
        message: wording::plan(CALLED, &plan),
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
    fn what_is_asked_stands_on_one_line() {
        let ask = permission(SHELL, &json!({"command": "ls\nrm x", "description": "May I?"}));
        assert_eq!(ask.message, "Codex wants to use Bash: ls");
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
            {"id": "q1", "header": "Colour", "question": "Which?", "options": [{"label": "Red", "description": "Warm"}]},
            {"id": "q2", "question": "How big?"}, 7,
        ]});
        let ask = question(&input);
        assert_eq!(ask.message, "Which? (and 2 more)");
        assert_eq!(ask.questions[0].options[0].description, "Warm");
        assert_eq!(ask.questions[1].options, []);
        assert_eq!(question(&json!(null)).message, "Codex asks a question.");
    }
}
