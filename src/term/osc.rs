//! Parses OSC strings: titles, progress, notifications, status reports and colour queries.
//! It does not know the terminal that they are about.

use super::colors::{self, Rgb, Slot};
use super::terminal::{Notification, Progress};

/// The meaning of one OSC string. Everything not listed, the clipboard (52) first of all, has none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Osc {
    Title(String),
    Progress(Progress),
    Notification(Notification),
    ProgramStatus(String),
    /// The program asks whether the terminal takes reports of its status.
    ProgramStatusQuery,
    Colors(Vec<ColorRequest>),
}

/// What a program wants to do with one colour, or with all of the palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColorRequest {
    Query(Slot),
    Set(Slot, Rgb),
    Reset(Slot),
    ResetPalette,
}

impl Osc {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let payload = String::from_utf8_lossy(payload);
        let Some((number, rest)) = payload.split_once(';') else {
            return reset_colors(payload.parse().ok()?, "");
        };
        match number.parse::<u16>().ok()? {
            4 => palette(rest),
            0 | 2 => Some(Self::Title(clean(rest))),
            9 => osc_9(rest),
            first @ 10..=12 => dynamic_colors(first, rest),
            number @ (104 | 110..=112) => reset_colors(number, rest),
            777 => osc_777(rest),
            // The reply starts with the same bytes; a terminal that echoes must not answer itself.
            7501 if rest == "?" => Some(Self::ProgramStatusQuery),
            7501 => Some(Self::ProgramStatus(clean(rest))),
            _ => None,
        }
    }
}

/// OSC 9 is a notification, unless it starts with the number of a ConEmu command; of those, 4 is
/// the progress, and the rest are ignored.
fn osc_9(rest: &str) -> Option<Osc> {
    let (first, args) = rest.split_once(';').unwrap_or((rest, ""));
    match first.parse::<u8>() {
        Ok(4) => progress(args).map(Osc::Progress),
        Ok(1..=12) => None,
        Ok(_) | Err(_) if rest.is_empty() => None,
        Ok(_) | Err(_) => Some(Osc::Notification(Notification { title: None, body: clean(rest) })),
    }
}

fn progress(args: &str) -> Option<Progress> {
    let (state, percent) = args.split_once(';').unwrap_or((args, ""));
    let percent = percent
        .split(';')
        .next()
        .and_then(|number| number.parse::<u8>().ok())
        .map(|number| number.min(100));
    match state {
        "0" | "" => Some(Progress::Cleared),
        "1" => Some(Progress::Running { percent: percent.unwrap_or(0) }),
        "2" => Some(Progress::Failed { percent }),
        "3" => Some(Progress::Indeterminate),
        "4" => Some(Progress::Paused { percent }),
        _ => None,
    }
}

fn osc_777(rest: &str) -> Option<Osc> {
    let (title, body) = rest.strip_prefix("notify;")?.split_once(';')?;
    Some(Osc::Notification(Notification { title: Some(clean(title)), body: clean(body) }))
}

/// Each further parameter is about the next colour, so that `10;?;?` asks for two.
fn dynamic_colors(first: u16, rest: &str) -> Option<Osc> {
    let params = rest.split(';').zip(first..);
    requests(params.filter_map(|(param, number)| color(Slot::from_number(number)?, param)))
}

/// Pairs of a number and a colour.
fn palette(rest: &str) -> Option<Osc> {
    let mut params = rest.split(';');
    let pairs = std::iter::from_fn(|| Some((params.next()?, params.next()?)));
    requests(pairs.filter_map(|(index, param)| color(Slot::Palette(index.parse().ok()?), param)))
}

fn color(slot: Slot, param: &str) -> Option<ColorRequest> {
    match param {
        "?" => Some(ColorRequest::Query(slot)),
        param => colors::parse(param).map(|color| ColorRequest::Set(slot, color)),
    }
}

fn reset_colors(number: u16, rest: &str) -> Option<Osc> {
    match number {
        104 if rest.is_empty() => Some(Osc::Colors(vec![ColorRequest::ResetPalette])),
        104 => requests(
            rest.split(';')
                .filter_map(|index| Some(ColorRequest::Reset(Slot::Palette(index.parse().ok()?)))),
        ),
        110..=112 => requests(Slot::from_number(number - 100).map(ColorRequest::Reset).into_iter()),
        _ => None,
    }
}

