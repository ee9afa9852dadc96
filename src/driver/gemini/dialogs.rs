//! Which of Gemini CLI's dialogs stands in the lowest box. It looks at words only where that dialog has them: its first
//! line, the question above its options, its footer.

use super::frame::{Frame, Item};
use crate::driver::prompt::PromptKind;
use crate::driver::sight::{Choice, Dialog, Page, Role};
use crate::term::Screen;

/// What the options' words are to be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Permission,
    Plan,
    /// The model's own options, whatever they say.
    Question,
    Setup,
}

/// Dialogs that are known by their first line.
const TITLED: [(&str, PromptKind, &str); 6] = [
    ("Do you trust the files in this folder?", PromptKind::Permission, "trust"),
    ("? Get started", PromptKind::Setup, "auth_method"),
    ("Usage limit reached for ", PromptKind::Setup, "quota"),
    ("We are currently experiencing high demand", PromptKind::Setup, "quota"),
    ("Model \"", PromptKind::Setup, "model_not_found"),
    ("?  A potential loop was detected", PromptKind::Setup, "loop_detected"),
];

/// What a tool's dialog calls the tool.
const TOOLS: [(&str, &str); 6] = [
    ("Shell", "run_shell_command"),
    ("WriteFile", "write_file"),
    ("Edit", "replace"),
    ("WebFetch", "web_fetch"),
    ("WriteTodos", "write_todos"),
    ("Enter Plan Mode", "enter_plan_mode"),
];

const API_KEY: &str = "Enter Gemini API Key";
/// How the rows of that dialog begin in which no key can stand.
const NO_SECRETS: [&str; 4] = [API_KEY, "Please enter your", "You can get an API key", "(Press Enter"];
pub(super) const CUSTOM: &str = "Enter a custom value";
const FEEDBACK: &str = "Type your feedback...";
const REVIEW: &str = "Review your answers:";

pub(super) fn find(screen: &Screen, frame: &Frame) -> Option<Dialog> {
    let looking = Looking { screen, frame, items: frame.items() };
    if looking.in_between() {
        return None;
    }
    looking
        .question()
        .or_else(|| looking.plan())
        .or_else(|| looking.permission())
        .or_else(|| looking.titled())
        .or_else(|| looking.api_key())
        .or_else(|| looking.menu())
}

struct Looking<'a> {
    screen: &'a Screen,
    frame: &'a Frame<'a>,
    items: Vec<Item<'a>>,
}

