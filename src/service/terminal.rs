//! Reading from and writing to the terminal: check what was asked, ask the session, answer.

use std::time::Duration;

use coop_client::v1;
use tonic::Request;

use super::caller::Caller;
use super::convert::{self, Format};
use super::{Service, number};
use crate::error::{Code, Error};
use crate::pty::{Exit, Signal};
use crate::session::command::Typing;
use crate::session::lease::{self, LeaseId};
use crate::session::page::{PageRequest, PageStart};
use crate::term::{Key, LineNumber, Offset};

/// The most bytes of raw output in one reply, and what a reply holds unless asked otherwise.
const OUTPUT_LIMIT: i32 = 1 << 20;
const OUTPUT_DEFAULT: i32 = 64 << 10;
/// The most bytes of text in one page.
const PAGE_LIMIT: i32 = 2 << 20;

impl Service {
    pub(super) fn health(&self) -> v1::GetHealthResponse {
        let snapshot = self.session.snapshot();
        v1::GetHealthResponse {
            status: snapshot.process.as_str().to_owned(),
            pid: snapshot.process.pid(),
            uptime_secs: self.uptime_secs(),
            agent: self.about.agent.clone(),
            ws_clients: self.clients.count(),
            terminal: Some(convert::terminal_size(snapshot.size)),
            ready: snapshot.ready(),
            session_id: self.about.session_id.clone(),
            version: self.about.version.to_owned(),
            epoch: self.session.epoch_ms(),
        }
    }

    pub(super) fn ready(&self) -> Result<v1::GetReadyResponse, Error> {
        if self.session.snapshot().ready() {
            Ok(v1::GetReadyResponse { ready: true })
        } else {
            Err(Error::new(Code::NotReady, "the child is not up, or its agent is still starting"))
        }
    }

    pub(super) async fn screen(&self, request: v1::GetScreenRequest) -> Result<v1::GetScreenResponse, Error> {
        let format = Format::try_from(request.format)?;
        let view = self.session.view().await?;
        let with_cursor = request.include_cursor || request.cursor.unwrap_or(true);
        Ok(convert::screen_response(&view, format, with_cursor, self.session.epoch_ms()))
    }

