//! A dialog that needs an answer, and the answers it can get. It knows neither how a dialog looks
//! nor which keys work in it.

/// The kind of decision that a dialog asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PromptKind {
    /// Asks to allow the use of a tool, or to trust the folder.
    Permission,
    /// Asks to approve a plan.
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

/// Identifies a prompt while its dialog is open. It is never used again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PromptId(pub String);

/// What a source such as a hook says about a dialog that opens.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub kind: PromptKind,
    pub subtype: Option<&'static str>,
    pub tool: Option<String>,
    /// The complete input of the tool, as JSON.
    pub input: Option<serde_json::Value>,
    pub questions: Vec<Question>,
    /// The text of the plan.
    pub plan: Option<String>,
    /// One line for people.
    pub message: String,
}

impl Ask {
    /// The same kind of question, of which it is not known what it is about.
    pub fn without_input(&self) -> Self {
        let tool = self.tool.as_deref();
        let message = match tool {
            Some(tool) => format!("One of several questions of the agent about {tool}."),
            None => "One of several questions of the agent.".to_owned(),
        };
        let (kind, subtype, tool) = (self.kind, self.subtype, self.tool.clone());
        Self { kind, subtype, tool, input: None, questions: Vec::new(), plan: None, message }
    }
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
    /// The complete input of the tool, as JSON.
    pub input_full: Option<String>,
    /// The labels, as the dialog shows them.
    pub options: Vec<String>,
    /// The dialog has more options, which the screen has no room for.
    pub more_options: bool,
    /// The dialog could not be read, so the options are not known.
    pub options_fallback: bool,
    pub questions: Vec<Question>,
    /// The index of the question on screen; the number of questions while the answers are being
    /// confirmed.
    pub question_current: usize,
    /// The plan's first heading.
    pub summary: Option<String>,
    /// One line for people.
    pub message: String,
    pub screen_lines: Vec<String>,
    /// The dialog is on screen and takes keys.
    pub ready: bool,
}

/// The answer to a prompt. Options are counted from 1, as people see them.
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

/// The text, unless it is blank.
fn words(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

impl Answer {
    /// The text of the answer, unless it is blank.
    pub fn words(&self) -> Option<&str> {
        words(self.text.as_deref())
    }

    /// Checks, before anything is typed, whether the prompt can take this answer.
    pub fn check(&self, prompt: &Prompt) -> Result<(), String> {
        if self.accept.is_none()
            && self.option.is_none()
            && self.words().is_none()
            && self.answers.is_empty()
        {
            return Err("an answer needs accept, option, text or answers".to_owned());
        }
        if let Some(option) = self.option.filter(|option| *option == 0 || !prompt.more_options) {
            in_range(option, prompt.options.len())?;
        }
        if prompt.kind != PromptKind::Question {
            return match self.answers.is_empty() {
                true => Ok(()),
                false => {
                    Err("answers are for questions, and this prompt is not a question".to_owned())
                }
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
                    Err("a question is answered with an option, text or answers, or declined"
                        .to_owned())
                }
                (false, _, 2..) => {
                    Err(format!("there are {asked} questions: give answers, one for each"))
                }
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

/// The options of a dialog are not known before it is on screen; then every number is in range.
fn in_range(option: usize, count: usize) -> Result<(), String> {
    match (1..=count).contains(&option) || (count == 0 && option > 0) {
        true => Ok(()),
        false => Err(format!("option {option} is out of range: there are {count}")),
    }
}
