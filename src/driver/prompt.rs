//! A dialog that somebody must answer, and what an answer can be. It knows neither how a dialog looks nor
//! which keys work in it.

/// What kind of decision is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptKind {
    /// A tool, or the folder, wants to be allowed.
    Permission,
    /// A plan wants to be approved.
    Plan,
    Question,
    /// The agent is being set up, or one of its own menus is open.
    Setup,
}

impl PromptKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Plan => "plan",
            Self::Question => "question",
            Self::Setup => "setup",
        }
    }
}

/// Stable while the same prompt stands, and never used again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PromptId(pub String);

/// What a structured source says of a dialog that is about to open, or stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub kind: PromptKind,
    pub subtype: Option<&'static str>,
    pub tool: Option<String>,
    /// The tool's input, whole, as JSON.
    pub input: Option<serde_json::Value>,
    pub questions: Vec<Question>,
    /// The plan's own text.
    pub plan: Option<String>,
    /// One line for people.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub question: String,
    pub header: String,
    pub multi_select: bool,
    pub options: Vec<QuestionOption>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionOption {
    pub label: String,
    pub description: String,
}

/// A prompt as it is published.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub id: PromptId,
    pub kind: PromptKind,
    pub subtype: Option<&'static str>,
    pub tool: Option<String>,
    /// The tool's input, short enough for a list.
    pub input: Option<String>,
    /// The tool's input, whole, as JSON.
    pub input_full: Option<String>,
    /// The labels, as the dialog shows them.
    pub options: Vec<String>,
    /// The labels are the ones such a dialog usually has: it could not be read.
    pub options_fallback: bool,
    pub questions: Vec<Question>,
    /// Which question is up; as many as there are means that the answers are being confirmed.
    pub question_current: usize,
    /// The plan's first heading.
    pub summary: Option<String>,
    /// One line for people.
    pub message: String,
    pub screen_lines: Vec<String>,
    /// The dialog is on screen and takes keys.
    pub ready: bool,
}

/// What somebody wants a prompt to be answered with. Options are counted from 1, as people see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub accept: Option<bool>,
    pub option: Option<usize>,
    pub text: Option<String>,
    /// One for each question.
    pub answers: Vec<QuestionAnswer>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionAnswer {
    pub options: Vec<usize>,
    pub text: Option<String>,
}

impl Answer {
    /// Whether this prompt can be answered so; otherwise why not.
    pub fn check(&self, _prompt: &Prompt) -> Result<(), String> {
        Ok(())
    }
}
