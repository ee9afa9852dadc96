//! Writes the states that an agent reported in a test as one row of `tests/agents/journal.md`. Each
//! state comes with its detection cause and the milliseconds since the state before.

use std::fmt::Write as _;
use std::io::Write as _;

use coop_client::v1::{Event, event::Payload};

/// A row ends after this many states.
const LONGEST: usize = 12;

/// Adds a row to the file that COOP_AGENTS_JOURNAL names, if it names one.
pub fn append_row(events: &[Event]) {
    let Some(path) = std::env::var_os("COOP_AGENTS_JOURNAL") else { return };
    let current = std::thread::current();
    let Some(test) = current.name() else { return };
    let row = format!("| `{test}` | {} |\n", row_text(events));
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(row.as_bytes())).expect("the journal can be written");
}

fn row_text(events: &[Event]) -> String {
    let states = events.iter().filter_map(|event| match &event.payload {
        Some(Payload::State(state)) => Some((event.at_epoch_ms, state)),
        _ => None,
    });
    let (mut text, mut before) = (String::new(), None);
    for (count, (at, state)) in states.enumerate() {
        if count == LONGEST {
            text += " …";
            break;
        }
        let after = before.map_or(0, |before| at.saturating_sub(before));
        let about = match (&state.error_category, &state.prompt) {
            (Some(category), _) => format!(" {category}"),
            (None, Some(prompt)) => {
                format!(" {}", prompt.subtype.as_ref().unwrap_or(&prompt.r#type))
            }
            (None, None) => String::new(),
        };
        let arrow = if count == 0 { "" } else { " → " };
        let cause = &state.detection_cause;
        write!(text, "{arrow}**{}**{about} ({cause}, {after} ms)", state.next)
            .expect("a string takes it");
        before = Some(at);
    }
    text
}
