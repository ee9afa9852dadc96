//! Reading from and writing to the terminal: each handler checks the request, calls the session
//! and converts the result.

use coop_client::{LEASE_HEADER, v1};
use tonic::Request;

use super::caller::Caller;
use super::convert::{self, Format};
use super::{Rpc, Service, number};
use crate::error::{Code, Error};
use crate::pty::Signal;
use crate::session::Session;
use crate::session::command::Typing;
use crate::session::lease::LeaseId;
use crate::session::scrollback_page::{ScrollbackRequest, ScrollbackStart};
use crate::term::{Key, LineNumber, Offset};

/// The most bytes of raw output in one response, and the default.
const OUTPUT_LIMIT: i32 = 1 << 20;
const OUTPUT_DEFAULT: i32 = 64 << 10;
/// The most bytes of text in one response.
const PAGE_LIMIT: i32 = 2 << 20;

impl Service {
    pub(super) fn health(&self) -> v1::GetHealthResponse {
        let snapshot = self.session.snapshot();
        convert::health(&snapshot, &self.about, self.clients.count(), self.session.epoch_ms())
    }

    pub(super) fn ready(&self) -> Result<v1::GetReadyResponse, Error> {
        if self.session.snapshot().ready() {
            Ok(convert::ready())
        } else {
            Err(Error::new(
                Code::NotReady,
                "the child is not running, or its agent is still starting",
            ))
        }
    }

    pub(super) async fn screen(
        &self,
        request: v1::GetScreenRequest,
    ) -> Result<v1::GetScreenResponse, Error> {
        let format = Format::try_from(request.format)?;
        let view = self.session.screen().await?;
        let with_cursor = request.include_cursor || request.cursor.unwrap_or(true);
        Ok(convert::screen_response(&view, format, with_cursor, self.session.epoch_ms()))
    }

