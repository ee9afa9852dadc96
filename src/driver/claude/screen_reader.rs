//! Reads dialogs in the flat form that Claude Code uses for screen readers: without a frame or a
//! pointer, with answers typed after a colon.

use std::ops::Range;

use super::choices::{self, Family};
use super::dialogs::TOOLS;
use super::screen::POINTER;
use crate::driver::layout;
use crate::driver::prompt::PromptKind;
use crate::driver::screen_reading::{Dialog, Page};
use crate::term::Screen;

const LIST: &str = "Select with numbers [";
const FIELD: &str = "Enter text for option ";
const PERMISSION: &str = "Permission Required: ";
const QUESTION: &str = "Question: ";

/// Whether a dialog has this form, in which a digit takes effect only with Enter.
pub(super) fn is_screen_reader_dialog(dialog: &Dialog) -> bool {
    dialog.lines.iter().rev().take(2).any(|line| line.starts_with(LIST) || line.starts_with(FIELD))
}

pub(super) fn find(screen: &Screen, last: usize) -> Option<Dialog> {
    let asks = |line: &str| line.starts_with(LIST) || line.starts_with(FIELD);
    let (end, asked) =
        layout::filled(screen, last.saturating_sub(2)..last + 1).find(|(_, line)| asks(line))?;
    let head = |line: &str| line.starts_with(PERMISSION) || line.starts_with(QUESTION);
    let top = (0..end).rev().find(|row| screen.line(*row).is_some_and(head))?;
    let title = screen.line(top)?;
    let items = layout::numbered_list(screen, top + 1..end, POINTER)?;
    let (kind, family, tool) = match title.strip_prefix(PERMISSION) {
        Some(title) => {
            let tool =
                TOOLS.iter().find(|(phrase, _)| title.starts_with(phrase)).map(|(_, tool)| *tool);
            (PromptKind::Permission, Family::Permission, tool)
        }
        None => (PromptKind::Question, Family::Question, None),
    };
    let question = screen.line(items.first()?.row.checked_sub(1)?)?;
    let message = question.trim_start_matches(['>', ' ']).to_owned();
    let (mut choices, _) = choices::read(screen, end, family, &items);
    let typed = asked.split_once(':').map_or("", |(_, typed)| typed.trim());
    let number = |text: &str| text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let highlighted = match asked.strip_prefix(FIELD) {
        Some(rest) => {
            let at = rest.split(' ').next().and_then(number).filter(|at| *at < choices.len());
            if let Some(choice) = at.and_then(|at| choices.get_mut(at)) {
                choice.typed = Some(typed.to_owned());
            }
            at
        }
        None => number(typed).filter(|at| *at < choices.len()),
    };
    let lines = rows(screen, top..last + 1);
    Some(Dialog {
        kind,
        subtype: None,
        tool,
        message,
        choices,
        highlighted,
        more: false,
        page: Page::Only,
        lines,
    })
}

fn rows(screen: &Screen, rows: Range<usize>) -> Vec<String> {
    layout::filled(screen, rows).map(|(_, line)| line.to_owned()).collect()
}
