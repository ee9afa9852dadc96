//! Turns an HTTP request into a WebSocket. Errors before the upgrade are HTTP responses.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use coop_client::LEASE_HEADER;
use hyper::upgrade::OnUpgrade;
use tokio::sync::OwnedSemaphorePermit;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::super::intake::{Intake, Share};
use super::super::refusal::refusal;
use super::connection::{Connection, Entry};
use super::frame_meter::UNAUTHENTICATED_LIMIT;
use super::socket;
use super::topic::Topics;
use super::{Authentication, Settings};
use crate::error::{Code, Error};
use crate::service::{Caller, Level, Service};

/// The only version of the protocol, and the length of a client's key.
const VERSION: &str = "13";
const KEY_BYTES: usize = 16;
/// The only subprotocol. A client may offer a token beside it, which is never sent back.
const PROTOCOL: &str = "coop.v1";

pub(super) fn upgrade(
    service: Service,
    settings: Settings,
    mut request: Request,
) -> Result<Response, Error> {
    let topics = Topics::from_query(request.uri().query().unwrap_or_default())?;
    check_upgrade(&request)?;
    if !lists(request.headers(), header::SEC_WEBSOCKET_VERSION, VERSION) {
        return Ok(other_version());
    }
    let accept = accept_key(request.headers())?;
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let upgrade =
        upgrade.ok_or_else(|| Error::bad_request("this connection cannot be upgraded"))?;
    let caller = Caller::of(request.extensions());
    let intake = Intake::of(request.extensions());
    let entry = match caller.level {
        Level::Unauthenticated => Entry::Unauthenticated {
            _slot: waiting_slot(&settings)?,
            _share: waiting_share(&intake)?,
            authentication: request.extensions_mut().remove::<Arc<dyn Authentication>>(),
        },
        Level::Read | Level::Respond | Level::Write | Level::Admin => Entry::Authenticated,
    };
    let response = switching(request.headers(), accept)?;
    let lease = request
        .headers()
        .get(LEASE_HEADER)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let tracker = settings.tracker.clone();
    let connection = Connection { service, settings, caller, topics, lease };
    tracker.spawn(async move {
        match upgrade.await {
            Ok(upgraded) => connection.run(socket::open(upgraded, intake).await, entry).await,
            Err(error) => tracing::debug!(%error, "a WebSocket client left during the upgrade"),
        }
    });
    Ok(response)
}

fn waiting_slot(settings: &Settings) -> Result<OwnedSemaphorePermit, Error> {
    settings.unauthenticated.clone().try_acquire_owned().map_err(|_| too_many_waiting())
}

/// What the client may send before its token comes from the budget of unfinished input.
fn waiting_share(intake: &Intake) -> Result<Share, Error> {
    intake.try_take(UNAUTHENTICATED_LIMIT).ok_or_else(too_many_waiting)
}

fn too_many_waiting() -> Error {
    Error::new(
        Code::TooLarge,
        "too many sockets are waiting for their token; send it with the upgrade",
    )
}

fn check_upgrade(request: &Request) -> Result<(), Error> {
    let headers = request.headers();
    let wanted = request.method() == Method::GET
        && lists(headers, header::CONNECTION, "upgrade")
        && lists(headers, header::UPGRADE, "websocket");
    if wanted {
        Ok(())
    } else {
        Err(Error::bad_request("this path is a WebSocket: send an upgrade request"))
    }
}

/// The response to another version of the protocol names the one that coop speaks.
fn other_version() -> Response {
    let error = Error::bad_request(format!("the WebSocket version is {VERSION}"));
    let mut response = refusal(&error);
    *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
    let headers = response.headers_mut();
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    response
}

/// The value of `Sec-WebSocket-Accept`.
fn accept_key(headers: &HeaderMap) -> Result<String, Error> {
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let key = key.ok_or_else(|| Error::bad_request("Sec-WebSocket-Key is missing"))?;
    let decoded = BASE64_STANDARD.decode(key.as_bytes()).unwrap_or_default();
    if decoded.len() != KEY_BYTES {
        let message = format!("Sec-WebSocket-Key is not the base64 of {KEY_BYTES} bytes");
        return Err(Error::bad_request(message));
    }
    Ok(derive_accept_key(key.as_bytes()))
}

fn switching(offered: &HeaderMap, accept: String) -> Result<Response, Error> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    let accept = HeaderValue::try_from(accept)
        .map_err(|error| Error::new(Code::Internal, error.to_string()))?;
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if lists(offered, header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL) {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Ok(response)
}

/// Whether a header's comma-separated list, in one line or several, contains this word.
fn lists(headers: &HeaderMap, name: header::HeaderName, word: &str) -> bool {
    let values = headers
        .get_all(name)
        .into_iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    values.into_iter().any(|value| value.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}
