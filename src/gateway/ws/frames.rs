//! Finds the frames in the bytes of a WebSocket: how long each says it is, where a message ends,
//! and the code of a close frame. It keeps no content.

/// What the bytes of a stream of frames tell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A frame of a message begins, with this many bytes.
    Announced(u64),
    MessageEnded,
    /// A close frame has this code.
    Closed(u16),
}

/// Finds the frames in a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Frames {
    header: Vec<u8>,
    /// What is still to come of the current frame, if its header was read.
    missing: Option<u64>,
    /// The message has more frames.
    unfinished: bool,
    /// The code of a close frame, as far as it was read.
    code: Vec<u8>,
}

/// The kind of a close frame.
const CLOSE: u8 = 8;

/// The longest header: two bytes, eight of length, four of mask.
const LONGEST_HEADER: usize = 14;

impl Frames {
    pub(super) fn is_within_a_message(&self) -> bool {
        self.unfinished || self.missing.is_some() || !self.header.is_empty()
    }

    /// Reads up to the next step; `None` if there is none in these bytes.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<Step> {
        loop {
            if let Some(code) = self.close_code(bytes) {
                return Some(Step::Closed(code));
            }
            if let Some(missing) = self.missing {
                let here = missing.min(bytes.len() as u64);
                *bytes = bytes.get(usize::try_from(here).unwrap_or(usize::MAX)..)?;
                if here < missing {
                    self.missing = Some(missing - here);
                    return None;
                }
                self.missing = None;
                let (is_data, is_last) = self.kind();
                self.header.clear();
                self.code.clear();
                if is_data {
                    self.unfinished = !is_last;
                    if is_last {
                        return Some(Step::MessageEnded);
                    }
                }
            }
            while self.missing.is_none() {
                let (byte, rest) = bytes.split_first()?;
                *bytes = rest;
                self.header.push(*byte);
                self.missing = self.length();
            }
            if self.kind().0 {
                return self.missing.map(Step::Announced);
            }
        }
    }

    /// Reads the code of a close frame; returns it when its last byte is there.
    fn close_code(&mut self, bytes: &mut &[u8]) -> Option<u16> {
        while self.code.len() < 2
            && self.header.first().is_some_and(|first| first & 0x0f == CLOSE)
            && let Some(missing) = self.missing.filter(|missing| *missing > 0)
        {
            let (byte, rest) = bytes.split_first()?;
            *bytes = rest;
            self.missing = Some(missing - 1);
            let mask = self.mask().get(self.code.len()).copied().unwrap_or_default();
            self.code.push(byte ^ mask);
            if let [high, low] = *self.code {
                return Some(u16::from_be_bytes([high, low]));
            }
        }
        None
    }

    /// The mask of the current frame; empty if it has none.
    fn mask(&self) -> &[u8] {
        let is_masked = self.header.get(1).is_some_and(|second| second & 0x80 != 0);
        let length = if is_masked { 4 } else { 0 };
        self.header.last_chunk::<4>().and_then(|mask| mask.get(..length)).unwrap_or_default()
    }

    /// Whether the current frame is part of a message, and the last part.
    fn kind(&self) -> (bool, bool) {
        let first = self.header.first().copied().unwrap_or_default();
        (first & 0x0f < 8, first & 0x80 != 0)
    }

    /// The length of the frame's content, once its whole header was read.
    fn length(&self) -> Option<u64> {
        let second = *self.header.get(1)?;
        let mask = if second & 0x80 == 0 { 0 } else { 4 };
        let (size, length) = match second & 0x7f {
            126 => (4, u64::from(u16::from_be_bytes(*self.header.get(2..)?.first_chunk()?))),
            127 => (10, u64::from_be_bytes(*self.header.get(2..)?.first_chunk()?)),
            short => (2, u64::from(short)),
        };
        debug_assert!(self.header.len() <= LONGEST_HEADER);
        (self.header.len() >= size + mask).then_some(length)
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::CloseFrame;
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

    use super::*;

    fn bytes(frame: Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.format(&mut bytes).unwrap();
        bytes
    }

    fn data(code: Data, size: usize, last: bool) -> Vec<u8> {
        bytes(Frame::message(vec![0x81; size], OpCode::Data(code), last))
    }

    /// A close frame of a client, which is masked.
    fn close(code: u16, reason: &'static str) -> Vec<u8> {
        let frame = CloseFrame { code: code.into(), reason: reason.into() };
        let mut frame = Frame::close(Some(frame));
        frame.header_mut().mask = Some([7, 99, 200, 5]);
        bytes(frame)
    }

    #[test]
    fn frames_are_found_whole_and_byte_by_byte() {
        let ping = bytes(Frame::ping(vec![1; 9]));
        let stream = [
            data(Data::Text, 3, true),
            ping.clone(),
            data(Data::Binary, 126, false),
            ping,
            data(Data::Continue, 70_000, true),
            data(Data::Text, 0, true),
            close(1014, "why"),
            close(1000, ""),
            bytes(Frame::close(None)),
        ]
        .concat();
        let expected = [
            Step::Announced(3),
            Step::MessageEnded,
            Step::Announced(126),
            Step::Announced(70_000),
            Step::MessageEnded,
            Step::Announced(0),
            Step::MessageEnded,
            Step::Closed(1014),
            Step::Closed(1000),
        ];
        for size in [1, 2, 3, 1000, stream.len()] {
            let (mut frames, mut steps) = (Frames::default(), Vec::new());
            for mut chunk in stream.chunks(size) {
                while let Some(step) = frames.next(&mut chunk) {
                    steps.push(step);
                }
            }
            assert_eq!(steps, expected, "in pieces of {size}");
            assert!(!frames.is_within_a_message());
        }
    }
}
