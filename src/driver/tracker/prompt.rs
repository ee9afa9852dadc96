//! Builds the published prompt from an announcement, from the dialog on screen, or from both.

use serde_json::Value;

use crate::driver::prompt::{Ask, Prompt, PromptId, PromptKind, Question, QuestionOption};
use crate::driver::screen_reading::{Choice, Dialog, Page, Role};

/// How long the preview of a tool's input may be.
const PREVIEW_CHARS: usize = 200;
/// The fields of a tool's input that a person wants to see first, in this order.
const PREVIEW_FIELDS: [&str; 7] =
    ["command", "file_path", "url", "path", "pattern", "query", "plan"];

/// The prompt of a dialog: the announcement says what is asked, the screen which options there are.
pub(in crate::driver) fn build(
    id: &PromptId,
    ask: Option<&Ask>,
    dialog: Option<&Dialog>,
    ready: bool,
) -> Prompt {
    let kind =
        ask.map_or_else(|| dialog.map_or(PromptKind::Setup, |dialog| dialog.kind), |ask| ask.kind);
    let tool = ask
        .and_then(|ask| ask.tool.clone())
        .or_else(|| dialog.and_then(|dialog| dialog.tool).map(str::to_owned));
    let input = ask.and_then(|ask| ask.input.as_ref());
    let questions = match (ask, dialog) {
        (Some(ask), _) if !ask.questions.is_empty() => ask.questions.clone(),
        (_, Some(dialog)) if kind == PromptKind::Question => vec![shown_question(dialog)],
        (Some(_) | None, Some(_) | None) => Vec::new(),
    };
    let question_current = dialog.map_or(0, |dialog| match &dialog.page {
        Page::Only => 0,
        Page::Question { current, .. } => *current,
        Page::Review { .. } => questions.len(),
    });
    let asked = questions.get(question_current).map(|question| &question.options[..]);
    let options = options(dialog, asked.unwrap_or_default());
    let plan = ask.and_then(|ask| ask.plan.as_deref());
    Prompt {
        id: id.clone(),
        kind,
        subtype: ask
            .and_then(|ask| ask.subtype)
            .or_else(|| dialog.and_then(|dialog| dialog.subtype)),
        input: plan.map(preview).or_else(|| input.map(input_preview)),
        input_full: input.map(Value::to_string),
        tool,
        options,
        more_options: dialog.is_some_and(|dialog| dialog.more),
        options_fallback: false,
        question_current,
        summary: plan.and_then(heading),
        message: match (ask, dialog) {
            (Some(ask), _) => ask.message.clone(),
            (None, Some(dialog)) => dialog.message.clone(),
            (None, None) => String::new(),
        },
        questions,
        screen_lines: dialog.map(|dialog| dialog.lines.clone()).unwrap_or_default(),
        ready,
    }
}

/// The prompt of a dialog that a source reports and that is not recognised on screen.
pub(super) fn unrecognised(id: PromptId) -> Prompt {
    Prompt {
        options_fallback: true,
        message: "The agent waits at a dialog that coop does not know.".to_owned(),
        ..build(&id, None, None, false)
    }
}

/// The prompt of a program whose dialogs coop does not read: what the program itself says about it.
pub(crate) fn without_dialog(id: &PromptId, ask: &Ask) -> Prompt {
    Prompt { options_fallback: true, ..build(id, Some(ask), None, false) }
}

/// The labels of the options: as the dialog shows them, and as they were announced where it has no
/// room for them.
fn options(dialog: Option<&Dialog>, asked: &[QuestionOption]) -> Vec<String> {
    let Some(dialog) = dialog else {
        return asked.iter().map(|option| option.label.clone()).collect();
    };
    let label = |(at, choice): (usize, &Choice)| match asked.get(at) {
        Some(option) if choice.hidden || is_cut(&choice.label, &option.label) => {
            option.label.clone()
        }
        Some(_) | None => choice.label.clone(),
    };
    let mut options: Vec<String> = dialog.choices.iter().enumerate().map(label).collect();
    if dialog.more {
        options.extend(asked.iter().skip(options.len()).map(|option| option.label.clone()));
    }
    options
}

/// Whether the screen shows only the beginning of a label.
fn is_cut(shown: &str, label: &str) -> bool {
    let shown = shown.trim_end_matches('…');
    !shown.is_empty() && shown.len() < label.len() && label.starts_with(shown)
}

/// The question of a dialog, as the screen shows it.
fn shown_question(dialog: &Dialog) -> Question {
    let is_answer =
        |choice: &&Choice| matches!(choice.role, Role::Plain | Role::Accept | Role::Decline);
    let option = |choice: &Choice| QuestionOption {
        label: choice.label.clone(),
        description: String::new(),
    };
    Question {
        question: dialog.message.clone(),
        header: String::new(),
        multi_select: dialog.choices.iter().any(|choice| choice.checked.is_some()),
        options: dialog.choices.iter().filter(is_answer).map(option).collect(),
    }
}

/// The most informative field of a tool's input, or all of it.
fn input_preview(input: &Value) -> String {
    let text = PREVIEW_FIELDS.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    text.map_or_else(|| preview(&input.to_string()), preview)
}

fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// The first heading, or the first line that is not empty.
fn heading(plan: &str) -> Option<String> {
    let line = plan.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.trim_start_matches('#').trim().to_owned())
}
