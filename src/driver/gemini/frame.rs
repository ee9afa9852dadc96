//! The box around a Gemini CLI dialog, which is the lowest thing on the screen. It does not know
//! what the dialog asks.

use crate::driver::layout;
use crate::term::Screen;

/// Marks the highlighted option.
const POINTER: char = '●';
/// How many rows the keys at the end of a box can take.
const FOOTER: usize = 3;

/// The content of the lowest box.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// From top to bottom, without empty rows and edges of boxes.
    pub(super) lines: Vec<Line<'a>>,
    /// The upper edge of the box is above the screen.
    pub(super) cut: bool,
}

/// A row in a box, without the box's edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) row: usize,
    pub(super) text: &'a str,
    /// Where the text starts in its row, in bytes.
    pub(super) at: usize,
}

/// An option of a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// Its index in `Frame::lines`.
    pub(super) line: usize,
    pub(super) digit: Option<u8>,
    pub(super) checked: Option<bool>,
    pub(super) pointed: bool,
    pub(super) label: &'a str,
    /// Where the label starts in its row, in bytes.
    pub(super) label_at: usize,
    column: usize,
}

impl<'a> Frame<'a> {
    /// The box that ends the screen, if there is one.
    pub(super) fn lowest(screen: &'a Screen) -> Option<Self> {
        let last = layout::last_row(screen)?;
        let bottom = screen.line(last)?;
        let column = layout::indent(bottom);
        if !(bottom.get(column..)?.starts_with('╰') && bottom.ends_with('╯')) {
            return None;
        }
        let mut lines = Vec::new();
        let mut cut = true;
        for row in (0..last).rev() {
            let Some(line) = screen.line(row) else { break };
            let Some(rest) = line.get(column..).and_then(|rest| rest.strip_prefix('│')) else {
                cut = false;
                break;
            };
            let text = rest.strip_suffix('│').unwrap_or(rest).trim_end();
            let at = line.len() - rest.len();
            lines.extend(inside(Line { row, text, at }));
        }
        lines.reverse();
        Some(Self { lines, cut })
    }

    pub(super) fn first(&self) -> &'a str {
        self.lines.first().map_or("", |line| line.text.trim())
    }

    pub(super) fn last(&self) -> &'a str {
        self.lines.last().map_or("", |line| line.text.trim())
    }

    /// The keys at the end of the box. A narrow box wraps them.
    pub(super) fn footer(&self) -> String {
        let above = self.lines.len().saturating_sub(FOOTER);
        let rows = self.lines.get(above..).unwrap_or_default();
        let begins = |line: &Line| line.text.trim_start().starts_with("Enter to ");
        match rows.iter().rposition(begins) {
            Some(at) => {
                let rows = rows.iter().skip(at).map(|line| line.text.trim());
                rows.collect::<Vec<_>>().join(" ")
            }
            None => self.last().to_owned(),
        }
    }

    pub(super) fn starting(&self, phrase: &str) -> Option<&'a str> {
        self.lines.iter().map(|line| line.text.trim()).find(|line| line.starts_with(phrase))
    }

    /// The lowest list: its digits increase by one, and only the last option may have none. In a
    /// list that is too long for its box, the first options are missing.
    pub(super) fn items(&self) -> Vec<Item<'a>> {
        let mut items: Vec<Item> = Vec::new();
        for (at, line) in self.lines.iter().enumerate().rev() {
            let Some(item) = item(at, line) else { continue };
            let fits = match items.last() {
                None => item.digit.is_some() || item.label == "Done",
                Some(below) => {
                    let next = |digit| item.column == below.column && item.digit == Some(digit - 1);
                    item.digit.is_some() && below.digit.is_none_or(next)
                }
            };
            if fits {
                items.push(item);
            }
            if item.digit == Some(1) && !items.is_empty() {
                break;
            }
        }
        items.reverse();
        // A numbered list in a text has no pointer.
        if items.iter().any(|item| item.pointed) { items } else { Vec::new() }
    }
}

/// The line without the edges of a nested box, or `None` if it consists of an edge.
fn inside(line: Line<'_>) -> Option<Line<'_>> {
    let text = line.text.trim_start();
    if text.is_empty() || text.starts_with(['╭', '╰']) && text.ends_with(['╮', '╯']) {
        return None;
    }
    match text.strip_prefix('│') {
        Some(rest) => {
            let at = line.at + (line.text.len() - rest.len());
            let inner = rest.strip_suffix('│').unwrap_or(rest).trim_end();
            (!inner.trim().is_empty()).then_some(Line { row: line.row, text: inner, at })
        }
        None => Some(line),
    }
}

/// Reads spaces, an optional pointer, `N.`, and an optional checkbox.
fn item<'a>(at: usize, line: &Line<'a>) -> Option<Item<'a>> {
    let text = line.text;
    let rest = text.trim_start_matches(' ');
    let (pointed, rest) = match rest.strip_prefix(POINTER) {
        Some(after) => (true, after.strip_prefix(' ')?),
        None => (false, rest),
    };
    let before = text.get(..text.len() - rest.len())?;
    let column = before.chars().count();
    let (digit, rest) = match rest.split_once('.') {
        Some((number, label)) if number.len() == 1 && label.starts_with(' ') => {
            (number.parse::<u8>().ok().filter(|digit| *digit > 0), label)
        }
        Some(_) | None => (None, rest),
    };
    let label = rest.trim_start_matches(' ');
    let (checked, label) = match label.split_at_checked(3) {
        Some(("[ ]", label)) => (Some(false), label.trim_start_matches(' ')),
        Some(("[x]", label)) => (Some(true), label.trim_start_matches(' ')),
        Some(_) | None => (None, label),
    };
    let label_at = line.at + text.len() - label.len();
    (digit.is_some() || pointed || label == "Done").then_some(Item {
        line: at,
        digit,
        checked,
        pointed,
        label,
        label_at,
        column,
    })
}
