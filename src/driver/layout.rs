//! How terminal programs lay out dialogs: rules, lists of options with a pointer, fields with a cursor. It knows
//! the geometry that agents share, and no agent's words.

use std::ops::Range;

use crate::term::{Row, Screen};

/// A rule shorter than this is somebody's dashes.
const RULE: usize = 8;
/// Options further to the right are part of a text.
const DEEPEST: usize = 12;

/// A row of a list that can be chosen, with the rows that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub row: usize,
    /// Where its label begins in that row, in bytes.
    pub label_at: usize,
    pub digit: Option<u8>,
    pub checked: Option<bool>,
    pub pointed: bool,
    /// The rows below that still belong to it: the rest of a long label, or a description.
    pub rest: Range<usize>,
}

/// Text somebody can type into, as far as it shows itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// What is typed; a hint is not.
    pub typed: String,
    /// The whole text, hint included.
    pub shown: String,
    /// The cursor is in it.
    pub open: bool,
}

/// Whether the row is a rule made of this character that begins at the left edge; it may carry a label.
pub fn is_rule(line: &str, dash: char) -> bool {
    line.ends_with(dash) && line.chars().take(RULE).filter(|c| *c == dash).count() == RULE
}

/// The last row with anything on it.
pub fn last_row(screen: &Screen) -> Option<usize> {
    screen.lines().rposition(|line| !line.trim().is_empty())
}

pub fn indent(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// The rows of a range with anything on them.
pub fn filled<'a>(
    screen: &'a Screen,
    rows: Range<usize>,
) -> impl DoubleEndedIterator<Item = (usize, &'a str)> + use<'a> {
    rows.filter_map(|row| screen.line(row).filter(|line| !line.trim().is_empty()).map(|line| (row, line)))
}

/// What stands at the beginning of an option's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    pointed: bool,
    /// The column of the digit, or of the label where there is none.
    column: usize,
    digit: Option<u8>,
    checked: Option<bool>,
    label_at: usize,
}

/// Reads spaces, perhaps the pointer, perhaps `N.`, perhaps a box.
fn head(line: &str, pointer: char) -> Option<Head> {
    let rest = line.trim_start_matches(' ');
    let mut column = line.len() - rest.len();
    let (pointed, rest) = match rest.strip_prefix(pointer) {
        Some(after) => {
            let label = after.trim_start_matches([' ', '\u{a0}']);
            if label.len() == after.len() {
                return None;
            }
            column += 1 + after.chars().count() - label.chars().count();
            (true, label)
        }
        None => (false, rest),
    };
    if rest.is_empty() || column > DEEPEST {
        return None;
    }
    let (digit, rest) = match numbered(rest) {
        Some((digit, label)) => (Some(digit), label),
        None => (None, rest),
    };
    let (checked, rest) = boxed(rest);
    Some(Head { pointed, column, digit, checked, label_at: line.len() - rest.len() })
}

fn numbered(text: &str) -> Option<(u8, &str)> {
    let (number, label) = text.split_once('.')?;
    let digit = number.parse::<u8>().ok().filter(|digit| (1..=9).contains(digit) && number.len() == 1)?;
    let bare = label.trim_start_matches(' ');
    (bare.len() < label.len() && !bare.is_empty()).then_some((digit, bare))
}

fn boxed(text: &str) -> (Option<bool>, &str) {
    let Some((mark, label)) = text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
        return (None, text);
    };
    match mark {
        " " => (Some(false), label.trim_start_matches(' ')),
        "✔" | "✓" | "x" | "X" => (Some(true), label.trim_start_matches(' ')),
        _ => (None, text),
    }
}

/// The lowest numbered list within the rows: from the highest digit up to 1.
pub fn numbered_list(screen: &Screen, rows: Range<usize>, pointer: char) -> Option<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    let mut wanted = None;
    let mut column = 0;
    let mut end = rows.end;
    for (row, line) in filled(screen, rows).rev() {
        let Some(Head { digit: Some(digit), pointed, column: at, checked, label_at }) = head(line, pointer)
        else {
            continue;
        };
        if wanted.is_some_and(|wanted| wanted != digit) || (wanted.is_some() && at != column) {
            continue;
        }
        column = at;
        items.push(Item { row, label_at, digit: Some(digit), checked, pointed, rest: row + 1..end });
        end = row;
        if digit == 1 {
            items.reverse();
            return (items.len() > 1).then_some(items);
        }
        wanted = Some(digit - 1);
    }
    None
}

