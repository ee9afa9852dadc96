//! Parses the names of keys, and encodes them as the bytes that a terminal sends.
//! It does not know where the bytes are written.

mod names;

use self::names::{MODIFIERS, NAMES};

/// One key press, parsed from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    base: Base,
    modifiers: Modifiers,
}

/// A name that no key has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown key {name:?}")]
pub struct UnknownKey {
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    /// `ESC [` letter, or `ESC O` letter in application cursor mode.
    Cursor(u8),
    /// `ESC O` letter (F1 to F4).
    Function(u8),
    /// `ESC [` number `~`.
    Numbered(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Modifiers {
    ctrl: bool,
    alt: bool,
    shift: bool,
}

/// Parses all names before anything is encoded, so that one wrong name writes nothing.
pub fn encode_keys<S: AsRef<str>>(
    names: &[S],
    application_cursor: bool,
) -> Result<Vec<u8>, UnknownKey> {
    let keys = names.iter().map(|name| Key::parse(name.as_ref())).collect::<Result<Vec<_>, _>>()?;
    let mut bytes = Vec::new();
    for key in keys {
        key.encode(application_cursor, &mut bytes);
    }
    Ok(bytes)
}

impl Key {
    pub fn parse(name: &str) -> Result<Self, UnknownKey> {
        Self::parse_known(name).ok_or_else(|| UnknownKey { name: name.to_owned() })
    }

    fn parse_known(name: &str) -> Option<Self> {
        let mut modifiers = Modifiers::default();
        let mut rest = name;
        while let Some((modifier, after)) = split_modifier(rest) {
            modifiers.ctrl |= modifier.ctrl;
            modifiers.alt |= modifier.alt;
            modifiers.shift |= modifier.shift;
            rest = after;
        }
        // tmux also writes a control key as `^C`.
        if let Some(after) = rest.strip_prefix('^')
            && after.chars().count() == 1
        {
            modifiers.ctrl = true;
            rest = after;
        }
        if rest.eq_ignore_ascii_case("btab") || rest.eq_ignore_ascii_case("backtab") {
            modifiers.shift = true;
            rest = "tab";
        }
        let base = match NAMES.iter().find(|(known, _)| rest.eq_ignore_ascii_case(known)) {
            Some((_, base)) => *base,
            None => Base::Char(single_char(rest)?),
        };
        let key = Self { base, modifiers };
        key.is_possible().then_some(key)
    }

    /// Whether the key exists: Control only works on characters that have a control code.
    fn is_possible(self) -> bool {
        match self.base {
            Base::Char(c) => !self.modifiers.ctrl || control_code(c).is_some(),
            Base::Enter
            | Base::Tab
            | Base::Backspace
            | Base::Escape
            | Base::Cursor(_)
            | Base::Function(_)
            | Base::Numbered(_) => true,
        }
    }

    /// Appends the bytes that the terminal sends for the key, in xterm's encoding.
    pub fn encode(&self, application_cursor: bool, out: &mut Vec<u8>) {
        let Modifiers { ctrl, alt, shift } = self.modifiers;
        match self.base {
            Base::Char(c) => {
                let c = if shift { uppercase(c) } else { c };
                match control_code(c).filter(|_| ctrl) {
                    Some(code) => push_plain(&[code], alt, out),
                    None => push_plain(c.encode_utf8(&mut [0; 4]).as_bytes(), alt, out),
                }
            }
            Base::Enter => push_plain(b"\r", alt, out),
            Base::Escape => push_plain(b"\x1b", alt, out),
            Base::Backspace => push_plain(if ctrl { b"\x08" } else { b"\x7f" }, alt, out),
            Base::Tab => push_plain(if shift { b"\x1b[Z" } else { b"\t" }, alt, out),
            Base::Cursor(last) => match self.modifiers.parameter() {
                Some(parameter) => push_csi(1, Some(parameter), last, out),
                None if application_cursor => out.extend_from_slice(&[0x1b, b'O', last]),
                None => out.extend_from_slice(&[0x1b, b'[', last]),
            },
            Base::Function(last) => match self.modifiers.parameter() {
                Some(parameter) => push_csi(1, Some(parameter), last, out),
                None => out.extend_from_slice(&[0x1b, b'O', last]),
            },
            Base::Numbered(number) => push_csi(number, self.modifiers.parameter(), b'~', out),
        }
    }
}

impl Modifiers {
    /// xterm's modifier parameter; `None` without any modifier.
    fn parameter(self) -> Option<u8> {
        let sum = u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl);
        (sum > 0).then_some(1 + sum)
    }
}

/// Splits one modifier off the front, unless no key would be left: `-` and `C--` end in a key.
fn split_modifier(name: &str) -> Option<(Modifiers, &str)> {
    let end = name.find(['-', '+'])?;
    let (modifier, rest) = name.split_at_checked(end)?;
    let rest = rest.get(1..).filter(|rest| !rest.is_empty())?;
    let (_, modifier) = MODIFIERS.iter().find(|(known, _)| modifier.eq_ignore_ascii_case(known))?;
    Some((*modifier, rest))
}

fn single_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let c = chars.next()?;
    (chars.next().is_none() && !c.is_control()).then_some(c)
}

