//! How an HTTP request becomes a WebSocket. Whatever is wrong is refused here, while it can still
//! be said in HTTP.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use hyper::upgrade::OnUpgrade;
use tokio::sync::OwnedSemaphorePermit;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::Settings;
use super::connection::{Connection, Entry};
use super::socket;
use super::topic::Topics;
use crate::error::{Code, Error};
use crate::service::{Caller, Level, Service};

/// The one subprotocol. A token may be offered beside it and is never repeated.
const PROTOCOL: &str = "coop.v1";

pub fn upgrade(service: Service, settings: Settings, mut request: Request) -> Result<Response, Error> {
    let topics = Topics::from_query(request.uri().query().unwrap_or_default())?;
    let accept = accept_key(&request)?;
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let upgrade = upgrade.ok_or_else(|| Error::bad_request("this connection cannot be upgraded"))?;
    let caller = Caller::of(request.extensions());
    let entry = match caller.level {
        Level::Nobody => Entry::Unproven(place(&settings)?),
        Level::Read | Level::Respond | Level::Write | Level::Admin => Entry::Proven,
    };
    let response = switching(request.headers(), accept)?;
    let shown_lease =
        request.headers().get("coop-lease").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let tracker = settings.tracker.clone();
    let connection = Connection { service, settings, caller, topics, shown_lease };
    tracker.spawn(async move {
        match upgrade.await {
            Ok(upgraded) => connection.run(socket::open(upgraded).await, entry).await,
            Err(error) => tracing::debug!(%error, "a WebSocket client left during the upgrade"),
        }
    });
    Ok(response)
}

fn place(settings: &Settings) -> Result<OwnedSemaphorePermit, Error> {
    settings.unauthenticated.clone().try_acquire_owned().map_err(|_| {
        Error::new(Code::TooLarge, "too many sockets have yet to show their token; send it with the upgrade")
    })
}

/// What proves to the client that its request was understood.
fn accept_key(request: &Request) -> Result<String, Error> {
    let headers = request.headers();
    let wanted = request.method() == Method::GET
        && lists(headers, header::CONNECTION, "upgrade")
        && lists(headers, header::UPGRADE, "websocket");
    if !wanted {
        return Err(Error::bad_request("this path is a WebSocket: ask for the upgrade"));
    }
    if !lists(headers, header::SEC_WEBSOCKET_VERSION, "13") {
        return Err(Error::bad_request("the WebSocket version is 13"));
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let key = key.ok_or_else(|| Error::bad_request("Sec-WebSocket-Key is missing"))?;
    Ok(derive_accept_key(key.as_bytes()))
}

fn switching(offered: &HeaderMap, accept: String) -> Result<Response, Error> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    let accept =
        HeaderValue::try_from(accept).map_err(|error| Error::new(Code::Internal, error.to_string()))?;
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if lists(offered, header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL) {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Ok(response)
}

/// Whether a header's comma list, in one line or several, has this word.
fn lists(headers: &HeaderMap, name: header::HeaderName, word: &str) -> bool {
    let values =
        headers.get_all(name).into_iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    values.into_iter().any(|value| value.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}
