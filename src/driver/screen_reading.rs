//! What a driver recognises on a screen: a dialog with its options, a composer with its draft, a
//! running turn. It describes one moment; the tracker decides what it means.

use super::agent::ApiError;
use super::prompt::PromptKind;

/// The highest number of a choice that counts; no agent numbers more.
const MOST_CHOICES: usize = 99;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScreenReading {
    pub dialog: Option<Dialog>,
    /// The box for messages, if it is visible and has the keyboard.
    pub composer: Option<Composer>,
    /// The agent shows that a turn is running.
    pub busy: bool,
    /// The agent shows that it retries a request to its API after this error.
    pub retrying: Option<ApiError>,
    /// The error of a failed turn, where only the screen reports it.
    pub failed: Option<ApiError>,
    /// Something like a list of options is visible, or something that is still being drawn. The
    /// agent does not count as idle then, whether a dialog is recognised or not.
    pub option_list: bool,
}

/// The box for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composer {
    /// The typed text, its rows joined by line feeds, without a placeholder.
    pub draft: String,
    /// How many rows the text takes, empty ones at its end included.
    pub rows: usize,
    /// The text may begin above the first row: the composer is as tall as it gets, or the screen
    /// begins inside it.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    pub kind: PromptKind,
    pub subtype: Option<&'static str>,
    /// The tool, if the dialog shows its name.
    pub tool: Option<&'static str>,
    /// The question or title of the dialog, on one line.
    pub message: String,
    pub choices: Vec<Choice>,
    /// The choice that Enter takes.
    pub highlighted: Option<usize>,
    /// The list of choices goes on below the screen, by an unknown number of them.
    pub more: bool,
    pub page: Page,
    /// The rows of the dialog, right-trimmed, without empty ones.
    pub lines: Vec<String>,
}

/// One row that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub label: String,
    /// The digit that takes it, if the dialog numbers its choices.
    pub digit: Option<u8>,
    /// The state of its check box, if it has one.
    pub checked: Option<bool>,
    /// The text in its field, if it has an open one.
    pub typed: Option<String>,
    pub role: Role,
    /// It is in the part of the list that is not on screen. Its label may be empty then.
    pub hidden: bool,
}

/// What a choice means, independent of its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Accept,
    /// Accept, and do not ask again for similar requests.
    AcceptAlways,
    Decline,
    /// A field for a free text answer.
    OwnWords,
    /// Discuss it instead of answering.
    Discuss,
    /// Goes on to the next page, or sends the answers.
    Submit,
    Plain,
}

/// The page of a dialog that is on screen.
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
    /// Whether both are the same dialog. Its page, its highlighted choice and the text in its
    /// fields may differ.
    pub fn same_as(&self, other: &Dialog) -> bool {
        self.kind == other.kind
            && self.subtype == other.subtype
            && match (self.page.headers(), other.page.headers()) {
                (Some(mine), Some(theirs)) => {
                    mine.len() == theirs.len() && mine.iter().zip(theirs).all(same_header)
                }
                // A low screen has no room for the headers.
                (None | Some(_), None) | (None, Some(_)) => {
                    self.message == other.message && self.same_body(other)
                }
            }
    }

    /// Whether one of the two shows all that the other shows: a low screen leaves rows out, and not
    /// the same ones for every highlighted choice.
    fn same_body(&self, other: &Dialog) -> bool {
        let [mine, theirs] = [self, other].map(|dialog| dialog.body().collect::<Vec<_>>());
        let (more, fewer) = if mine.len() < theirs.len() { (theirs, mine) } else { (mine, theirs) };
        let mut rows = more.iter();
        fewer.iter().all(|row| rows.any(|other| other == row))
    }

    /// The first choice with this role. One that is not on screen has no role of its own.
    pub fn choice_with(&self, role: Role) -> Option<usize> {
        self.choices.iter().position(|choice| choice.role == role)
    }

    /// The number of the first choice that is not on screen.
    pub fn first_hidden(&self) -> Option<usize> {
        self.choices.iter().position(|choice| choice.hidden).map(|at| at + 1)
    }

    /// Adds the choices that a numbered list does not show, up to this number at least, so that the
    /// position of every choice is that of its number.
    #[must_use]
    pub fn with_hidden(mut self, count: usize) -> Self {
        let digit = |choice: &Choice| choice.digit.map(usize::from);
        let Some(last) = self.choices.iter().filter_map(digit).max() else { return self };
        let pointed = self.highlighted.and_then(|at| self.choices.get(at)).cloned();
        let (mut numbered, rest): (Vec<_>, Vec<_>) =
            self.choices.into_iter().partition(|choice| choice.digit.is_some());
        for number in 1..=last.max(count).min(MOST_CHOICES) {
            if numbered.get(number - 1).and_then(digit) != Some(number) {
                numbered.insert((number - 1).min(numbered.len()), Choice::unseen(number));
            }
        }
        self.choices = numbered.into_iter().chain(rest).collect();
        self.highlighted =
            pointed.and_then(|pointed| self.choices.iter().position(|choice| *choice == pointed));
        self
    }

    /// The position of the choice that a client knows by its number and its label. Choices can
    /// move, so the label decides; one of which the screen shows a part, or nothing, goes by its
    /// number.
    pub fn choice_of(&self, number: usize, label: &str) -> Option<usize> {
        let at = number.checked_sub(1)?;
        let is = |choice: &Choice| choice.label == label;
        let numbered = self.choices.get(at);
        if numbered.is_some_and(is) {
            return Some(at);
        }
        let cut = |choice: &&Choice| {
            choice.hidden
                || choice.digit.map(usize::from) == Some(number) && is_part(&choice.label, label)
        };
        self.choices.iter().position(is).or_else(|| numbered.filter(cut).map(|_| at))
    }

    /// The rows above the choices, which do not change while the dialog is being answered.
    fn body(&self) -> impl Iterator<Item = &str> {
        let shown = self.choices.iter().find(|choice| !choice.hidden);
        let first = shown.map(|choice| choice.label.as_str());
        self.lines
            .iter()
            .map(String::as_str)
            .take_while(move |line| first.is_none_or(|label| !line.contains(label)))
    }
}

