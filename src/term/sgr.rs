//! Graphic rendition: the parameters of `CSI … m` as operations on the pen.
//! A parameter that avt cannot show is skipped with all its parts, so that no part is misread.

use avt::Color;
use avt::parser::{SgrOp, SgrOps};

/// The most operations of one sequence; the rest is ignored, as terminals do.
const LIMIT: usize = 32;

/// A parameter: its number and, where colons follow, its parts.
#[derive(Clone, Copy)]
struct Param<'a> {
    number: u16,
    parts: &'a [u8],
}

/// Reads the parameters of one sequence.
pub(super) fn parse(params: &[u8]) -> SgrOps {
    let mut ops = [SgrOp::Reset; LIMIT];
    let mut len = 0;
    let mut rest = Params { bytes: Some(params) };
    while let Some(param) = rest.next() {
        let Some(op) = operation(param, &mut rest) else { continue };
        let Some(slot) = ops.get_mut(len) else { break };
        *slot = op;
        len += 1;
    }
    SgrOps::from(ops.get(..len).unwrap_or_default())
}

fn operation(param: Param<'_>, rest: &mut Params<'_>) -> Option<SgrOp> {
    match param.number {
        0 => Some(SgrOp::Reset),
        1 => Some(SgrOp::SetBoldIntensity),
        2 => Some(SgrOp::SetFaintIntensity),
        3 => Some(SgrOp::SetItalic),
        // `4:0` is no underline; `4:1` to `4:5` and 21 are kinds of it.
        4 if param.parts == b"0" => Some(SgrOp::ResetUnderline),
        4 | 21 => Some(SgrOp::SetUnderline),
        5 | 6 => Some(SgrOp::SetBlink),
        7 => Some(SgrOp::SetInverse),
        9 => Some(SgrOp::SetStrikethrough),
        22 => Some(SgrOp::ResetIntensity),
        23 => Some(SgrOp::ResetItalic),
        24 => Some(SgrOp::ResetUnderline),
        25 => Some(SgrOp::ResetBlink),
        27 => Some(SgrOp::ResetInverse),
        29 => Some(SgrOp::ResetStrikethrough),
        38 => color(param, rest).map(SgrOp::SetForegroundColor),
        39 => Some(SgrOp::ResetForegroundColor),
        48 => color(param, rest).map(SgrOp::SetBackgroundColor),
        49 => Some(SgrOp::ResetBackgroundColor),
        // The underline's colour is not shown, but its parameters must be read.
        58 => {
            color(param, rest);
            None
        }
        number => {
            let (base, first) = match number {
                30..=37 => (30, 0),
                90..=97 => (90, 8),
                40..=47 => (40, 0),
                100..=107 => (100, 8),
                _ => return None,
            };
            let color = Color::Indexed(component(number - base + first));
            Some(if matches!(base, 30 | 90) {
                SgrOp::SetForegroundColor(color)
            } else {
                SgrOp::SetBackgroundColor(color)
            })
        }
    }
}

/// A colour, in either form: `38;5;n` and `38;2;r;g;b`, or with colons and an optional colour
/// space.
fn color(param: Param<'_>, rest: &mut Params<'_>) -> Option<Color> {
    if param.parts.is_empty() {
        return match rest.next()?.number {
            2 => {
                let [r, g, b] =
                    [rest.next()?, rest.next()?, rest.next()?].map(|param| component(param.number));
                Some(Color::rgb(r, g, b))
            }
            5 => Some(Color::Indexed(component(rest.next()?.number))),
            _ => None,
        };
    }
    let mut parts = [0_u16; 6];
    let mut len = 0;
    for (slot, part) in parts.iter_mut().zip(param.parts.split(|byte| *byte == b':')) {
        *slot = number(part);
        len += 1;
    }
    match parts.get(..len)? {
        [5, index, ..] => Some(Color::Indexed(component(*index))),
        [2, r, g, b] | [2, _, r, g, b, ..] => {
            Some(Color::rgb(component(*r), component(*g), component(*b)))
        }
        _ => None,
    }
}

