//! Tests of screen reading on captured screens of Gemini CLI.

mod answering;
mod recordings;

use super::screen;
use crate::driver::screen_reading::{Dialog, ScreenReading};
use crate::driver::testing::screens::tests::capture;
use crate::term::{Size, Terminal};

fn dialog(case: &str) -> Dialog {
    let reading = screen::read(&capture("gemini", case));
    reading.dialog.unwrap_or_else(|| panic!("there is no dialog on {case}"))
}

/// The reading of the screen after this output.
fn reading_of(output: &str) -> ScreenReading {
    let mut terminal = Terminal::new(Size::new(80, 24).unwrap(), 0, "");
    terminal.feed(output.as_bytes());
    screen::read(&terminal.screen())
}

#[test]
fn a_screen_that_is_not_drawn_yet_is_not_idle() {
    let not_yet = ScreenReading { option_list: true, ..ScreenReading::default() };
    let composer = format!("{}\r\n >   Type your message or @path/to/file", "─".repeat(80));
    assert_eq!(reading_of(""), not_yet);
    assert_eq!(reading_of(&composer), not_yet, "it accepts no paste");
    assert_eq!(reading_of("Gemini CLI is restarting to apply the trust changes..."), not_yet);
    assert_eq!(
        reading_of("Gemini CLI is restarting to apply the trust changes...\r\nbye"),
        ScreenReading::default()
    );
    let ready = reading_of(&format!("\x1b[?2004h{composer}"));
    assert_eq!(ready.composer.map(|composer| composer.draft).as_deref(), Some(""));
    assert!(!ready.option_list && !ready.busy);
}
