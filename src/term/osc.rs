//! What an OSC string says: a title, a progress, a notification, a status, or a colour query.
//! It knows the payloads' formats and not the terminal that they are about.

use super::terminal::{Notification, Progress};

/// The meaning of one OSC string. Everything not listed, the clipboard (52) first of all, has none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Osc {
    Title(String),
    Progress(Progress),
    Notification(Notification),
    ProgramStatus(String),
    /// The dynamic colours asked for, by their OSC numbers.
    ColorQuery(Vec<DynamicColor>),
}

/// The colours that a program may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DynamicColor {
    Foreground,
    Background,
    Cursor,
}

impl DynamicColor {
    fn from_number(number: u16) -> Option<Self> {
        match number {
            10 => Some(Self::Foreground),
            11 => Some(Self::Background),
            12 => Some(Self::Cursor),
            _ => None,
        }
    }

    /// The body of the reply: a plausible dark terminal, because there may be no real one.
    pub(super) fn reply(self) -> &'static str {
        match self {
            Self::Foreground => "10;rgb:d8d8/d8d8/d8d8",
            Self::Background => "11;rgb:1e1e/1e1e/1e1e",
            Self::Cursor => "12;rgb:d8d8/d8d8/d8d8",
        }
    }
}

impl Osc {
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let payload = String::from_utf8_lossy(payload);
        let (number, rest) = payload.split_once(';')?;
        match number.parse::<u16>().ok()? {
            0 | 2 => Some(Self::Title(clean(rest))),
            9 => osc_9(rest),
            first @ 10..=12 => color_query(first, rest),
            777 => osc_777(rest),
            7501 => Some(Self::ProgramStatus(clean(rest))),
            _ => None,
        }
    }
}

/// OSC 9 is a notification, unless it starts with the number of a ConEmu command; of those, 4 is
/// the progress and the others mean nothing here.
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
    let percent =
        percent.split(';').next().and_then(|number| number.parse::<u8>().ok()).map(|number| number.min(100));
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
fn color_query(first: u16, rest: &str) -> Option<Osc> {
    let asked: Vec<_> = rest
        .split(';')
        .zip(first..)
        .filter(|(param, _)| *param == "?")
        .filter_map(|(_, number)| DynamicColor::from_number(number))
        .collect();
    (!asked.is_empty()).then_some(Osc::ColorQuery(asked))
}

/// Titles and messages end up in JSON, logs and other terminals, so no control goes with them.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(title: Option<&str>, body: &str) -> Option<Osc> {
        Some(Osc::Notification(Notification { title: title.map(str::to_owned), body: body.to_owned() }))
    }

    #[test]
    fn payloads() {
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
            ("11;?", Some(Osc::ColorQuery(vec![DynamicColor::Background]))),
            ("10;?;?", Some(Osc::ColorQuery(vec![DynamicColor::Foreground, DynamicColor::Background]))),
            ("10;red;?", Some(Osc::ColorQuery(vec![DynamicColor::Background]))),
            ("11;#123456", None),
            ("12;?;?;?;?", Some(Osc::ColorQuery(vec![DynamicColor::Cursor]))),
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
