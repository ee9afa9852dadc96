//! Reads a screen with patterns: a dialog, a composer, a running turn, an error. It reads the last
//! lines only, and says nothing about a program that shows none of these.
//!
//! | first that applies | reading |
//! |---|---|
//! | a `prompt` line, with no cursor and no other match below its options | a dialog |
//! | a `working` line | a running turn, with the composer if there is one |
//! | an `error` line | a failed turn, with the composer if there is one |
//! | the composer has the cursor | nothing runs |
//! | a `composer` pattern that does not match | a running turn: only a composer is ever idle |

use std::ops::Range;

use regex_lite::Regex;
use unicode_width::UnicodeWidthStr as _;

use super::Patterns;
use crate::driver::agent::ApiError;
use crate::driver::layout::{self, Item};
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::{Choice, Composer, Dialog, Page, Role, ScreenReading};
use crate::term::Screen;

/// Marks of the highlighted option in common programs.
const POINTERS: [char; 5] = ['❯', '›', '>', '●', '*'];
/// How a question shows in lower case that it takes one of two words, and the words.
const YES_NO: [(&str, [&str; 2]); 2] = [("yes/no", ["yes", "no"]), ("y/n", ["y", "n"])];

pub(super) fn read(patterns: &Patterns, screen: &Screen) -> ScreenReading {
    let Some(last) = layout::last_row(screen) else { return ScreenReading::default() };
    let window = window(screen, last, patterns.lines);
    let working = lowest(screen, window.clone(), &patterns.working);
    let pattern = patterns.composer.as_ref();
    let composer = pattern.and_then(|pattern| composer(screen, window.clone(), pattern));
    let newer = working.max(composer.as_ref().map(|(row, _)| *row));
    let dialog = lowest(screen, window.clone(), &patterns.prompt)
        .and_then(|row| dialog(screen, window.clone(), row))
        .filter(|(end, _)| newer.is_none_or(|row| row <= *end));
    if let Some((_, dialog)) = dialog {
        return ScreenReading {
            dialog: Some(dialog),
            option_list: true,
            ..ScreenReading::default()
        };
    }
    let error = lowest(screen, window, &patterns.error).filter(|_| working.is_none());
    let failed = error.and_then(|row| screen.line(row)).map(|line| ApiError::new(None, line));
    let elsewhere = pattern.is_some() && composer.is_none() && failed.is_none();
    let composer = composer.map(|(_, composer)| composer);
    ScreenReading {
        busy: working.is_some() || elsewhere,
        composer,
        failed,
        ..ScreenReading::default()
    }
}

/// The rows of the last `lines` non-empty lines.
fn window(screen: &Screen, last: usize, lines: usize) -> Range<usize> {
    let first = layout::filled(screen, 0..last + 1).rev().take(lines).last();
    first.map_or(last, |(row, _)| row)..last + 1
}

fn lowest(screen: &Screen, rows: Range<usize>, patterns: &[Regex]) -> Option<usize> {
    let matches = |line: &str| patterns.iter().any(|pattern| pattern.is_match(line));
    layout::filled(screen, rows).rev().find(|(_, line)| matches(line)).map(|(row, _)| row)
}

/// The dialog with its question in this row, and the row of the question or of its last option.
fn dialog(screen: &Screen, window: Range<usize>, row: usize) -> Option<(usize, Dialog)> {
    let question = screen.line(row)?;
    let items = options(screen, window.clone(), row);
    let first = items.first().map_or(row, |item| item.row.min(row));
    let bottom = items.last().map_or(row, |item| (item.rest.end - 1).max(row));
    // Output below the question means that the program has moved on. With a hidden cursor, its
    // position does not show where the program writes.
    let cursor = screen.cursor();
    let written = layout::filled(screen, bottom + 1..usize::from(cursor.row) + 1).next().is_some();
    if cursor.visible && written {
        return None;
    }
    let mut choices: Vec<Choice> = items.iter().filter_map(|item| choice(screen, item)).collect();
    if choices.is_empty() {
        let lower = question.to_lowercase();
        let words = YES_NO.iter().find(|(asks, _)| lower.contains(asks)).map(|(_, words)| words);
        choices.extend(words.into_iter().flatten().map(|word| named(word, None)));
    }
    let lines =
        layout::filled(screen, first..bottom + 1).map(|(_, line)| line.trim_end().to_owned());
    let dialog = Dialog {
        kind: PromptKind::Permission,
        subtype: None,
        tool: None,
        message: question.trim().to_owned(),
        highlighted: items.iter().position(|item| item.pointed),
        more: false,
        choices,
        page: Page::Only,
        lines: lines.collect(),
    };
    Some((items.last().map_or(row, |item| item.row.max(row)), dialog))
}

/// The numbered options below the question, or directly above it.
fn options(screen: &Screen, window: Range<usize>, row: usize) -> Vec<Item> {
    let list = |rows: Range<usize>| {
        let lists = POINTERS
            .iter()
            .filter_map(|pointer| layout::numbered_list(screen, rows.clone(), *pointer));
        // Without its pointer the highlighted row is not part of the list.
        lists.max_by_key(|items| (items.len(), items.iter().any(|item| item.pointed)))
    };
    let next_to = |items: &Vec<Item>| {
        items.last().is_some_and(|item| layout::filled(screen, item.rest.clone()).next().is_none())
    };
    list(row + 1..window.end)
        .or_else(|| list(window.start..row).filter(next_to))
        .unwrap_or_default()
}

fn choice(screen: &Screen, item: &Item) -> Option<Choice> {
    let label = screen.line(item.row)?.get(item.label_at..)?;
    Some(Choice { checked: item.checked, ..named(label, item.digit) })
}

fn named(label: &str, digit: Option<u8>) -> Choice {
    let word =
        label.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let role = match word.as_str() {
        "y" | "yes" => Role::Accept,
        "n" | "no" => Role::Decline,
        _ => Role::Plain,
    };
    Choice {
        label: label.trim().to_owned(),
        digit,
        checked: None,
        typed: None,
        role,
        hidden: false,
    }
}

/// The composer that has the cursor, and its row. A long draft continues in the rows below as long
/// as each row is full.
fn composer(screen: &Screen, window: Range<usize>, pattern: &Regex) -> Option<(usize, Composer)> {
    let row = lowest(screen, window, std::slice::from_ref(pattern))?;
    let line = screen.line(row)?;
    let matched = pattern.captures(line)?;
    let typed = match matched.get(1) {
        Some(group) => group.range(),
        None => matched.get(0)?.end()..line.len(),
    };
    let mut draft = match typed.end < line.len() {
        true => line.get(typed)?.to_owned(),
        // A placeholder looks different from typed text.
        false => layout::field(screen.row(row)?, typed.start).typed,
    };
    let cursor = screen.cursor();
    let (mut bottom, cols) = (row, usize::from(screen.size().cols()));
    while screen.line(bottom).is_some_and(|line| line.width() + 1 >= cols)
        && let Some(next) = screen.line(bottom + 1)
    {
        bottom += 1;
        draft.push('\n');
        draft.push_str(next);
    }
    let here = !cursor.visible || (row..=bottom).contains(&usize::from(cursor.row));
    here.then(|| (row, Composer { draft: draft.trim().to_owned(), rows: 1, cut: false }))
}