fn requests(requests: impl Iterator<Item = ColorRequest>) -> Option<Osc> {
    let requests: Vec<_> = requests.collect();
    (!requests.is_empty()).then_some(Osc::Colors(requests))
}

/// The text without controls, because it is shown in JSON, logs and other terminals.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(title: Option<&str>, body: &str) -> Option<Osc> {
        Some(Osc::Notification(Notification {
            title: title.map(str::to_owned),
            body: body.to_owned(),
        }))
    }

    fn asked(slots: &[Slot]) -> Option<Osc> {
        Some(Osc::Colors(slots.iter().copied().map(ColorRequest::Query).collect()))
    }

    fn set(slot: Slot, color: [u16; 3]) -> Option<Osc> {
        Some(Osc::Colors(vec![ColorRequest::Set(slot, Rgb(color))]))
    }

    #[test]
    fn each_payload_is_parsed() {
        let cases = [
            ("0;both", Some(Osc::Title("both".into()))),
            ("2;a;b", Some(Osc::Title("a;b".into()))),
            ("2;", Some(Osc::Title(String::new()))),
            ("2;x\u{9b}2J", Some(Osc::Title("x2J".into()))),
            ("1;icon", None),
            ("9;4;0", Some(Osc::Progress(Progress::Cleared))),
            ("9;4;0;", Some(Osc::Progress(Progress::Cleared))),
            ("9;4;1;42", Some(Osc::Progress(Progress::Running { percent: 42 }))),
            ("9;4;1;250", Some(Osc::Progress(Progress::Running { percent: 100 }))),
            ("9;4;2", Some(Osc::Progress(Progress::Failed { percent: None }))),
            ("9;4;3;", Some(Osc::Progress(Progress::Indeterminate))),
            ("9;4;4;7", Some(Osc::Progress(Progress::Paused { percent: Some(7) }))),
            ("9;4;8;7", None),
            ("9;9;/tmp", None),
            ("9;", None),
            ("9;done", notification(None, "done")),
            ("9;5 files; done", notification(None, "5 files; done")),
            ("777;notify;T;body;more", notification(Some("T"), "body;more")),
            ("777;other;T;body", None),
            ("7501;{\"state\":\"busy\"}", Some(Osc::ProgramStatus("{\"state\":\"busy\"}".into()))),
            ("7501;?", Some(Osc::ProgramStatusQuery)),
            ("7501;?:states=idle", Some(Osc::ProgramStatus("?:states=idle".into()))),
            ("7501; ?", Some(Osc::ProgramStatus(" ?".into()))),
            ("7501;??", Some(Osc::ProgramStatus("??".into()))),
            ("7501;?;", Some(Osc::ProgramStatus("?;".into()))),
            ("11;?", asked(&[Slot::Background])),
            ("10;?;?", asked(&[Slot::Foreground, Slot::Background])),
            ("10;red;?", asked(&[Slot::Background])),
            ("11;#123456", set(Slot::Background, [0x1200, 0x3400, 0x5600])),
            ("12;?;?;?;?", asked(&[Slot::Cursor])),
            ("4;1;?;255;?", asked(&[Slot::Palette(1), Slot::Palette(255)])),
            ("4;7;rgb:1/2/3", set(Slot::Palette(7), [0x1111, 0x2222, 0x3333])),
            ("4;256;?", None),
            ("4;1", None),
            ("104", Some(Osc::Colors(vec![ColorRequest::ResetPalette]))),
            ("104;3", Some(Osc::Colors(vec![ColorRequest::Reset(Slot::Palette(3))]))),
            ("111", Some(Osc::Colors(vec![ColorRequest::Reset(Slot::Background)]))),
            ("52;c;aGVsbG8=", None),
            ("", None),
            ("nonsense", None),
            ("99999999999;x", None),
        ];
        for (payload, wanted) in cases {
            assert_eq!(Osc::parse(payload.as_bytes()), wanted, "{payload:?}");
        }
    }
}
