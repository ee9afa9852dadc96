//! xterm.js as a child process: bytes in, cells out. It does not know what they are compared with.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use avt::{Color, Pen};
use base64::Engine as _;

use crate::term::Size;

/// What a terminal shows: each cell with its text, its width and its look.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) row: u16,
    pub(super) col: u16,
    pub(super) lines: Vec<Vec<(String, u8, String)>>,
}

impl Screen {
    /// What differs, or nothing. Where wide characters are cut, what is left of them has a look by
    /// chance: `loose` does not compare the looks of blanks.
    pub(super) fn difference(&self, other: &Screen, loose: bool) -> Option<String> {
        if (self.row, self.col) != (other.row, other.col) {
            return Some(format!(
                "cursor: ours row {} col {}, xterm.js row {} col {}\nours {:?}\nxterm.js {:?}",
                self.row,
                self.col,
                other.row,
                other.col,
                self.texts(),
                other.texts()
            ));
        }
        for (row, (ours, theirs)) in self.lines.iter().zip(&other.lines).enumerate() {
            for (col, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                let any_look = theirs.2 == "*" || loose && ours.0 == " ";
                if (&ours.0, ours.1) != (&theirs.0, theirs.1)
                    || !any_look && !same_look(&ours.2, &theirs.2)
                {
                    return Some(format!(
                        "row {row} col {col}: ours {ours:?}, xterm.js {theirs:?}\n\
                         ours {:?}\nxterm.js {:?}",
                        self.texts(),
                        other.texts()
                    ));
                }
            }
        }
        None
    }

    fn texts(&self) -> Vec<String> {
        let line = |line: &Vec<(String, u8, String)>| -> String {
            line.iter().map(|(text, ..)| text.as_str()).collect()
        };
        self.lines.iter().map(|cells| line(cells).trim_end().to_owned()).collect()
    }
}

/// A running xterm.js.
pub(super) struct Xterm {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Xterm {
    /// `None` where it is not installed, which one line says.
    pub(super) fn start() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/xterm");
        let installed = folder.join("node_modules/@xterm/headless").is_dir();
        let child = Command::new("node")
            .arg("screens.mjs")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let (true, Ok(mut child)) = (installed, child) else {
            eprintln!(
                "\n*** coop: MISSING xterm.js: the screen is not compared with it; run \
                 `make setup-xterm`, which needs node and npm\n"
            );
            return None;
        };
        let (stdin, stdout) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, stdin, stdout })
    }

    pub(super) fn screen(&mut self, size: Size, bytes: &[u8]) -> Screen {
        let bytes = base64::engine::general_purpose::STANDARD.encode(bytes);
        let (cols, rows) = (size.cols(), size.rows());
        writeln!(self.stdin, r#"{{"cols":{cols},"rows":{rows},"bytes":"{bytes}"}}"#).unwrap();
        self.stdin.flush().unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let (row, col, lines) = serde_json::from_str(&line).unwrap();
        Screen { row, col, lines }
    }
}

impl Drop for Xterm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A cell of avt is bold or faint, and not both.
fn same_look(ours: &str, theirs: &str) -> bool {
    ["bd", "b", "d"].iter().any(|intensity| theirs.replace("bd", intensity) == ours)
}

/// How a cell looks, as `screens.mjs` writes it. What a blank does not show is left out.
pub(super) fn look(pen: &Pen, blank: bool) -> String {
    let flags = [
        (pen.is_inverse(), true, 'r'),
        (pen.is_underline(), true, 'u'),
        (pen.is_strikethrough(), true, 's'),
        (pen.is_bold(), !blank, 'b'),
        (pen.is_faint(), !blank, 'd'),
        (pen.is_italic(), !blank, 'i'),
        (pen.is_blink(), !blank, 'k'),
    ];
    let flags: String =
        flags.into_iter().filter(|(set, seen, _)| *set && *seen).map(|(.., flag)| flag).collect();
    let foreground = if blank && !pen.is_inverse() { None } else { pen.foreground() };
    format!("{flags}/{}/{}", color(foreground), color(pen.background()))
}

fn color(color: Option<Color>) -> String {
    match color {
        None => String::new(),
        Some(Color::Indexed(index)) => index.to_string(),
        Some(Color::RGB(rgb)) => format!("#{:02x}{:02x}{:02x}", rgb.r, rgb.g, rgb.b),
    }
}
