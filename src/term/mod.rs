//! The terminal of one child: bytes go in, screens, signals and query replies come out as values.
//! It does no I/O, has no clock, and knows neither processes nor protocols.

mod canvas;
mod cluster;
mod colors;
mod decoder;
mod dispatch;
mod engine;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod keys;
mod modes;
mod osc;
mod output;
mod paste;
mod printable;
mod rendition;
mod row;
mod screen;
mod scrollback;
mod sequence;
mod sgr;
mod size;
mod tabs;
mod tap;
mod terminal;
mod tokenizer;
mod width;

pub use keys::{Key, UnknownKey, encode_keys};
pub use modes::{Modes, MouseEncoding, MouseTracking};
pub use output::{Head, Offset, OutputLog, OutputReader, Slice};
pub use paste::encode_text;
pub(crate) use paste::{PASTE_END, PASTE_START, bracket};
pub(crate) use printable::{DEL, is_printable};
pub use row::{Piece, Row, Style};
pub use screen::{Cursor, Screen, ScreenSeq};
pub use scrollback::{LineNumber, Scrollback};
pub(crate) use sequence::Csi;
pub use size::{InvalidSize, Size};
pub use terminal::{Fed, Notification, Progress, Signal, Terminal};
pub(crate) use tokenizer::{StringKind, Terminator, Token, Tokenizer};

#[cfg(test)]
mod tests;
