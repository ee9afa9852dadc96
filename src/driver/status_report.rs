//! Reads one report of a program's status, the body of OSC 7501 in its revision 0.4. It does not
//! know which program may report, nor what follows from a report.
//!
//! A body is a list of `key=value` with colons between them. Unknown keys and values that have a
//! byte outside of the allowed ones are skipped, the last of equal keys counts, and a report that
//! breaks a limit is refused as a whole.

use std::fmt;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The longest body; the whole sequence has at most 4096 bytes.
const MAX_BODY: usize = 4088;
const MAX_KEY: usize = 16;
const MAX_APP: usize = 32;
const MAX_ID: usize = 128;
const MAX_ID_PART: usize = 32;
const MAX_ID_PARTS: usize = 8;
/// The longest message and title, encoded and decoded.
const MAX_MESSAGE: (usize, usize) = (2732, 2048);
const MAX_TITLE: (usize, usize) = (256, 192);

/// Base64 with or without its padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a program says with one sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StatusMessage {
    /// The record of this id is replaced as a whole.
    Report(StatusReport),
    /// The record of this id and those below it are removed; all of them without an id.
    Clear { id: Option<String>, app: Option<String> },
}

/// The status of a program, or of one of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusReport {
    pub state: ReportedState,
    /// The task that it is about; the whole program if there is none.
    pub id: Option<String>,
    pub app: Option<String>,
    /// A short name of the task.
    pub title: Option<String>,
    /// One line for people.
    pub message: Option<String>,
}

/// The state in a report, with what only this state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedState {
    Idle,
    /// The progress is a percentage.
    Working {
        progress: Option<u8>,
    },
    Done,
    Blocked {
        kind: Option<BlockedKind>,
        progress: Option<u8>,
    },
    Error,
}

/// What a blocked program needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockedKind {
    Permission,
    Question,
    Auth,
}

impl ReportedState {
    /// The name in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working { .. } => "working",
            Self::Done => "done",
            Self::Blocked { .. } => "blocked",
            Self::Error => "error",
        }
    }

    fn parse(name: &str, kind: Option<&str>, progress: Option<u8>) -> Option<Self> {
        Some(match name {
            "idle" => Self::Idle,
            "working" => Self::Working { progress },
            "done" => Self::Done,
            "blocked" => Self::Blocked { kind: kind.and_then(BlockedKind::parse), progress },
            "error" => Self::Error,
            _ => return None,
        })
    }
}

impl BlockedKind {
    /// The name in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Auth => "auth",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Permission, Self::Question, Self::Auth]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// The record as people read it: `app task: blocked (permission), 40 %: message`.
impl fmt::Display for StatusReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [&self.app, &self.id, &self.title].into_iter().flatten();
        for name in names {
            write!(f, "{name} ")?;
        }
        f.write_str(self.state.as_str())?;
        let (kind, progress) = match self.state {
            ReportedState::Working { progress } => (None, progress),
            ReportedState::Blocked { kind, progress } => (kind, progress),
            ReportedState::Idle | ReportedState::Done | ReportedState::Error => (None, None),
        };
        if let Some(kind) = kind {
            write!(f, " ({})", kind.as_str())?;
        }
        if let Some(progress) = progress {
            write!(f, ", {progress} %")?;
        }
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

/// The message in a body; the error says why the whole body is refused.
pub(crate) fn parse(body: &str) -> Result<StatusMessage, &'static str> {
    if body.len() > MAX_BODY {
        return Err("it is too long");
    }
    if body.trim_start().starts_with('?') {
        return Err("it is a terminal's reply, or not the exact query");
    }
    let mut fields = Fields::default();
    for pair in body.split(':') {
        fields.add(pair)?;
    }
    let Fields { state, id, kind, progress, app, title, message } = fields;
    let app = app.filter(|app| is_name(app, MAX_APP)).map(str::to_owned);
    let title = text(title, MAX_TITLE)?;
    let message = text(message, MAX_MESSAGE)?;
    let id = id.map(str::to_owned);
    let state = match state {
        None => return Err("it has no state"),
        Some("clear") => return Ok(StatusMessage::Clear { id, app }),
        Some(name) => ReportedState::parse(name, kind, progress.and_then(percentage))
            .ok_or("its state is unknown")?,
    };
    Ok(StatusMessage::Report(StatusReport { state, id, app, title, message }))
}

