//! Recognises which Codex dialog is open. Every dialog ends the screen with its own footer; the
//! search for its title starts there.

use std::ops::Range;

use super::ask;
use super::screen::POINTER;
use crate::driver::layout::{self, Item};
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::{Choice, Dialog, Page, Role};
use crate::term::Screen;

/// Marks the highlighted option in dialogs before the login.
const LOGIN_POINTER: char = '>';
/// The last option of every question.
const NONE: &str = "None of the above";
/// Placeholders of fields, for screens without colours.
const FIELD_HINTS: [&str; 3] = ["Add notes", "Type your answer", "Paste or type your API key"];

/// A setup dialog, recognised by its title and the start of its footer.
struct KnownDialog {
    title: &'static str,
    footer: &'static str,
    kind: PromptKind,
    subtype: &'static str,
}

const fn setup(title: &'static str, footer: &'static str, subtype: &'static str) -> KnownDialog {
    KnownDialog { title, footer, kind: PromptKind::Setup, subtype }
}

const fn trust(title: &'static str, footer: &'static str) -> KnownDialog {
    KnownDialog { kind: PromptKind::Permission, ..setup(title, footer, "trust") }
}

const SETUP: &[KnownDialog] = &[
    trust("Folder access", "enter continue · esc "),
    // Up to version 0.152.
    trust("Do you trust the contents of", "Press enter to continue"),
    setup("Hooks need review", "enter confirm · esc skip", "hooks_review"),
    setup("Update available ·", "enter continue · esc skip", "update"),
    setup("Meet ", "enter/esc confirm · ", "model_migration"),
    setup("Welcome to Codex", "Press enter to continue", "login_method"),
    setup("Welcome to Codex", "Press esc to go back", "api_key"),
    setup("Resume a previous session", "^o ", "resume_picker"),
];

/// Tools by the title of their approval dialog.
const APPROVALS: &[(&str, Option<&str>)] = &[
    ("Would you like to run the following command?", Some(ask::SHELL)),
    ("Would you like to make the following edits?", Some(ask::PATCH)),
    ("Would you like to ", None),
    ("Do you want to ", None),
];

pub(super) fn find(screen: &Screen, last: usize) -> Option<Dialog> {
    let footer = screen.line(last)?.trim();
    let frame = Frame { screen, last };
    frame
        .setup(footer)
        .or_else(|| frame.approval())
        .or_else(|| frame.question(footer))
        .or_else(|| frame.form(footer))
        .or_else(|| frame.plan(footer))
        .or_else(|| frame.menu(footer))
}

/// Whether the screen ends in something like a list of options.
pub(super) fn ends_in_options(screen: &Screen, last: usize) -> bool {
    layout::numbered_list(screen, 0..last + 1, POINTER)
        .is_some_and(|items| items.iter().any(|item| item.pointed))
}

#[derive(Clone, Copy)]
struct Frame<'a> {
    screen: &'a Screen,
    last: usize,
}

