//! Reads the options of a Claude Code dialog: their labels, their text fields and their roles. It
//! knows the family of the dialog, not the dialog itself.

use super::screen::POINTER;
use crate::driver::layout::{self, Field, Item};
use crate::driver::screen_reading::{Choice, Dialog, Role};
use crate::term::{Row, Screen};

/// The kind of dialog, which decides how the text of an option is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Permission,
    Plan,
    /// Options that the model wrote.
    Question,
    /// The page that lists all answers.
    Review,
    Setup,
    Menu,
}

const FREE_TEXT: &str = "Type something.";
const FEEDBACK: &str = "Tell Claude what to change";
/// The start of the row below the feedback field of a plan.
const FEEDBACK_HINT: &str = "shift+tab to approve";

pub(super) fn read(
    screen: &Screen,
    end: usize,
    family: Family,
    items: &[Item],
) -> (Vec<Choice>, Option<usize>) {
    let next = items.iter().skip(1).map(Some).chain([None]);
    let mut choices: Vec<Choice> = items
        .iter()
        .zip(next)
        .map(|(item, next)| {
            // In a list with a gap, the last option above the rule may be any.
            let last = next.is_none_or(|next| next.digit == item.digit.map(|digit| digit + 1));
            choice(screen, family, item, last)
        })
        .collect();
    let mut highlighted = items.iter().position(|item| item.pointed);
    // The row that submits the ticked options has no number. It becomes the last choice, wherever
    // it is on screen.
    let boxes = items.iter().filter(|item| item.checked.is_some());
    if let Some(pointed) = boxes.filter_map(|item| submit_row(screen, item, end)).next_back() {
        if pointed {
            highlighted = Some(choices.len());
        }
        let label = "Submit".to_owned();
        choices.push(Choice {
            label,
            digit: None,
            checked: None,
            typed: None,
            role: Role::Submit,
            hidden: false,
        });
    }
    (choices, highlighted)
}

/// Names the field for a free-text answer, which is the last option above the rule, if the screen
/// has no room for it.
pub(super) fn name_hidden(family: Family, mut dialog: Dialog) -> Dialog {
    let discuss = dialog.choice_with(Role::Discuss).filter(|_| family == Family::Question);
    let above = discuss.and_then(|at| dialog.choices.get_mut(at.checked_sub(1)?));
    if let Some(field) = above.filter(|choice| choice.hidden) {
        (field.label, field.role) = (FREE_TEXT.to_owned(), Role::OwnWords);
    }
    dialog
}

fn choice(screen: &Screen, family: Family, item: &Item, last: bool) -> Choice {
    let mut field =
        screen.row(item.row).map(|row| layout::field(row, item.label_at)).unwrap_or_default();
    if family == Family::Question && !field.open {
        // Claude ticks an answer that was given before.
        for text in [&mut field.typed, &mut field.shown] {
            text.truncate(text.trim_end_matches(['✔', ' ']).len());
        }
    }
    let free_text = family == Family::Question && is_free_text(screen, item, &field.shown, last);
    if family != Family::Question || free_text {
        for row in continuation(screen, item) {
            let more = screen
                .row(row)
                .map(|row| layout::field(row, layout::indent(row.text())))
                .unwrap_or_default();
            if more.shown.starts_with(FEEDBACK_HINT) {
                break;
            }
            append(&mut field, &more);
        }
    }
    let (label, typed, role) = meaning(screen, family, item, field, free_text);
    Choice { label, digit: item.digit, checked: item.checked, typed, role, hidden: false }
}

fn append(field: &mut Field, more: &Field) {
    for (text, rest) in [(&mut field.typed, &more.typed), (&mut field.shown, &more.shown)] {
        if !(text.is_empty() || rest.is_empty()) {
            text.push(' ');
        }
        text.push_str(rest);
    }
    field.open |= more.open;
}

/// The rows directly below the item that are indented at least as far as its label.
fn continuation(screen: &Screen, item: &Item) -> impl Iterator<Item = usize> {
    let label = screen
        .line(item.row)
        .and_then(|line| line.get(..item.label_at))
        .map_or(0, |head| head.chars().count());
    let belongs = move |row: &usize| {
        screen.line(*row).is_some_and(|line| !line.is_empty() && layout::indent(line) >= label)
    };
    item.rest.clone().take_while(belongs)
}

/// `Some` if the row that submits the ticked options is below this item; true if it is highlighted.
fn submit_row(screen: &Screen, item: &Item, end: usize) -> Option<bool> {
    let row = item.rest.clone().filter(|row| *row < end).find(|row| {
        let line = screen.line(*row).unwrap_or_default().trim_start();
        matches!(line.trim_start_matches(POINTER).trim(), "Submit" | "Next")
    })?;
    Some(screen.line(row)?.trim_start().starts_with(POINTER))
}

