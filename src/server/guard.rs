//! The one auth layer, under every transport and before every handler.
//!
//! In this order: Host (against DNS rebinding), Origin (against other sites' scripts), token,
//! scope. A path that is not known here needs a token, so a new route is closed until the proto
//! says otherwise.

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

use super::cors;
use super::origin::{Authority, Origin};
use super::page;
use super::peer::{Door, Peer};
use super::tokens::Tokens;
use crate::error::{Code, Error};
use crate::gateway::{ROUTES, Route, Rpc, Streaming, refusal};
use crate::service::{Caller, Level};

/// Where the WebSocket lives.
pub const WS_PATH: &str = "/ws";
/// By this header the agent's hooks show that they come from inside the session.
pub const NONCE_HEADER: HeaderName = HeaderName::from_static("coop-hook-nonce");
/// A browser's WebSocket can set no header and offers its token as a subprotocol instead.
const BEARER_PROTOCOL: &str = "coop.bearer.";

/// What the guard goes by.
#[derive(Debug)]
pub struct Policy {
    pub tokens: Tokens,
    /// Client certificates are asked for, so whoever has neither one nor a token is nobody.
    pub certificates: bool,
    pub allow_hosts: Vec<String>,
    pub allow_origins: Vec<Origin>,
    pub hook_nonce: String,
}

impl Policy {
    /// How far a token reaches. Where none is needed, any will do.
    pub fn authenticate(&self, token: &str) -> Option<Level> {
        if self.needs_nothing() { Some(Level::Admin) } else { self.tokens.check(token) }
    }

    fn needs_nothing(&self) -> bool {
        self.tokens.is_empty() && !self.certificates
    }
}

/// The layer itself.
pub async fn guard(State(policy): State<Arc<Policy>>, mut request: Request, next: Next) -> Response {
    let foreign = match check_origins(&policy, &request) {
        Ok(foreign) => foreign,
        Err(error) => return refuse(request.headers(), error),
    };
    // The browser asks in its own name, without the page's token.
    let preflight = request.method() == Method::OPTIONS && foreign.is_some();
    let response = match admit(&policy, &mut request) {
        _ if preflight => StatusCode::NO_CONTENT.into_response(),
        Ok(()) => next.run(request).await,
        Err(error) => refuse(request.headers(), error),
    };
    cors::allow(response, foreign)
}

/// Whether the request may come from where it does, by the name it does. Answers the foreign origin
/// it comes from, if it comes from one that is allowed.
fn check_origins(policy: &Policy, request: &Request) -> Result<Option<Origin>, Error> {
    let host = check_host(policy, &peer(request)?, request)?;
    check_origin(policy, host.as_ref(), request.headers())
}

/// Lets a request in with its [`Caller`] attached, or says why not.
fn admit(policy: &Policy, request: &mut Request) -> Result<(), Error> {
    let wish = Wish::of(request);
    let shown = shown_token(request, wish);
    let caller = identify(policy, &peer(request)?, shown.as_deref(), request.headers(), wish)?;
    caller.permits(wish.scope)?;
    request.extensions_mut().insert(caller);
    Ok(())
}

fn peer(request: &Request) -> Result<Peer, Error> {
    let peer = request.extensions().get::<Peer>().cloned();
    peer.ok_or_else(|| Error::new(Code::Internal, "the connection is unknown"))
}

/// What a request is about, as far as its path tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wish {
    /// What it takes to be let through to the handler.
    scope: Scope,
    /// A browser can set no header here, so a token in the query is accepted.
    query_token: bool,
}

impl Wish {
    fn of(request: &Request) -> Self {
        let (verb, path) = (request.method(), request.uri().path());
        let rpc = Rpc::from_path(path).or_else(|| route_of(verb, path)).map(Rpc::method);
        match rpc {
            Some(rpc) => Self {
                scope: rpc.scope,
                query_token: rpc.streaming == Streaming::Server && verb == Method::GET,
            },
            // The socket waits for its token by itself, and asks for the scope of every frame.
            None if path == WS_PATH => Self { scope: Scope::Exempt, query_token: true },
            None if path.starts_with("/grpc.health.v1.Health/") || page::PATHS.contains(&path) => {
                Self { scope: Scope::Exempt, query_token: false }
            }
            None => Self { scope: Scope::Read, query_token: false },
        }
    }
}

