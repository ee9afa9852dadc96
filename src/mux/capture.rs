//! What a pane showed at one moment, and the bytes that make another terminal show the same. It
//! must not know which multiplexer the pane belongs to.

use std::io::Write as _;

use bytes::Bytes;

use crate::pty::WindowSize;

/// The longest title that is passed on.
const TITLE_LIMIT: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Capture {
    pub(super) size: WindowSize,
    /// From top to bottom: text with SGR sequences, whose attributes last into the next row.
    pub(super) rows: Vec<String>,
    pub(super) cursor: Cursor,
    pub(super) alternate: bool,
    pub(super) application_cursor: bool,
    /// Whether text of several lines is to be typed as a bracketed paste.
    pub(super) bracketed_paste: bool,
    pub(super) title: String,
}

/// Counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) col: u16,
    pub(super) row: u16,
    pub(super) visible: bool,
}

impl Capture {
    /// Returns the bytes that draw this on a terminal that shows `before`.
    pub(super) fn redraw(&self, before: Option<&Self>) -> Bytes {
        let mut out = Vec::with_capacity(256 + self.rows.iter().map(String::len).sum::<usize>());
        if before.is_none_or(|before| before.title != self.title) {
            let title = self.title.chars().filter(|c| !c.is_control()).take(TITLE_LIMIT);
            push(&mut out, format_args!("\x1b]2;{}\x1b\\", title.collect::<String>()));
        }
        if before.is_some_and(|before| before.alternate) != self.alternate {
            set_mode(&mut out, "1049", self.alternate);
        }
        // A row selects line drawing by shifting out and in. Without autowrap, no row runs over
        // into the next.
        out.extend_from_slice(b"\x1b[m\x1b(B\x1b)0\x0f\x1b[?7l\x1b[H\x1b[2J");
        for (number, row) in self.rows.iter().take(self.size.rows.into()).enumerate() {
            push(&mut out, format_args!("\x1b[{};1H", number + 1));
            push_row(row, &mut out);
        }
        out.extend_from_slice(b"\x1b[m\x0f\x1b)B\x1b[?7h");
        set_mode(&mut out, "1", self.application_cursor);
        set_mode(&mut out, "2004", self.bracketed_paste);
        let Cursor { col, row, visible } = self.cursor;
        push(&mut out, format_args!("\x1b[{};{}H", u32::from(row) + 1, u32::from(col) + 1));
        set_mode(&mut out, "25", visible);
        out.into()
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes everything");
}

fn set_mode(out: &mut Vec<u8>, mode: &str, on: bool) {
    push(out, format_args!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }));
}

/// Passes text, SGR sequences and shifts on, and drops everything that could do more to a terminal.
fn push_row(row: &str, out: &mut Vec<u8>) {
    let mut rest = row.chars();
    let mut buffer = [0; 4];
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => {
                let sequence = rest.as_str();
                if let Some(sgr) = leading_sgr(sequence) {
                    push(out, format_args!("\x1b{sgr}"));
                    rest = sequence.get(sgr.len()..).unwrap_or_default().chars();
                } else if sequence.starts_with(']') {
                    // A hyperlink, which ends with ST. The text of the link follows it.
                    let end = sequence.find("\x1b\\").map(|at| at + 2);
                    rest = end.and_then(|end| sequence.get(end..)).unwrap_or_default().chars();
                }
            }
            '\x0e' | '\x0f' => out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
            c if c.is_control() => {}
            c => out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
        }
    }
}

/// Returns the SGR sequence that the text starts with, without its Escape.
fn leading_sgr(text: &str) -> Option<&str> {
    let params = text.strip_prefix('[')?;
    let end = params.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':')?;
    params.get(end..)?.starts_with('m').then(|| text.get(..end + 2))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Size, Terminal};

    fn capture(rows: &[&str]) -> Capture {
        Capture {
            size: WindowSize { cols: 10, rows: 4 },
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            cursor: Cursor { col: 2, row: 1, visible: true },
            alternate: false,
            application_cursor: false,
            bracketed_paste: false,
            title: "here".to_owned(),
        }
    }

    fn terminal() -> Terminal {
        Terminal::new(Size::new(10, 4).unwrap(), 100, "1")
    }

    fn lines(terminal: &mut Terminal) -> Vec<String> {
        terminal.screen().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_redrawn_terminal_shows_the_capture() {
        let mut terminal = terminal();
        let fed =
            terminal.feed(&capture(&["$ \x1b[31mred", "still\x1b[m", "漢字", "last"]).redraw(None));
        assert!(fed.replies.is_empty());
        assert_eq!(lines(&mut terminal), ["$ red", "still", "漢字", "last"]);
        let screen = terminal.screen();
        assert_eq!((screen.cursor().col, screen.cursor().row, screen.title()), (2, 1, "here"));
        let ansi: Vec<String> = screen.ansi_lines().collect();
        assert!(
            ansi[0].contains("31") && ansi[1].contains("31") && !ansi[3].contains("31"),
            "{ansi:?}"
        );
    }

    #[test]
    fn a_redraw_replaces_the_old_screen_and_does_not_scroll() {
        let mut terminal = terminal();
        let before = capture(&["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd"]);
        terminal.feed(&before.redraw(None));
        terminal.feed(&capture(&["x", "", "", "way too long for it"]).redraw(Some(&before)));
        assert_eq!(lines(&mut terminal)[..3], ["x", "", ""]);
        assert!(lines(&mut terminal)[3].starts_with("way too l"));
    }

    #[test]
    fn modes_are_redrawn() {
        let mut terminal = terminal();
        let full = Capture {
            alternate: true,
            application_cursor: true,
            bracketed_paste: true,
            cursor: Cursor { col: 0, row: 0, visible: false },
            ..capture(&["tui"])
        };
        terminal.feed(&full.redraw(None));
        let modes = terminal.modes();
        assert!(modes.alt_screen && modes.application_cursor && modes.bracketed_paste);
        assert!(!modes.cursor_visible);
        terminal.feed(&capture(&["sh"]).redraw(Some(&full)));
        let modes = terminal.modes();
        assert!(!modes.alt_screen && !modes.application_cursor && !modes.bracketed_paste);
        assert!(modes.cursor_visible);
        assert_eq!(lines(&mut terminal)[0], "sh");
    }

    #[test]
    fn line_drawing_characters_are_redrawn() {
        let mut terminal = terminal();
        terminal.feed(&capture(&["\x0elqk\x0fabc", "q"]).redraw(None));
        assert_eq!(lines(&mut terminal)[..2], ["┌─┐abc", "q"]);
    }

    #[test]
    fn sequences_other_than_sgr_do_not_reach_the_terminal() {
        let mut terminal = terminal();
        let hostile = [
            "a\x1b[cb\x1b[6nc",
            "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\!",
            "\x1b]2;owned\x07t\u{9b}5n\x1b]52;c;eA==\x1b\\u",
            "\x1b[38:5:1mz\x1b[?1049hy\x1b",
        ];
        let mut hostile = capture(&hostile);
        hostile.title = "a\x1b\\\x1b[cb".to_owned();
        let fed = terminal.feed(&hostile.redraw(None));
        assert!(fed.replies.is_empty(), "{:?}", fed.replies);
        assert_eq!(terminal.screen().title(), "a\\[cb");
        assert!(!terminal.modes().alt_screen);
        assert_eq!(lines(&mut terminal), ["a[cb[6nc", "link!", "u", "z[?1049hy"]);
    }
}
