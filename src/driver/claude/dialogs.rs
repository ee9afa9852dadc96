//! Recognises which Claude Code dialog is open. It reads only the lowest frame of the screen, and
//! compares text only where the dialog has it: in its title, in the question above its options and
//! in its footer.

use std::ops::Range;

use super::choices::{self, Family};
use super::screen::POINTER;
use crate::driver::layout::{self, Item};
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::{Dialog, Page};
use crate::term::Screen;

/// The rows that a dialog occupies.
#[derive(Debug, Clone)]
struct Frame<'a> {
    screen: &'a Screen,
    rows: Range<usize>,
    edge: Edge,
}

/// What is above a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// A rule across the screen.
    Rule,
    /// The upper edge of an overlay over the conversation.
    Overlay,
    /// The banner of the first start.
    Welcome,
    /// The dialog starts above the screen.
    Cut,
}

/// What a setup dialog must end in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Choices,
    /// A last row that starts with this text.
    Row(&'static str),
    /// A last row that shows the key that closes the dialog.
    Closing,
}

struct KnownDialog {
    phrase: &'static str,
    kind: PromptKind,
    subtype: &'static str,
    ending: Ending,
}

const fn setup(phrase: &'static str, subtype: &'static str, ending: Ending) -> KnownDialog {
    KnownDialog { phrase, kind: PromptKind::Setup, subtype, ending }
}

/// Dialogs that are recognised by their first row.
const TITLED: &[KnownDialog] = &[
    KnownDialog {
        kind: PromptKind::Permission,
        ..setup("Accessing workspace:", "trust", Ending::Choices)
    },
    setup("Detected a custom API key", "api_key", Ending::Choices),
    setup(
        "WARNING: Claude Code running in Bypass Permissions mode",
        "startup_bypass",
        Ending::Choices,
    ),
    setup("Settings Error", "settings_error", Ending::Choices),
    setup("Settings Warning", "settings_warning", Ending::Choices),
    setup("New MCP server", "mcp_server", Ending::Choices),
    setup(
        "Auto mode can't check actions",
        "auto_mode_notice",
        Ending::Row("Enter to stay in auto mode"),
    ),
    setup("Resume session", "resume_picker", Ending::Closing),
    setup("Rewind", "rewind", Ending::Closing),
    setup("Help", "help", Ending::Closing),
    setup("Select model", "model_picker", Ending::Closing),
];

/// Dialogs of the first start, which have no frame.
const FIRST_START: &[KnownDialog] = &[
    setup("Choose the text style", "theme_picker", Ending::Choices),
    setup("Security notes:", "security_notes", Ending::Row("Press Enter to continue")),
    setup("Select login method:", "login_method", Ending::Choices),
    setup("Paste code here if prompted", "oauth_login", Ending::Row("Paste code here if prompted")),
    setup("Login successful", "login_success", Ending::Row("Press Enter to continue")),
    setup("Use Claude Code's terminal setup?", "terminal_setup", Ending::Choices),
];

/// Tools by the first row of their permission dialog.
pub(super) const TOOLS: &[(&str, &str)] = &[
    ("Bash command", "Bash"),
    ("Create file", "Write"),
    ("Overwrite file", "Write"),
    ("Edit file", "Edit"),
    ("Fetch", "WebFetch"),
];

/// Tools by the question of their permission dialog, for dialogs whose first row is above the
/// screen.
const ASKED: &[(&str, &str)] = &[
    ("Do you want to create ", "Write"),
    ("Do you want to overwrite ", "Write"),
    ("Do you want to make this edit to ", "Edit"),
    ("Do you want to allow Claude to fetch ", "WebFetch"),
];

pub(super) fn find(screen: &Screen, last: usize) -> Option<Dialog> {
    let frame = Frame::lowest(screen, last);
    frame
        .titled()
        .or_else(|| frame.question())
        .or_else(|| frame.asking())
        .or_else(|| frame.first_start())
        .or_else(|| frame.menu())
}

/// Whether the screen ends in something like a list of options.
pub(super) fn ends_in_options(screen: &Screen, last: usize) -> bool {
    let rows = Frame::lowest(screen, last).rows;
    let pointed = |items: &Vec<Item>| items.iter().any(|item| item.pointed);
    layout::numbered_list(screen, rows.clone(), POINTER).is_some_and(|items| pointed(&items))
        || layout::pointed_list(screen, rows, POINTER).is_some_and(|items| items.len() > 1)
}