fn component(number: u16) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn number(digits: &[u8]) -> u16 {
    digits.iter().fold(0_u16, |number, digit| {
        number.saturating_mul(10).saturating_add(u16::from(digit.wrapping_sub(b'0')))
    })
}

/// The parameters that are still to be read.
struct Params<'a> {
    bytes: Option<&'a [u8]>,
}

impl<'a> Iterator for Params<'a> {
    type Item = Param<'a>;

    fn next(&mut self) -> Option<Param<'a>> {
        let bytes = self.bytes?;
        let end = bytes.iter().position(|byte| *byte == b';');
        let (param, rest) = match end {
            Some(end) => (bytes.get(..end)?, bytes.get(end + 1..)),
            None => (bytes, None),
        };
        self.bytes = rest;
        let colon = param.iter().position(|byte| *byte == b':');
        Some(match colon {
            Some(colon) => {
                Param { number: number(param.get(..colon)?), parts: param.get(colon + 1..)? }
            }
            None => Param { number: number(param), parts: &[] },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(index: u8) -> Color {
        Color::Indexed(index)
    }

    #[test]
    fn each_parameter_has_its_operation() {
        use SgrOp::*;
        let cases: &[(&str, &[SgrOp])] = &[
            ("", &[Reset]),
            ("0", &[Reset]),
            (";1;", &[Reset, SetBoldIntensity, Reset]),
            (
                "1;2;3;4;5;7;9",
                &[
                    SetBoldIntensity,
                    SetFaintIntensity,
                    SetItalic,
                    SetUnderline,
                    SetBlink,
                    SetInverse,
                    SetStrikethrough,
                ],
            ),
            (
                "22;23;24;25;27;29",
                &[
                    ResetIntensity,
                    ResetItalic,
                    ResetUnderline,
                    ResetBlink,
                    ResetInverse,
                    ResetStrikethrough,
                ],
            ),
            ("31;47", &[SetForegroundColor(indexed(1)), SetBackgroundColor(indexed(7))]),
            ("90;107", &[SetForegroundColor(indexed(8)), SetBackgroundColor(indexed(15))]),
            ("39;49", &[ResetForegroundColor, ResetBackgroundColor]),
            ("38;5;200;1", &[SetForegroundColor(indexed(200)), SetBoldIntensity]),
            (
                "1;48;2;1;2;300;0",
                &[SetBoldIntensity, SetBackgroundColor(Color::rgb(1, 2, 255)), Reset],
            ),
            ("38:5:9", &[SetForegroundColor(indexed(9))]),
            ("38:2:1:2:3", &[SetForegroundColor(Color::rgb(1, 2, 3))]),
            ("48:2::1:2:3", &[SetBackgroundColor(Color::rgb(1, 2, 3))]),
            ("38:2:0:1:2:3:0:0;7", &[SetForegroundColor(Color::rgb(1, 2, 3)), SetInverse]),
            ("4:3;1", &[SetUnderline, SetBoldIntensity]),
            ("4:0", &[ResetUnderline]),
            ("21", &[SetUnderline]),
            ("58;5;1;3", &[SetItalic]),
            ("58;2;1;5;7;3", &[SetItalic]),
            ("58:2::1:5:7;3", &[SetItalic]),
            ("59;3", &[SetItalic]),
            ("38", &[]),
            ("38;2;1;2", &[]),
            ("38;9;1", &[SetBoldIntensity]),
            ("38:9:1", &[]),
            ("99999;3", &[SetItalic]),
        ];
        for (params, wanted) in cases {
            assert_eq!(parse(params.as_bytes()).as_slice(), *wanted, "{params}");
        }
        assert_eq!(parse("1;".repeat(1000).as_bytes()).as_slice().len(), LIMIT);
    }
}