/// The RPC behind an HTTP path. A verb that it does not have is judged like its strictest one.
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
            (Some(want), Some(have)) if want == have || (want.starts_with('{') && !have.is_empty()) => {}
            (None | Some(_), None | Some(_)) => return false,
        }
    }
}

/// The token that a request shows. One that cannot be read is empty, and so a wrong one.
fn shown_token(request: &Request, wish: Wish) -> Option<String> {
    let headers = request.headers();
    if let Some(value) = headers.get(AUTHORIZATION) {
        return Some(bearer(value).unwrap_or_default().to_owned());
    }
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut offered = offered.flat_map(|list| list.split(',')).map(str::trim);
    if let Some(encoded) = offered.find_map(|protocol| protocol.strip_prefix(BEARER_PROTOCOL)) {
        let token = URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).unwrap_or_default();
        return Some(String::from_utf8(token).unwrap_or_default());
    }
    let query = request.uri().query().filter(|_| wish.query_token)?;
    form_urlencoded::parse(query.as_bytes())
        .find_map(|(key, value)| (key == "token").then(|| value.into_owned()))
}

fn bearer(authorization: &HeaderValue) -> Option<&str> {
    let (scheme, token) = authorization.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn wrong_token() -> Error {
    Error::new(Code::Unauthorized, "this token is not known here")
}

/// The host that a request names, if it may be called by that name.
fn check_host(policy: &Policy, peer: &Peer, request: &Request) -> Result<Option<Authority>, Error> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = match (request.uri().authority(), hosts.next(), hosts.next()) {
        (Some(authority), _, _) => Some(authority.as_str()),
        (None, Some(host), None) => host.to_str().ok(),
        // No name, or two: whoever stands before coop may have gone by the other one.
        (None, _, _) => None,
    };
    let host = named.and_then(Authority::parse);
    match (&host, peer.door) {
        (_, Door::Unix | Door::Private) => Ok(host),
        (Some(known), Door::Tcp { .. })
            if known.cannot_be_rebound()
                || policy.allow_hosts.iter().any(|name| known.is_host(name))
                || knows_a_token(policy, request.headers()) =>
        {
            Ok(host)
        }
        (Some(_) | None, Door::Tcp { .. }) => Err(Error::new(
            Code::Forbidden,
            format!(
                "the Host {:?} is neither localhost nor an address; allow it with --allow-host",
                named.unwrap_or_default()
            ),
        )),
    }
}

/// No other site's script can send this header without being asked first, so it vouches for the name.
fn knows_a_token(policy: &Policy, headers: &HeaderMap) -> bool {
    let token = headers.get(AUTHORIZATION).and_then(bearer);
    token.is_some_and(|token| policy.tokens.check(token).is_some())
}

/// The foreign origin that is allowed to call, or none if the call is no script's or our own's.
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
        Some(origin) if policy.allow_origins.iter().any(|allowed| origin.equals(allowed)) => Ok(Some(origin)),
        Some(_) | None => Err(Error::new(
            Code::Forbidden,
            format!("pages from {text:?} may not call this coop; allow them with --allow-origin"),
        )),
    }
}

/// Who calls. A wrong token is refused even where none is needed for this call, except where none
/// ever is.
fn identify(
    policy: &Policy,
    peer: &Peer,
    shown: Option<&str>,
    headers: &HeaderMap,
    wish: Wish,
) -> Result<Caller, Error> {
    let vouched_for = match peer.door {
        Door::Tcp { certified } => certified || policy.needs_nothing(),
        // Nobody can show a certificate there. The file's mode lets in the owner alone, who needs a
        // token only if there are any.
        Door::Unix | Door::Private => policy.tokens.is_empty(),
    };
    let level = match shown {
        _ if vouched_for => Level::Admin,
        None => Level::Nobody,
        Some(token) => match policy.tokens.check(token) {
            Some(level) => level,
            None if wish.scope == Scope::Exempt && !wish.query_token => Level::Nobody,
            None => return Err(wrong_token()),
        },
    };
    let nonce = headers.get(NONCE_HEADER).map(HeaderValue::as_bytes);
    let knows_nonce = nonce.is_some_and(|shown| bool::from(shown.ct_eq(policy.hook_nonce.as_bytes())));
    Ok(Caller { from: Arc::clone(&peer.from), level, inside: peer.door == Door::Private || knows_nonce })
}

/// The refusal in the words of the protocol that the request speaks.
fn refuse(headers: &HeaderMap, error: Error) -> Response {
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