fn meaning(
    screen: &Screen,
    family: Family,
    item: &Item,
    field: Field,
    free_text: bool,
) -> (String, Option<String>, Role) {
    let Field { typed, shown, open } = field;
    match family {
        Family::Question if shown == "Chat about this" => (shown, None, Role::Discuss),
        Family::Question if free_text => {
            let hint =
                shown.trim_end_matches('.') == FREE_TEXT.trim_end_matches('.') || shown == "Other";
            let typed = if hint && !open { String::new() } else { typed };
            (FREE_TEXT.to_owned(), (open || !typed.is_empty()).then_some(typed), Role::OwnWords)
        }
        Family::Question => (shown, None, Role::Plain),
        Family::Plan if has_feedback_hint(screen, item) => {
            let typed = if shown == FEEDBACK && !open { String::new() } else { typed };
            (FEEDBACK.to_owned(), (open || !typed.is_empty()).then_some(typed), Role::OwnWords)
        }
        Family::Permission if open => {
            let (label, role) =
                if shown.starts_with("No") { ("No", Role::Decline) } else { ("Yes", Role::Accept) };
            let typed = typed.trim_start_matches(label).trim_start_matches(',').trim_start();
            (label.to_owned(), Some(typed.to_owned()), role)
        }
        Family::Permission | Family::Plan | Family::Review | Family::Setup => {
            let label = shown.trim_start_matches(['✔', ' ']).to_owned();
            let role = role(&label);
            (label, None, role)
        }
        Family::Menu => {
            let label = shown.split("  ").next().unwrap_or_default().trim_end_matches(['✔', ' ']);
            (label.to_owned(), None, Role::Plain)
        }
    }
}

/// The field for a free-text answer is the last option above the rule, whatever is typed in it.
fn is_free_text(screen: &Screen, item: &Item, shown: &str, last: bool) -> bool {
    let mut below = item.rest.clone().filter_map(|row| screen.line(row));
    last && below.any(|line| layout::is_rule(line, '─'))
        || shown.starts_with("Type something")
        || shown == "Other"
}

fn has_feedback_hint(screen: &Screen, item: &Item) -> bool {
    continuation(screen, item).any(|row| {
        screen.line(row).is_some_and(|line| line.trim_start().starts_with(FEEDBACK_HINT))
    })
}

/// Roles of options by their whole label.
const EXACT: &[(&str, Role)] = &[
    ("Yes", Role::Accept),
    ("No", Role::Decline),
    ("Continue", Role::Accept),
    ("Cancel", Role::Decline),
    ("Submit answers", Role::Submit),
];

/// Roles of options by how their label starts; the first match decides.
const BEGINNINGS: &[(&str, Role)] = &[
    ("Yes, and switch to default", Role::Accept),
    ("Yes, and tell Claude", Role::Accept),
    ("Yes, and ", Role::AcceptAlways),
    ("Yes, allow all", Role::AcceptAlways),
    ("Yes, always", Role::AcceptAlways),
    ("Yes, don", Role::AcceptAlways),
    ("Yes, ", Role::Accept),
    ("No, ", Role::Decline),
    ("No (", Role::Decline),
    ("Use this and all future", Role::AcceptAlways),
    ("Use this MCP server", Role::Accept),
    ("Continue without using", Role::Decline),
    ("Continue without these settings", Role::Accept),
    ("Exit and fix manually", Role::Decline),
];

/// The role of an option by its label.
fn role(label: &str) -> Role {
    let exact = EXACT.iter().find(|(words, _)| label == *words);
    let found = exact.or_else(|| BEGINNINGS.iter().find(|(words, _)| label.starts_with(words)));
    found.map_or(Role::Plain, |(_, role)| *role)
}

/// The tabs above a question, one for each question.
#[derive(Debug)]
pub(super) struct Tabs {
    pub(super) headers: Vec<String>,
    pub(super) current: usize,
    /// The dialog has more than one page.
    pub(super) several: bool,
}

pub(super) fn tabs(row: &Row, line: &str) -> Option<Tabs> {
    let text = line.trim();
    let several = text.starts_with('←');
    if !(several || text.starts_with(['☐', '☒'])) {
        return None;
    }
    let text = text.trim_matches(['←', '→', ' ']);
    let mut headers = Vec::new();
    let mut open = None;
    for (at, mark) in text.match_indices(['☐', '☒']) {
        let rest = text.get(at + mark.len()..).unwrap_or_default();
        let header = rest.split(['☐', '☒', '✔']).next().unwrap_or_default().trim();
        if mark == "☐" {
            open = open.or(Some(headers.len()));
        }
        headers.push(header.to_owned());
    }
    let count = |text: &str| text.matches(['☐', '☒']).count();
    let mut before = 0;
    let mut current = None;
    for piece in row.pieces() {
        if piece.style.backed && count(piece.text) > 0 {
            current = current.or(Some(before));
        }
        before += count(piece.text);
    }
    // Without colours, assume that the first unanswered question is the current one.
    let current = current.or(open).unwrap_or(headers.len().saturating_sub(1));
    Some(Tabs { headers, current, several })
}
