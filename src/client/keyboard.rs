//! The user's input: keys, resizes, Ctrl-] and signals. It reads stdin and the signals that end a
//! program, and does not know the session.

use std::io::{self, Read as _};
use std::thread;

use bytes::Bytes;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

const CHUNK: usize = 16 << 10;
/// How many chunks may wait for the connection.
const WAITING: usize = 4;
/// Ctrl-], as most terminals send it.
const DETACH: u8 = 0x1d;

/// An input of the user, or of the system.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UserInput {
    Type(Bytes),
    Detach,
    /// Stdin has ended.
    End,
    /// The terminal has another size.
    Resize,
    /// A signal that ends the program.
    Quit(u8),
}

/// The source of the user's input.
pub(super) struct Keyboard {
    chunks: mpsc::Receiver<Bytes>,
    /// Whether Ctrl-] detaches; otherwise it is a byte like any other.
    detaches: bool,
    /// Input that was read but not returned yet.
    pending: Option<UserInput>,
    ended: bool,
    window: Signal,
    exit_signals: [(u8, Signal); 4],
}

impl Keyboard {
    /// The thread lives as long as the process, because only another byte would wake it.
    pub(super) fn start(detaches: bool) -> io::Result<Self> {
        let (chunks, waiting) = mpsc::channel(WAITING);
        let exit_signal =
            |kind: SignalKind, number: u8| signal(kind).map(|signal| (number, signal));
        let keyboard = Self {
            chunks: waiting,
            detaches,
            pending: None,
            ended: false,
            window: signal(SignalKind::window_change())?,
            exit_signals: [
                exit_signal(SignalKind::hangup(), 1)?,
                exit_signal(SignalKind::interrupt(), 2)?,
                exit_signal(SignalKind::quit(), 3)?,
                exit_signal(SignalKind::terminate(), 15)?,
            ],
        };
        let _detached =
            thread::Builder::new().name("keyboard".to_owned()).spawn(move || read(&chunks))?;
        Ok(keyboard)
    }

    /// Waits for the next input. Cancelling loses nothing. Without `listening`, typed keys are left
    /// waiting, and everything else is still returned.
    pub(super) async fn next(&mut self, listening: bool) -> UserInput {
        if let Some(input) = self.pending.take() {
            return input;
        }
        let [hangup, interrupt, quit, terminate] = &mut self.exit_signals;
        tokio::select! {
            _ = hangup.1.recv() => UserInput::Quit(hangup.0),
            _ = interrupt.1.recv() => UserInput::Quit(interrupt.0),
            _ = quit.1.recv() => UserInput::Quit(quit.0),
            _ = terminate.1.recv() => UserInput::Quit(terminate.0),
            _ = self.window.recv() => UserInput::Resize,
            chunk = self.chunks.recv(), if listening && !self.ended => match chunk {
                Some(chunk) => self.typed(chunk),
                None => {
                    self.ended = true;
                    UserInput::End
                }
            },
        }
    }

    fn typed(&mut self, mut chunk: Bytes) -> UserInput {
        match find_detach(&chunk) {
            Some(0) if self.detaches => UserInput::Detach,
            Some(at) if self.detaches => {
                self.pending = Some(UserInput::Detach);
                UserInput::Type(chunk.split_to(at))
            }
            Some(_) | None => UserInput::Type(chunk),
        }
    }
}

fn read(chunks: &mpsc::Sender<Bytes>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match io::stdin().read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let chunk = buffer.get(..count).unwrap_or_default();
                if chunks.blocking_send(Bytes::copy_from_slice(chunk)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The position of Ctrl-], in any encoding: a program may have switched the keyboard to another
/// one.
fn find_detach(bytes: &[u8]) -> Option<usize> {
    bytes.iter().enumerate().find_map(|(at, byte)| match *byte {
        DETACH => Some(at),
        0x1b => bytes.get(at..).filter(|rest| is_encoded_detach(rest)).map(|_| at),
        _ => None,
    })
}

/// `CSI 93 ; modifiers u` (kitty), or `CSI 27 ; modifiers ; 93 ~` (xterm).
fn is_encoded_detach(bytes: &[u8]) -> bool {
    let Some(bytes) = bytes.strip_prefix(b"\x1b[") else { return false };
    let Some(end) = bytes.iter().position(|byte| matches!(byte, b'@'..=b'~')) else { return false };
    let (Some(body), Some(last)) = (bytes.get(..end), bytes.get(end)) else { return false };
    // Alternative keys and the kind of event follow after colons.
    let mut params = body.split(|byte| *byte == b';').map(|param| {
        let mut parts = param.split(|byte| *byte == b':').map(number);
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    });
    let (first, second, third) = (params.next(), params.next(), params.next());
    match (first, second, third, last) {
        // Event 3 is the release of a key.
        (Some((93, _)), Some((modifiers, event)), _, b'u') => is_ctrl(modifiers) && event != 3,
        (Some((27, _)), Some((modifiers, _)), Some((93, _)), b'~') => is_ctrl(modifiers),
        _ => false,
    }
}

fn number(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Whether Ctrl is the only modifier, apart from locks.
fn is_ctrl(modifiers: u32) -> bool {
    const CTRL: u32 = 4;
    const LOCKS: u32 = 64 | 128;
    modifiers.saturating_sub(1) & !LOCKS == CTRL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_bracket_is_found_in_every_encoding() {
        for (bytes, wanted) in [
            (&b""[..], None),
            (b"ls\r", None),
            (b"\x1d", Some(0)),
            (b"ls\x1d", Some(2)),
            (b"\x1b[93;5u", Some(0)),
            (b"a\x1b[93;5:1u", Some(1)),
            (b"\x1b[93;69u", Some(0)),
            (b"\x1b[93:125;5u", Some(0)),
            (b"\x1b[27;5;93~", Some(0)),
            (b"\x1b[A\x1b[93;5u", Some(3)),
            (b"\x1b[93;5:3u", None),
            (b"\x1b[93;6u", None),
            (b"\x1b[93u", None),
            (b"\x1b[27;6;93~", None),
            (b"\x1b[27;5;94~", None),
            (b"\x1b[93;5", None),
            (b"\x1b[200~93;5u", None),
        ] {
            assert_eq!(find_detach(bytes), wanted, "{}", bytes.escape_ascii());
        }
    }
}
