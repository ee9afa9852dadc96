//! The terminal and the encoders of input under a fuzzer. It knows only what must hold for any
//! bytes, and nothing about programs.

use super::{
    Fed, Key, Modes, PASTE_END, PASTE_START, Screen, Size, Terminal, encode_keys, encode_text,
};

/// How many lines of scrollback each terminal keeps.
const SCROLLBACK: usize = 50;
/// The most bytes of replies for each byte of output: the longest reply to the shortest query.
const REPLY_FACTOR: usize = 16;
/// The most bytes of a dump for each cell (its marks and its attributes), and for everything else.
const DUMP_FACTOR: usize = 160;
const DUMP_BASE: usize = 16 << 10;
/// The most bytes that one key sends.
const KEY_LIMIT: usize = 16;

/// A test case about a stream of bytes: four bytes say how, the others are the stream.
pub(crate) struct Stream<'a> {
    pub(crate) size: Size,
    pub(crate) bytes: &'a [u8],
    cuts: u16,
}

impl<'a> Stream<'a> {
    pub(crate) fn read(data: &'a [u8]) -> Option<Self> {
        let (&[cols, rows, high, low], bytes) = data.split_first_chunk()?;
        let size = Size::new(u32::from(cols.max(1)), 1 + u32::from(rows % 64)).ok()?;
        Some(Self { size, bytes, cuts: u16::from_be_bytes([high, low]) })
    }

    /// The bytes in pieces, as reads cut them.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        pieces(self.bytes, self.cuts)
    }
}

/// Cuts the bytes into pieces: single bytes for 0, and otherwise of lengths that the number
/// decides.
pub(crate) fn pieces(bytes: &[u8], cuts: u16) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut state) = (bytes, cuts);
    std::iter::from_fn(move || {
        // A linear-feedback shift register, which stays 0 once it is 0.
        state ^= state << 7;
        state ^= state >> 9;
        state ^= state << 8;
        let length = if state % 5 == 0 { state } else { state % 17 };
        let (piece, after) = rest.split_at(usize::from(length.max(1)).min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The child's output: whatever it is and however it is cut, the terminal is the same, stays
/// within its bounds, and can be copied.
pub fn terminal(data: &[u8]) {
    let Some(stream) = Stream::read(data) else { return };
    let new = || Terminal::new(stream.size, SCROLLBACK, "1");
    let mut whole = new();
    let wanted = whole.feed(stream.bytes);
    assert!(wanted.replies.len() <= REPLY_FACTOR * stream.bytes.len(), "too many replies");
    assert!(wanted.signals.len() <= stream.bytes.len(), "too many signals");
    let (mut cut, mut all) = (new(), Fed::default());
    for piece in stream.pieces() {
        let fed = cut.feed(piece);
        all.replies.extend(fed.replies);
        all.signals.extend(fed.signals);
    }
    assert_eq!(all, wanted, "replies and signals depend on how the bytes are cut");
    assert_same(&whole.screen(), &cut.screen());
    assert!(history(&whole).eq(history(&cut)), "the scrollback depends on how the bytes are cut");
    let dump = whole.dump();
    assert_eq!(dump, cut.dump());
    let cells = usize::from(stream.size.cols()) * usize::from(stream.size.rows());
    assert!(dump.len() <= DUMP_BASE + DUMP_FACTOR * cells, "{} bytes of dump", dump.len());
    let mut copy = new();
    copy.feed(&dump);
    assert_same(&whole.screen(), &copy.screen());
    resize(whole, stream.size);
}

/// Another size and another child leave a screen of the right size, and nothing of the first.
fn resize(mut terminal: Terminal, size: Size) {
    for (cols, rows) in [(1, 1), (size.rows().into(), size.cols().into()), (80, 24)] {
        let size = Size::new(cols, rows).expect("each side has at most 255");
        terminal.resize(size);
        let screen = terminal.screen();
        assert_eq!(screen.lines().len(), usize::from(size.rows()));
        assert!(screen.cursor().col < size.cols() && screen.cursor().row < size.rows());
    }
    terminal.reset_for_new_child();
    assert_eq!(terminal.modes(), Modes::default());
    assert!(terminal.screen().lines().all(str::is_empty));
    assert!(terminal.scrollback().len() <= SCROLLBACK);
}

fn assert_same(one: &Screen, other: &Screen) {
    assert!(one.ansi_lines().eq(other.ansi_lines()), "the rows differ");
    assert_eq!(one.cursor(), other.cursor());
    assert_eq!(one.modes(), other.modes());
    assert!(one.shows_the_same(other), "the screens differ");
}

fn history(terminal: &Terminal) -> impl Iterator<Item = String> {
    terminal.scrollback().last(usize::MAX).map(|(_, row)| row.ansi())
}

/// Names of keys, and text to type. The first byte has the modes of the terminal.
pub fn input(data: &[u8]) {
    let Some((flags, text)) = data.split_first() else { return };
    let [enter, bracketed, application] = [1, 2, 4].map(|bit| flags & bit != 0);
    let text = String::from_utf8_lossy(text);
    typed(&text, enter, bracketed);
    keys(&text.split(' ').collect::<Vec<_>>(), application);
}

fn typed(text: &str, enter: bool, bracketed: bool) {
    let bytes = encode_text(text, enter, bracketed);
    assert!(bytes.len() <= text.len() + PASTE_START.len() + PASTE_END.len() + 1);
    assert!(!bytes.contains(&b'\n'), "a terminal has no key for a line feed");
    assert!(!enter || bytes.ends_with(b"\r"));
    let encoded = String::from_utf8(bytes).expect("text stays UTF-8");
    let body = text.strip_suffix('\n').unwrap_or(text);
    let body = body.strip_suffix('\r').unwrap_or(body);
    if bracketed && body.contains(['\r', '\n']) {
        let paste = encoded.strip_prefix(PASTE_START).expect("lines are pasted");
        let (pasted, after) = paste.split_once(PASTE_END).expect("a paste has an end");
        assert!(!pasted.contains("\u{9b}201~"), "the paste has another end");
        assert!(after.chars().all(|c| c == '\r'), "{after:?} is typed after the paste");
    }
}

fn keys(names: &[&str], application: bool) {
    let parsed: Result<Vec<Key>, _> = names.iter().map(|name| Key::parse(name)).collect();
    let keys = match (parsed, encode_keys(names, application)) {
        (Ok(keys), Ok(bytes)) => (keys, bytes),
        (Err(one), Err(other)) => {
            assert_eq!(one, other);
            assert!(names.contains(&one.name.as_str()));
            return;
        }
        (one, other) => unequal(&one, &other),
    };
    let mut bytes = Vec::new();
    for key in &keys.0 {
        let before = bytes.len();
        key.encode(application, &mut bytes);
        assert!((1..=KEY_LIMIT).contains(&(bytes.len() - before)), "{key:?}");
    }
    assert_eq!(bytes, keys.1, "a key depends on the keys before it");
}

#[expect(clippy::panic, reason = "a fuzz target reports what it finds by a panic")]
fn unequal(one: &impl std::fmt::Debug, other: &impl std::fmt::Debug) -> ! {
    panic!("the two disagree: {one:?} and {other:?}");
}
