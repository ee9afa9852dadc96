//! One pane of tmux, by tmux's own command line. It is known by its id and its process, so that whatever somebody does to
//! sessions and windows, what is typed here never lands elsewhere; nothing that a name or a text contains is ever parsed.

use super::super::child::Exit;
use super::super::master::WindowSize;
use super::call::{Program, Said, Trouble};
use super::picture::{Cursor, Picture};
use super::{Address, AttachError, Host};

/// How many bytes are typed by one call: each becomes an argument, and tmux takes 16 KiB of them.
const WRITE: usize = 1000;

/// How a paste begins and ends on its way to a program that asked for it.
const PASTE: (&[u8], &[u8]) = (b"\x1b[200~", b"\x1b[201~");

/// What is asked of the pane beside its text; the title comes last, because it can be anything.
const FACTS: &str = "#{pane_pid} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} \
     #{keypad_cursor_flag} #{pane_dead} =#{pane_dead_status} =#{pane_dead_signal} #{pane_title}";

pub(super) struct Tmux {
    program: Program,
    /// `%` and a number, as long as that server lives.
    pane: String,
    pid: i32,
    /// It is dead, and at the last look tmux did not know yet how it ended.
    seen_dead: bool,
    /// How the window's size was decided before we changed it; empty for as everywhere.
    sized_before: Option<String>,
}

impl Tmux {
    /// The active pane of the session with exactly this name.
    pub(super) async fn find(program: Program, name: &str) -> Result<Self, AttachError> {
        let failed = |trouble| AttachError::of(Host::Tmux, trouble);
        let format = "#{pane_id} #{pane_pid} #{window_active}#{pane_active} #{session_name}";
        let said = program.call(&["-u", "list-panes", "-a", "-F", format]).await.map_err(failed)?;
        // It fails if no server runs, and then there are no sessions.
        let text = if said.succeeded { said.text() } else { String::new() };
        let mut there_are = Vec::new();
        for line in text.lines() {
            let mut words = line.splitn(4, ' ');
            let (Some(pane), Some(pid), Some("11"), Some(session)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let is_id = pane.strip_prefix('%').is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
            match pid.parse() {
                Ok(pid) if session == name && is_id => {
                    return Ok(Self {
                        program,
                        pane: pane.to_owned(),
                        pid,
                        seen_dead: false,
                        sized_before: None,
                    });
                }
                Ok(_) | Err(_) => there_are.push(session.to_owned()),
            }
        }
        let address = Address { host: Host::Tmux, name: name.to_owned() };
        Err(AttachError::NoSession { address, there_are })
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) async fn look(&mut self) -> Result<Picture, Trouble> {
        let pane = self.pane.as_str();
        // In this order the whole call fails if there is no such pane; the other command would take another one.
        let text = ["-u", "capture-pane", "-p", "-e", "-N", "-t", pane, ";"];
        let facts = ["display-message", "-p", "-t", pane, FACTS];
        let said = self.program.call(&[&text[..], &facts[..]].concat()).await?;
        let text = present(said)?.text();
        let (rows, facts) = text.trim_end_matches('\n').rsplit_once('\n').unwrap_or(("", &text));
        let facts = Facts::read(facts).ok_or_else(|| Trouble::Refused(format!("it said {facts:?}")))?;
        if facts.pid != self.pid {
            return Err(Trouble::Gone(Exit::Unknown));
        }
        match facts.exit {
            // tmux hears of the closed terminal and of the exit in any order; some versions then forget the exit.
            Some(exit) if exit != Exit::Unknown || std::mem::replace(&mut self.seen_dead, true) => {
                Err(Trouble::Gone(exit))
            }
            Some(_) | None => {
                Ok(Picture { rows: rows.split('\n').map(str::to_owned).collect(), ..facts.picture })
            }
        }
    }

    /// A whole paste is left to tmux, which alone knows whether the program asked for pastes.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<usize, Trouble> {
        if let Some(pasted) = paste(bytes) {
            self.paste(pasted).await?;
            return Ok(PASTE.0.len() + pasted.len() + PASTE.1.len());
        }
        let bytes = bytes.get(..WRITE).unwrap_or(bytes);
        let pane = &self.pane;
        let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
        // Somebody may be scrolling back, and keys would go there.
        let keys = format!(
            "if-shell -F -t {pane} '#{{pane_in_mode}}' 'send-keys -t {pane} -X cancel' ; send-keys -t {pane} -H{hex}"
        );
        self.if_there(&[], &keys, b"").await?;
        Ok(bytes.len())
    }

    async fn paste(&self, text: &[u8]) -> Result<(), Trouble> {
        let (pane, buffer) = (&self.pane, format!("coop-{}", rustix::process::getpid().as_raw_pid()));
        // tmux itself makes of line ends what Enter sends.
        let lines: Vec<u8> = text.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect();
        let load = ["load-buffer", "-b", &buffer, "-", ";"];
        self.if_there(&load, &format!("paste-buffer -p -d -b {buffer} -t {pane}"), &lines).await
    }