impl Choice {
    fn unseen(number: usize) -> Self {
        let digit = u8::try_from(number).ok();
        let (label, role) = (String::new(), Role::Plain);
        Self { label, digit, checked: None, typed: None, role, hidden: true }
    }
}

/// Whether one label is the beginning of the other, wherever a row ends.
fn is_part(shown: &str, label: &str) -> bool {
    let [shown, label] = [shown, label].map(|text| {
        let text = text.trim_end_matches(['…', ' ']);
        text.chars().filter(|c| !c.is_whitespace()).collect::<String>()
    });
    !shown.is_empty() && (label.starts_with(&shown) || shown.starts_with(&label))
}

/// Whether both are the header of one question; a low screen shows a part of it, or nothing.
fn same_header((mine, theirs): (&String, &String)) -> bool {
    mine.contains(theirs.as_str()) || theirs.contains(mine.as_str())
}

impl Page {
    fn headers(&self) -> Option<&[String]> {
        match self {
            Self::Only => None,
            Self::Question { headers, .. } | Self::Review { headers } => Some(headers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::testing::answers::{key, option, prompt};
    use crate::driver::testing::recordings::drivers;
    use crate::driver::testing::screens::tests::capture;

    /// An option that is not on screen is not chosen: the list moves towards it.
    #[test]
    fn a_hidden_option_is_brought_onto_the_screen_first() {
        for (agent, driver) in drivers() {
            let dialog = driver.read_screen(&capture(agent, "size-question-40x12")).dialog.unwrap();
            let mut prompt = prompt(&dialog);
            prompt.options = ["a", "b", "c", "Green"].map(str::to_owned).to_vec();
            let next = key(driver.next_key(&prompt, &option(4), &dialog));
            assert_eq!(next.as_deref(), Some("\x1b[B to option 4"), "{agent}");
        }
    }

    #[test]
    fn a_choice_of_which_the_screen_shows_a_part_goes_by_its_number() {
        let choice = |label: &str, number| Choice {
            label: label.to_owned(),
            hidden: false,
            ..Choice::unseen(number)
        };
        let dialog = Dialog {
            kind: PromptKind::Question,
            subtype: None,
            tool: None,
            message: "Which?".to_owned(),
            choices: vec![choice("Red as the", 1), choice("Blue", 3)],
            highlighted: Some(1),
            more: false,
            page: Page::Only,
            lines: vec!["Which?".to_owned(), "Red as the".to_owned()],
        }
        .with_hidden(4);
        let hidden: Vec<bool> = dialog.choices.iter().map(|choice| choice.hidden).collect();
        assert_eq!((hidden, dialog.highlighted), (vec![false, true, false, true], Some(2)));
        assert_eq!(dialog.choice_of(1, "Red as the sun"), Some(0));
        assert_eq!(dialog.choice_of(2, "Green"), Some(1));
        assert_eq!(dialog.choice_of(1, "Blue"), Some(2), "it has moved");
        assert_eq!(dialog.choice_of(1, "Yellow"), None);
    }

    #[test]
    fn a_dialog_that_shows_more_of_its_rows_is_the_same() {
        for (agent, driver) in drivers() {
            let screen = capture(agent, "size-permission-60x20");
            let whole = driver.read_screen(&screen).dialog.unwrap();
            let mut less = whole.clone();
            less.lines.remove(0);
            assert!(whole.same_as(&less) && less.same_as(&whole));
            less.lines.insert(0, "  $ touch another".to_owned());
            assert!(!whole.same_as(&less));
        }
    }
}