/// The lowest list without numbers within the rows: those around the pointer, without a gap.
pub fn pointed_list(screen: &Screen, rows: Range<usize>, pointer: char) -> Option<Vec<Item>> {
    let heads = |row: usize| screen.line(row).and_then(|line| head(line, pointer));
    let pointed = rows.clone().rev().find(|row| heads(*row).is_some_and(|head| head.pointed))?;
    let column = heads(pointed)?.column;
    let belongs = |row: &usize| heads(*row).is_some_and(|head| head.column >= column && !head.pointed);
    let above = rows.clone().take_while(|row| *row < pointed).collect::<Vec<_>>();
    let first = above.into_iter().rev().take_while(belongs).last().unwrap_or(pointed);
    let last = (pointed + 1..rows.end).take_while(belongs).last().unwrap_or(pointed);
    let item = |row: usize| {
        let head = heads(row)?;
        let Head { label_at, checked, pointed, .. } = head;
        Some(Item { row, label_at, digit: None, checked, pointed, rest: row + 1..row + 1 })
    };
    (first..=last).map(item).collect()
}

/// The text of a row from a place on, told apart from hints by its look.
pub fn field(row: &Row, from: usize) -> Field {
    let mut field = Field::default();
    let mut at = 0;
    let mut pieces = row.pieces().peekable();
    while let Some(piece) = pieces.next() {
        let text = piece.text.get(from.saturating_sub(at).min(piece.text.len())..).unwrap_or_default();
        at += piece.text.len();
        field.shown.push_str(text);
        if text.is_empty() {
            continue;
        }
        field.open |= piece.look.inverse;
        let hint_follows = pieces.peek().is_some_and(|next| next.look.faint);
        if !(piece.look.faint || piece.look.inverse && hint_follows) {
            field.typed.push_str(text);
        }
    }
    field.typed.truncate(field.typed.trim_end_matches(' ').len());
    field.shown.truncate(field.shown.trim_end_matches(' ').len());
    field
}

/// Whether the row is an option with a number.
pub fn is_numbered(line: &str, pointer: char) -> bool {
    head(line, pointer).is_some_and(|head| head.digit.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::fixture;

    fn labels(screen: &Screen, items: &[Item]) -> Vec<(Option<u8>, bool, String)> {
        let label = |item: &Item| field(screen.row(item.row).unwrap(), item.label_at).shown;
        items.iter().map(|item| (item.digit, item.pointed, label(item))).collect()
    }

    #[test]
    fn the_lowest_numbered_list_is_read_whatever_marks_it() {
        for pointer in ['❯', '›', '●'] {
            let text =
                format!("1. a\n2. b\n3. c\n\n  1. No\n{pointer} 2. Yes\n     and more\n\nEsc to cancel\n");
            let screen = fixture::screen(&text, (80, 24)).unwrap();
            let items = numbered_list(&screen, 0..10, pointer).unwrap();
            let wanted = [(Some(1), false, "No".to_owned()), (Some(2), true, "Yes".to_owned())];
            assert_eq!(labels(&screen, &items), wanted);
        }
    }

    #[test]
    fn a_list_without_numbers_is_what_stands_around_the_pointer() {
        let screen = fixture::screen("Which?\n\n    Yes\n  ❯ No\n    Never\n\n    Esc\n", (80, 24)).unwrap();
        let items = pointed_list(&screen, 0..7, '❯').unwrap();
        let wanted = [("Yes", false), ("No", true), ("Never", false)];
        assert_eq!(labels(&screen, &items), wanted.map(|(label, pointed)| (None, pointed, label.to_owned())));
    }

    #[test]
    fn dashes_are_no_rule() {
        let rule = "─".repeat(40);
        assert!(is_rule(&rule, '─'));
        assert!(is_rule(&format!("{rule} name ─"), '─'));
        assert!(!is_rule("───", '─'));
        assert!(!is_rule(&format!("  {rule}"), '─'));
        assert!(!is_rule(&format!("{rule} text"), '─'));
    }
}