    pub(super) async fn screen_text(
        &self,
        request: v1::GetScreenTextRequest,
    ) -> Result<v1::GetScreenTextResponse, Error> {
        if request.scrollback {
            self.check_supported(Rpc::GetScrollback)?;
        }
        let last = number("lines", request.lines.unwrap_or(0), 0..=i32::MAX)?;
        let start = match (request.scrollback, last) {
            (false, _) => ScrollbackStart::Last(0),
            (true, 0) => ScrollbackStart::Oldest,
            (true, last) => ScrollbackStart::Last(last),
        };
        let page = ScrollbackRequest { start, ansi: false, limit_bytes: usize::MAX };
        let page = self.session.scrollback(page).await?;
        let mut lines = page.lines;
        lines.extend(page.screen.lines().map(str::to_owned));
        if last > 0 {
            // Empty rows below the last text do not count as lines.
            let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |row| row + 1);
            lines.truncate(end);
            lines.drain(..end.saturating_sub(last));
        }
        keep_newest(&mut lines, PAGE_LIMIT as usize);
        Ok(convert::screen_text(lines))
    }

    pub(super) async fn scrollback(
        &self,
        request: v1::GetScrollbackRequest,
    ) -> Result<v1::GetScrollbackResponse, Error> {
        let format = Format::try_from(request.format)?;
        let limit_bytes =
            number("limit_bytes", request.limit_bytes.unwrap_or(PAGE_LIMIT), 1..=PAGE_LIMIT)?;
        let start = match (request.from_line, request.last) {
            (Some(line), _) => ScrollbackStart::Line(LineNumber(line)),
            (None, Some(last)) => ScrollbackStart::Last(number("last", last, 0..=i32::MAX)?),
            (None, None) => ScrollbackStart::Oldest,
        };
        let page = ScrollbackRequest { start, ansi: format == Format::Ansi, limit_bytes };
        let page = self.session.scrollback(page).await?;
        Ok(convert::scrollback_response(page, self.session.epoch_ms()))
    }

    pub(super) fn output(
        &self,
        request: &v1::GetOutputRequest,
    ) -> Result<v1::GetOutputResponse, Error> {
        let limit = number("limit", request.limit.unwrap_or(OUTPUT_DEFAULT), 1..=OUTPUT_LIMIT)?;
        let log = self.session.output();
        let from = self.offset_within(request.offset)?;
        let slice = log.read_joined(from, limit);
        Ok(convert::output_response(slice, log.head().offset(), self.session.epoch_ms()))
    }

    /// Checks that the output has reached this offset; 0 means the oldest kept.
    pub(super) fn offset_within(&self, offset: u64) -> Result<Offset, Error> {
        let log = self.session.output();
        let head = log.head().offset();
        match offset {
            0 => Ok(log.oldest()),
            _ if offset > head.0 => Err(Error::bad_request(format!(
                "offset {offset} is beyond the {} bytes written so far",
                head.0
            ))),
            _ => Ok(Offset(offset)),
        }
    }

    pub(super) fn status(&self) -> v1::GetStatusResponse {
        convert::status(
            &self.session.snapshot(),
            &self.about,
            &self.unsupported(),
            self.clients.count(),
            self.session.epoch_ms(),
        )
    }

    pub(super) async fn input(
        &self,
        request: Request<v1::SendInputRequest>,
    ) -> Result<v1::SendInputResponse, Error> {
        let (session, lease) = (self.session_of(&request), lease_of(&request));
        let v1::SendInputRequest { text, enter } = request.into_inner();
        let written = session.type_in(Typing::Text { text, enter }, lease).await?;
        Ok(convert::input_response(written))
    }

    pub(super) async fn input_raw(
        &self,
        request: Request<v1::SendInputRawRequest>,
    ) -> Result<v1::SendInputRawResponse, Error> {
        let (session, lease) = (self.session_of(&request), lease_of(&request));
        let typing = Typing::Raw(request.into_inner().data);
        let written = session.type_in(typing, lease).await?;
        Ok(convert::input_raw_response(written))
    }

    pub(super) async fn keys(
        &self,
        request: Request<v1::SendKeysRequest>,
    ) -> Result<v1::SendKeysResponse, Error> {
        let (session, lease) = (self.session_of(&request), lease_of(&request));
        let keys =
            request.get_ref().keys.iter().map(|name| Key::parse(name)).collect::<Result<_, _>>();
        let keys = keys.map_err(|unknown| Error::bad_request(unknown.to_string()))?;
        let written = session.type_in(Typing::Keys(keys), lease).await?;
        Ok(convert::keys_response(written))
    }

    pub(super) async fn set_size(
        &self,
        request: Request<v1::ResizeRequest>,
    ) -> Result<v1::ResizeResponse, Error> {
        let (session, lease) = (self.session_of(&request), lease_of(&request));
        let v1::ResizeRequest { cols, rows } = request.into_inner();
        let size = convert::size_from_wire(cols, rows)?;
        session.resize(size, lease).await?;
        Ok(convert::resize_response(size))
    }

    pub(super) async fn signal(
        &self,
        request: &Request<v1::SendSignalRequest>,
    ) -> Result<v1::SendSignalResponse, Error> {
        let signal = request.get_ref().signal.parse::<Signal>();
        let signal = signal.map_err(|unknown| Error::bad_request(unknown.to_string()))?;
        self.session_of(request).signal(signal).await?;
        Ok(convert::signal_delivered())
    }

    pub(super) async fn take_lease(
        &self,
        request: Request<v1::AcquireLeaseRequest>,
    ) -> Result<v1::AcquireLeaseResponse, Error> {
        let (session, held) = (self.session_of(&request), lease_of(&request));
        let v1::AcquireLeaseRequest { ttl_ms, holder } = request.into_inner();
        let ttl = convert::lease_ttl(ttl_ms)?;
        let granted = session.acquire_lease(held, holder, ttl).await?;
        Ok(convert::lease(granted))
    }

    pub(super) async fn end_lease(
        &self,
        request: Request<v1::ReleaseLeaseRequest>,
    ) -> Result<v1::ReleaseLeaseResponse, Error> {
        let session = self.session_of(&request);
        let released = session.release_lease(LeaseId(request.into_inner().lease_id)).await?;
        Ok(convert::lease_released(released))
    }
}

/// Drops lines from the top until the rest fits.
fn keep_newest(lines: &mut Vec<String>, limit_bytes: usize) {
    let mut bytes = 0;
    let fits = lines.iter().rev().take_while(|line| {
        bytes += line.len() + 1;
        bytes <= limit_bytes
    });
    let dropped = lines.len() - fits.count();
    lines.drain(..dropped);
}

impl Service {
    /// The session, for commands of this request's caller.
    pub(super) fn session_of<T>(&self, request: &Request<T>) -> Session {
        self.session.by(Caller::of(request.extensions()).by)
    }
}

/// The lease that the caller names, in metadata over gRPC and in a header over HTTP.
pub(super) fn lease_of<T>(request: &Request<T>) -> Option<LeaseId> {
    let value = request.metadata().get(LEASE_HEADER)?.to_str().ok()?;
    Some(LeaseId(value.to_owned()))
}