fn uppercase(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
}

/// The control code of a character, as in xterm, including those of digits.
fn control_code(c: char) -> Option<u8> {
    match c {
        'a'..='z' | 'A'..='Z' | '@' | '[' | '\\' | ']' | '^' | '_' => {
            u8::try_from(c).ok().map(|byte| byte & 0x1f)
        }
        ' ' | '2' => Some(0x00),
        '3' => Some(0x1b),
        '4' => Some(0x1c),
        '5' => Some(0x1d),
        '6' => Some(0x1e),
        '7' | '/' | '-' => Some(0x1f),
        '8' | '?' => Some(0x7f),
        _ => None,
    }
}

fn push_plain(bytes: &[u8], alt: bool, out: &mut Vec<u8>) {
    if alt {
        out.push(0x1b);
    }
    out.extend_from_slice(bytes);
}

fn push_csi(number: u8, parameter: Option<u8>, last: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b[");
    out.extend_from_slice(number.to_string().as_bytes());
    if let Some(parameter) = parameter {
        out.push(b';');
        out.extend_from_slice(parameter.to_string().as_bytes());
    }
    out.push(last);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_its_bytes() {
        let cases: &[(&[&str], &str)] = &[
            (&["Enter", "Return", "ENTER", "KPEnter", "Ctrl-M", "C-m", "Shift-Enter"], "\r"),
            (&["Escape", "Esc", "escape", "Ctrl-[", "C-3"], "\x1b"),
            (&["Ctrl-C", "ctrl-c", "C-c", "c-C", "Ctrl+C", "Control-c", "^C", "^c"], "\x03"),
            (&["Ctrl-Z", "C-z"], "\x1a"),
            (&["Ctrl-\\", "C-4"], "\x1c"),
            (&["Ctrl-]", "C-5"], "\x1d"),
            (&["Ctrl-_", "Ctrl-/", "C--", "Ctrl+-"], "\x1f"),
            (&["Ctrl-?", "C-8", "Backspace", "BSpace", "backspace"], "\x7f"),
            (&["Ctrl-Backspace", "Ctrl-H"], "\x08"),
            (&["Ctrl-Space", "C-Space", "Ctrl-@", "C-2"], "\0"),
            (&["Space", " "], " "),
            (&["Tab", "Ctrl-I"], "\t"),
            (&["BTab", "Shift-Tab", "S-Tab", "BackTab"], "\x1b[Z"),
            (&["Alt-Tab", "M-Tab"], "\x1b\t"),
            (&["Up", "up", "ArrowUp"], "\x1b[A"),
            (&["Down"], "\x1b[B"),
            (&["Right"], "\x1b[C"),
            (&["Left"], "\x1b[D"),
            (&["Home"], "\x1b[H"),
            (&["End"], "\x1b[F"),
            (&["Insert", "IC"], "\x1b[2~"),
            (&["Delete", "DC", "Del"], "\x1b[3~"),
            (&["PageUp", "PPage", "PgUp"], "\x1b[5~"),
            (&["PageDown", "NPage", "PgDn"], "\x1b[6~"),
            (&["F1"], "\x1bOP"),
            (&["f4"], "\x1bOS"),
            (&["F5"], "\x1b[15~"),
            (&["F10"], "\x1b[21~"),
            (&["F12"], "\x1b[24~"),
            (&["Ctrl-Up", "C-Up", "Ctrl+Up"], "\x1b[1;5A"),
            (&["Shift-Up", "S-Up"], "\x1b[1;2A"),
            (&["Alt-Up", "M-Up", "Meta-Up"], "\x1b[1;3A"),
            (&["Ctrl-Alt-Shift-Left", "S-M-C-Left", "shift+ctrl-ALT+left"], "\x1b[1;8D"),
            (&["Ctrl-Shift-F1"], "\x1b[1;6P"),
            (&["Shift-F5"], "\x1b[15;2~"),
            (&["Ctrl-Delete"], "\x1b[3;5~"),
            (&["Alt-PageUp"], "\x1b[5;3~"),
            (&["a"], "a"),
            (&["A", "Shift-a", "S-a"], "A"),
            (&["Alt-x", "M-x"], "\x1bx"),
            (&["Alt-X", "Alt-Shift-x"], "\x1bX"),
            (&["Ctrl-Alt-c", "M-C-c"], "\x1b\x03"),
            (&["Alt-Enter", "M-Enter"], "\x1b\r"),
            (&["Alt-Escape"], "\x1b\x1b"),
            (&["Alt-Backspace"], "\x1b\x7f"),
            (&["-"], "-"),
            (&["+"], "+"),
            (&["Alt--", "M--"], "\x1b-"),
            (&["Alt-+", "M++"], "\x1b+"),
            (&["^"], "^"),
            (&["é"], "é"),
            (&["Shift-é"], "É"),
            (&["Alt-é"], "\x1bé"),
            (&["界"], "界"),
            (&["KP7"], "7"),
        ];
        for (names, bytes) in cases {
            for name in *names {
                let mut out = Vec::new();
                Key::parse(name).unwrap_or_else(|error| panic!("{error}")).encode(false, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), *bytes, "{name}");
            }
        }
    }

    #[test]
    fn application_cursor_mode_changes_plain_cursor_keys_only() {
        let cases = [
            ("Up", "\x1bOA"),
            ("Home", "\x1bOH"),
            ("End", "\x1bOF"),
            ("Ctrl-Up", "\x1b[1;5A"),
            ("PageUp", "\x1b[5~"),
            ("F1", "\x1bOP"),
            ("Enter", "\r"),
        ];
        for (name, bytes) in cases {
            assert_eq!(encode_keys(&[name], true).unwrap(), bytes.as_bytes(), "{name}");
        }
    }

    #[test]
    fn the_error_names_the_unknown_key() {
        let unknown = [
            "",
            "Foo",
            "F13",
            "F0",
            "Ctrl-",
            "Ctrl",
            "C-é",
            "Ctrl-1",
            "Hyper-x",
            "ab",
            "\n",
            "\x1b",
            "Ctrl-Ctrl",
            "Escape ",
        ];
        for name in unknown {
            let error = Key::parse(name).unwrap_err();
            assert_eq!(error, UnknownKey { name: name.to_owned() });
            assert!(error.to_string().contains(&format!("{name:?}")));
        }
    }

    #[test]
    fn one_unknown_name_encodes_nothing() {
        assert_eq!(encode_keys(&["Enter", "Bogus", "a"], false).unwrap_err().name, "Bogus");
        assert_eq!(encode_keys(&["Escape", "Enter", "Ctrl-C"], false).unwrap(), b"\x1b\r\x03");
        assert_eq!(encode_keys::<&str>(&[], false).unwrap(), b"");
    }

    #[test]
    fn no_name_is_listed_twice() {
        for (index, (name, _)) in NAMES.iter().enumerate() {
            assert!(NAMES.iter().skip(index + 1).all(|(other, _)| other != name), "{name}");
            assert_eq!(*name, name.to_lowercase());
        }
    }
}
