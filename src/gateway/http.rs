//! HTTP/JSON: an axum router made of the route table, and the way of one request through it.
//!
//! Who may call is decided before a request comes here; what a call does, behind `dispatch`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body as HttpBody, HttpBody as _};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderValue, StatusCode, header, request};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter};
use bytes::{Bytes, BytesMut};
use coop_client::v1::coop_server::Coop;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http_body_util::BodyExt as _;
use tokio::time::timeout;
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::call::{Call, Input, Item, Payload, Reply, Shape};
use super::generated::{ROUTES, dispatch};
use super::refusal::{method_not_allowed, refusal};
use super::table::{Body, Method, Route, Verb};
use super::{params, sse};
use crate::error::{Code, Error};

/// The most bytes that a request's body may have.
pub const BODY_LIMIT: usize = 16 * 1024 * 1024;
/// How long the sender of a body may pause before it counts as gone.
const BODY_PAUSE: Duration = Duration::from_secs(30);

/// Every route of the table over one service. Unknown paths are left to whoever nests it.
pub fn router<S: Coop>(service: Arc<S>) -> Router {
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let service = Arc::clone(&service);
        let handler = move |params: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
            let service = Arc::clone(&service);
            async move { serve(&*service, route, params, request).await }
        };
        let path = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, path.on(filter(route.verb), handler));
    }
    paths
        .into_iter()
        .fold(Router::new(), |router, (path, verbs)| router.route(path, verbs.fallback(method_not_allowed)))
}

fn filter(verb: Verb) -> MethodFilter {
    match verb {
        Verb::Get => MethodFilter::GET,
        Verb::Put => MethodFilter::PUT,
        Verb::Post => MethodFilter::POST,
        Verb::Delete => MethodFilter::DELETE,
        Verb::Patch => MethodFilter::PATCH,
    }
}

async fn serve<S: Coop>(
    service: &S,
    route: &'static Route,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    match answer(service, route, path, request).await {
        Ok(response) => response,
        Err(error) => refusal(&error),
    }
}

async fn answer<S: Coop>(
    service: &S,
    route: &'static Route,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Response, Error> {
    let method = route.rpc.method();
    let (parts, body) = request.into_parts();
    let mut fields = fields(route, path, &parts)?;
    match sse::Cursor::of(method, &parts.headers) {
        // This is how a browser's EventSource is told to stop reconnecting.
        Some(sse::Cursor::End) => return Ok(empty(StatusCode::NO_CONTENT)),
        Some(sse::Cursor::After(position)) => position.resume(method, &mut fields),
        None => {}
    }
    let input = match route.body {
        Body::None => Input::Empty,
        Body::Whole => Input::Message(read_body(body).await?),
        Body::Field(field) => Input::Field(field, read_body(body).await?),
    };
    let call = Call {
        input,
        params: fields,
        shape: Shape::Http,
        metadata: MetadataMap::from_headers(parts.headers),
        extensions: parts.extensions,
    };
    match dispatch(service, route.rpc, call).await.map_err(|status| Error::from(&status))? {
        Reply::Unary(payload) => Ok(unary(route, method, payload)),
        Reply::Stream(items) => match method.content_type {
            Some(content_type) => download(content_type, items).await,
            None => sse::response(items).await,
        },
    }
}

/// The request fields that path and query give.
fn fields(
    route: &'static Route,
    path: Result<RawPathParams, RawPathParamsRejection>,
    parts: &request::Parts,
) -> Result<Vec<(&'static str, serde_json::Value)>, Error> {
    let mut fields = params::from_query(route.query, parts.uri.query().unwrap_or_default())?;
    if route.path_params.is_empty() {
        return Ok(fields);
    }
    let given =
        path.map_err(|rejection| Error::bad_request(format!("the path is not UTF-8: {rejection}")))?;
    for (name, text) in &given {
        if let Some(param) = route.path_params.iter().find(|param| param.name == name) {
            fields.push((param.name, params::typed(param, text)?));
        }
    }
    Ok(fields)
}

/// The whole body, or TOO_LARGE, or TIMEOUT if its sender stops half way.
async fn read_body(mut body: HttpBody) -> Result<Bytes, Error> {
    // Before the first look at it, so that a sender who waits for `100 Continue` need not send it.
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > BODY_LIMIT {
        return Err(too_large());
    }
    let mut text = BytesMut::with_capacity(announced);
    while let Some(frame) = timeout(BODY_PAUSE, body.frame()).await.map_err(|_| stalled())? {
        let frame = frame.map_err(|_| Error::bad_request("the body ended early"))?;
        let Ok(data) = frame.into_data() else { continue };
        if text.len() + data.len() > BODY_LIMIT {
            return Err(too_large());
        }
        text.extend_from_slice(&data);
    }
    Ok(text.freeze())
}

fn too_large() -> Error {
    Error::new(Code::TooLarge, format!("the body is larger than {BODY_LIMIT} bytes"))
}

fn stalled() -> Error {
    Error::new(Code::Timeout, format!("no more of the body came for {} s", BODY_PAUSE.as_secs()))
}

fn unary(route: &Route, method: &Method, payload: Payload) -> Response {
    let status = StatusCode::from_u16(route.status).unwrap_or(StatusCode::OK);
    let (content_type, body) = match payload {
        Payload::Empty => return empty(status),
        Payload::Json(body) => ("application/json", body),
        Payload::Raw(body) => (method.content_type.unwrap_or("application/octet-stream"), body),
    };
    let mut response = with_type(content_type, HttpBody::from(body));
    *response.status_mut() = status;
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn with_type(content_type: &'static str, body: HttpBody) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A raw stream as one body. An error in its middle breaks the transfer off, so that nobody takes
/// half of it for the whole.
async fn download(
    content_type: &'static str,
    items: BoxStream<'static, Result<Item, Status>>,
) -> Result<Response, Error> {
    let items = sse::opened(items).await?;
    let chunks = items.map(|item| {
        item.map(|item| match item.payload {
            Payload::Empty => Bytes::new(),
            Payload::Json(data) | Payload::Raw(data) => data,
        })
    });
    Ok(with_type(content_type, HttpBody::from_stream(chunks)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_whose_sender_stops_half_way_is_given_up() {
        let half = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"{"))]).chain(stream::pending());
        let error = read_body(HttpBody::from_stream(half)).await.expect_err("it never ends");
        assert_eq!(error.code, Code::Timeout);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_read_as_long_as_it_goes_on() {
        let pieces = stream::iter(0..5).then(async |_| {
            tokio::time::advance(BODY_PAUSE - Duration::from_secs(1)).await;
            Ok::<_, Infallible>(Bytes::from_static(b"ab"))
        });
        let text = read_body(HttpBody::from_stream(pieces)).await.expect("the whole");
        assert_eq!(text, "ababababab");
    }
}
