//! What the driver sees on real screens of Gemini CLI, what it must not see on those of others, and what it does with
//! what it sees.

mod answering;

use super::{Gemini, screen};
use crate::driver::fixture::tests::{capture, claims_only_those_of, sees_what_is_expected};
use crate::driver::sight::{Dialog, Sight};
use crate::term::{Size, Terminal};

fn dialog(case: &str) -> Dialog {
    let sight = screen::see(&capture("gemini", case));
    sight.dialog.unwrap_or_else(|| panic!("there is no dialog on {case}"))
}

#[test]
fn every_screen_is_seen_for_what_it_is() {
    sees_what_is_expected("gemini", &Gemini::default());
}

#[test]
fn screens_of_other_agents_are_not_claimed() {
    claims_only_those_of("gemini", &Gemini::default());
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
