//! The listeners and everything that a request passes before its handler: TLS, limits, auth, and
//! the router of each listener. It does not know what a call does.

mod admission;
mod audit;
mod browser;
mod client_scopes;
mod connection;
mod connection_slot;
mod cors;
mod failures;
mod grpc;
mod grpc_input;
mod guard;
mod health;
mod held_body;
mod limits;
mod lingering;
mod listen;
mod origin;
mod paced;
mod page;
mod peer;
mod reload;
mod secret_file;
mod serve;
mod source;
mod strangers;
mod tls;
mod tokens;
mod wrapped_stream;

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use axum::{Router, middleware};
use coop_client::MESSAGE_LIMIT;
use coop_client::v1::coop_server::CoopServer;
use http::header::CONTENT_TYPE;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use tonic::service::Routes;
pub(crate) use tonic_reflection::server::Error as ReflectionError;
use tonic_web::GrpcWebLayer;

pub(crate) use self::client_scopes::{BadClientScope, ClientScopes};
pub(crate) use self::guard::Policy;
pub(crate) use self::listen::{BindError, UnixSocket, refuses_connections, tcp};
pub(crate) use self::origin::Origin;
pub(crate) use self::peer::Transport;
pub(crate) use self::reload::{Reload, TlsReload, TokenReload};
pub(crate) use self::secret_file::read_secret_file;
pub(crate) use self::serve::{Listener, Server};
pub(crate) use self::tls::{Tls, TlsError, TlsFiles};
pub(crate) use self::tokens::{BadTokens, TokenStore, Tokens};
use crate::error::{Code, Error};
use crate::gateway::{self, ws};
use crate::service::{Caller, Service};

/// The router of each kind of listener.
pub(crate) struct Apps {
    /// Everything: page, HTTP/JSON, WebSocket, gRPC and grpc-web.
    pub main: Router,
    /// gRPC and grpc-web alone.
    pub grpc: Router,
    pub health: Router,
    pub policy: Arc<Policy>,
}

/// Builds the routers over one service object.
pub(crate) fn apps(
    service: &Service,
    policy: Policy,
    tracker: &TaskTracker,
) -> Result<Apps, ReflectionError> {
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
    let grpc = with_grpc_web(grpc, service);
    let http = gateway::router(Arc::new(service.clone()));
    let (checker, audit) = (Arc::clone(&policy), service.audit().clone());
    let sockets = ws::Settings {
        authenticate: Arc::new(move |caller: &Caller, token: &str| {
            let grant = checker.authenticate(token);
            if grant.is_none() {
                audit.refused(caller, "WebSocket auth", Code::Unauthorized);
            }
            grant
        }),
        unauthenticated: Arc::new(Semaphore::new(limits::WAITING_SOCKETS)),
        tracker: tracker.clone(),
    };
    let main = Router::new()
        .merge(page::router())
        .merge(http.clone())
        .route(guard::WS_PATH, ws::route(service.clone(), sockets))
        .merge(grpc.clone());
    let health_grpc = with_grpc_web(Routes::new(health).into_axum_router(), service);
    let guarded = |router: Router| {
        with_fallbacks(router)
            .layer(middleware::from_fn_with_state(Arc::clone(&policy), guard::guard))
            .layer(middleware::from_fn_with_state(service.audit().clone(), audit::refusals))
    };
    let health = with_fallbacks(health::router(service, health_grpc, &http))
        .layer(middleware::from_fn_with_state(Arc::clone(&policy), health::admit));
    Ok(Apps { main: guarded(main), grpc: guarded(grpc), health, policy })
}

/// Adds the limits of gRPC messages and health streams, and grpc-web, which browsers can call.
fn with_grpc_web(grpc: Router, service: &Service) -> Router {
    grpc.reset_fallback()
        .layer(middleware::from_fn(grpc_input::meter))
        .layer(middleware::from_fn_with_state(service.clone(), health::count_streams))
        .layer(GrpcWebLayer::new())
        .layer(middleware::from_fn(grpc::explain))
}

/// Adds the responses to unknown paths and methods.
fn with_fallbacks(router: Router) -> Router {
    router.method_not_allowed_fallback(gateway::method_not_allowed).fallback(unknown_path)
}

/// The reflection service: it describes coop.v1, the health service and the standard error details,
/// so that a client needs no proto file.
fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(coop_client::DESCRIPTOR)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
}

/// The response to an unknown path, in the request's protocol.
async fn unknown_path(request: axum::extract::Request) -> Response {
    let content_type = request.headers().get(CONTENT_TYPE);
    if content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/grpc")) {
        let error =
            Error::new(Code::Unsupported, format!("there is no method {}", request.uri().path()));
        return tonic::Status::from(error).into_http::<axum::body::Body>().into_response();
    }
    gateway::not_found().await
}