impl<'a> Frame<'a> {
    fn lowest(screen: &'a Screen, last: usize) -> Self {
        let below =
            |row: usize| layout::filled(screen, row + 1..last + 1).next().map(|(_, line)| line);
        let edge = |row: usize| {
            let line = screen.line(row)?;
            if layout::is_rule(line, '▔') {
                Some(Edge::Overlay)
            } else if layout::is_rule(line, '─') {
                // The list of a question has its own rule, above its last option.
                below(row)
                    .is_some_and(|line| !layout::is_numbered(line, POINTER))
                    .then_some(Edge::Rule)
            } else {
                line.starts_with(".......").then_some(Edge::Welcome)
            }
        };
        let found = (0..=last).rev().find_map(|row| edge(row).map(|edge| (row, edge)));
        let (top, edge) = found.map_or((0, Edge::Cut), |(row, edge)| (row + 1, edge));
        Self { screen, rows: top..last + 1, edge }
    }

    fn filled(&self) -> impl DoubleEndedIterator<Item = (usize, &'a str)> + use<'a> {
        layout::filled(self.screen, self.rows.clone())
    }

    fn title(&self) -> &'a str {
        self.filled()
            .map(|(_, line)| line.trim())
            .find(|line| !is_decoration(line))
            .unwrap_or_default()
    }

