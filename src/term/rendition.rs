//! The attributes that text is drawn with, as a value that can be kept, compared and written.
//! avt keeps its own and shows it in cells only, so this one follows it.

use std::fmt::Write as _;

use avt::parser::{SgrOp, SgrOps};
use avt::{Color, Pen};

/// The attributes that `CSI … m` sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rendition {
    foreground: Option<Color>,
    background: Option<Color>,
    bold: bool,
    faint: bool,
    italic: bool,
    underline: bool,
    blink: bool,
    inverse: bool,
    strikethrough: bool,
}

impl From<&Pen> for Rendition {
    fn from(pen: &Pen) -> Self {
        Self {
            foreground: pen.foreground(),
            background: pen.background(),
            bold: pen.is_bold(),
            faint: pen.is_faint(),
            italic: pen.is_italic(),
            underline: pen.is_underline(),
            blink: pen.is_blink(),
            inverse: pen.is_inverse(),
            strikethrough: pen.is_strikethrough(),
        }
    }
}

impl Rendition {
    pub(super) fn apply(&mut self, ops: &SgrOps) {
        for op in ops.as_slice() {
            match *op {
                SgrOp::Reset => *self = Self::default(),
                SgrOp::SetBoldIntensity => (self.bold, self.faint) = (true, false),
                SgrOp::SetFaintIntensity => (self.bold, self.faint) = (false, true),
                SgrOp::ResetIntensity => (self.bold, self.faint) = (false, false),
                SgrOp::SetItalic => self.italic = true,
                SgrOp::SetUnderline => self.underline = true,
                SgrOp::SetBlink => self.blink = true,
                SgrOp::SetInverse => self.inverse = true,
                SgrOp::SetStrikethrough => self.strikethrough = true,
                SgrOp::ResetItalic => self.italic = false,
                SgrOp::ResetUnderline => self.underline = false,
                SgrOp::ResetBlink => self.blink = false,
                SgrOp::ResetInverse => self.inverse = false,
                SgrOp::ResetStrikethrough => self.strikethrough = false,
                SgrOp::SetForegroundColor(color) => self.foreground = Some(color),
                SgrOp::ResetForegroundColor => self.foreground = None,
                SgrOp::SetBackgroundColor(color) => self.background = Some(color),
                SgrOp::ResetBackgroundColor => self.background = None,
            }
        }
    }

    /// What erased cells get: of all attributes only the background.
    pub(super) fn erased(self) -> Self {
        Self { background: self.background, ..Self::default() }
    }

    /// Whether a blank with these attributes is more than its background.
    pub(super) fn shows_on_blanks(&self) -> bool {
        self.underline || self.inverse || self.strikethrough
    }

    /// The operations that set these attributes, whatever the attributes before.
    pub(super) fn ops(&self) -> SgrOps {
        let mut ops = vec![SgrOp::Reset];
        let attributes = [
            (self.bold, SgrOp::SetBoldIntensity),
            (self.faint, SgrOp::SetFaintIntensity),
            (self.italic, SgrOp::SetItalic),
            (self.underline, SgrOp::SetUnderline),
            (self.blink, SgrOp::SetBlink),
            (self.inverse, SgrOp::SetInverse),
            (self.strikethrough, SgrOp::SetStrikethrough),
        ];
        ops.extend(attributes.into_iter().filter_map(|(set, op)| set.then_some(op)));
        ops.extend(self.foreground.map(SgrOp::SetForegroundColor));
        ops.extend(self.background.map(SgrOp::SetBackgroundColor));
        SgrOps::from(ops.as_slice())
    }

    /// Writes the sequence that sets these attributes, whatever the attributes before.
    pub(super) fn write(&self, out: &mut String) {
        out.push_str("\x1b[");
        self.write_params(out);
        out.push('m');
    }

    pub(super) fn write_params(&self, out: &mut String) {
        out.push('0');
        let attributes = [
            (self.bold, ";1"),
            (self.faint, ";2"),
            (self.italic, ";3"),
            (self.underline, ";4"),
            (self.blink, ";5"),
            (self.inverse, ";7"),
            (self.strikethrough, ";9"),
        ];
        for (set, code) in attributes {
            if set {
                out.push_str(code);
            }
        }
        if let Some(color) = self.foreground {
            write_color(color, 30, out);
        }
        if let Some(color) = self.background {
            write_color(color, 40, out);
        }
    }
}

fn write_color(color: Color, base: u8, out: &mut String) {
    let written = match color {
        Color::Indexed(index @ 0..8) => write!(out, ";{}", base + index),
        Color::Indexed(index @ 8..16) => write!(out, ";{}", base + 52 + index),
        Color::Indexed(index) => write!(out, ";{};5;{index}", base + 8),
        Color::RGB(rgb) => write!(out, ";{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b),
    };
    // Writing into a String cannot fail.
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::sgr;

    /// avt's own pen after the same parameters.
    fn drawn(params: &str) -> Rendition {
        let mut terminal = avt::Terminal::new(1, 1).unwrap();
        terminal.execute(avt::parser::Function::Sgr(sgr::parse(params.as_bytes())));
        terminal.feed("x");
        Rendition::from(terminal.screen().line(0).unwrap().cells()[0].pen())
    }

    #[test]
    fn it_follows_avt_and_is_written_so_that_it_reads_the_same() {
        let cases = [
            "1;3;4;5;7;9",
            "2;31;42",
            "1;2",
            "2;1;22;4;24",
            "91;107;3;23;5;25;7;27;9;29",
            "38;5;200;48;2;1;2;3",
            "38;5;200;48;2;1;2;3;39;49",
            "1;0",
        ];
        for params in cases {
            let mut rendition = Rendition::default();
            rendition.apply(&sgr::parse(params.as_bytes()));
            assert_eq!(rendition, drawn(params), "{params}");
            let mut again = Rendition::default();
            again.apply(&rendition.ops());
            assert_eq!(again, rendition, "{params}");
            let mut text = String::new();
            rendition.write_params(&mut text);
            assert_eq!(drawn(&text), rendition, "{params} as {text}");
        }
    }
}
