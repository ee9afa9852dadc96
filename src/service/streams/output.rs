//! The stream of raw output.

use coop_client::v1;
use tonic::Status;

use super::super::{Service, convert};
use super::{Cursor, ResponseStream, into_stream};
use crate::error::Error;
use crate::term::{Offset, OutputReader};

/// The most bytes in one message: large enough to be cheap, small enough that other clients do not
/// wait long while many readers are served.
pub(in crate::service) const CHUNK: usize = 16 << 10;

impl Service {
    pub(in crate::service) fn output_stream(
        &self,
        request: &v1::StreamOutputRequest,
    ) -> Result<ResponseStream<v1::OutputChunk>, Error> {
        let (log, epoch) = (self.session.output(), self.session.epoch_ms());
        let from_other_process = request.epoch.is_some_and(|given| given != epoch);
        // A browser that reconnects sends `tail` again, beside the position it had reached.
        let (from, gap) = if request.tail && request.epoch.is_none() {
            (log.head().offset(), None)
        } else if from_other_process {
            (log.oldest(), Some(convert::epoch_gap(request.from_offset, log.oldest().0)))
        } else if request.epoch.is_some() && request.from_offset == 0 {
            // The reader reconnects before it read anything, so bytes that have left the ring
            // count as skipped.
            (Offset(0), None)
        } else {
            (self.offset_within(request.from_offset)?, None)
        };
        let cursor = OutputCursor {
            first: Some(convert::stream_start(from, gap, epoch)),
            reader: log.reader(from),
        };
        Ok(into_stream(cursor, self.subscription()?))
    }
}

struct OutputCursor {
    first: Option<v1::OutputChunk>,
    reader: OutputReader,
}

impl Cursor for OutputCursor {
    type Item = v1::OutputChunk;

    async fn next(&mut self) -> Option<Result<v1::OutputChunk, Status>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let slice = self.reader.next(CHUNK).await?;
        Some(Ok(convert::chunk(slice)))
    }
}
