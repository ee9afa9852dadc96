//! Raw output: chunks of the ring with their offsets.

use coop_client::v1;

use crate::term::{Offset, Slice};

pub(in crate::service) fn output_response(
    slice: Slice,
    total: Offset,
    epoch: u64,
) -> v1::GetOutputResponse {
    v1::GetOutputResponse {
        offset: slice.offset.0,
        next_offset: slice.next().0,
        data: slice.data,
        total_written: total.0,
        epoch,
    }
}

/// The first message of a stream: it has no data and says at which offset the stream begins.
pub(in crate::service) fn stream_start(
    from: Offset,
    gap: Option<v1::Gap>,
    epoch: u64,
) -> v1::OutputChunk {
    v1::OutputChunk { offset: from.0, next_offset: from.0, epoch, gap, ..Default::default() }
}

pub(in crate::service) fn chunk(slice: Slice) -> v1::OutputChunk {
    v1::OutputChunk {
        offset: slice.offset.0,
        skipped: slice.skipped,
        next_offset: slice.next().0,
        data: slice.data,
        ..Default::default()
    }
}

/// Takes the data out of a response, as a chunk after this many skipped bytes.
pub fn replayed_chunk(response: &mut v1::GetOutputResponse, skipped: u64) -> v1::OutputChunk {
    v1::OutputChunk {
        data: std::mem::take(&mut response.data),
        offset: response.offset,
        skipped,
        next_offset: response.next_offset,
        epoch: response.epoch,
        gap: None,
    }
}