    /// Does something to the pane if it is there and runs what it ran when it was found.
    async fn if_there(&self, first: &[&str], then: &str, stdin: &[u8]) -> Result<(), Trouble> {
        let same = format!("#{{&&:#{{==:#{{pane_pid}},{}}},#{{==:#{{pane_dead}},0}}}}", self.pid);
        let condition = ["if-shell", "-F", "-t", &self.pane, &same, then, "display-message -p gone"];
        let said = self.program.call_with(&[first, &condition[..]].concat(), stdin).await?;
        let said = present(said)?;
        if said.stdout.starts_with(b"gone") { Err(Trouble::Gone(Exit::Unknown)) } else { Ok(()) }
    }

    /// A pane that is alone is as large as its window; of several, one can be changed.
    pub(super) async fn resize(&mut self, size: WindowSize) -> Result<(), Trouble> {
        let pane = &self.pane;
        if self.sized_before.is_none() {
            let asked = self.program.call(&["show-options", "-wv", "-t", pane, "window-size"]).await?;
            self.sized_before = Some(asked.text().trim().to_owned());
        }
        let WindowSize { cols, rows } = size;
        let change = format!(
            "if-shell -F -t {pane} '#{{==:#{{window_panes}},1}}' \
             'resize-window -t {pane} -x {cols} -y {rows}' 'resize-pane -t {pane} -x {cols} -y {rows}'"
        );
        self.if_there(&[], &change, b"").await
    }

    /// A window whose size was set by hand would keep it for ever.
    pub(super) async fn leave(&mut self) {
        let pane = self.pane.as_str();
        let undone = match self.sized_before.take().as_deref() {
            None => return,
            Some("") => self.program.call(&["set-option", "-wu", "-t", pane, "window-size"]).await,
            Some(before) => self.program.call(&["set-option", "-w", "-t", pane, "window-size", before]).await,
        };
        if let Err(error) = undone {
            tracing::warn!(%error, "the size of the tmux window stays as it is");
        }
    }
}

/// Tells a pane that is not there any more from a call that failed for another reason.
fn present(said: Said) -> Result<Said, Trouble> {
    let nobody =
        ["can't find pane", "no server running", "error connecting to", "server exited", "lost server"];
    if !said.succeeded && nobody.iter().any(|words| said.stderr.contains(words)) {
        return Err(Trouble::Gone(Exit::Unknown));
    }
    said.checked()
}

/// The text of a paste that is here from its beginning to its end.
fn paste(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(PASTE.0)?;
    let end = memchr::memmem::find(rest, PASTE.1)?;
    rest.get(..end)
}

/// What tmux says of the pane.
struct Facts {
    pid: i32,
    exit: Option<Exit>,
    /// Without its rows.
    picture: Picture,
}

impl Facts {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.splitn(12, ' ');
        let pid = words.next()?.parse().ok()?;
        let mut number = || words.next()?.parse::<u16>().ok();
        let size = WindowSize { cols: number()?, rows: number()? };
        let cursor = Cursor { col: number()?, row: number()?, visible: number()? == 1 };
        let (alternate, application_cursor, dead) = (number()? == 1, number()? == 1, number()? == 1);
        let mut ended = || Some(words.next()?.strip_prefix('=')?.parse::<i32>().ok());
        let exit = match (ended()?, ended()?) {
            (_, Some(signal)) if signal > 0 => Exit::Signal(signal),
            (Some(code), _) => Exit::Code(code),
            (None, _) => Exit::Unknown,
        };
        let title = words.next().unwrap_or_default().to_owned();
        let picture =
            Picture { size, rows: vec![], cursor, alternate, application_cursor, takes_pastes: true, title };
        Some(Self { pid, exit: dead.then_some(exit), picture })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_with_any_title() {
        let facts = Facts::read("77 80 24 3 5 1 0 1 0 = = my = title ").expect("facts");
        assert_eq!((facts.pid, facts.exit), (77, None));
        assert_eq!(facts.picture.size, WindowSize { cols: 80, rows: 24 });
        assert_eq!(facts.picture.cursor, Cursor { col: 3, row: 5, visible: true });
        assert!(facts.picture.application_cursor && !facts.picture.alternate);
        assert_eq!(facts.picture.title, "my = title ");
        for (line, exit) in [
            ("7 1 1 0 0 1 0 0 1 =3 = t", Exit::Code(3)),
            ("7 1 1 0 0 1 0 0 1 = =15 t", Exit::Signal(15)),
            ("7 1 1 0 0 1 0 0 1 = =", Exit::Unknown),
        ] {
            assert_eq!(Facts::read(line).expect(line).exit, Some(exit), "{line}");
        }
        for line in
            ["", "77", "x 80 24 3 5 1 0 1 0 = = t", "77 80 -1 3 5 1 0 1 0 = = t", "7 8 2 3 5 1 0 1 0 t"]
        {
            assert!(Facts::read(line).is_none(), "{line}");
        }
    }

    #[test]
    fn only_a_whole_paste_is_one() {
        assert_eq!(paste(b"\x1b[200~a\rb\x1b[201~\r"), Some(&b"a\rb"[..]));
        for bytes in [&b"x\x1b[200~a\x1b[201~"[..], b"\x1b[200~a", b"\x1b[200", b""] {
            assert_eq!(paste(bytes), None);
        }
    }
}
