//! What the driver sees on screens of Gemini CLI, and what it does with what it sees.

mod answering;

use super::screen;
use crate::driver::fixture::tests::capture;
use crate::driver::sight::{Dialog, Sight};
use crate::term::{Size, Terminal};

fn dialog(case: &str) -> Dialog {
    let sight = screen::see(&capture("gemini", case));
    sight.dialog.unwrap_or_else(|| panic!("there is no dialog on {case}"))
}

/// What is seen after this was printed.
fn seen(output: &str) -> Sight {
    let mut terminal = Terminal::new(Size::new(80, 24).unwrap(), 0, "");
    terminal.feed(output.as_bytes());
    screen::see(&terminal.screen())
}

#[test]
fn what_is_not_drawn_yet_is_not_taken_for_an_agent_without_a_composer() {
    let not_yet = Sight { option_list: true, ..Sight::default() };
    let composer = format!("{}\r\n >   Type your message or @path/to/file", "─".repeat(80));
    assert_eq!(seen(""), not_yet);
    assert_eq!(seen(&composer), not_yet, "it takes no paste");
    assert_eq!(seen("Gemini CLI is restarting to apply the trust changes..."), not_yet);
    assert_eq!(seen("Gemini CLI is restarting to apply the trust changes...\r\nbye"), Sight::default());
    let ready = seen(&format!("\x1b[?2004h{composer}"));
    assert_eq!(ready.composer.map(|composer| composer.draft).as_deref(), Some(""));
    assert!(!ready.option_list && !ready.busy);
}
