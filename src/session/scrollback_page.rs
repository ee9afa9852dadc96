//! A page of scrollback, limited in bytes.

use std::sync::Arc;

use crate::term::{LineNumber, Screen, Terminal};

/// Which lines of the scrollback a caller wants.
#[derive(Debug, Clone, Copy)]
pub struct ScrollbackRequest {
    pub start: ScrollbackStart,
    pub ansi: bool,
    pub limit_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
pub enum ScrollbackStart {
    Line(LineNumber),
    Last(usize),
    Oldest,
}

/// Lines of the scrollback, and the screen below them at the same moment.
#[derive(Debug, Clone)]
pub struct ScrollbackPage {
    pub lines: Vec<String>,
    pub first: LineNumber,
    pub next: LineNumber,
    pub total: LineNumber,
    pub screen: Arc<Screen>,
}

impl ScrollbackPage {
    pub fn of(terminal: &mut Terminal, request: ScrollbackRequest) -> Self {
        let screen = terminal.screen();
        let scrollback = terminal.scrollback();
        let total = scrollback.next_line();
        let wanted = match request.start {
            ScrollbackStart::Line(line) => line,
            ScrollbackStart::Last(count) => LineNumber(total.0.saturating_sub(count as u64)),
            ScrollbackStart::Oldest => scrollback.first_line(),
        };
        let first = wanted.max(scrollback.first_line()).min(total);
        let mut bytes = 0;
        let mut lines = Vec::new();
        for (_, row) in scrollback.range(first, usize::MAX) {
            let line = if request.ansi { row.ansi() } else { row.text().to_owned() };
            bytes += line.len() + 1;
            // One line always fits, or a client with a small limit would make no progress.
            if bytes > request.limit_bytes && !lines.is_empty() {
                break;
            }
            lines.push(line);
        }
        let next = LineNumber(first.0 + lines.len() as u64);
        Self { lines, first, next, total, screen }
    }
}
