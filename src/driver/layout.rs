//! The layout of dialogs in terminal programs: horizontal rules, lists of options with a pointer,
//! fields with a cursor. It knows the geometry that agents share, and no agent's texts.

use std::ops::Range;

use crate::term::{Row, Screen};

/// How many characters a rule has at least; fewer are dashes in a text.
const RULE_CHARS: usize = 8;
/// The last column in which an option may start; further right it is part of a text.
const MAX_OPTION_COLUMN: usize = 12;

/// A row of a list that can be chosen, with the rows that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub row: usize,
    /// The byte offset of its label in that row.
    pub label_at: usize,
    pub digit: Option<u8>,
    pub checked: Option<bool>,
    pub pointed: bool,
    /// The rows below that belong to it: the rest of a long label, or a description.
    pub rest: Range<usize>,
}

/// The text of an input field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Field {
    /// The typed text, without a hint.
    pub typed: String,
    /// The whole text, with a hint.
    pub shown: String,
    /// The cursor is in it.
    pub open: bool,
}

/// Whether the row is a rule of this character that starts at the left edge. It may contain a
/// label.
pub(super) fn is_rule(line: &str, dash: char) -> bool {
    line.ends_with(dash)
        && line.chars().take(RULE_CHARS).filter(|c| *c == dash).count() == RULE_CHARS
}

/// The last row that is not empty.
pub(super) fn last_row(screen: &Screen) -> Option<usize> {
    screen.lines().rposition(|line| !line.trim().is_empty())
}

pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// The rows of a range that are not empty.
pub(super) fn filled<'a>(
    screen: &'a Screen,
    rows: Range<usize>,
) -> impl DoubleEndedIterator<Item = (usize, &'a str)> + use<'a> {
    rows.filter_map(|row| {
        screen.line(row).filter(|line| !line.trim().is_empty()).map(|line| (row, line))
    })
}

/// The beginning of an option's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    pointed: bool,
    /// The column of the digit, or of the label if there is no digit.
    column: usize,
    digit: Option<u8>,
    checked: Option<bool>,
    label_at: usize,
}

