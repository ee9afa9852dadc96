//! HTTP/JSON: an axum router built from the route table. The guard has checked the caller before a
//! request comes here, and `dispatch` calls the RPC.

use std::collections::BTreeMap;
use std::sync::Arc;

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
use tokio::time::timeout_at;
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::call::{Call, Input, Item, Payload, Reply, Shape};
use super::generated::{ROUTES, dispatch};
use super::intake::Intake;
use super::refusal::{method_not_allowed, refusal};
use super::route::{Body, Route, Verb};
use super::{params, sse};
use crate::error::Error;
use crate::service::Method;

/// The router of every route in the table. The caller adds a fallback for unknown paths.
pub fn router<S: Coop>(service: Arc<S>) -> Router {
    let mut paths: BTreeMap<&str, MethodRouter> = BTreeMap::new();
    for route in &ROUTES {
        let service = Arc::clone(&service);
        let handler = move |params: Result<RawPathParams, RawPathParamsRejection>,
                            request: Request| {
            let service = Arc::clone(&service);
            async move { serve(&*service, route, params, request).await }
        };
        let path = paths.remove(route.path).unwrap_or_default();
        paths.insert(route.path, path.on(filter(route.verb), handler));
    }
    paths.into_iter().fold(Router::new(), |router, (path, verbs)| {
        router.route(path, verbs.fallback(method_not_allowed))
    })
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
    match call(service, route, path, request).await {
        Ok(response) => response,
        Err(error) => refusal(&error),
    }
}

async fn call<S: Coop>(
    service: &S,
    route: &'static Route,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Response, Error> {
    let method = route.rpc.method();
    let (parts, body) = request.into_parts();
    let mut fields = fields(route, path, &parts)?;
    match sse::Cursor::of(method, &parts.headers) {
        // On 204 a browser's EventSource stops reconnecting.
        Some(sse::Cursor::End) => return Ok(empty(StatusCode::NO_CONTENT)),
        Some(sse::Cursor::After(position)) => position.resume(method, &mut fields),
        None => {}
    }
    let intake = Intake::of(&parts.extensions);
    let input = match route.body {
        Body::None => Input::Empty,
        Body::Whole => Input::Message(read_body(body, &intake).await?),
        Body::Field(field) => Input::Field(field, read_body(body, &intake).await?),
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

/// The request fields from path and query.
fn fields(
    route: &'static Route,
    path: Result<RawPathParams, RawPathParamsRejection>,
    parts: &request::Parts,
) -> Result<Vec<(&'static str, serde_json::Value)>, Error> {
    let mut fields = params::from_query(route.query, parts.uri.query().unwrap_or_default())?;
    if route.path_params.is_empty() {
        return Ok(fields);
    }
    let given = path
        .map_err(|rejection| Error::bad_request(format!("the path is not UTF-8: {rejection}")))?;
    for (name, text) in &given {
        if let Some(param) = route.path_params.iter().find(|param| param.name == name) {
            fields.push((param.name, params::typed(param, text)?));
        }
    }
    Ok(fields)
}

/// Reads the whole body. Fails with TOO_LARGE if it is over the limit or the budget has no room, or
/// with TIMEOUT if the sender stops.
async fn read_body(mut body: HttpBody, intake: &Intake) -> Result<Bytes, Error> {
    // Checked before the body is polled, so that a client that waits for `100 Continue` never sends
    // it.
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut share = intake.take(announced).await?;
    let mut text = BytesMut::new();
    let next = async |body: &mut HttpBody| timeout_at(intake.deadline(), body.frame()).await;
    while let Some(frame) = next(&mut body).await.map_err(|_| intake.stalled())? {
        let frame = frame.map_err(|_| Error::bad_request("the body ended early"))?;
        let Ok(data) = frame.into_data() else { continue };
        let size = text.len() + data.len();
        if size > intake.limit() {
            return Err(intake.too_large());
        }
        share.grow(size)?;
        if text.is_empty() {
            text.reserve(announced);
        }
        text.extend_from_slice(&data);
    }
    Ok(text.freeze())
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

/// A raw stream as one body. An error in its middle aborts the transfer, so that the client sees
/// that it is incomplete.
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
    use std::time::Duration;

    use futures_util::stream;
    use http::Extensions;

    use super::super::intake::{InputBudget, PAUSE, STRANGER_MESSAGE_TIME};
    use super::*;
    use crate::error::Code;

    fn trusted() -> Intake {
        Intake::of(&Extensions::new())
    }

    fn stranger() -> Intake {
        Intake::new(Arc::new(InputBudget::default()), false, 4096)
    }

    fn slow(pause: Duration) -> HttpBody {
        HttpBody::from_stream(stream::iter(0..5).then(move |_| async move {
            tokio::time::advance(pause).await;
            Ok::<_, Infallible>(Bytes::from_static(b"ab"))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_whose_sender_stops_fails_with_timeout() {
        for intake in [trusted(), stranger()] {
            let half = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"{"))])
                .chain(stream::pending());
            let body = HttpBody::from_stream(half);
            let error = read_body(body, &intake).await.expect_err("it never ends");
            assert_eq!(error.code, Code::Timeout);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_read_to_its_end() {
        let pause = PAUSE - Duration::from_secs(1);
        let text = read_body(slow(pause), &trusted()).await.expect("the whole");
        assert_eq!(text, "ababababab");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_token_the_whole_body_has_one_deadline() {
        let body = slow(STRANGER_MESSAGE_TIME / 4);
        let error = read_body(body, &stranger()).await.expect_err("too slow");
        assert_eq!(error.code, Code::Timeout);
        let body = slow(STRANGER_MESSAGE_TIME / 8);
        assert_eq!(read_body(body, &stranger()).await.expect("in time"), "ababababab");
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_with_and_without_its_length() {
        let whole = HttpBody::from(vec![b' '; 4097]);
        assert_eq!(read_body(whole, &stranger()).await.expect_err("long").code, Code::TooLarge);
        let chunks = stream::iter((0..5).map(|_| Ok::<_, Infallible>(Bytes::from(vec![0; 1024]))));
        let chunked = HttpBody::from_stream(chunks);
        assert_eq!(read_body(chunked, &stranger()).await.expect_err("long").code, Code::TooLarge);
    }
}
