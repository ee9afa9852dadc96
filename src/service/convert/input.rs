//! Writes, sizes and leases: requests read into the session's values, and their responses.

use std::time::Duration;

use coop_client::v1;

use crate::error::Error;
use crate::session::lease::{self, Granted};
use crate::term::Size;

pub(in crate::service) fn size_from_wire(cols: i32, rows: i32) -> Result<Size, Error> {
    // A negative number becomes 0, which is out of range too.
    let (cols, rows) = (u32::try_from(cols).unwrap_or(0), u32::try_from(rows).unwrap_or(0));
    Size::new(cols, rows).map_err(|error| Error::bad_request(error.to_string()))
}

pub(in crate::service) fn resize_response(size: Size) -> v1::ResizeResponse {
    v1::ResizeResponse { cols: size.cols().into(), rows: size.rows().into() }
}

pub(in crate::service) fn input_response(written: usize) -> v1::SendInputResponse {
    v1::SendInputResponse { bytes_written: count(written) }
}

pub(in crate::service) fn input_raw_response(written: usize) -> v1::SendInputRawResponse {
    v1::SendInputRawResponse { bytes_written: count(written) }
}

pub(in crate::service) fn keys_response(written: usize) -> v1::SendKeysResponse {
    v1::SendKeysResponse { bytes_written: count(written) }
}

fn count(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

pub(in crate::service) fn lease_ttl(ttl_ms: Option<i32>) -> Result<Duration, Error> {
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

pub(in crate::service) fn lease(granted: Granted) -> v1::AcquireLeaseResponse {
    v1::AcquireLeaseResponse {
        lease_id: granted.id.0,
        expires_at_epoch_ms: granted.expires_at_epoch_ms,
    }
}

pub(in crate::service) fn lease_released(released: bool) -> v1::ReleaseLeaseResponse {
    v1::ReleaseLeaseResponse { released }
}

pub(in crate::service) fn attach_error(error: Error) -> v1::AttachError {
    v1::AttachError { code: error.code.as_str().to_owned(), message: error.message }
}
