//! The terminal as a whole: properties, behaviour and recorded programs.

mod behaviour;
mod differential;
mod exact;
mod limits;
mod properties;
mod recorded;

use super::{Size, Terminal};

fn size(cols: u32, rows: u32) -> Size {
    Size::new(cols, rows).unwrap()
}

fn terminal(cols: u32, rows: u32) -> Terminal {
    Terminal::new(size(cols, rows), 100, "1.2.3")
}

fn lines(terminal: &mut Terminal) -> Vec<String> {
    terminal.screen().lines().map(str::to_owned).collect()
}

fn history(terminal: &Terminal) -> Vec<String> {
    terminal.scrollback().last(usize::MAX).map(|(_, row)| row.ansi()).collect()
}
