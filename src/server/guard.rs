//! The only auth layer: it checks every request of every transport before its handler runs.
//!
//! It checks, in this order, Host (against DNS rebinding), Origin (against scripts of other sites),
//! token and scope. An unknown path needs a token, so a new route is closed until the proto gives
//! it a scope.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use coop_client::v1::Scope;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use subtle::ConstantTimeEq as _;

use super::admission;
use super::browser;
use super::cors;
use super::health;
use super::origin::{Authority, Origin};
use super::page;
use super::peer::{Peer, Transport};
use super::tokens::TokenStore;
use crate::error::{Code, Error};
use crate::gateway::{ROUTES, Route, TOKEN_PARAMETER, refusal};
use crate::service::{Caller, Grant, Level, Rpc, Streaming, Trail};

/// The path of the WebSocket.
pub(super) const WS_PATH: &str = "/ws";
/// The header by which the agent's hooks prove that they come from inside the session.
const NONCE_HEADER: HeaderName = HeaderName::from_static("coop-hook-nonce");
/// A browser's WebSocket can set no header and offers its token as a subprotocol instead.
const BEARER_PROTOCOL: &str = "coop.bearer.";

/// The rules that the guard checks requests against.
#[derive(Debug)]
pub(crate) struct Policy {
    pub tokens: Arc<TokenStore>,
    /// Client certificates are requested, so a client needs a certificate or a token.
    pub certificates: bool,
    pub allow_hosts: Vec<String>,
    pub allow_origins: Vec<Origin>,
    pub hook_nonce: String,
}

impl Policy {
    /// What a token is good for, `None` if it is wrong.
    pub(crate) fn authenticate(&self, token: &str) -> Option<Grant> {
        self.tokens.check(token)
    }

    fn allows_anonymous(&self) -> bool {
        self.tokens.is_empty() && !self.certificates
    }

    /// What a connection is good for without a token.
    fn level_of(&self, transport: Transport) -> Level {
        match transport {
            Transport::Tcp { certificate: Some(level) } => level,
            Transport::Tcp { certificate: None } if self.allows_anonymous() => Level::Admin,
            // There are no certificates on a Unix socket. The file's mode admits its owner only,
            // who needs a token only if tokens are configured.
            Transport::Unix | Transport::Private if self.tokens.is_empty() => Level::Admin,
            Transport::Tcp { certificate: None } | Transport::Unix | Transport::Private => {
                Level::Unauthenticated
            }
        }
    }

    /// Whether the limits of strangers do not apply to a connection.
    pub(super) fn trusts(&self, transport: Transport) -> bool {
        self.level_of(transport) > Level::Unauthenticated
    }
}

/// The layer itself.
pub(super) async fn guard(
    State(policy): State<Arc<Policy>>,
    mut request: Request,
    next: Next,
) -> Response {
    let other_origin = match check_origins(&policy, &request) {
        Ok(other_origin) => other_origin,
        Err(error) => return browser::protect(refuse(request.headers(), error)),
    };
    // The browser sends a preflight request without the page's token.
    let preflight = request.method() == Method::OPTIONS && other_origin.is_some();
    let response = match admit(&policy, &mut request) {
        _ if preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
        Err(error) => turn_away(request, error).await,
    };
    browser::protect(cors::allow(response, other_origin))
}

/// Refuses a request that is not permitted. A wrong token is noted, and its answer may wait.
async fn turn_away(request: Request, error: Error) -> Response {
    let shows_a_token = request_token(&request, Access::of(&request)).is_some();
    let peer = peer(&request).ok();
    // Its body is dropped first: it must not take memory while the answer waits.
    let headers = request.into_parts().0.headers;
    if let Some(peer) = peer.filter(|_| shows_a_token && error.code == Code::Unauthorized) {
        admission::delay_wrong_token(&peer.connection).await;
    }
    refuse(&headers, error)
}

/// Checks the Host and the Origin of a request. Returns the origin if it is not coop's own, but an
/// allowed one.
fn check_origins(policy: &Policy, request: &Request) -> Result<Option<Origin>, Error> {
    let host = check_host(policy, &peer(request)?, request)?;
    let other_origin = check_origin(policy, host.as_ref(), request.headers())?;
    if other_origin.is_none() {
        browser::check_site(request)?;
    }
    Ok(other_origin)
}

