//! What a driver recognises on a screen: a dialog with its options, a composer with its draft, a running turn.
//! It is what the screen shows at one moment, and says nothing of what it means.

use super::agent::Trouble;
use super::prompt::PromptKind;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sight {
    pub dialog: Option<Dialog>,
    /// Where a message would go, if it is visible and has the keyboard.
    pub composer: Option<Composer>,
    /// The agent shows that a turn is running.
    pub busy: bool,
    /// The agent shows that it is trying its API again.
    pub retrying: Option<Trouble>,
    /// The screen is all that tells of a turn that ended badly, and this is what it says.
    pub failed: Option<Trouble>,
    /// Something like a list of options is visible, known or not, or something that is still being drawn: no sign of rest.
    pub option_list: bool,
}

/// The box for messages, and what is typed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composer {
    /// What somebody typed, its rows joined by line feeds; a placeholder is no draft.
    pub draft: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    pub kind: PromptKind,
    pub subtype: Option<&'static str>,
    /// The tool, where the dialog itself shows which.
    pub tool: Option<&'static str>,
    /// The dialog's own question or title, on one line.
    pub message: String,
    pub choices: Vec<Choice>,
    /// The choice that Enter would take.
    pub highlighted: Option<usize>,
    pub page: Page,
    /// The rows that the dialog takes, right-trimmed, without empty ones.
    pub lines: Vec<String>,
}

/// One row that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub label: String,
    /// The digit that takes it, where the dialog numbers its choices.
    pub digit: Option<u8>,
    /// The state of its box, where it has one.
    pub checked: Option<bool>,
    /// What is typed in its field, where it has an open one.
    pub typed: Option<String>,
    pub role: Role,
}

/// What a choice means, whatever its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Accept,
    /// Accept, and do not ask again for the like.
    AcceptAlways,
    Decline,
    /// A field for the answerer's own words.
    OwnWords,
    /// Talk about it instead of answering.
    Discuss,
    /// Goes on to the next page, or sends the answers.
    Submit,
    Plain,
}

/// Which page of a dialog is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    Only,
    /// One of several questions; the headers of all are shown as tabs.
    Question {
        current: usize,
        headers: Vec<String>,
    },
    /// All questions are answered, and the answers are shown.
    Review {
        headers: Vec<String>,
    },
}

impl Dialog {
    /// Whether both are the same dialog, however it was moved about in since: another page, another choice, another text.
    pub fn same_as(&self, other: &Dialog) -> bool {
        self.kind == other.kind
            && self.subtype == other.subtype
            && match (self.page.headers(), other.page.headers()) {
                (Some(mine), Some(theirs)) => mine == theirs,
                (None, None) => self.message == other.message && self.body().eq(other.body()),
                (Some(_), None) | (None, Some(_)) => false,
            }
    }

    pub fn choice_with(&self, role: Role) -> Option<usize> {
        self.choices.iter().position(|choice| choice.role == role)
    }

    /// The rows above the choices: what is asked, without what moves while it is being answered.
    fn body(&self) -> impl Iterator<Item = &str> {
        let first = self.choices.first().map(|choice| choice.label.as_str());
        self.lines
            .iter()
            .map(String::as_str)
            .take_while(move |line| first.is_none_or(|label| !line.contains(label)))
    }
}

impl Page {
    fn headers(&self) -> Option<&[String]> {
        match self {
            Self::Only => None,
            Self::Question { headers, .. } | Self::Review { headers } => Some(headers),
        }
    }
}
