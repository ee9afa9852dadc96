//! Recorded output of real programs, each `<case>.raw` with the screen it must lead to beside it
//! (see [`fixtures`]).

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::size;
use crate::fixtures;
use crate::term::{Size, Terminal};

fn cases() -> Vec<PathBuf> {
    fixtures::recordings(&fixtures::folder("term"), &["raw"])
}

/// The size is in the expectation's first line; a new recording is taken to be 80x24.
pub(super) fn recorded_size(expected: &str) -> Size {
    let numbers = expected.lines().next().and_then(|line| line.strip_prefix("size: "));
    let Some((cols, rows)) = numbers.and_then(|numbers| numbers.split_once('x')) else {
        return size(80, 24);
    };
    size(cols.parse().unwrap(), rows.parse().unwrap())
}

fn describe(terminal: &mut Terminal) -> String {
    let screen = terminal.screen();
    let (size, cursor) = (screen.size(), screen.cursor());
    let mut text = String::new();
    writeln!(text, "size: {}x{}", size.cols(), size.rows()).unwrap();
    writeln!(
        text,
        "cursor: row {}, col {}, {}",
        cursor.row,
        cursor.col,
        if cursor.visible { "visible" } else { "hidden" }
    )
    .unwrap();
    writeln!(text, "screen: {}", if screen.alt_screen() { "alternate" } else { "primary" })
        .unwrap();
    writeln!(text, "title: {:?}", screen.title()).unwrap();
    writeln!(text, "scrollback: {} lines", terminal.scrollback().len()).unwrap();
    for (number, row) in terminal.scrollback().last(usize::MAX) {
        writeln!(text, "{:>3}|{}", number.0, row.text()).unwrap();
    }
    writeln!(text, "rows:").unwrap();
    for (number, line) in screen.lines().enumerate() {
        writeln!(text, "{number:>3}|{line}").unwrap();
    }
    text
}

#[test]
fn each_recording_renders_its_expected_screen() {
    for raw in cases() {
        let size = recorded_size(&fixtures::expected(&raw));
        let mut terminal = Terminal::new(size, 1000, "0");
        terminal.feed(&fs::read(&raw).unwrap());
        fixtures::compare(&raw, &describe(&mut terminal));
    }
}

/// A client that attaches at any moment sees the same screen as one attached from the start.
#[test]
fn a_dump_taken_anywhere_in_a_recording_replays() {
    for raw in cases() {
        let bytes = fs::read(&raw).unwrap();
        for part in 1..=16 {
            let (before, after) = bytes.split_at(bytes.len() * part / 17);
            let mut first = Terminal::new(size(80, 24), 0, "0");
            first.feed(before);
            let mut second = Terminal::new(size(80, 24), 0, "0");
            second.feed(&first.dump());
            assert!(
                first.screen().shows_the_same(&second.screen()),
                "{} after {part}/17",
                raw.display()
            );
            first.feed(after);
            second.feed(after);
            let (first, second) = (first.screen(), second.screen());
            assert_eq!(first.text(), second.text(), "{} joined at {part}/17", raw.display());
            assert_eq!(first.cursor(), second.cursor(), "{} joined at {part}/17", raw.display());
        }
    }
}
