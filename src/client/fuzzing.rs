//! The filter between a program's output and the user's terminal, under a fuzzer.

use super::query_filter::QueryFilter;
use crate::term::Terminal;
use crate::term::fuzzing::Stream;

/// The most that the filter adds for each byte that it gets.
const ADDED_FACTOR: usize = 3;

/// Any output: what passes is the same however the bytes are cut, asks the terminal nothing, and
/// draws what the whole output draws.
pub fn query_filter(data: &[u8]) {
    let Some(stream) = Stream::read(data) else { return };
    // Nothing is held at the end.
    let bytes = [stream.bytes, b"\x18."].concat();
    let mut whole = Vec::new();
    QueryFilter::new(false).feed(&bytes, &mut whole);
    assert!(whole.len() <= ADDED_FACTOR * bytes.len(), "the filter adds too much");
    let (mut filter, mut cut) = (QueryFilter::new(false), Vec::new());
    for piece in stream.pieces().chain([&b"\x18."[..]]) {
        filter.feed(piece, &mut cut);
    }
    assert_eq!(cut.escape_ascii().to_string(), whole.escape_ascii().to_string());
    let new = || Terminal::new(stream.size, 0, "1");
    let (mut plain, mut filtered) = (new(), new());
    plain.feed(&bytes);
    let fed = filtered.feed(&whole);
    assert_eq!(fed.replies.escape_ascii().to_string(), "", "a query has passed");
    let (plain, filtered) = (plain.screen(), filtered.screen());
    assert!(plain.lines().eq(filtered.lines()), "the filter changes what is drawn");
    let mut again = Vec::new();
    QueryFilter::new(false).feed(&whole, &mut again);
    assert_eq!(again.escape_ascii().to_string(), whole.escape_ascii().to_string());
}