impl Looking<'_> {
    /// Pointer and footer disagree about whether a field has the cursor: a key would go to another place than it seems.
    fn in_between(&self) -> bool {
        let Some(last) = self.items.iter().rev().find(|item| item.digit.is_some()) else { return false };
        let typing = self.frame.last().starts_with("Enter to submit");
        if typing { !last.pointed } else { last.pointed && [CUSTOM, FEEDBACK].contains(&last.label) }
    }

    fn dialog(&self, kind: PromptKind, subtype: Option<&'static str>, message: &str) -> Dialog {
        Dialog {
            kind,
            subtype,
            tool: None,
            message: message.to_owned(),
            choices: Vec::new(),
            highlighted: None,
            page: Page::Only,
            lines: self.frame.lines.iter().map(|line| line.text.to_owned()).collect(),
        }
    }

    fn listed(&self, family: Family, dialog: Dialog) -> Dialog {
        let choices = self.items.iter().map(|item| self.choice(family, item)).collect();
        Dialog { choices, highlighted: self.items.iter().position(|item| item.pointed), ..dialog }
    }

    fn choice(&self, family: Family, item: &Item) -> Choice {
        let typing = item.pointed && self.frame.last().starts_with("Enter to submit");
        let field = matches!(family, Family::Question | Family::Plan) && item.checked.is_none_or(|_| typing);
        let own = field && (typing || item.label == CUSTOM || item.label == FEEDBACK);
        let (label, typed, role) = if own {
            let line = self.frame.lines.get(item.line);
            let typed = line.map(|line| self.typed(line.row, item.label_at)).unwrap_or_default();
            let shown = if family == Family::Plan { FEEDBACK } else { CUSTOM };
            let typed = if typed == shown { String::new() } else { typed };
            (shown, typing.then_some(typed), Role::OwnWords)
        } else {
            (item.label, None, role(family, item.label))
        };
        // A mark stands behind what was chosen before.
        let label = label.trim_end_matches(['✓', ' ']).to_owned();
        Choice { label, digit: item.digit, checked: item.checked, typed, role }
    }

    /// What is typed in a field that begins here. A cursor on its first character means that the rest is a hint.
    fn typed(&self, row: usize, from: usize) -> String {
        let Some(row) = self.screen.row(row) else { return String::new() };
        let text = row.text().get(from..).unwrap_or_default();
        let mut at = 0;
        for piece in row.pieces() {
            let begin = at;
            at += piece.text.len();
            if piece.look.inverse && begin <= from && from < at {
                return String::new();
            }
        }
        text.trim_end_matches('│').trim_end_matches(' ').trim_end_matches('│').trim().to_owned()
    }

    /// The line above the options.
    fn asked(&self) -> &str {
        let first = self.items.first().map_or(self.frame.lines.len(), |item| item.line);
        let above = self.frame.lines.get(..first).unwrap_or_default();
        above.iter().rev().map(|line| line.text.trim()).find(|line| *line != "▲").unwrap_or_default()
    }

    /// A question of the model's, one of several, or the page that shows all answers.
    fn question(&self) -> Option<Dialog> {
        if self.frame.first() != "Answer Questions" {
            return None;
        }
        let mut rows = self.frame.lines.iter().skip(1).peekable();
        let tabs = rows.next_if(|line| line.text.trim_start().starts_with('←'));
        let message = rows.next().map_or("", |line| line.text.trim());
        let (headers, current) = match tabs {
            Some(line) => self.tabs(line.row, line.text),
            // Alone, a question is known by its words.
            None => (vec![message.to_owned()], 0),
        };
        let dialog = self.dialog(PromptKind::Question, None, message);
        if message == REVIEW {
            return Some(Dialog { page: Page::Review { headers }, ..dialog });
        }
        let dialog = Dialog { page: Page::Question { current, headers }, tool: Some("ask_user"), ..dialog };
        if !self.items.is_empty() {
            return Some(self.listed(Family::Question, dialog));
        }
        let field = rows.find(|line| line.text.trim_start().starts_with('>'))?;
        let begin = field.at + field.text.find('>')? + 2;
        Some(with_field("Your answer", self.typed(field.row, begin), dialog))
    }

    /// The headers of the questions, and which of them is up.
    fn tabs(&self, row: usize, text: &str) -> (Vec<String>, usize) {
        let text = text.trim().trim_matches(['←', '→', ' ']);
        let headers: Vec<String> = text
            .split('│')
            .map(|tab| tab.trim().trim_start_matches(['□', '✓', '≡', ' ']).trim().to_owned())
            .collect();
        let marked = self.screen.row(row).and_then(|row| {
            let mut marked = row.pieces().filter(|piece| piece.look.underlined);
            marked.next().map(|piece| piece.text.trim().to_owned())
        });
        let current = marked.and_then(|marked| headers.iter().position(|header| *header == marked));
        // Without colours the first question that has no answer is the best guess.
        let open = text.split('│').position(|tab| tab.contains('□'));
        let count = headers.len().saturating_sub(1);
        (headers.into_iter().take(count).collect(), current.or(open).unwrap_or(0))
    }

    fn plan(&self) -> Option<Dialog> {
        let plan = self.frame.first() == "Ready to start implementation?"
            || self.frame.last().contains("Ctrl+G to edit plan");
        if !plan || self.items.is_empty() {
            return None;
        }
        let dialog = self.dialog(PromptKind::Plan, None, "Ready to start implementation?");
        Some(self.listed(Family::Plan, Dialog { tool: Some("exit_plan_mode"), ..dialog }))
    }

    /// A tool that wants to be allowed.
    fn permission(&self) -> Option<Dialog> {
        if !self.items.last()?.label.starts_with("No, suggest changes") {
            return None;
        }
        let named = |line: &str| {
            let name = line.strip_prefix('?')?.trim_start();
            TOOLS.iter().find(|(shown, _)| name.starts_with(shown)).map(|(_, tool)| *tool)
        };
        let tool = self.frame.lines.iter().take(2).find_map(|line| named(line.text.trim()));
        let dialog = self.dialog(PromptKind::Permission, None, self.asked());
        Some(self.listed(Family::Permission, Dialog { tool, ..dialog }))
    }

    fn titled(&self) -> Option<Dialog> {
        if self.items.is_empty() {
            return None;
        }
        let first = self.frame.first();
        let (phrase, kind, subtype) = TITLED.iter().find(|(phrase, ..)| first.starts_with(phrase))?;
        let asks = self.frame.starting("How would you like").filter(|_| *subtype == "auth_method");
        let message = if *kind == PromptKind::Permission { phrase } else { asks.unwrap_or(first) };
        Some(self.listed(Family::Setup, self.dialog(*kind, Some(subtype), message)))
    }

    fn api_key(&self) -> Option<Dialog> {
        if self.frame.first() != API_KEY {
            return None;
        }
        let above = self
            .frame
            .lines
            .iter()
            .position(|line| line.text.trim().starts_with("You can get an API key"))?;
        let field = self.frame.lines.get(above + 1)?;
        let begin = field.at + (field.text.len() - field.text.trim_start().len());
        let typed = match field.text.trim() {
            "Paste your API key here" => String::new(),
            _ => self.typed(field.row, begin),
        };
        let mut dialog = self.dialog(PromptKind::Setup, Some("api_key"), API_KEY);
        // The key is nobody's business.
        dialog.lines.retain(|line| {
            !line.trim().is_empty() && NO_SECRETS.iter().any(|phrase| line.trim().starts_with(phrase))
        });
        Some(with_field("API key", typed, dialog))
    }

    /// Something else to choose from, such as a menu that was opened by a command.
    fn menu(&self) -> Option<Dialog> {
        if self.items.is_empty() {
            return None;
        }
        Some(self.listed(Family::Setup, self.dialog(PromptKind::Setup, Some("menu"), self.frame.first())))
    }
}

