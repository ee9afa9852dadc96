//! Recognises which Gemini CLI dialog is in the lowest box. It compares text only where the dialog
//! has it: in its first line, in the question above its options and in its footer.

use super::frame::{Frame, Item, Line};
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::{Choice, Dialog, Page, Role};
use crate::term::Screen;

/// The kind of dialog, which decides how the text of an option is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Permission,
    Plan,
    /// Options that the model wrote.
    Question,
    Setup,
}

/// Dialogs that are recognised by their first line.
const TITLED: [(&str, PromptKind, &str); 6] = [
    ("Do you trust the files in this folder?", PromptKind::Permission, "trust"),
    ("? Get started", PromptKind::Setup, "auth_method"),
    ("Usage limit reached for ", PromptKind::Setup, "quota"),
    ("We are currently experiencing high demand", PromptKind::Setup, "quota"),
    ("Model \"", PromptKind::Setup, "model_not_found"),
    ("?  A potential loop was detected", PromptKind::Setup, "loop_detected"),
];

/// Tools by their name in a permission dialog.
const TOOLS: [(&str, &str); 6] = [
    ("Shell", "run_shell_command"),
    ("WriteFile", "write_file"),
    ("Edit", "replace"),
    ("WebFetch", "web_fetch"),
    ("WriteTodos", "write_todos"),
    ("Enter Plan Mode", "enter_plan_mode"),
];

const API_KEY: &str = "Enter Gemini API Key";
/// How the rows of that dialog start that cannot contain a key.
const NO_SECRETS: [&str; 4] =
    [API_KEY, "Please enter your", "You can get an API key", "(Press Enter"];
pub(super) const CUSTOM: &str = "Enter a custom value";
const FEEDBACK: &str = "Type your feedback...";
const EDIT_PLAN: &str = "Ctrl+G to edit plan";
const REVIEW: &str = "Review your answers:";

pub(super) fn find(screen: &Screen, frame: &Frame) -> Option<Dialog> {
    let reader = Reader { screen, frame, items: frame.items() };
    if reader.is_half_drawn() {
        return None;
    }
    reader
        .question()
        .or_else(|| reader.plan())
        .or_else(|| reader.permission())
        .or_else(|| reader.titled())
        .or_else(|| reader.api_key())
        .or_else(|| reader.menu())
}

struct Reader<'a> {
    screen: &'a Screen,
    frame: &'a Frame<'a>,
    items: Vec<Item<'a>>,
}

