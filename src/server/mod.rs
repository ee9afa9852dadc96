//! Doors and the guard behind them: listeners, TLS, limits, auth, and the routers that are served
//! on each. What a call means is no business of anything here.

mod cors;
mod grpc;
mod guard;
mod health;
mod leftover;
mod listen;
mod origin;
mod page;
mod peer;
mod place;
mod serve;
mod tls;
mod tokens;

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};
use coop_client::v1::coop_server::CoopServer;
use http::header::CONTENT_TYPE;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use tonic::service::Routes;
use tonic_web::GrpcWebLayer;

pub use self::guard::Policy;
pub use self::listen::{BindError, UnixDoor, tcp};
pub use self::origin::Origin;
pub use self::peer::Door;
pub use self::serve::{Listener, Server};
pub use self::tls::{TlsError, TlsFiles, acceptor};
pub use self::tokens::{BadTokens, Tokens};
use crate::error::{Code, Error};
use crate::gateway::{self, ws};
use crate::service::Service;

/// The largest gRPC message either way.
const MESSAGE_LIMIT: usize = 16 << 20;
/// How many WebSockets may wait for their token at once.
const UNAUTHENTICATED: usize = 64;

/// What is served where.
pub struct Apps {
    /// Everything: page, HTTP/JSON, WebSocket, gRPC and grpc-web.
    pub main: Router,
    /// gRPC and grpc-web alone.
    pub grpc: Router,
    pub health: Router,
}

/// Builds the routers over one service object.
pub fn apps(
    service: &Service,
    policy: Policy,
    tracker: &TaskTracker,
) -> Result<Apps, tonic_reflection::server::Error> {
    let policy = Arc::new(policy);
    let (reporter, health) = health::service();
    tracker.spawn(health::report(reporter, service.clone()));
    let coop = CoopServer::new(service.clone())
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    let grpc = Routes::new(coop)
        .add_service(health.clone())
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .into_axum_router();
    let grpc = over_the_web(grpc);
    let http = gateway::router(Arc::new(service.clone()));
    let checker = Arc::clone(&policy);
    let sockets = ws::Settings {
        authenticate: Arc::new(move |token: &str| checker.authenticate(token)),
        unauthenticated: Arc::new(Semaphore::new(UNAUTHENTICATED)),
        tracker: tracker.clone(),
    };
    let main = Router::new()
        .merge(page::router())
        .merge(http.clone())
        .route(guard::WS_PATH, ws::route(service.clone(), sockets))
        .merge(grpc.clone());
    let health_grpc = over_the_web(Routes::new(health).into_axum_router());
    let guarded = |router: Router| {
        whole(router).layer(middleware::from_fn_with_state(Arc::clone(&policy), guard::guard))
    };
    let health = whole(health::router(service, health_grpc, &http));
    Ok(Apps { main: guarded(main), grpc: guarded(grpc), health })
}

/// gRPC as browsers can call it too.
fn over_the_web(grpc: Router) -> Router {
    grpc.reset_fallback().layer(GrpcWebLayer::new()).layer(middleware::from_fn(grpc::explain))
}

/// A router that has an answer to everything.
fn whole(router: Router) -> Router {
    router.method_not_allowed_fallback(gateway::method_not_allowed).fallback(nowhere)
}

/// Answers what coop.v1, the health service and the standard error details look like, so that a
/// client needs no proto file.
fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(coop_client::DESCRIPTOR)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
}

/// The answer to a path that nobody serves, in the words of the protocol that asked.
async fn nowhere(request: axum::extract::Request) -> Response {
    let content_type = request.headers().get(CONTENT_TYPE);
    if content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/grpc")) {
        let error = Error::new(Code::Unsupported, format!("there is no method {}", request.uri().path()));
        return tonic::Status::from(error).into_http::<axum::body::Body>().into_response();
    }
    gateway::not_found().await
}