impl<'a> Frame<'a> {
    fn line(&self, row: usize) -> &'a str {
        self.screen.line(row).unwrap_or_default().trim()
    }

    /// The lowest row that starts with this text.
    fn titled(&self, rows: Range<usize>, title: &str) -> Option<usize> {
        rows.rev().find(|row| self.line(*row).starts_with(title))
    }

    /// The list of options that contains the pointer.
    fn items(&self, pointer: char) -> Option<Vec<Item>> {
        let whole = layout::numbered_list(self.screen, 0..self.last, pointer)
            .filter(|items| items.iter().any(|item| item.pointed));
        // A low screen shows the options around the highlighted one.
        whole.or_else(|| layout::numbered_part(self.screen, 0..self.last, pointer))
    }

    /// The paragraph that starts in this row, joined into one line.
    fn paragraph(&self, row: usize) -> String {
        let lines = (row..self.last).map(|row| self.line(row)).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }

    /// The rows from this one to the last, joined into one line.
    fn paragraph_to_end(&self, row: usize) -> String {
        (row..=self.last).map(|row| self.line(row)).collect::<Vec<_>>().join(" ")
    }

    fn dialog(&self, kind: PromptKind, top: usize, message: String) -> Dialog {
        let lines = layout::filled(self.screen, top..self.last + 1)
            .map(|(_, line)| line.to_owned())
            .collect();
        Dialog {
            kind,
            subtype: None,
            tool: None,
            message,
            choices: Vec::new(),
            highlighted: None,
            more: false,
            page: Page::Only,
            lines,
        }
    }

    fn listed(&self, dialog: Dialog, items: &[Item]) -> Dialog {
        let model = dialog.kind == PromptKind::Question;
        let choice = |item: &Item| {
            let label = self.label(item);
            let role = if model { model_role(&label) } else { role(&label) };
            Choice { label, digit: item.digit, checked: None, typed: None, role, hidden: false }
        };
        let choices = items.iter().map(choice).collect();
        let highlighted = items.iter().position(|item| item.pointed);
        Dialog { choices, highlighted, ..dialog }.with_hidden(0)
    }

    /// The label of an option, without the description in the column beside it.
    fn label(&self, item: &Item) -> String {
        let row = self.screen.line(item.row).unwrap_or_default();
        let text = row.get(item.label_at..).unwrap_or_default();
        if let Some((label, _)) = text.split_once("  ") {
            return label.to_owned();
        }
        let column = row.get(..item.label_at).map_or(0, |head| head.chars().count());
        let belongs = |line: &&str| !line.is_empty() && layout::indent(line) >= column;
        let rest = item.rest.clone().map(|row| self.screen.line(row).unwrap_or_default());
        let mut label = text.trim_end().to_owned();
        // In dialogs before the login, the rows below an option describe it.
        let pointed_by_login = self.items(LOGIN_POINTER).is_some();
        for line in rest.take_while(|line| belongs(line) && !pointed_by_login) {
            label.push(' ');
            label.push_str(line.trim());
        }
        label
    }

    /// The text in a free-text field, which has the pointer but no number.
    fn field(&self, rows: Range<usize>) -> Option<String> {
        let is_field = |row: &usize| self.line(*row).starts_with(POINTER);
        let first = rows.clone().rev().find(|row| is_field(row))?;
        let mut typed = String::new();
        for row in first..rows.end {
            let Some(cells) = self.screen.row(row).filter(|row| !row.text().trim().is_empty())
            else {
                break;
            };
            let text = cells.text();
            let begin = text.len() - text.trim_start().trim_start_matches([POINTER, ' ']).len();
            if !typed.is_empty() {
                typed.push('\n');
            }
            typed.push_str(&layout::field(cells, begin).typed);
        }
        if FIELD_HINTS.iter().any(|hint| typed.starts_with(hint)) {
            typed.clear();
        }
        Some(typed)
    }

    fn setup(&self, footer: &str) -> Option<Dialog> {
        let known = |known: &&KnownDialog| {
            footer.starts_with(known.footer) && self.titled(0..self.last, known.title).is_some()
        };
        let known = SETUP.iter().find(known)?;
        let top = self.titled(0..self.last, known.title)?;
        let message = match known.subtype {
            "trust" => {
                let row = self.titled(top..self.last, "Trust this folder").unwrap_or(top);
                self.paragraph(row).split_inclusive('?').next().unwrap_or_default().to_owned()
            }
            _ => self.line(top).to_owned(),
        };
        let dialog =
            Dialog { subtype: Some(known.subtype), ..self.dialog(known.kind, top, message) };
        if known.subtype == "api_key" {
            let choices = vec![own_words(self.boxed(top))];
            // The key is a secret and must not be published.
            let lines = dialog
                .lines
                .into_iter()
                .filter(|line| !line.starts_with(['╭', '│', '╰']))
                .collect();
            return Some(Dialog { choices, highlighted: Some(0), lines, ..dialog });
        }
        let items = self.items(POINTER).or_else(|| self.items(LOGIN_POINTER));
        Some(match items.filter(|items| items.first().is_some_and(|first| first.row > top)) {
            Some(items) => self.listed(dialog, &items),
            None => dialog,
        })
    }

    /// The text in the box below the title.
    fn boxed(&self, top: usize) -> String {
        let row = (top..self.last).find(|row| self.line(*row).starts_with('│'));
        let text = row.map(|row| self.line(row).trim_matches(['│', ' '])).unwrap_or_default();
        if FIELD_HINTS.contains(&text) { String::new() } else { text.to_owned() }
    }

    /// A tool asks for permission.
    fn approval(&self) -> Option<Dialog> {
        // A narrow screen wraps the footer.
        let footer = (self.last.saturating_sub(2)..=self.last)
            .rev()
            .find(|row| self.line(*row).starts_with("Press enter to confirm or"))?;
        if !self.paragraph_to_end(footer).starts_with("Press enter to confirm or esc to cancel") {
            return None;
        }
        let items = Frame { last: footer, ..*self }.items(POINTER)?;
        // Where there is room for all options, an empty row follows them.
        let more = !self.line(footer.checked_sub(1)?).is_empty();
        let first = items.first()?.row;
        // The text of the command is indented further, or follows a `$`.
        let titles = |row: &usize| layout::indent(self.screen.line(*row).unwrap_or_default()) == 2;
        let found = (0..first).rev().filter(titles).find_map(|row| {
            let (_, tool) =
                APPROVALS.iter().find(|(title, _)| self.paragraph(row).starts_with(title))?;
            Some((row, *tool))
        });
        // The title of a very long command is above the screen.
        let (top, tool) = found.unwrap_or((0, None));
        let message = if found.is_some() {
            self.paragraph(top)
        } else {
            "Codex asks for permission.".to_owned()
        };
        let dialog = self.dialog(PromptKind::Permission, top, message);
        Some(self.listed(Dialog { tool, more, ..dialog }, &items))
    }

    /// The model asks the user.
    fn question(&self, footer: &str) -> Option<Dialog> {
        // A narrow screen wraps the footer.
        let above = self.line(self.last.checked_sub(1)?);
        let keys = ["to submit answer", "to submit all", "to clear notes"];
        let submits = |line: &&str| keys.iter().any(|keys| line.contains(keys));
        if ![footer, above].iter().any(submits) {
            return None;
        }
        let numbered = |row: &usize| counted(self.line(*row), "Question ").is_some();
        let top = (0..self.last).rev().find(numbered)?;
        let (current, count) = counted(self.line(top), "Question ")?;
        let page = match count {
            1 => Page::Only,
            count => Page::Question { current, headers: vec![String::new(); count] },
        };
        let dialog =
            Dialog { page, ..self.dialog(PromptKind::Question, top, self.paragraph(top + 1)) };
        let items =
            self.items(POINTER).filter(|items| items.first().is_some_and(|item| item.row > top));
        let Some(items) = items else {
            let choices = vec![own_words(self.field(top..self.last)?)];
            return Some(Dialog { choices, highlighted: Some(0), ..dialog });
        };
        let below = items.last()?.row + 1;
        let options = (below..self.last).find_map(|row| counted(self.line(row), "option "));
        let options = options.map_or(0, |(_, count)| count);
        let mut dialog = self.listed(dialog, &items).with_hidden(options);
        if let Some(none) = dialog.choices.last_mut().filter(|last| last.hidden) {
            (none.label, none.role) = (NONE.to_owned(), Role::OwnWords);
        }
        if footer.contains("clear notes") || above.contains("clear notes") {
            let notes = self.field(below..self.last);
            if let Some(choice) = dialog.highlighted.and_then(|at| dialog.choices.get_mut(at)) {
                choice.typed = notes;
            }
        }
        Some(dialog)
    }

    /// An MCP server asks for permission to run a tool, or for input of its own.
    fn form(&self, footer: &str) -> Option<Dialog> {
        if !footer.starts_with("enter to submit | esc to cancel") {
            return None;
        }
        let top = (0..self.last).rev().find(|row| counted(self.line(*row), "Field ").is_some())?;
        let message = self.paragraph(top + 1);
        let items =
            self.items(POINTER).filter(|items| items.first().is_some_and(|item| item.row > top));
        let permission = message.starts_with("Allow ") && message.contains(" to run tool ");
        let kind = if permission { PromptKind::Permission } else { PromptKind::Question };
        // The row above also counts unanswered fields, which changes while the user moves in the
        // form.
        let dialog = self.dialog(kind, top + 1, message);
        Some(match items {
            Some(items) => self.listed(dialog, &items),
            None => {
                let choices = vec![own_words(self.field(top..self.last)?)];
                Dialog { choices, highlighted: Some(0), ..dialog }
            }
        })
    }

    /// The turn ended with a plan.
    fn plan(&self, footer: &str) -> Option<Dialog> {
        let items = self.items(POINTER).filter(|_| footer.starts_with("enter select"))?;
        let first = items.first()?.row;
        let (top, title) = layout::filled(self.screen, 0..first).next_back()?;
        let title = Some(title.trim()).filter(|title| *title == "Implement this plan?")?;
        Some(self.listed(self.dialog(PromptKind::Plan, top, title.to_owned()), &items))
    }

    /// A menu that a command or a key opens.
    fn menu(&self, footer: &str) -> Option<Dialog> {
        let leaves =
            ["esc back", "esc to go back", "esc close", "esc dismiss & close", "esc cancel"];
        if !leaves.iter().any(|leave| footer.contains(leave)) {
            return None;
        }
        let items = self.items(POINTER);
        let end =
            items.as_ref().and_then(|items| items.first()).map_or(self.last, |first| first.row);
        // The title is the first row of the block that ends in the list.
        let empty = |row: &usize| self.line(*row).is_empty();
        let gap = (0..end)
            .rev()
            .skip_while(empty)
            .find(|row| empty(row) && empty(&row.saturating_sub(1)));
        let (top, title) = layout::filled(self.screen, gap.unwrap_or(0)..end).next()?;
        let message = title.trim().to_owned();
        let dialog =
            Dialog { subtype: Some("menu"), ..self.dialog(PromptKind::Setup, top, message) };
        Some(match items {
            Some(items) => self.listed(dialog, &items),
            None => dialog,
        })
    }
}