impl Reader<'_> {
    /// Whether pointer and footer disagree about which field has the cursor. Then the screen is
    /// half drawn, and a key could reach another field.
    fn is_half_drawn(&self) -> bool {
        let Some(last) = self.items.iter().rev().find(|item| item.digit.is_some()) else {
            return false;
        };
        let typing = self.frame.footer().starts_with("Enter to submit");
        if typing {
            !last.pointed
        } else {
            last.pointed && [CUSTOM, FEEDBACK].contains(&last.label)
        }
    }

    fn dialog(&self, kind: PromptKind, subtype: Option<&'static str>, message: &str) -> Dialog {
        Dialog {
            kind,
            subtype,
            tool: None,
            message: message.to_owned(),
            choices: Vec::new(),
            highlighted: None,
            more: false,
            page: Page::Only,
            lines: self.frame.lines.iter().map(|line| line.text.to_owned()).collect(),
        }
    }

    fn listed(&self, family: Family, dialog: Dialog) -> Dialog {
        let choices = self.items.iter().map(|item| self.choice(family, item)).collect();
        let highlighted = self.items.iter().position(|item| item.pointed);
        let dialog = Dialog { choices, highlighted, ..dialog }.with_hidden(0);
        Dialog { more: self.frame.lines.iter().any(|line| line.text.trim() == "▼"), ..dialog }
    }

    fn choice(&self, family: Family, item: &Item) -> Choice {
        let typing = item.pointed && self.frame.footer().starts_with("Enter to submit");
        let field = matches!(family, Family::Question | Family::Plan)
            && item.checked.is_none_or(|_| typing);
        let own = field && (typing || item.label == CUSTOM || item.label == FEEDBACK);
        let (label, typed, role) = if own {
            let typed = self.typed_from(item);
            let shown = if family == Family::Plan { FEEDBACK } else { CUSTOM };
            let typed = if typed == shown { String::new() } else { typed };
            (shown, typing.then_some(typed), Role::OwnWords)
        } else {
            (item.label, None, role(family, item.label))
        };
        // A tick follows an option that was selected before.
        let label = label.trim_end_matches(['✓', ' ']).to_owned();
        Choice { label, digit: item.digit, checked: item.checked, typed, role, hidden: false }
    }

    /// The text in the field of this option, which a narrow box wraps.
    fn typed_from(&self, item: &Item) -> String {
        let Some(line) = self.frame.lines.get(item.line) else { return String::new() };
        let mut typed = self.typed(line.row, item.label_at);
        let more = self.frame.lines.iter().skip(item.line + 1).map(|line| line.text.trim());
        let ends = |text: &&str| *text == "▼" || *text == "Done" || text.starts_with("Enter to ");
        for row in more.take_while(|text| !ends(text)) {
            if !typed.is_empty() {
                typed.push('\n');
                typed.push_str(row);
            }
        }
        typed
    }

    /// The text in a field that starts here. If the cursor is on its first character, the rest is a
    /// placeholder.
    fn typed(&self, row: usize, from: usize) -> String {
        let Some(row) = self.screen.row(row) else { return String::new() };
        let text = row.text().get(from..).unwrap_or_default();
        let mut at = 0;
        for piece in row.pieces() {
            let begin = at;
            at += piece.text.len();
            if piece.style.inverse && begin <= from && from < at {
                return String::new();
            }
        }
        text.trim_end_matches('│').trim_end_matches(' ').trim_end_matches('│').trim().to_owned()
    }

    /// The line above the options.
    fn asked(&self) -> &str {
        let first = self.items.first().map_or(self.frame.lines.len(), |item| item.line);
        let above = self.frame.lines.get(..first).unwrap_or_default();
        above
            .iter()
            .rev()
            .map(|line| line.text.trim())
            .find(|line| *line != "▲")
            .unwrap_or_default()
    }

    /// A question of the model: the only one, one of several, or the page that lists all answers.
    fn question(&self) -> Option<Dialog> {
        let titled = self.frame.first() == "Answer Questions";
        let footer = self.frame.footer();
        // The title of a tall dialog is above the screen.
        let keys = ["Enter to select · ", "Enter to submit · "];
        let asks = keys.iter().any(|keys| footer.starts_with(keys)) && !footer.contains(EDIT_PLAN);
        if !(titled || (self.frame.cut && asks)) {
            return None;
        }
        let mut rows = self.frame.lines.iter().skip(usize::from(titled)).peekable();
        let tabs = rows.next_if(|line| line.text.trim_start().starts_with('←'));
        let message = self.question_from(rows.next());
        let message = message.as_str();
        let (headers, current) = match tabs {
            Some(line) => self.tabs(line.row, line.text),
            // A single question has no header, so its text identifies it.
            None => (vec![without_hidden_rows(message).to_owned()], 0),
        };
        let dialog = self.dialog(PromptKind::Question, None, message);
        if message == REVIEW {
            return Some(Dialog { page: Page::Review { headers }, ..dialog });
        }
        let dialog =
            Dialog { page: Page::Question { current, headers }, tool: Some("ask_user"), ..dialog };
        if !self.items.is_empty() {
            return Some(self.listed(Family::Question, dialog));
        }
        let field = rows.find(|line| line.text.trim_start().starts_with('>'))?;
        let begin = field.at + field.text.find('>')? + 2;
        Some(with_field("Your answer", self.typed(field.row, begin), dialog))
    }

    /// The text of a question that starts in this line. It ends above the options.
    fn question_from(&self, first: Option<&Line>) -> String {
        let Some(first) = first else { return String::new() };
        let end = self.items.first().map_or(first.row + 1, |item| {
            self.frame.lines.get(item.line).map_or(first.row + 1, |line| line.row)
        });
        let rows = self.frame.lines.iter().filter(|line| (first.row..end).contains(&line.row));
        let texts =
            rows.map(|line| line.text.trim()).take_while(|text| !text.starts_with(['▲', '(']));
        texts.collect::<Vec<_>>().join(" ")
    }

    /// The headers of the questions, and the position of the current one.
    fn tabs(&self, row: usize, text: &str) -> (Vec<String>, usize) {
        let text = text.trim().trim_matches(['←', '→', ' ']);
        let headers: Vec<String> = text
            .split('│')
            .map(|tab| tab.trim().trim_start_matches(['□', '✓', '≡', ' ']).trim().to_owned())
            .collect();
        let marked = self.screen.row(row).and_then(|row| {
            let mut marked = row.pieces().filter(|piece| piece.style.underlined);
            marked.next().map(|piece| piece.text.trim().to_owned())
        });
        let current = marked.and_then(|marked| headers.iter().position(|header| *header == marked));
        // Without colours, assume that the first unanswered question is the current one.
        let open = text.split('│').position(|tab| tab.contains('□'));
        let count = headers.len().saturating_sub(1);
        (headers.into_iter().take(count).collect(), current.or(open).unwrap_or(0))
    }

    fn plan(&self) -> Option<Dialog> {
        let plan = self.frame.first() == "Ready to start implementation?"
            || self.frame.footer().contains(EDIT_PLAN);
        if !plan || self.items.is_empty() {
            return None;
        }
        let dialog = self.dialog(PromptKind::Plan, None, "Ready to start implementation?");
        Some(self.listed(Family::Plan, Dialog { tool: Some("exit_plan_mode"), ..dialog }))
    }

    /// A tool asks for permission.
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
        let (phrase, kind, subtype) =
            TITLED.iter().find(|(phrase, ..)| first.starts_with(phrase))?;
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
        // The key is a secret and must not be published.
        dialog.lines.retain(|line| {
            !line.trim().is_empty()
                && NO_SECRETS.iter().any(|phrase| line.trim().starts_with(phrase))
        });
        Some(with_field("API key", typed, dialog))
    }

    /// Any other list, such as a menu that a command opens.
    fn menu(&self) -> Option<Dialog> {
        if self.items.is_empty() {
            return None;
        }
        Some(self.listed(
            Family::Setup,
            self.dialog(PromptKind::Setup, Some("menu"), self.frame.first()),
        ))
    }
}

/// The question without the row that replaces some of its rows in a low box.
fn without_hidden_rows(message: &str) -> &str {
    let hidden = message.find("... ").filter(|_| message.contains(" hidden (Ctrl+O) ..."));
    message.get(..hidden.unwrap_or(message.len())).unwrap_or_default().trim_end()
}

/// A dialog that consists of one text field.
fn with_field(label: &str, typed: String, dialog: Dialog) -> Dialog {
    let label = label.to_owned();
    let choice = Choice {
        label,
        digit: None,
        checked: None,
        typed: Some(typed),
        role: Role::OwnWords,
        hidden: false,
    };
    Dialog { choices: vec![choice], highlighted: Some(0), ..dialog }
}

/// The role of an option by its label.
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
        Family::Setup
            if starts(&["Trust folder", "Keep trying", "Switch to ", "Yes", "Keep loop"]) =>
        {
            Role::Accept
        }
        Family::Setup if starts(&["Don't trust", "Stop", "No"]) => Role::Decline,
        Family::Permission | Family::Plan | Family::Question | Family::Setup => Role::Plain,
    }
}