    pub(super) async fn screen_text(
        &self,
        request: v1::GetScreenTextRequest,
    ) -> Result<v1::GetScreenTextResponse, Error> {
        if request.scrollback {
            self.supports("get_scrollback")?;
        }
        let last = number("lines", request.lines.unwrap_or(0), 0..=i32::MAX)?;
        let start = match (request.scrollback, last) {
            (false, _) => PageStart::Last(0),
            (true, 0) => PageStart::Oldest,
            (true, last) => PageStart::Last(last),
        };
        let page = PageRequest { start, ansi: false, limit_bytes: usize::MAX };
        let page = self.session.scrollback(page).await?;
        let mut lines = page.lines;
        lines.extend(page.screen.lines().map(str::to_owned));
        if last > 0 {
            // The rows below the last text are no lines anybody would count.
            let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |row| row + 1);
            lines.truncate(end);
            lines.drain(..end.saturating_sub(last));
        }
        keep_newest(&mut lines, PAGE_LIMIT as usize);
        let text = lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect();
        Ok(v1::GetScreenTextResponse { text })
    }

    pub(super) async fn scrollback(
        &self,
        request: v1::GetScrollbackRequest,
    ) -> Result<v1::GetScrollbackResponse, Error> {
        let format = Format::try_from(request.format)?;
        let limit_bytes = number("limit_bytes", request.limit_bytes.unwrap_or(PAGE_LIMIT), 1..=PAGE_LIMIT)?;
        let start = match (request.from_line, request.last) {
            (Some(line), _) => PageStart::Line(LineNumber(line)),
            (None, Some(last)) => PageStart::Last(number("last", last, 0..=i32::MAX)?),
            (None, None) => PageStart::Oldest,
        };
        let page = PageRequest { start, ansi: format == Format::Ansi, limit_bytes };
        let page = self.session.scrollback(page).await?;
        Ok(convert::scrollback_response(page, self.session.epoch_ms()))
    }

    pub(super) fn output(&self, request: &v1::GetOutputRequest) -> Result<v1::GetOutputResponse, Error> {
        let limit = number("limit", request.limit.unwrap_or(OUTPUT_DEFAULT), 1..=OUTPUT_LIMIT)?;
        let log = self.session.output();
        let from = self.offset_within(request.offset)?;
        let slice = log.read_joined(from, limit);
        Ok(v1::GetOutputResponse {
            offset: slice.offset.0,
            next_offset: slice.next().0,
            data: slice.data,
            total_written: log.head().offset().0,
            epoch: self.session.epoch_ms(),
        })
    }

    /// An offset that has been reached; 0 means the oldest kept.
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
        let snapshot = self.session.snapshot();
        let exit = snapshot.process.exit();
        v1::GetStatusResponse {
            state: snapshot.process.as_str().to_owned(),
            pid: snapshot.process.pid(),
            uptime_secs: self.uptime_secs(),
            exit_code: exit.and_then(Exit::code),
            screen_seq: snapshot.screen_seq.0,
            bytes_read: snapshot.bytes_read,
            bytes_written: snapshot.bytes_written,
            ws_clients: self.clients.count(),
            exit_signal: exit.and_then(Exit::signal),
            agent_state: snapshot.agent.state().as_str().to_owned(),
            cwd: snapshot.recipe.cwd.to_string_lossy().into_owned(),
            command: snapshot.recipe.command(),
            labels: self.about.labels.clone(),
            last_output_epoch_ms: snapshot.last_output_epoch_ms,
            last_input_epoch_ms: snapshot.last_input_epoch_ms,
            generation: snapshot.generation.0,
            epoch: self.session.epoch_ms(),
            session_id: self.about.session_id.clone(),
            name: self.about.name.clone(),
            event_seq: snapshot.event_seq.0,
            backend: self.about.backend.as_str().to_owned(),
            unsupported: owned(self.about.backend.unsupported()),
            degraded: owned(self.about.backend.degraded()),
        }
    }

    pub(super) async fn input(
        &self,
        request: Request<v1::SendInputRequest>,
    ) -> Result<v1::SendInputResponse, Error> {
        let lease = shown_lease(&request);
        let v1::SendInputRequest { text, enter } = request.into_inner();
        let bytes_written = self.type_in(Typing::Text { text, enter }, lease).await?;
        Ok(v1::SendInputResponse { bytes_written })
    }

    pub(super) async fn input_raw(
        &self,
        request: Request<v1::SendInputRawRequest>,
    ) -> Result<v1::SendInputRawResponse, Error> {
        let lease = shown_lease(&request);
        let bytes_written = self.type_in(Typing::Raw(request.into_inner().data), lease).await?;
        Ok(v1::SendInputRawResponse { bytes_written })
    }

    pub(super) async fn keys(
        &self,
        request: Request<v1::SendKeysRequest>,
    ) -> Result<v1::SendKeysResponse, Error> {
        let lease = shown_lease(&request);
        let keys = request.get_ref().keys.iter().map(|name| Key::parse(name)).collect::<Result<_, _>>();
        let keys = keys.map_err(|unknown| Error::bad_request(unknown.to_string()))?;
        let bytes_written = self.type_in(Typing::Keys(keys), lease).await?;
        Ok(v1::SendKeysResponse { bytes_written })
    }

    async fn type_in(&self, typing: Typing, lease: Option<LeaseId>) -> Result<i32, Error> {
        let written = self.session.type_in(typing, lease).await?;
        Ok(i32::try_from(written).unwrap_or(i32::MAX))
    }

    pub(super) async fn set_size(
        &self,
        request: Request<v1::ResizeRequest>,
    ) -> Result<v1::ResizeResponse, Error> {
        let lease = shown_lease(&request);
        let v1::ResizeRequest { cols, rows } = request.into_inner();
        self.session.resize(convert::size_from_wire(cols, rows)?, lease).await?;
        Ok(v1::ResizeResponse { cols, rows })
    }

    pub(super) async fn signal(
        &self,
        request: &v1::SendSignalRequest,
    ) -> Result<v1::SendSignalResponse, Error> {
        let signal = request.signal.parse::<Signal>();
        let signal = signal.map_err(|unknown| Error::bad_request(unknown.to_string()))?;
        self.session.signal(signal).await?;
        Ok(v1::SendSignalResponse { delivered: true })
    }

    pub(super) async fn take_lease(
        &self,
        request: Request<v1::AcquireLeaseRequest>,
    ) -> Result<v1::AcquireLeaseResponse, Error> {
        let shown = shown_lease(&request);
        let from = Caller::of(request.extensions()).from.to_string();
        let v1::AcquireLeaseRequest { ttl_ms, holder } = request.into_inner();
        let ttl = lease_ttl(ttl_ms)?;
        let granted = self.session.acquire_lease(shown, holder.unwrap_or(from), ttl).await?;
        Ok(v1::AcquireLeaseResponse {
            lease_id: granted.id.0,
            expires_at_epoch_ms: granted.expires_at_epoch_ms,
        })
    }

    pub(super) async fn end_lease(
        &self,
        request: v1::ReleaseLeaseRequest,
    ) -> Result<v1::ReleaseLeaseResponse, Error> {
        let released = self.session.release_lease(LeaseId(request.lease_id)).await?;
        Ok(v1::ReleaseLeaseResponse { released })
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
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

/// The lease that a caller shows, in metadata over gRPC and as a header over HTTP.
pub(super) fn shown_lease<T>(request: &Request<T>) -> Option<LeaseId> {
    let value = request.metadata().get("coop-lease")?.to_str().ok()?;
    Some(LeaseId(value.to_owned()))
}

pub(super) fn lease_ttl(ttl_ms: Option<i32>) -> Result<Duration, Error> {
    let ttl = match ttl_ms {
        None => lease::DEFAULT_TTL,
        Some(ms) => Duration::from_millis(u64::try_from(ms).unwrap_or(0)),
    };
    if lease::TTL_RANGE.contains(&ttl) {
        Ok(ttl)
    } else {
        Err(Error::bad_request("ttl_ms must be from 1000 to 300000"))
    }
}