/// Reads the `1` and the `2` of `Question 1/2 (2 unanswered)`; the first number becomes zero-based.
fn counted(line: &str, what: &str) -> Option<(usize, usize)> {
    let numbers = line.strip_prefix(what)?.split(' ').next()?;
    let (current, count) = numbers.split_once('/')?;
    let (current, count): (usize, usize) = (current.parse().ok()?, count.parse().ok()?);
    (1..=64).contains(&count).then(|| (current.saturating_sub(1), count))
}

fn own_words(typed: String) -> Choice {
    let label = "Own words".to_owned();
    Choice {
        label,
        digit: None,
        checked: None,
        typed: Some(typed),
        role: Role::OwnWords,
        hidden: false,
    }
}

/// The role of an option that the model wrote: only the last one, which Codex adds, takes text.
fn model_role(label: &str) -> Role {
    if label == NONE { Role::OwnWords } else { Role::Plain }
}

/// The role of an option by its label.
fn role(label: &str) -> Role {
    let starts = |phrases: &[&str]| phrases.iter().any(|phrase| label.starts_with(phrase));
    if starts(&["Yes, and don't ask again", "Allow for this session", "Always allow"]) {
        Role::AcceptAlways
    } else if starts(&[
        "Yes, proceed",
        "Yes, continue",
        "Yes, implement this plan",
        "Yes, just this once",
        "Trust and continue",
        "Trust all and continue",
        "Update now",
        "Try new model",
    ]) || label == "Allow"
        || label == "Yes"
    {
        Role::Accept
    } else if starts(&["No, ", "Use existing model", "Continue without trusting", "Back to "])
        || ["No", "Cancel", "Quit", "Skip"].contains(&label)
    {
        Role::Decline
    } else {
        Role::Plain
    }
}
