//! What another program's terminal looked like at one moment, and the bytes that make a terminal of ours look the same.
//! It must not know whose terminal it was.

use std::io::Write as _;

use bytes::Bytes;

use super::super::master::WindowSize;

/// The longest title that is passed on.
const TITLE_LIMIT: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) size: WindowSize,
    /// From top to bottom: text, with the sequences that colour it. Colours go on into the next row.
    pub(super) rows: Vec<String>,
    pub(super) cursor: Cursor,
    pub(super) alternate: bool,
    pub(super) application_cursor: bool,
    /// Whether text of several lines should come as a paste.
    pub(super) takes_pastes: bool,
    pub(super) title: String,
}

/// Counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) col: u16,
    pub(super) row: u16,
    pub(super) visible: bool,
}

impl Picture {
    /// The bytes that draw this over `before`, which is what is drawn already.
    pub(super) fn paint(&self, before: Option<&Self>) -> Bytes {
        let mut out = Vec::with_capacity(256 + self.rows.iter().map(String::len).sum::<usize>());
        if before.is_none_or(|before| before.title != self.title) {
            let title = self.title.chars().filter(|c| !c.is_control()).take(TITLE_LIMIT);
            push(&mut out, format_args!("\x1b]2;{}\x1b\\", title.collect::<String>()));
        }
        if before.is_some_and(|before| before.alternate) != self.alternate {
            switch(&mut out, "1049", self.alternate);
        }
        // Line drawing is asked for by shifting out and in. No row may run over into the next.
        out.extend_from_slice(b"\x1b[m\x1b(B\x1b)0\x0f\x1b[?7l\x1b[H\x1b[2J");
        for (number, row) in self.rows.iter().take(self.size.rows.into()).enumerate() {
            push(&mut out, format_args!("\x1b[{};1H", number + 1));
            draw(row, &mut out);
        }
        out.extend_from_slice(b"\x1b[m\x0f\x1b)B\x1b[?7h");
        switch(&mut out, "1", self.application_cursor);
        switch(&mut out, "2004", self.takes_pastes);
        let Cursor { col, row, visible } = self.cursor;
        push(&mut out, format_args!("\x1b[{};{}H", u32::from(row) + 1, u32::from(col) + 1));
        switch(&mut out, "25", visible);
        out.into()
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes everything");
}

fn switch(out: &mut Vec<u8>, mode: &str, on: bool) {
    push(out, format_args!("\x1b[?{mode}{}", if on { 'h' } else { 'l' }));
}

/// Lets text, colours and shifts through, and nothing that could do more to a terminal.
fn draw(row: &str, out: &mut Vec<u8>) {
    let mut rest = row.chars();
    let mut buffer = [0; 4];
    while let Some(c) = rest.next() {
        match c {
            '\x1b' => {
                let sequence = rest.as_str();
                if let Some(colour) = colour(sequence) {
                    push(out, format_args!("\x1b{colour}"));
                    rest = sequence.get(colour.len()..).unwrap_or_default().chars();
                } else if sequence.starts_with(']') {
                    // A hyperlink, which ends as any string does. What it stands around is text.
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

/// What stands at the beginning, if it is a colour or another attribute without its Escape.
fn colour(text: &str) -> Option<&str> {
    let params = text.strip_prefix('[')?;
    let end = params.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':')?;
    params.get(end..)?.starts_with('m').then(|| text.get(..end + 2))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Size, Terminal};

    fn picture(rows: &[&str]) -> Picture {
        Picture {
            size: WindowSize { cols: 10, rows: 4 },
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            cursor: Cursor { col: 2, row: 1, visible: true },
            alternate: false,
            application_cursor: false,
            takes_pastes: false,
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
    fn a_terminal_of_ours_looks_like_it() {
        let mut ours = terminal();
        let fed = ours.feed(&picture(&["$ \x1b[31mred", "still\x1b[m", "漢字", "last"]).paint(None));
        assert!(fed.replies.is_empty());
        assert_eq!(lines(&mut ours), ["$ red", "still", "漢字", "last"]);
        let screen = ours.screen();
        assert_eq!((screen.cursor().col, screen.cursor().row, screen.title()), (2, 1, "here"));
        let ansi: Vec<String> = screen.ansi_lines().collect();
        assert!(ansi[0].contains("31") && ansi[1].contains("31") && !ansi[3].contains("31"), "{ansi:?}");
    }

    #[test]
    fn what_was_there_before_is_gone_and_nothing_scrolls() {
        let mut ours = terminal();
        let before = picture(&["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd"]);
        ours.feed(&before.paint(None));
        ours.feed(&picture(&["x", "", "", "way too long for it"]).paint(Some(&before)));
        assert_eq!(lines(&mut ours)[..3], ["x", "", ""]);
        assert!(lines(&mut ours)[3].starts_with("way too l"));
    }

    #[test]
    fn modes_follow() {
        let mut ours = terminal();
        let full = Picture {
            alternate: true,
            application_cursor: true,
            takes_pastes: true,
            cursor: Cursor { col: 0, row: 0, visible: false },
            ..picture(&["tui"])
        };
        ours.feed(&full.paint(None));
        let modes = ours.modes();
        assert!(modes.alt_screen && modes.application_cursor && modes.bracketed_paste);
        assert!(!modes.cursor_visible);
        ours.feed(&picture(&["sh"]).paint(Some(&full)));
        let modes = ours.modes();
        assert!(!modes.alt_screen && !modes.application_cursor && !modes.bracketed_paste);
        assert!(modes.cursor_visible);
        assert_eq!(lines(&mut ours)[0], "sh");
    }

    #[test]
    fn lines_are_drawn_as_lines() {
        let mut ours = terminal();
        ours.feed(&picture(&["\x0elqk\x0fabc", "q"]).paint(None));
        assert_eq!(lines(&mut ours)[..2], ["┌─┐abc", "q"]);
    }

    #[test]
    fn nothing_but_colours_reaches_our_terminal() {
        let mut ours = terminal();
        let hostile = [
            "a\x1b[cb\x1b[6nc",
            "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\!",
            "\x1b]2;owned\x07t\u{9b}5n\x1b]52;c;eA==\x1b\\u",
            "\x1b[38:5:1mz\x1b[?1049hy\x1b",
        ];
        let mut hostile = picture(&hostile);
        hostile.title = "a\x1b\\\x1b[cb".to_owned();
        let fed = ours.feed(&hostile.paint(None));
        assert!(fed.replies.is_empty(), "{:?}", fed.replies);
        assert_eq!(ours.screen().title(), "a\\[cb");
        assert!(!ours.modes().alt_screen);
        assert_eq!(lines(&mut ours), ["a[cb[6nc", "link!", "u", "z[?1049hy"]);
    }
}
