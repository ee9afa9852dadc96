//! The terminal of one child: bytes go in, screens, signals and query replies come out as values.
//! It does no I/O, has no clock and knows neither processes nor protocols.

mod decoder;
mod dispatch;
mod engine;
mod keys;
mod modes;
mod osc;
mod output;
mod paste;
mod row;
mod screen;
mod scrollback;
mod sequence;
mod sgr;
mod size;
mod tap;
mod terminal;

pub use keys::{Key, UnknownKey, encode_keys};
pub use modes::{Modes, MouseEncoding, MouseTracking};
pub use output::{Head, Offset, OutputLog, OutputReader, Slice};
pub use paste::encode_text;
pub use row::{Look, Piece, Row};
pub use screen::{Cursor, Screen, ScreenSeq};
pub use scrollback::{LineNumber, Scrollback};
pub(crate) use sequence::Csi;
pub use size::{InvalidSize, Size};
pub use terminal::{Fed, Notification, Progress, Signal, Terminal};

#[cfg(test)]
mod tests;
