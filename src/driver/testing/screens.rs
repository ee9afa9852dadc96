//! Captured screens as test data: turns a capture back into a screen, and the reading of a screen
//! into text that people can compare. It knows no agent. `examples/record.rs` and
//! `benches/detect.rs` use it, so it is not behind `cfg(test)`.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::driver::screen_reading::{Choice, Dialog, Page, ScreenReading};
use crate::term::{Screen, Size, Terminal};

/// The size of the terminal of a capture, unless its name has another one.
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

/// The screen of a capture, which is lines of text with colours or without.
pub fn screen(capture: &str, (cols, rows): (u32, u32)) -> Option<Arc<Screen>> {
    let mut terminal = Terminal::new(Size::new(cols, rows).ok()?, 0, "");
    let lines = capture.strip_suffix('\n').unwrap_or(capture).replace('\n', "\r\n");
    // A capture has only the rows, not the mode in which the program takes pastes, as every agent
    // does.
    terminal.feed(b"\x1b[?2004h");
    terminal.feed(lines.as_bytes());
    Some(terminal.screen())
}

/// The reading as text: one line for each thing that is recognised.
pub fn describe(reading: &ScreenReading) -> String {
    let mut text = String::new();
    if let Some(dialog) = &reading.dialog {
        describe_dialog(dialog, &mut text);
    }
    if let Some(composer) = &reading.composer {
        let name = if composer.cut { "composer, perhaps cut" } else { "composer" };
        line(&mut text, name, &format!("{:?}", composer.draft));
    }
    if reading.busy {
        line(&mut text, "busy", "yes");
    }
    if let Some(api_error) = &reading.retrying {
        line(
            &mut text,
            "retrying",
            &format!("{} ({})", api_error.category.as_str(), api_error.detail),
        );
    }
    if let Some(api_error) = &reading.failed {
        line(
            &mut text,
            "failed",
            &format!("{} ({})", api_error.category.as_str(), api_error.detail),
        );
    }
    if reading.option_list {
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
        Page::Review { headers } => {
            line(text, "page", &format!("review of {}", headers.join(" | ")));
        }
    }
    for (at, choice) in dialog.choices.iter().enumerate() {
        let pointer = if dialog.highlighted == Some(at) { "choice >" } else { "choice" };
        line(text, pointer, &describe_choice(choice));
    }
    if dialog.more {
        line(text, "more choices", "yes");
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
    let hidden = if choice.hidden { " hidden" } else { "" };
    format!("{digit}{checked}{} ({:?}){typed}{hidden}", choice.label, choice.role)
}

#[cfg(test)]
pub(in crate::driver) mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::driver::testing::recordings::drivers;
    use crate::fixtures;

    /// The captures of an agent; a folder without any fails the test.
    fn captures(agent: &str) -> Vec<PathBuf> {
        fixtures::recordings(&fixtures::folder(agent).join("screens"), &["ansi", "txt"])
    }

    /// The screen of one capture, whose size is in its name.
    fn read(capture: &Path) -> Arc<Screen> {
        let name = capture.file_stem().and_then(OsStr::to_str).unwrap();
        screen(&fs::read_to_string(capture).unwrap(), size_of(name)).unwrap()
    }

    /// The screen of the capture with this name.
    pub(in crate::driver) fn capture(agent: &str, case: &str) -> Arc<Screen> {
        let found = captures(agent).into_iter().find(|path| path.file_stem().unwrap() == case);
        read(&found.unwrap_or_else(|| panic!("{agent} has no screen {case}")))
    }

    #[test]
    fn drivers_read_the_screens_of_their_agent_as_expected() {
        let mut wrong = String::new();
        for (agent, driver) in drivers() {
            for capture in captures(agent) {
                let found = describe(&driver.read_screen(&read(&capture)));
                wrong.extend(fixtures::difference(&capture, &found));
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    /// No driver may recognise anything on the screens of another agent.
    #[test]
    fn drivers_claim_nothing_on_screens_of_other_agents() {
        for (agent, driver) in drivers() {
            for (other, _) in drivers().filter(|(other, _)| *other != agent) {
                for capture in captures(other) {
                    let reading = driver.read_screen(&read(&capture));
                    let nothing = ScreenReading {
                        option_list: reading.option_list,
                        ..ScreenReading::default()
                    };
                    assert_eq!(reading, nothing, "{agent} claims {}", capture.display());
                }
            }
        }
    }

    #[test]
    fn the_size_is_read_from_the_name() {
        assert_eq!(size_of("84-80x24-idle"), (80, 24));
        assert_eq!(size_of("idle"), (200, 50));
        assert_eq!(size_of("xterm-ax-b"), (200, 50));
    }
}