/// Attaches the [`Caller`] to a request that is permitted, or returns why it is not.
fn admit(policy: &Policy, request: &mut Request) -> Result<(), Error> {
    let access = Access::of(request);
    let shown = request_token(request, access);
    let peer = peer(request)?;
    let caller = identify(policy, &peer, shown.as_deref(), request.headers(), access)?;
    Trail::identified(request.extensions(), &caller);
    caller.permits(access.scope)?;
    let trusted = caller.level > Level::Unauthenticated || caller.inside;
    let kind = admission::Kind { trusted, exempt: access.scope == Scope::Exempt };
    admission::admit(&peer.connection, request, kind)?;
    request.extensions_mut().insert(caller);
    Ok(())
}

fn peer(request: &Request) -> Result<Peer, Error> {
    let peer = request.extensions().get::<Peer>().cloned();
    peer.ok_or_else(|| Error::new(Code::Internal, "the connection has no peer"))
}

/// What a request needs, according to its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    /// The scope that the caller needs to reach the handler.
    scope: Scope,
    /// Accepts a token in the query, because a browser cannot set a header for this request.
    query_token: bool,
}

impl Access {
    fn of(request: &Request) -> Self {
        let (verb, path) = (request.method(), request.uri().path());
        match rpc_of(verb, path).map(Rpc::method) {
            Some(rpc) => Self {
                scope: rpc.scope,
                query_token: rpc.streaming == Streaming::Server && verb == Method::GET,
            },
            // The WebSocket checks its token itself, and the scope of every frame.
            None if path == WS_PATH => Self { scope: Scope::Exempt, query_token: true },
            // A stream that needs no token could be held for ever: it is for the health port.
            None if path == health::WATCH_PATH => Self { scope: Scope::Read, query_token: false },
            None if path.starts_with("/grpc.health.v1.Health/") || page::PATHS.contains(&path) => {
                Self { scope: Scope::Exempt, query_token: false }
            }
            None => Self { scope: Scope::Read, query_token: false },
        }
    }
}

/// The RPC that a path reaches, over gRPC or HTTP.
pub(super) fn rpc_of(verb: &Method, path: &str) -> Option<Rpc> {
    Rpc::from_path(path).or_else(|| route_of(verb, path))
}

/// The RPC of an HTTP path. A verb that the path does not have needs the scope of its strictest
/// one.
fn route_of(verb: &Method, path: &str) -> Option<Rpc> {
    let verb = if verb == Method::HEAD { &Method::GET } else { verb };
    let fitting = || ROUTES.iter().filter(|route| fits(route, path));
    let exact = fitting().find(|route| route.verb.as_str() == verb.as_str());
    let strictest = || fitting().max_by_key(|route| route.rpc.method().scope as i32);
    exact.or_else(strictest).map(|route| route.rpc)
}

fn fits(route: &Route, path: &str) -> bool {
    let (mut pattern, mut segments) = (route.path.split('/'), path.split('/'));
    loop {
        match (pattern.next(), segments.next()) {
            (None, None) => return true,
            (Some(want), Some(have))
                if want == have || (want.starts_with('{') && !have.is_empty()) => {}
            (None | Some(_), None | Some(_)) => return false,
        }
    }
}

/// The token of a request. A token that cannot be read is empty, and therefore wrong.
fn request_token(request: &Request, access: Access) -> Option<String> {
    let headers = request.headers();
    if let Some(value) = headers.get(AUTHORIZATION) {
        return Some(bearer(value).unwrap_or_default().to_owned());
    }
    let offered =
        headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut offered = offered.flat_map(|list| list.split(',')).map(str::trim);
    if let Some(encoded) = offered.find_map(|protocol| protocol.strip_prefix(BEARER_PROTOCOL)) {
        let token = URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).unwrap_or_default();
        return Some(String::from_utf8(token).unwrap_or_default());
    }
    let query = request.uri().query().filter(|_| access.query_token)?;
    form_urlencoded::parse(query.as_bytes())
        .find_map(|(key, value)| (key == TOKEN_PARAMETER).then(|| value.into_owned()))
}