/// Reads spaces, an optional pointer or arrow, an optional `N.` and an optional check box.
fn head(line: &str, pointer: char) -> Option<Head> {
    let rest = line.trim_start_matches(' ');
    let mut column = line.len() - rest.len();
    // An arrow in the pointer's place shows that a numbered list goes on above or below.
    let marked = rest.strip_prefix(['↑', '↓']).filter(|after| {
        after.starts_with(' ') && numbered(after.trim_start_matches(' ')).is_some()
    });
    let after_pointer = rest.strip_prefix(pointer);
    let (pointed, rest) = match after_pointer.or(marked) {
        Some(after) => {
            let label = after.trim_start_matches([' ', '\u{a0}']);
            if label.len() == after.len() {
                return None;
            }
            column += 1 + after.chars().count() - label.chars().count();
            (after_pointer.is_some(), label)
        }
        None => (false, rest),
    };
    if rest.is_empty() || column > MAX_OPTION_COLUMN {
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
    let digit =
        number.parse::<u8>().ok().filter(|digit| (1..=9).contains(digit) && number.len() == 1)?;
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
pub(super) fn numbered_list(
    screen: &Screen,
    rows: Range<usize>,
    pointer: char,
) -> Option<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    let mut wanted = None;
    let mut column = 0;
    let mut end = rows.end;
    for (row, line) in filled(screen, rows).rev() {
        let Some(Head { digit: Some(digit), pointed, column: at, checked, label_at }) =
            head(line, pointer)
        else {
            continue;
        };
        if wanted.is_some_and(|wanted| wanted != digit) || (wanted.is_some() && at != column) {
            continue;
        }
        column = at;
        items.push(Item {
            row,
            label_at,
            digit: Some(digit),
            checked,
            pointed,
            rest: row + 1..end,
        });
        end = row;
        if digit == 1 {
            items.reverse();
            return (items.len() > 1).then_some(items);
        }
        wanted = Some(digit - 1);
    }
    None
}

/// The part of a numbered list that is on screen: the rows around the pointer, up to an empty row,
/// whose digits grow from row to row. The first option, the last and some between may be missing.
pub(super) fn numbered_part(
    screen: &Screen,
    rows: Range<usize>,
    pointer: char,
) -> Option<Vec<Item>> {
    let head = |row: usize| {
        let head = screen.line(row).and_then(|line| head(line, pointer))?;
        head.digit.map(|digit| (row, head, digit))
    };
    let pointed = rows.clone().rev().filter_map(head).find(|(_, head, _)| head.pointed)?;
    let (row, Head { column, .. }, digit) = pointed;
    let filled = |row: &usize| screen.line(*row).is_some_and(|line| !line.trim().is_empty());
    let mut next = digit;
    let above = (rows.start..row).rev().take_while(filled).filter_map(head);
    let mut found: Vec<_> = above
        .filter(|(_, head, digit)| {
            let belongs = head.column == column && *digit < next;
            next = if belongs { *digit } else { next };
            belongs
        })
        .collect();
    found.reverse();
    found.push(pointed);
    let mut last = digit;
    let end = (row..rows.end).take_while(filled).last()? + 1;
    found.extend((row + 1..end).filter_map(head).filter(|(_, head, digit)| {
        let belongs = head.column == column && *digit > last;
        last = if belongs { *digit } else { last };
        belongs
    }));
    let ends: Vec<usize> = found.iter().skip(1).map(|(row, ..)| *row).chain([end]).collect();
    let items = found.into_iter().zip(ends).map(|((row, head, digit), end)| {
        let Head { label_at, checked, pointed, .. } = head;
        Item { row, label_at, digit: Some(digit), checked, pointed, rest: row + 1..end }
    });
    Some(items.collect())
}

/// The lowest list without numbers within the rows: the rows around the pointer, without a gap.
pub(super) fn pointed_list(
    screen: &Screen,
    rows: Range<usize>,
    pointer: char,
) -> Option<Vec<Item>> {
    let heads = |row: usize| screen.line(row).and_then(|line| head(line, pointer));
    let pointed = rows.clone().rev().find(|row| heads(*row).is_some_and(|head| head.pointed))?;
    let column = heads(pointed)?.column;
    let belongs =
        |row: &usize| heads(*row).is_some_and(|head| head.column >= column && !head.pointed);
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

/// The input field in a row from a byte offset on. Hints are recognised by their style.
pub(super) fn field(row: &Row, from: usize) -> Field {
    let mut field = Field::default();
    let mut at = 0;
    let mut pieces = row.pieces().peekable();
    while let Some(piece) = pieces.next() {
        let text =
            piece.text.get(from.saturating_sub(at).min(piece.text.len())..).unwrap_or_default();
        at += piece.text.len();
        field.shown.push_str(text);
        if text.is_empty() {
            continue;
        }
        field.open |= piece.style.inverse;
        let hint_follows = pieces.peek().is_some_and(|next| next.style.faint);
        if !(piece.style.faint || piece.style.inverse && hint_follows) {
            field.typed.push_str(text);
        }
    }
    field.typed.truncate(field.typed.trim_end_matches(' ').len());
    field.shown.truncate(field.shown.trim_end_matches(' ').len());
    field
}

/// Whether the row is an option with a number.
pub(super) fn is_numbered(line: &str, pointer: char) -> bool {
    head(line, pointer).is_some_and(|head| head.digit.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::testing::screens;

    fn labels(screen: &Screen, items: &[Item]) -> Vec<(Option<u8>, bool, String)> {
        let label = |item: &Item| field(screen.row(item.row).unwrap(), item.label_at).shown;
        items.iter().map(|item| (item.digit, item.pointed, label(item))).collect()
    }

    #[test]
    fn the_lowest_numbered_list_is_read_with_any_pointer() {
        for pointer in ['❯', '›', '●'] {
            let text = format!(
                "1. a\n2. b\n3. c\n\n  1. No\n{pointer} 2. Yes\n     and more\n\nEsc to cancel\n"
            );
            let screen = screens::screen(&text, (80, 24)).unwrap();
            let items = numbered_list(&screen, 0..10, pointer).unwrap();
            let wanted = [(Some(1), false, "No".to_owned()), (Some(2), true, "Yes".to_owned())];
            assert_eq!(labels(&screen, &items), wanted);
        }
    }

    #[test]
    fn a_list_without_numbers_is_the_rows_around_the_pointer() {
        let screen =
            screens::screen("Which?\n\n    Yes\n  ❯ No\n    Never\n\n    Esc\n", (80, 24)).unwrap();
        let items = pointed_list(&screen, 0..7, '❯').unwrap();
        let wanted = [("Yes", false), ("No", true), ("Never", false)];
        assert_eq!(
            labels(&screen, &items),
            wanted.map(|(label, pointed)| (None, pointed, label.to_owned()))
        );
    }

    #[test]
    fn a_part_of_a_numbered_list_is_the_rows_around_the_pointer() {
        let text = "1. old\n\nWhich?\n↑ 2. Blue\n     2. It is\n❯ 3. Red\n────────\n\
                      \x20 5. Chat\n\n6. x\n";
        let screen = screens::screen(text, (80, 24)).unwrap();
        assert_eq!(numbered_list(&screen, 0..10, '❯'), None);
        let items = numbered_part(&screen, 0..10, '❯').unwrap();
        let wanted = [(2, false, "Blue"), (3, true, "Red"), (5, false, "Chat")];
        let wanted = wanted.map(|(digit, pointed, label)| (Some(digit), pointed, label.to_owned()));
        assert_eq!(labels(&screen, &items), wanted);
        assert_eq!(items[1].rest, 6..7);
    }

    #[test]
    fn short_or_indented_dashes_are_not_a_rule() {
        let rule = "─".repeat(40);
        assert!(is_rule(&rule, '─'));
        assert!(is_rule(&format!("{rule} name ─"), '─'));
        assert!(!is_rule("───", '─'));
        assert!(!is_rule(&format!("  {rule}"), '─'));
        assert!(!is_rule(&format!("{rule} text"), '─'));
    }
}
