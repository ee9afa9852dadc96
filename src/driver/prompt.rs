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

impl QuestionAnswer {
    pub fn words(&self) -> Option<&str> {
        words(self.text.as_deref())
    }
}

/// A text that says something.
fn words(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

impl Answer {
    /// The words that come with it, if there are any.
    pub fn words(&self) -> Option<&str> {
        words(self.text.as_deref())
    }

    /// Whether the prompt can be answered with this at all, as far as can be said before anything is typed.
    pub fn check(&self, prompt: &Prompt) -> Result<(), String> {
        if self.accept.is_none() && self.option.is_none() && self.words().is_none() && self.answers.is_empty()
        {
            return Err("an answer needs accept, option, text or answers".to_owned());
        }
        if let Some(option) = self.option {
            in_range(option, prompt.options.len())?;
        }
        if prompt.kind != PromptKind::Question {
            return match self.answers.is_empty() {
                true => Ok(()),
                false => Err("answers are for questions, and this prompt is none".to_owned()),
            };
        }
        self.check_questions(prompt)
    }

    fn check_questions(&self, prompt: &Prompt) -> Result<(), String> {
        let asked = prompt.questions.len();
        let confirming = asked > 0 && prompt.question_current >= asked;
        if self.accept == Some(false) {
            return Ok(());
        }
        if self.answers.is_empty() {
            return match (confirming, self.accept, asked) {
                (true, _, _) => Ok(()),
                (false, Some(_), _) if self.option.is_none() && self.text.is_none() => {
                    Err("a question is answered with an option, text or answers, or declined".to_owned())
                }
                (false, _, 2..) => Err(format!("there are {asked} questions: give answers, one for each")),
                (false, _, _) => Ok(()),
            };
        }
        if self.option.is_some() || self.text.is_some() {
            return Err("answers go without option and text".to_owned());
        }
        if asked > 0 && self.answers.len() != asked {
            return Err(format!("there are {asked} questions, and {} answers", self.answers.len()));
        }
        for (question, answer) in prompt.questions.iter().zip(&self.answers) {
            let words = answer.words().is_some();
            if answer.options.is_empty() && !words {
                return Err(format!("there is no answer to {:?}", question.question));
            }
            if !question.multi_select && answer.options.len() + usize::from(words) > 1 {
                return Err(format!("{:?} takes one answer", question.question));
            }
            for option in &answer.options {
                in_range(*option, question.options.len())?;
            }
        }
        Ok(())
    }
}

/// Before a dialog is on screen nobody knows its options, and nothing can be said of a number.
fn in_range(option: usize, count: usize) -> Result<(), String> {
    match (1..=count).contains(&option) || (count == 0 && option > 0) {
        true => Ok(()),
        false => Err(format!("option {option} is out of range: there are {count}")),
    }
}