/// A dialog that is nothing but a field.
fn with_field(label: &str, typed: String, dialog: Dialog) -> Dialog {
    let label = label.to_owned();
    let choice = Choice { label, digit: None, checked: None, typed: Some(typed), role: Role::OwnWords };
    Dialog { choices: vec![choice], highlighted: Some(0), ..dialog }
}

/// What an option means, by what it says.
fn role(family: Family, label: &str) -> Role {
    let starts = |phrases: &[&str]| phrases.iter().any(|phrase| label.starts_with(phrase));
    match family {
        Family::Permission if label == "Allow once" => Role::Accept,
        Family::Permission if starts(&["Allow "]) => Role::AcceptAlways,
        Family::Permission if starts(&["No, "]) => Role::Decline,
        Family::Plan if starts(&["Yes, automatically"]) => Role::AcceptAlways,
        Family::Plan if starts(&["Yes"]) => Role::Accept,
        Family::Question if label == "Done" => Role::Submit,
        Family::Question if label == "Yes" => Role::Accept,
        Family::Question if label == "No" => Role::Decline,
        Family::Setup if starts(&["Trust folder", "Keep trying", "Switch to ", "Yes", "Keep loop"]) => {
            Role::Accept
        }
        Family::Setup if starts(&["Don't trust", "Stop", "No"]) => Role::Decline,
        Family::Permission | Family::Plan | Family::Question | Family::Setup => Role::Plain,
    }
}
