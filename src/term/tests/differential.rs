//! The same bytes into this terminal and into xterm.js, compared cell by cell: what they disagree
//! about is listed in `docs/quality.md`, each with its reason, and the list only gets shorter.

mod streams;
mod xterm;

use std::fs;
use std::path::Path;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use self::xterm::{Screen, Xterm};
use super::recorded::recorded_size;
use super::size;
use crate::fixtures;
use crate::term::engine::Glyph;
use crate::term::{Size, Terminal};

/// How many random streams are compared.
const STREAMS: u32 = 2000;

fn ours(size: Size, bytes: &[u8]) -> Screen {
    let mut terminal = Terminal::new(size, 0, "1");
    terminal.feed(bytes);
    let cursor = terminal.screen().cursor();
    let engine = terminal.engine();
    let lines = (0..usize::from(size.rows()))
        .map(|row| {
            let cells = engine.cells(row).unwrap();
            cells
                .iter()
                .map(|cell| {
                    let text = match cell.width() {
                        0 => String::new(),
                        _ => engine.text_of(&Glyph::from(cell)),
                    };
                    let look = xterm::look(cell.pen(), text == " " || text.is_empty());
                    (text, cell.width(), look)
                })
                .collect()
        })
        .collect();
    Screen { row: cursor.row, col: cursor.col, lines }
}

/// What differs, or nothing.
fn difference(xterm: &mut Xterm, size: Size, bytes: &[u8]) -> Option<String> {
    ours(size, bytes).difference(&xterm.screen(size, bytes), false)
}

/// The disagreements that are listed: size and bytes, as they are written in the table.
fn listed() -> Vec<(Size, Vec<u8>, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/quality.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| {
        let (bytes, rest) = row.split_once("` | ")?;
        let (cols, rows) = rest.split_once(" | ")?.0.split_once('x')?;
        let size = size(cols.parse().ok()?, rows.parse().ok()?);
        Some((size, written(bytes), bytes.to_owned()))
    })
    .collect()
}

/// A recording as a terminal gets it. The agents' screens are rows, each of which begins in the
/// first column.
fn recorded(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "raw") {
        return bytes;
    }
    [b"\x1b[20h", &bytes[..]].concat()
}

/// Bytes as the table and the cases write them: `\e` for ESC, `\n`, `\t` and so on, and `\u{…}`.
fn written(text: &str) -> Vec<u8> {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = if c == '\\' { rest.next() } else { None };
        match next {
            None => out.push(c),
            Some('e') => out.push('\x1b'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\x08'),
            Some('v') => out.push('\x0b'),
            Some('f') => out.push('\x0c'),
            Some('u') => {
                let digits: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                let code = u32::from_str_radix(&digits, 16).unwrap();
                out.push(char::from_u32(code).unwrap());
            }
            Some(other) => out.push(other),
        }
    }
    out.into_bytes()
}

#[test]
fn each_case_is_drawn_as_xterm_draws_it() {
    let Some(mut xterm) = Xterm::start() else { return };
    let cases = fs::read_to_string(fixtures::folder("term/cases.txt")).unwrap();
    let mut count = 0;
    let mut differences = String::new();
    for line in cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (at, bytes) = line.split_once(' ').unwrap();
        let (cols, rows) = at.split_once('x').unwrap();
        let size = size(cols.parse().unwrap(), rows.parse().unwrap());
        if let Some(difference) = difference(&mut xterm, size, &written(bytes)) {
            differences.push_str(&format!("{line}\n{difference}\n"));
        }
        count += 1;
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(count > 50);
}

#[test]
fn each_listed_disagreement_is_still_there() {
    let Some(mut xterm) = Xterm::start() else { return };
    let listed = listed();
    assert!(!listed.is_empty());
    let agreed: Vec<_> = listed
        .into_iter()
        .filter(|(size, bytes, written)| {
            let recording = fixtures::folder(written);
            let bytes = if recording.is_file() { &recorded(&recording) } else { bytes };
            difference(&mut xterm, *size, bytes).is_none()
        })
        .map(|(.., written)| written)
        .collect();
    assert!(agreed.is_empty(), "no longer needed in docs/quality.md: {agreed:#?}");
}

#[test]
fn each_recording_is_drawn_as_xterm_draws_it() {
    let Some(mut xterm) = Xterm::start() else { return };
    let agents = fs::read_dir(fixtures::folder("")).unwrap();
    let agents = agents.map(|agent| agent.unwrap().path().join("screens"));
    let mut folders = vec![(fixtures::folder("term"), "raw")];
    folders.extend(agents.filter(|screens| screens.is_dir()).map(|screens| (screens, "ansi")));
    assert!(folders.len() > 3);
    let listed = listed();
    let mut differences = String::new();
    for (folder, extension) in folders {
        for path in fixtures::recordings(&folder, &[extension]) {
            let expected = fixtures::expected(&path);
            let size = if extension == "raw" { recorded_size(&expected) } else { size(200, 50) };
            if listed.iter().any(|(.., name)| fixtures::folder(name) == path) {
                continue;
            }
            let bytes = recorded(&path);
            if let Some(difference) = difference(&mut xterm, size, &bytes) {
                differences.push_str(&format!("{}\n{difference}\n", path.display()));
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Streams of text and of sequences that both implement, the same ones in every run.
#[test]
fn random_streams_are_drawn_as_xterm_draws_them() {
    let Some(xterm) = Xterm::start() else { return };
    let xterm = std::cell::RefCell::new(xterm);
    let config = Config { cases: STREAMS, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&streams::sized(), |(size, pieces)| {
        let text = pieces.concat();
        let wide = text.contains(streams::WIDE);
        let theirs = xterm.borrow_mut().screen(size, text.as_bytes());
        match ours(size, text.as_bytes()).difference(&theirs, wide) {
            None => Ok(()),
            Some(difference) => Err(TestCaseError::fail(difference)),
        }
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