fn bearer(authorization: &HeaderValue) -> Option<&str> {
    let (scheme, token) = authorization.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn wrong_token() -> Error {
    Error::new(Code::Unauthorized, "this token is not known here")
}

/// The host that a request names, if that name is allowed.
fn check_host(policy: &Policy, peer: &Peer, request: &Request) -> Result<Option<Authority>, Error> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = match (request.uri().authority(), hosts.next(), hosts.next()) {
        (Some(authority), _, _) => Some(authority.as_str()),
        (None, Some(host), None) => host.to_str().ok(),
        // No name, or two: a proxy before coop may have used the other one.
        (None, _, _) => None,
    };
    let host = named.and_then(Authority::parse);
    match (&host, peer.transport) {
        (_, Transport::Unix | Transport::Private) => Ok(host),
        (Some(known), Transport::Tcp { .. })
            if known.cannot_be_rebound()
                || policy.allow_hosts.iter().any(|name| known.is_host(name))
                || knows_a_token(policy, request.headers()) =>
        {
            Ok(host)
        }
        (Some(_) | None, Transport::Tcp { .. }) => Err(Error::new(
            Code::Forbidden,
            format!(
                "the Host {:?} is neither localhost nor an address; allow it with --allow-host",
                named.unwrap_or_default()
            ),
        )),
    }
}

/// Whether the request has a known token. A script of another site cannot send the header without
/// a preflight request, so the token proves that the name is not rebound.
pub(super) fn knows_a_token(policy: &Policy, headers: &HeaderMap) -> bool {
    let token = headers.get(AUTHORIZATION).and_then(bearer);
    token.is_some_and(|token| policy.tokens.check(token).is_some())
}

/// The allowed origin of a request that comes from a page of another site; `None` if it comes from
/// no script, or from coop's own page.
fn check_origin(
    policy: &Policy,
    host: Option<&Authority>,
    headers: &HeaderMap,
) -> Result<Option<Origin>, Error> {
    let Some(value) = headers.get(ORIGIN) else { return Ok(None) };
    let text = value.to_str().unwrap_or("unreadable");
    let origin = Origin::parse(text);
    match origin {
        Some(origin) if host.is_some_and(|host| origin.is_of(host)) => Ok(None),
        Some(origin) if policy.allow_origins.iter().any(|allowed| origin.equals(allowed)) => {
            Ok(Some(origin))
        }
        Some(_) | None => Err(Error::new(
            Code::Forbidden,
            format!("pages from {text:?} may not call this coop; allow them with --allow-origin"),
        )),
    }
}

/// Identifies the caller. A wrong token is rejected even if this call needs none, unless no call
/// needs one.
fn identify(
    policy: &Policy,
    peer: &Peer,
    shown: Option<&str>,
    headers: &HeaderMap,
    access: Access,
) -> Result<Caller, Error> {
    let connection = policy.level_of(peer.transport);
    let mut caller = Caller::unauthenticated(Arc::clone(&peer.from), peer.by.clone());
    caller.level = connection;
    match shown.map(|token| policy.tokens.check(token)) {
        Some(Some(grant)) if grant.level > connection => caller.accept(grant),
        Some(None)
            if connection == Level::Unauthenticated
                && (access.scope != Scope::Exempt || access.query_token) =>
        {
            return Err(wrong_token());
        }
        Some(Some(_) | None) | None => {}
    }
    let nonce = headers.get(NONCE_HEADER).map(HeaderValue::as_bytes);
    let knows_nonce =
        nonce.is_some_and(|shown| bool::from(shown.ct_eq(policy.hook_nonce.as_bytes())));
    caller.inside = peer.transport == Transport::Private || knows_nonce;
    Ok(caller)
}

/// The error as the request's protocol represents it.
pub(super) fn refuse(headers: &HeaderMap, error: Error) -> Response {
    let content_type =
        headers.get(CONTENT_TYPE).filter(|value| value.as_bytes().starts_with(b"application/grpc"));
    match content_type {
        None => refusal(&error),
        Some(content_type) => {
            let mut response = tonic::Status::from(error).into_http::<axum::body::Body>();
            response.headers_mut().insert(CONTENT_TYPE, content_type.clone());
            response
        }
    }
}