    fn last_line(&self) -> &'a str {
        self.filled().next_back().map_or("", |(_, line)| line.trim())
    }

    fn numbered(&self) -> Option<Vec<Item>> {
        let items = layout::numbered_list(self.screen, self.rows.clone(), POINTER)?;
        let first = items.first()?.row;
        let pointed =
            |row| self.screen.line(row).is_some_and(|line| line.trim_start().starts_with(POINTER));
        (first..self.rows.end).any(pointed).then_some(items)
    }

    fn pointed(&self) -> Option<Vec<Item>> {
        layout::pointed_list(self.screen, self.rows.clone(), POINTER)
            .filter(|items| items.len() > 1)
    }

    fn list(&self) -> Option<Vec<Item>> {
        self.numbered().or_else(|| self.pointed())
    }

    /// The paragraph that ends above a row, joined into one line.
    fn paragraph_above(&self, row: usize) -> String {
        let end = layout::filled(self.screen, self.rows.start..row)
            .next_back()
            .map_or(row, |(row, _)| row + 1);
        let text = |row: &usize| {
            let line = self.screen.line(*row).unwrap_or_default().trim();
            (!line.is_empty() && !is_decoration(line)).then_some(line)
        };
        let begin = (self.rows.start..end)
            .rev()
            .take_while(|row| text(row).is_some())
            .last()
            .unwrap_or(end);
        join((begin..end).filter_map(|row| text(&row)))
    }

    fn paragraph_from(&self, row: usize) -> String {
        let lines =
            (row..self.rows.end).map(|row| self.screen.line(row).unwrap_or_default().trim());
        join(lines.take_while(|line| !line.is_empty()))
    }

    fn lines(&self) -> Vec<String> {
        let shown = self.filled().filter(|(_, line)| !is_decoration(line.trim()));
        shown.map(|(_, line)| line.to_owned()).collect()
    }

    fn dialog(&self, kind: PromptKind, subtype: Option<&'static str>, message: String) -> Dialog {
        let lines = self.lines();
        let (choices, highlighted) = (Vec::new(), None);
        let (tool, more, page) = (None, false, Page::Only);
        Dialog { kind, subtype, tool, message, choices, highlighted, more, page, lines }
    }

    fn listed(&self, family: Family, items: &[Item], dialog: Dialog) -> Dialog {
        let (choices, highlighted) = choices::read(self.screen, self.rows.end, family, items);
        choices::name_hidden(family, Dialog { choices, highlighted, ..dialog }.with_hidden(0))
    }

    fn known(&self, known: &KnownDialog, row: usize) -> Option<Dialog> {
        let ends = match known.ending {
            Ending::Choices => self.list().is_some(),
            Ending::Row(phrase) => self.last_line().starts_with(phrase),
            Ending::Closing => shows_close_key(self.last_line()),
        };
        if !ends {
            return None;
        }
        let text = self.paragraph_from(row);
        let message = match known.subtype {
            "api_key" => "Do you want to use this API key?".to_owned(),
            "trust" => self
                .filled()
                .find(|(_, line)| line.trim().starts_with("Quick safety check"))
                .map_or(text, |(row, _)| self.paragraph_from(row)),
            "theme_picker" | "help" | "rewind" | "resume_picker" | "model_picker" => {
                self.screen.line(row).unwrap_or_default().trim().to_owned()
            }
            _ => text,
        };
        let message = message.split_inclusive('?').next().unwrap_or_default().to_owned();
        let dialog = self.dialog(known.kind, Some(known.subtype), message);
        Some(match (known.ending, self.list()) {
            (Ending::Choices, Some(items)) => self.listed(Family::Setup, &items, dialog),
            (Ending::Closing, Some(items)) if items.iter().all(|item| item.digit.is_some()) => {
                self.listed(Family::Menu, &items, dialog)
            }
            (Ending::Choices | Ending::Row(_) | Ending::Closing, Some(_) | None) => dialog,
        })
    }

    fn titled(&self) -> Option<Dialog> {
        if self.edge == Edge::Cut {
            return None;
        }
        let title = self.title();
        let row = self.filled().find(|(_, line)| line.trim() == title).map(|(row, _)| row)?;
        TITLED
            .iter()
            .filter(|known| title.starts_with(known.phrase))
            .find_map(|known| self.known(known, row))
    }

    fn first_start(&self) -> Option<Dialog> {
        if !matches!(self.edge, Edge::Welcome | Edge::Cut) {
            return None;
        }
        FIRST_START.iter().find_map(|known| {
            let (row, _) = self.filled().find(|(_, line)| {
                layout::indent(line) <= 2 && line.trim().starts_with(known.phrase)
            })?;
            self.known(known, row)
        })
    }

    /// A question of the model: the only one, one of several, or the page that lists all answers.
    fn question(&self) -> Option<Dialog> {
        let part = || layout::numbered_part(self.screen, self.rows.clone(), POINTER);
        let items = self.numbered().or_else(part)?;
        let first = items.first()?.row;
        let mut rows = self.filled();
        let (tabs_row, tabs) = rows.next()?;
        let tabs = self.screen.row(tabs_row).and_then(|row| choices::tabs(row, tabs));
        if self.paragraph_above(first) == "Ready to submit your answers?" {
            let headers = tabs.map(|tabs| tabs.headers).unwrap_or_default();
            let dialog =
                self.dialog(PromptKind::Question, None, "Ready to submit your answers?".to_owned());
            return Some(self.listed(
                Family::Review,
                &items,
                Dialog { page: Page::Review { headers }, ..dialog },
            ));
        }
        let ends = |line: &str| line.starts_with("Enter to select");
        if !self.filled().rev().take(3).any(|(_, line)| ends(line.trim_start())) {
            return None;
        }
        let (message, page) = match tabs {
            Some(tabs) => {
                let message =
                    rows.next().map(|(row, _)| self.paragraph_from(row)).unwrap_or_default();
                let several = tabs.several;
                let page = Page::Question { current: tabs.current, headers: tabs.headers };
                (message, if several { page } else { Page::Only })
            }
            None if self.edge == Edge::Cut => (self.paragraph_above(first), Page::Only),
            None => return None,
        };
        let dialog = self.dialog(PromptKind::Question, None, message);
        Some(self.listed(Family::Question, &items, Dialog { page, ..dialog }))
    }

    /// A permission for a tool, or the approval of a plan.
    fn asking(&self) -> Option<Dialog> {
        let items = self.list()?;
        let first = items.first()?.row;
        let message = self.paragraph_above(first);
        if message.ends_with("Would you like to proceed?") || self.title() == "Exit plan mode?" {
            let dialog = self.dialog(PromptKind::Plan, None, message);
            return Some(self.listed(Family::Plan, &items, dialog));
        }
        let at = message.rfind("Do you want to ")?;
        let message = message.get(at..).filter(|message| message.ends_with('?'))?;
        if !matches!(self.edge, Edge::Rule | Edge::Cut) {
            return None;
        }
        let title = if self.edge == Edge::Rule { self.title() } else { "" };
        let by = |table: &[(&str, &'static str)], text: &str| {
            table.iter().find(|(phrase, _)| text.starts_with(phrase)).map(|(_, tool)| *tool)
        };
        let tool = by(TOOLS, title).or_else(|| by(ASKED, message));
        let dialog =
            Dialog { tool, ..self.dialog(PromptKind::Permission, None, message.to_owned()) };
        Some(self.listed(Family::Permission, &items, dialog))
    }

    /// A menu that a command opens.
    fn menu(&self) -> Option<Dialog> {
        let ruled = self.edge == Edge::Rule
            && shows_close_key(self.last_line())
            && !self.last_line().starts_with('│');
        if self.edge != Edge::Overlay && !ruled {
            return None;
        }
        let dialog = self.dialog(PromptKind::Setup, Some("menu"), self.title().to_owned());
        Some(match self.numbered() {
            Some(items) => self.listed(Family::Menu, &items, dialog),
            None => dialog,
        })
    }
}

/// Whether a row consists of line-drawing characters only.
fn is_decoration(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '─' | '╌' | '▔' | ' '))
}

/// Whether a footer shows the key that closes the dialog.
fn shows_close_key(line: &str) -> bool {
    ["Esc to cancel", "Esc to close", "Esc to exit", "Esc to go back"]
        .iter()
        .any(|phrase| line.ends_with(phrase))
}

fn join<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
    text
}