/// The values of the known keys, as they are written.
#[derive(Default)]
struct Fields<'a> {
    state: Option<&'a str>,
    id: Option<&'a str>,
    kind: Option<&'a str>,
    progress: Option<&'a str>,
    app: Option<&'a str>,
    title: Option<&'a str>,
    message: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn add(&mut self, pair: &'a str) -> Result<(), &'static str> {
        let Some((key, value)) = pair.split_once('=') else { return Ok(()) };
        let (key, value) = (key.trim_matches(BLANKS), value.trim_matches(BLANKS));
        if key.len() > MAX_KEY {
            return Err("a key is too long");
        }
        let is_allowed = value.bytes().all(is_value_byte);
        let (field, limit) = match key {
            "state" => (&mut self.state, MAX_BODY),
            "kind" => (&mut self.kind, MAX_BODY),
            "progress" => (&mut self.progress, MAX_BODY),
            "app" => (&mut self.app, MAX_APP),
            "title" => (&mut self.title, MAX_TITLE.0),
            "msg" => (&mut self.message, MAX_MESSAGE.0),
            // Without its id, the report would be about the whole program.
            "id" if !is_id(value) => return Err("its id is invalid"),
            "id" => (&mut self.id, MAX_ID),
            _ => return Ok(()),
        };
        if value.len() > limit {
            return Err("a value is too long");
        }
        if is_allowed {
            *field = Some(value);
        }
        Ok(())
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

fn is_value_byte(byte: u8) -> bool {
    is_name_byte(byte) || matches!(byte, b',' | b'/' | b'=')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'-')
}

fn is_name(text: &str, limit: usize) -> bool {
    (1..=limit).contains(&text.len()) && text.bytes().all(is_name_byte)
}

fn is_id(text: &str) -> bool {
    text.len() <= MAX_ID
        && text.split('/').count() <= MAX_ID_PARTS
        && text.split('/').all(|part| is_name(part, MAX_ID_PART))
}

/// A whole number from 0 to 100; anything else is as if it were missing.
fn percentage(text: &str) -> Option<u8> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|percent| digits && *percent <= 100)
}

/// The text of an encoded value; an empty one is as if it were missing.
fn text(value: Option<&str>, (_, limit): (usize, usize)) -> Result<Option<String>, &'static str> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    let bytes = BASE64.decode(value).map_err(|_| "a text is not base64")?;
    if bytes.len() > limit {
        return Err("a text is too long");
    }
    let text = String::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?;
    if text.chars().any(char::is_control) {
        return Err("a text has a control character");
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(body: &str) -> StatusReport {
        match parse(body) {
            Ok(StatusMessage::Report(report)) => report,
            other => panic!("{body:?} is {other:?}"),
        }
    }

    #[test]
    fn a_report_has_its_state_and_what_belongs_to_it() {
        let asked = report(
            "state=blocked:app=tern:kind=permission:\
             msg=YXBwcm92ZSBCYXNoOiB0b3VjaCAvdG1wL3g=",
        );
        assert_eq!(asked.to_string(), "tern blocked (permission): approve Bash: touch /tmp/x");
        let task = report("state=working:id=build/tests:title=VGVzdHM=:progress=040:app=make");
        assert_eq!(task.to_string(), "make build/tests Tests working, 40 %");
        assert_eq!(task.id.as_deref(), Some("build/tests"));
        let done = report("state=done:kind=auth:progress=4");
        assert_eq!((done.state, done.app), (ReportedState::Done, None), "neither belongs to done");
        assert_eq!(report(" state = idle : what : Foo=1 :x=a b").state, ReportedState::Idle);
        assert_eq!(report("state=error:state=idle").state, ReportedState::Idle);
        assert_eq!(report("state=idle:msg=").message, None);
        assert_eq!(report("state=idle:msg=SGk").message.as_deref(), Some("Hi"));
    }

    #[test]
    fn a_progress_is_a_percentage_or_missing() {
        for (text, wanted) in [
            ("0", Some(0)),
            ("100", Some(100)),
            ("007", Some(7)),
            ("101", None),
            ("+5", None),
            ("-1", None),
            ("4.5", None),
            ("", None),
            ("99999999999999999999", None),
        ] {
            let progress = report(&format!("state=working:progress={text}")).state;
            assert_eq!(progress, ReportedState::Working { progress: wanted }, "{text}");
        }
    }

    #[test]
    fn records_are_cleared_by_id_or_all_together() {
        let clear = |id: Option<&str>| StatusMessage::Clear {
            id: id.map(str::to_owned),
            app: Some("x".to_owned()),
        };
        assert_eq!(parse("state=clear:app=x"), Ok(clear(None)));
        assert_eq!(parse("state=clear:app=x:id=a/b"), Ok(clear(Some("a/b"))));
    }

    #[test]
    fn what_breaks_a_rule_is_refused_as_a_whole() {
        let long = |key: &str, count: usize| format!("state=idle:{key}={}", "A".repeat(count));
        let cases = [
            ("", "it has no state"),
            ("app=x", "it has no state"),
            ("state=dancing", "its state is unknown"),
            ("?:states=idle", "it is a terminal's reply, or not the exact query"),
            (" ?", "it is a terminal's reply, or not the exact query"),
            ("state=idle:id=", "its id is invalid"),
            ("state=idle:id=a//b", "its id is invalid"),
            ("state=idle:id=a b", "its id is invalid"),
            ("state=idle:id=1/2/3/4/5/6/7/8/9", "its id is invalid"),
            ("state=idle:msg=!!!:msg=A", "a text is not base64"),
            ("state=idle:msg=/w==", "a text is not UTF-8"),
            ("state=idle:msg=Gw==", "a text has a control character"),
            ("state=idle:title=Cg==", "a text has a control character"),
        ];
        for (body, wanted) in cases {
            assert_eq!(parse(body), Err(wanted), "{body:?}");
        }
        assert_eq!(parse(&long("msg", 2733)), Err("a value is too long"));
        assert_eq!(parse(&long("title", 257)), Err("a value is too long"));
        assert_eq!(parse(&long("app", 33)), Err("a value is too long"));
        assert_eq!(parse(&long("x", 4090)), Err("it is too long"));
        assert_eq!(parse(&format!("{}=1:state=idle", "k".repeat(17))), Err("a key is too long"));
        assert!(parse(&format!("state=idle:msg={}", "eHh4".repeat(682))).is_ok());
    }
}
