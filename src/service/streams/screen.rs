//! The stream of screens.

use std::time::Duration;

use coop_client::v1;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tonic::Status;

use super::super::Service;
use super::super::closing::Closing;
use super::super::convert::{self, Format};
use super::{Cursor, ResponseStream, into_stream};
use crate::error::Error;
use crate::session::Session;
use crate::term::ScreenSeq;

/// The shortest time between two frames to the same reader. Changes in between are combined.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

impl Service {
    pub(in crate::service) fn screen_stream(
        &self,
        request: &v1::StreamScreenRequest,
    ) -> Result<ResponseStream<v1::ScreenSnapshot>, Error> {
        let cursor = ScreenCursor {
            session: self.session.clone(),
            format: Format::try_from(request.format)?,
            changes: self.session.screen_changes(),
            last: None,
            closing: self.closing.clone(),
        };
        Ok(into_stream(cursor, self.subscription()?))
    }
}

struct ScreenCursor {
    session: Session,
    format: Format,
    changes: watch::Receiver<ScreenSeq>,
    /// None before the first frame.
    last: Option<Frame>,
    closing: Closing,
}

/// The last frame that was sent, and the earliest time of the next one.
#[derive(Clone, Copy)]
struct Frame {
    seq: ScreenSeq,
    next_at: Instant,
}

impl Cursor for ScreenCursor {
    type Item = v1::ScreenSnapshot;

    async fn next(&mut self) -> Option<Result<v1::ScreenSnapshot, Status>> {
        if let Some(Frame { seq: sent, next_at }) = self.last {
            tokio::select! {
                // The last frame may already contain a change that is announced only now.
                changed = self.changes.wait_for(|seq| *seq > sent) => {
                    if changed.is_err() {
                        return Closing::final_error();
                    }
                }
                () = self.closing.closed() => return Closing::final_error(),
            }
            sleep_until(next_at).await;
        }
        let next_at = Instant::now() + FRAME_INTERVAL;
        let sent = self.last.map(|frame| frame.seq);
        match self.session.frame(FRAME_INTERVAL, sent).await {
            Ok(view) => {
                self.last = Some(Frame { seq: view.screen.seq(), next_at });
                Some(Ok(convert::screen_snapshot(&view, self.format, self.session.epoch_ms())))
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}
