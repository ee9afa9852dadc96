//! Recorded output of real programs, each `<case>.raw` with the screen it must lead to beside it.
//! With `UPDATE_EXPECT=1` the expectations are written anew; look at the difference.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::size;
use crate::term::{Size, Terminal};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/term");
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "raw"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no recordings in {}", folder.display());
    cases
}

/// The size stands in the expectation's first line; a new recording is taken to be 80x24.
fn recorded_size(expected: &str) -> Size {
    let numbers = expected.lines().next().and_then(|line| line.strip_prefix("size: "));
    let Some((cols, rows)) = numbers.and_then(|numbers| numbers.split_once('x')) else { return size(80, 24) };
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
    writeln!(text, "screen: {}", if screen.alt_screen() { "alternate" } else { "primary" }).unwrap();
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
#[expect(clippy::disallowed_methods, reason = "asking for new expectations is no configuration of coop")]
fn recordings_lead_to_their_screens() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    for raw in cases() {
        let expectation = raw.with_extension("expected");
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        let mut terminal = Terminal::new(recorded_size(&expected), 1000, "0");
        terminal.feed(&fs::read(&raw).unwrap());
        let shown = describe(&mut terminal);
        if update {
            fs::write(&expectation, shown).unwrap();
        } else {
            assert_eq!(shown, expected, "{}", raw.display());
        }
    }
}

/// A client that attaches at any moment sees what one sees that was there from the start.
#[test]
fn recordings_can_be_joined_anywhere() {
    for raw in cases() {
        let bytes = fs::read(&raw).unwrap();
        for part in 1..=16 {
            let (before, after) = bytes.split_at(bytes.len() * part / 17);
            let mut first = Terminal::new(size(80, 24), 0, "0");
            first.feed(before);
            let mut second = Terminal::new(size(80, 24), 0, "0");
            second.feed(&first.dump());
            assert!(first.screen().shows_the_same(&second.screen()), "{} after {part}/17", raw.display());
            first.feed(after);
            second.feed(after);
            let (first, second) = (first.screen(), second.screen());
            assert_eq!(first.text(), second.text(), "{} joined at {part}/17", raw.display());
            assert_eq!(first.cursor(), second.cursor(), "{} joined at {part}/17", raw.display());
        }
    }
}
