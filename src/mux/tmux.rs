//! One pane of tmux, by tmux's own command line. The pane is addressed by its id and its process,
//! so that input never reaches another pane, however the user moves windows and sessions. tmux
//! parses nothing of what a name or a text contains.

use super::capture::{Capture, Cursor};
use super::command::{CommandError, CommandOutput, Program};
use super::{Address, Multiplexer, MuxError};
use crate::pty::{Exit, WindowSize};
use crate::term::{PASTE_END, PASTE_START};

/// How many bytes one command types: each becomes an argument, and tmux takes 16 KiB of them.
const WRITE_LIMIT: usize = 1000;

/// The format that [`PaneInfo`] parses; the title comes last, because it may contain anything.
const PANE_FORMAT: &str = "#{pane_pid} #{pane_width} #{pane_height} \
     #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} \
     #{keypad_cursor_flag} #{pane_dead} =#{pane_dead_status} =#{pane_dead_signal} #{pane_title}";

pub(super) struct TmuxPane {
    program: Program,
    /// `%` and a number, which means this pane for as long as the tmux server runs.
    pane: String,
    pid: i32,
    /// The pane was dead at the last capture, and tmux did not know its exit status yet.
    dead_without_status: bool,
    /// The window's `window-size` option before coop resized it; empty if it was not set.
    original_window_size: Option<String>,
}

impl TmuxPane {
    /// Finds the active pane of the session with exactly this name.
    pub(super) async fn find(program: Program, name: &str) -> Result<Self, MuxError> {
        let failed = |error| MuxError::new(Multiplexer::Tmux, error);
        let format = "#{pane_id} #{pane_pid} #{window_active}#{pane_active} #{session_name}";
        let output =
            program.run(&["-u", "list-panes", "-a", "-F", format]).await.map_err(failed)?;
        // It fails if no server runs, and then there are no sessions.
        let text = if output.succeeded { output.text() } else { String::new() };
        let mut sessions = Vec::new();
        for line in text.lines() {
            let mut words = line.splitn(4, ' ');
            let (Some(pane), Some(pid), Some("11"), Some(session)) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let is_id = pane
                .strip_prefix('%')
                .is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
            match pid.parse() {
                Ok(pid) if session == name && is_id => {
                    return Ok(Self {
                        program,
                        pane: pane.to_owned(),
                        pid,
                        dead_without_status: false,
                        original_window_size: None,
                    });
                }
                Ok(_) | Err(_) => sessions.push(session.to_owned()),
            }
        }
        let address = Address { multiplexer: Multiplexer::Tmux, name: name.to_owned() };
        Err(MuxError::NoSession { address, sessions })
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) async fn capture(&mut self) -> Result<Capture, CommandError> {
        let pane = self.pane.as_str();
        // capture-pane comes first because it fails if there is no such pane, and the whole command
        // with it; display-message alone would take another pane.
        let text = ["-u", "capture-pane", "-p", "-e", "-N", "-t", pane, ";"];
        let info = ["display-message", "-p", "-t", pane, PANE_FORMAT];
        let output = self.program.run(&[&text[..], &info[..]].concat()).await?;
        let text = check_pane(output)?.text();
        let (rows, info) = text.trim_end_matches('\n').rsplit_once('\n').unwrap_or(("", &text));
        let info = PaneInfo::parse(info)
            .ok_or_else(|| CommandError::Failed(format!("it printed {info:?}")))?;
        if info.pid != self.pid {
            return Err(CommandError::Exited(Exit::Unknown));
        }
        match info.exit {
            // tmux notices the closed terminal and the exit in any order, and some versions lose
            // the exit status.
            Some(exit)
                if exit != Exit::Unknown
                    || std::mem::replace(&mut self.dead_without_status, true) =>
            {
                Err(CommandError::Exited(exit))
            }
            Some(_) | None => {
                Ok(Capture { rows: rows.split('\n').map(str::to_owned).collect(), ..info.capture })
            }
        }
    }

    /// Types some of the bytes. A complete paste goes through tmux's buffers, because only tmux
    /// knows whether the program has enabled bracketed paste.
    pub(super) async fn write(&self, bytes: &[u8]) -> Result<usize, CommandError> {
        if let Some(pasted) = complete_paste(bytes) {
            self.paste(pasted).await?;
            return Ok(PASTE_START.len() + pasted.len() + PASTE_END.len());
        }
        let bytes = bytes.get(..WRITE_LIMIT).unwrap_or(bytes);
        let pane = &self.pane;
        let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
        // While a user scrolls back, the pane is in a mode that would take the keys.
        let keys = format!(
            "if-shell -F -t {pane} '#{{pane_in_mode}}' 'send-keys -t {pane} -X cancel' ; \
             send-keys -t {pane} -H{hex}"
        );
        self.if_running(&[], &keys, b"").await?;
        Ok(bytes.len())
    }

    async fn paste(&self, text: &[u8]) -> Result<(), CommandError> {
        let (pane, buffer) =
            (&self.pane, format!("coop-{}", rustix::process::getpid().as_raw_pid()));
        // tmux replaces line ends by what Enter sends.
        let lines: Vec<u8> =
            text.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect();
        let load = ["load-buffer", "-b", &buffer, "-", ";"];
        self.if_running(&load, &format!("paste-buffer -p -d -b {buffer} -t {pane}"), &lines).await
    }

