//! The form in which screens are kept as examples: a capture becomes a screen again, and what a driver sees on it
//! becomes text that people can read and compare. It knows no agent.

use std::fmt::Write as _;
use std::sync::Arc;

use super::sight::{Choice, Dialog, Page, Sight};
use crate::term::{Screen, Size, Terminal};

/// What a capture was taken from, unless its name says otherwise.
const COLS: u32 = 200;
const ROWS: u32 = 50;

/// The size in the name of a case, as in `idle-80x24`.
pub fn size_of(case: &str) -> (u32, u32) {
    let size = |part: &str| {
        let (cols, rows) = part.split_once('x')?;
        Some((cols.parse().ok()?, rows.parse().ok()?))
    };
    case.split(['-', '_', '.']).find_map(size).unwrap_or((COLS, ROWS))
}

/// The screen that a capture shows: lines of text, with colours or without.
pub fn screen(capture: &str, (cols, rows): (u32, u32)) -> Option<Arc<Screen>> {
    let mut terminal = Terminal::new(Size::new(cols, rows).ok()?, 0, "");
    let lines = capture.strip_suffix('\n').unwrap_or(capture).replace('\n', "\r\n");
    // A capture holds what is shown, and not that the program takes pastes, as every agent does.
    terminal.feed(b"\x1b[?2004h");
    terminal.feed(lines.as_bytes());
    Some(terminal.screen())
}

/// What is seen, a line for each thing; nothing is said of what is not there.
pub fn describe(sight: &Sight) -> String {
    let mut text = String::new();
    if let Some(dialog) = &sight.dialog {
        describe_dialog(dialog, &mut text);
    }
    if let Some(composer) = &sight.composer {
        line(&mut text, "composer", &format!("{:?}", composer.draft));
    }
    if sight.busy {
        line(&mut text, "busy", "yes");
    }
    if let Some(trouble) = &sight.retrying {
        line(&mut text, "retrying", &format!("{} ({})", trouble.category.as_str(), trouble.detail));
    }
    if let Some(trouble) = &sight.failed {
        line(&mut text, "failed", &format!("{} ({})", trouble.category.as_str(), trouble.detail));
    }
    if sight.option_list {
        line(&mut text, "option list", "yes");
    }
    if text.is_empty() {
        text.push_str("nothing\n");
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    let written = writeln!(text, "{name}: {value}");
    // Writing into a String cannot fail.
    debug_assert!(written.is_ok());
}

fn describe_dialog(dialog: &Dialog, text: &mut String) {
    let subtype = dialog.subtype.map(|subtype| format!(" {subtype}")).unwrap_or_default();
    line(text, "dialog", &format!("{}{subtype}", dialog.kind.as_str()));
    if let Some(tool) = dialog.tool {
        line(text, "tool", tool);
    }
    line(text, "message", &dialog.message);
    match &dialog.page {
        Page::Only => {}
        Page::Question { current, headers } => {
            line(text, "page", &format!("{} of {}", current + 1, headers.join(" | ")));
        }
        Page::Review { headers } => line(text, "page", &format!("review of {}", headers.join(" | "))),
    }
    for (at, choice) in dialog.choices.iter().enumerate() {
        let pointer = if dialog.highlighted == Some(at) { "choice >" } else { "choice" };
        line(text, pointer, &describe_choice(choice));
    }
    let shown = dialog.lines.iter().map(|line| line.trim().chars().take(60).collect::<String>());
    for (at, shown) in shown.enumerate().filter(|(at, _)| *at < 3 || at + 1 == dialog.lines.len()) {
        line(text, &format!("row {}", at + 1), &shown);
    }
}

fn describe_choice(choice: &Choice) -> String {
    let digit = choice.digit.map(|digit| format!("{digit}. ")).unwrap_or_default();
    let checked = match choice.checked {
        Some(true) => "[x] ",
        Some(false) => "[ ] ",
        None => "",
    };
    let typed = choice.typed.as_ref().map(|typed| format!(" typed {typed:?}")).unwrap_or_default();
    format!("{digit}{checked}{} ({:?}){typed}", choice.label, choice.role)
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::driver::recorded::drivers;

    /// Where the screens of an agent are kept.
    fn folder(agent: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(agent).join("screens")
    }

    /// The names of all captures of an agent; there must be some.
    fn cases(agent: &str) -> Vec<String> {
        let paths = fs::read_dir(folder(agent)).unwrap().map(|entry| entry.unwrap().path());
        let captures =
            paths.filter(|path| path.extension().is_some_and(|kind| kind == "ansi" || kind == "txt"));
        let mut cases: Vec<_> =
            captures.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        assert!(!cases.is_empty(), "there are no screens of {agent}");
        cases.sort();
        cases
    }

    pub(in crate::driver) fn capture(agent: &str, case: &str) -> Arc<Screen> {
        let paths = ["ansi", "txt"].map(|kind| folder(agent).join(format!("{case}.{kind}")));
        let found = paths.iter().find_map(|path| fs::read_to_string(path).ok());
        let text = found.unwrap_or_else(|| panic!("{agent} has no screen {case}"));
        screen(&text, size_of(case)).unwrap()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it is how somebody asks the test to write instead of to compare"
    )]
    fn blessing() -> bool {
        std::env::var_os("UPDATE_EXPECT").is_some()
    }

    /// Compares what each driver sees on each screen of its agent with what stands beside it;
    /// `UPDATE_EXPECT=1` writes what it sees instead.
    #[test]
    fn every_screen_is_seen_for_what_it_is() {
        let mut wrong = String::new();
        for (agent, driver) in drivers() {
            for case in cases(agent) {
                let path = folder(agent).join(format!("{case}.expected"));
                let seen = describe(&driver.see(&capture(agent, &case)));
                if blessing() {
                    fs::write(&path, &seen).unwrap();
                }
                let wanted = fs::read_to_string(&path).unwrap_or_default();
                if seen != wanted {
                    wrong.push_str(&format!("== {agent} {case}\nwanted:\n{wanted}\nseen:\n{seen}\n"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    /// No other agent's screen may be taken for one of the driver's own.
    #[test]
    fn screens_of_other_agents_are_not_claimed() {
        for (agent, driver) in drivers() {
            for (other, _) in drivers().filter(|(other, _)| *other != agent) {
                for case in cases(other) {
                    let sight = driver.see(&capture(other, &case));
                    let none = Sight { option_list: sight.option_list, ..Sight::default() };
                    assert_eq!(sight, none, "{other} {case}, which {agent} claims");
                }
            }
        }
    }

    #[test]
    fn the_size_stands_in_the_name() {
        assert_eq!(size_of("84-80x24-idle"), (80, 24));
        assert_eq!(size_of("idle"), (200, 50));
        assert_eq!(size_of("xterm-ax-b"), (200, 50));
    }
}
