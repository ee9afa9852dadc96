//! One row of a screen or of the scrollback: its text, and its colours as runs over the text.
//! It does not know its position.

use avt::{Cell, Pen};

use super::cluster::Clusters;
use super::rendition::Rendition;

/// A right-trimmed row. The text is stored ready to read; the ANSI form is written on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The characters up to the last visible one; coloured blanks are visible.
    text: Box<str>,
    /// The length of `text` without trailing blanks, in bytes.
    trimmed: u32,
    /// Empty when the whole row has the default style, as most rows do.
    runs: Box<[Run]>,
}

/// Characters that share one style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    pub text: &'a str,
    pub style: Style,
}

/// The attributes that distinguish hints, cursors and selections from ordinary text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    pub faint: bool,
    pub inverse: bool,
    /// It has a background of its own.
    pub backed: bool,
    pub underlined: bool,
}

/// Characters that share one style, from the end of the run before up to `end` (a byte offset).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    end: u32,
    pen: Pen,
}

impl Row {
    /// The characters without trailing blanks; a wide character is there once.
    pub fn text(&self) -> &str {
        self.text.get(..self.trimmed as usize).unwrap_or(&self.text)
    }

    /// The row with SGR sequences; it starts from the default style and ends in it.
    pub fn ansi(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + 12 * self.runs.len());
        self.write_ansi(&mut out);
        out
    }

    fn write_ansi(&self, out: &mut String) {
        if self.runs.is_empty() {
            out.push_str(self.text());
            return;
        }
        let mut start = 0;
        let mut current = Pen::default();
        for run in &self.runs {
            if run.pen != current {
                Rendition::from(&run.pen).write(out);
                current = run.pen;
            }
            out.push_str(self.text.get(start..run.end as usize).unwrap_or_default());
            start = run.end as usize;
        }
        if !current.is_default() {
            out.push_str("\x1b[0m");
        }
    }

    /// The text in pieces of one style each, with coloured blanks at the end.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let plain =
            self.runs.is_empty().then_some(Piece { text: &self.text, style: Style::default() });
        let starts = std::iter::once(0).chain(self.runs.iter().map(|run| run.end as usize));
        let pieces = starts.zip(&self.runs).map(|(start, run)| Piece {
            text: self.text.get(start..run.end as usize).unwrap_or_default(),
            style: Style {
                faint: run.pen.is_faint(),
                inverse: run.pen.is_inverse(),
                backed: run.pen.background().is_some(),
                underlined: run.pen.is_underline(),
            },
        });
        plain.into_iter().chain(pieces)
    }

    /// The memory that the row takes, which bounds the scrollback.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.text.len() + size_of_val(&*self.runs)
    }
}

/// Builds rows from cells. It is reused, so that a row allocates only the memory that it keeps.
#[derive(Debug, Default)]
pub(super) struct RowBuilder {
    text: String,
    runs: Vec<Run>,
}

impl RowBuilder {
    pub(super) fn build(&mut self, cells: &[Cell], clusters: &Clusters) -> Row {
        self.text.clear();
        self.runs.clear();
        let cells = without_unseen_end(cells);

        let mut pen = cells.first().map_or_else(Pen::default, |cell| *cell.pen());
        for cell in cells {
            if *cell.pen() != pen {
                self.end_run(pen);
                pen = *cell.pen();
            }
            if cell.width() > 0 {
                match clusters.get(cell.char()) {
                    Some(cluster) => self.text.push_str(&cluster.text),
                    None => self.text.push(cell.char()),
                }
            }
        }
        if !(self.runs.is_empty() && pen.is_default()) {
            self.end_run(pen);
        }

        Row {
            text: Box::from(self.text.as_str()),
            trimmed: byte_offset(self.text.trim_end_matches(' ').len()),
            runs: Box::from(self.runs.as_slice()),
        }
    }

    fn end_run(&mut self, pen: Pen) {
        self.runs.push(Run { end: byte_offset(self.text.len()), pen });
    }
}

/// A row has at most 1000 cells of at most 64 bytes, so the conversion never saturates.
fn byte_offset(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// The cells without the invisible blanks at the end, which are most of the cells that scroll out.
fn without_unseen_end(cells: &[Cell]) -> &[Cell] {
    let end = cells.iter().rposition(|cell| !is_unseen(cell)).map_or(0, |last| last + 1);
    cells.get(..end).unwrap_or_default()
}

/// Whether the cell is a blank that looks like a plain one, as a bold or red space does.
fn is_unseen(cell: &Cell) -> bool {
    let pen = cell.pen();
    cell.char() == ' '
        && cell.width() == 1
        && pen.background().is_none()
        && !pen.is_inverse()
        && !pen.is_underline()
        && !pen.is_strikethrough()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bytes: &str) -> Row {
        let mut terminal = avt::Terminal::new(20, 1).unwrap();
        terminal.feed(bytes);
        RowBuilder::default()
            .build(terminal.screen().line(0).unwrap().cells(), &Clusters::default())
    }

    #[test]
    fn plain_rows_have_no_sequences() {
        let row = row("  a b  ");
        assert_eq!(row.text(), "  a b");
        assert_eq!(row.ansi(), "  a b");
        assert_eq!(row.memory(), size_of::<Row>() + 5);
    }

    #[test]
    fn every_attribute_and_colour_is_written() {
        let cases = [
            ("\x1b[1;3;4;5;7;9mx", "\x1b[0;1;3;4;5;7;9mx\x1b[0m"),
            ("\x1b[2mx", "\x1b[0;2mx\x1b[0m"),
            ("\x1b[31;42mx", "\x1b[0;31;42mx\x1b[0m"),
            ("\x1b[91;107mx", "\x1b[0;91;107mx\x1b[0m"),
            ("\x1b[38;5;200mx", "\x1b[0;38;5;200mx\x1b[0m"),
            ("\x1b[48;2;1;2;3mx", "\x1b[0;48;2;1;2;3mx\x1b[0m"),
            ("a\x1b[1mb\x1b[0mc", "a\x1b[0;1mb\x1b[0mc"),
        ];
        for (fed, wanted) in cases {
            assert_eq!(row(fed).ansi(), wanted, "{fed:?}");
        }
    }

    #[test]
    fn visible_blanks_are_kept_in_the_ansi_form_only() {
        let bar = row("ok\x1b[7m   \x1b[0m  ");
        assert_eq!(bar.text(), "ok");
        assert_eq!(bar.ansi(), "ok\x1b[0;7m   \x1b[0m");
        let unseen = row("ok\x1b[1;31m   ");
        assert_eq!(unseen.ansi(), "ok");
    }

    #[test]
    fn pieces_distinguish_hints_and_cursors_from_text() {
        let style = |faint, inverse, backed| Style { faint, inverse, backed, underlined: false };
        let row = row("\x1b[44ma\x1b[0mb\x1b[7mT\x1b[0;2mry\x1b[0m");
        let pieces: Vec<_> = row.pieces().map(|piece| (piece.text, piece.style)).collect();
        let wanted = [
            ("a", style(false, false, true)),
            ("b", style(false, false, false)),
            ("T", style(false, true, false)),
            ("ry", style(true, false, false)),
        ];
        assert_eq!(pieces, wanted);
        assert_eq!(self::row("ab").pieces().map(|piece| piece.text).collect::<Vec<_>>(), ["ab"]);
    }

    #[test]
    fn a_wide_character_is_in_the_text_once() {
        assert_eq!(row("日本x").text(), "日本x");
    }
}