    /// Runs a tmux command if the pane still runs the process that it ran when it was found.
    async fn if_running(
        &self,
        first: &[&str],
        then: &str,
        stdin: &[u8],
    ) -> Result<(), CommandError> {
        let same = format!("#{{&&:#{{==:#{{pane_pid}},{}}},#{{==:#{{pane_dead}},0}}}}", self.pid);
        let condition =
            ["if-shell", "-F", "-t", &self.pane, &same, then, "display-message -p exited"];
        let output = self.program.run_with_stdin(&[first, &condition[..]].concat(), stdin).await?;
        if check_pane(output)?.stdout.starts_with(b"exited") {
            Err(CommandError::Exited(Exit::Unknown))
        } else {
            Ok(())
        }
    }

    /// A pane that is alone in its window has the window's size; one of several has its own.
    pub(super) async fn resize(&mut self, size: WindowSize) -> Result<(), CommandError> {
        let pane = &self.pane;
        if self.original_window_size.is_none() {
            let option =
                self.program.run(&["show-options", "-wv", "-t", pane, "window-size"]).await?;
            self.original_window_size = Some(option.text().trim().to_owned());
        }
        let WindowSize { cols, rows } = size;
        let change = format!(
            "if-shell -F -t {pane} '#{{==:#{{window_panes}},1}}' \
             'resize-window -t {pane} -x {cols} -y {rows}' \
             'resize-pane -t {pane} -x {cols} -y {rows}'"
        );
        self.if_running(&[], &change, b"").await
    }

    /// Restores the `window-size` option: a window that was resized by hand keeps its size for
    /// good.
    pub(super) async fn restore(&mut self) {
        let pane = self.pane.as_str();
        let restored = match self.original_window_size.take().as_deref() {
            None => return,
            Some("") => self.program.run(&["set-option", "-wu", "-t", pane, "window-size"]).await,
            Some(before) => {
                self.program.run(&["set-option", "-w", "-t", pane, "window-size", before]).await
            }
        };
        if let Err(error) = restored {
            tracing::warn!(%error, "the window-size option of the tmux window is not restored");
        }
    }
}

/// Distinguishes a pane that is gone from a command that failed for another reason.
fn check_pane(output: CommandOutput) -> Result<CommandOutput, CommandError> {
    let gone = [
        "can't find pane",
        "no server running",
        "error connecting to",
        "server exited",
        "lost server",
    ];
    if !output.succeeded && gone.iter().any(|message| output.stderr.contains(message)) {
        return Err(CommandError::Exited(Exit::Unknown));
    }
    output.checked()
}

/// Returns the text of a bracketed paste that the bytes start with, if its end is there too.
fn complete_paste(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(PASTE_START.as_bytes())?;
    let end = memchr::memmem::find(rest, PASTE_END.as_bytes())?;
    rest.get(..end)
}

/// What tmux reports of the pane in [`PANE_FORMAT`].
struct PaneInfo {
    pid: i32,
    exit: Option<Exit>,
    /// Everything but the rows.
    capture: Capture,
}

impl PaneInfo {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(12, ' ');
        let pid = words.next()?.parse().ok()?;
        let mut number = || words.next()?.parse::<u16>().ok();
        let size = WindowSize { cols: number()?, rows: number()? };
        let cursor = Cursor { col: number()?, row: number()?, visible: number()? == 1 };
        let (alternate, application_cursor, dead) =
            (number()? == 1, number()? == 1, number()? == 1);
        let mut status = || Some(words.next()?.strip_prefix('=')?.parse::<i32>().ok());
        let exit = match (status()?, status()?) {
            (_, Some(signal)) if signal > 0 => Exit::Signal(signal),
            (Some(code), _) => Exit::Code(code),
            (None, _) => Exit::Unknown,
        };
        let title = words.next().unwrap_or_default().to_owned();
        let capture = Capture {
            size,
            rows: vec![],
            cursor,
            alternate,
            application_cursor,
            bracketed_paste: true,
            title,
        };
        Some(Self { pid, exit: dead.then_some(exit), capture })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pane_info_is_parsed_with_any_title() {
        let info = PaneInfo::parse("77 80 24 3 5 1 0 1 0 = = my = title ").expect("info");
        assert_eq!((info.pid, info.exit), (77, None));
        assert_eq!(info.capture.size, WindowSize { cols: 80, rows: 24 });
        assert_eq!(info.capture.cursor, Cursor { col: 3, row: 5, visible: true });
        assert!(info.capture.application_cursor && !info.capture.alternate);
        assert_eq!(info.capture.title, "my = title ");
        for (line, exit) in [
            ("7 1 1 0 0 1 0 0 1 =3 = t", Exit::Code(3)),
            ("7 1 1 0 0 1 0 0 1 = =15 t", Exit::Signal(15)),
            ("7 1 1 0 0 1 0 0 1 = =", Exit::Unknown),
        ] {
            assert_eq!(PaneInfo::parse(line).expect(line).exit, Some(exit), "{line}");
        }
        for line in [
            "",
            "77",
            "x 80 24 3 5 1 0 1 0 = = t",
            "77 80 -1 3 5 1 0 1 0 = = t",
            "7 8 2 3 5 1 0 1 0 t",
        ] {
            assert!(PaneInfo::parse(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_paste_without_its_end_is_not_complete() {
        assert_eq!(complete_paste(b"\x1b[200~a\rb\x1b[201~\r"), Some(&b"a\rb"[..]));
        for bytes in [&b"x\x1b[200~a\x1b[201~"[..], b"\x1b[200~a", b"\x1b[200", b""] {
            assert_eq!(complete_paste(bytes), None);
        }
    }
}
