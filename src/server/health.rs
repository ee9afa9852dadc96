//! Health for probes: the gRPC health service, and a port of its own that needs no token and shows
//! nothing of the agent's work.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use coop_client::v1::GetAgentStateRequest;
use coop_client::v1::coop_server::Coop as _;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::json;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::HealthReporter;

use super::admission::{self, Kind};
use super::guard::{Policy, refuse};
use super::limits::{HEALTH_MESSAGE, STRANGER_WATCHES};
use super::peer::Peer;
use super::{browser, held_body};
use crate::error::{Code, Error};
use crate::gateway::{not_found, refusal};
use crate::service::Service;

/// The name of coop as a whole, which serves as long as it answers.
const PROCESS: &str = "";
const SERVICE: &str = "coop.v1.Coop";
/// The name of readiness: coop is up, and the agent has left `starting`.
const READY: &str = "ready";

/// The path of the method that answers with a stream.
pub(super) const WATCH_PATH: &str = "/grpc.health.v1.Health/Watch";

/// The health service; [`report`] keeps it up to date.
pub(super) fn service() -> (HealthReporter, HealthServer<impl Health>) {
    let (reporter, service) = tonic_health::server::health_reporter();
    (reporter, service.max_decoding_message_size(HEALTH_MESSAGE))
}

/// A layer that counts the streams of the health service among all others.
pub(super) async fn count_streams(
    State(service): State<Service>,
    request: Request,
    next: Next,
) -> Response {
    if request.uri().path() != WATCH_PATH {
        return next.run(request).await;
    }
    let peer = request.extensions().get::<Peer>().cloned();
    let watch = peer.and_then(|peer| peer.connection.watch()).ok_or_else(|| {
        Error::new(Code::TooLarge, format!("{STRANGER_WATCHES} health streams are open already"))
    });
    match watch.and_then(|watch| Ok((watch, service.subscription()?))) {
        Ok(held) => held_body::hold(next.run(request).await, held),
        Err(error) => tonic::Status::from(error).into_http::<Body>(),
    }
}

/// The layer of the health port: it needs no token, and has the limits of strangers.
pub(super) async fn admit(
    State(policy): State<Arc<Policy>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(peer) = request.extensions().get::<Peer>().cloned() else {
        return refusal(&Error::new(Code::Internal, "the connection has no peer"));
    };
    let kind = Kind { trusted: policy.trusts(peer.transport), exempt: true };
    let response = match admission::admit(&peer.connection, &mut request, kind) {
        Ok(()) => next.run(request).await,
        Err(error) => refuse(request.headers(), error),
    };
    browser::protect(response)
}

/// Reports the session's readiness until coop shuts down.
pub(super) async fn report(mut reporter: HealthReporter, service: Service) {
    reporter.set_service_status(SERVICE, ServingStatus::Serving).await;
    let mut events = service.session().events().subscribe();
    let mut reported = None;
    loop {
        events.mark_unchanged();
        let ready = service.session().snapshot().ready();
        // Setting an unchanged status notifies its watchers, and most events do not change it.
        if reported != Some(ready) {
            let status = if ready { ServingStatus::Serving } else { ServingStatus::NotServing };
            reporter.set_service_status(READY, status).await;
            reported = Some(ready);
        }
        tokio::select! {
            changed = events.changed() => if changed.is_err() { break },
            () = service.closing().closed() => break,
        }
    }
    // A stream that watches a service ends only when the service is cleared, and would delay the
    // shutdown to its deadline.
    for name in [PROCESS, SERVICE, READY] {
        reporter.set_service_status(name, ServingStatus::NotServing).await;
        reporter.clear_service_status(name).await;
    }
}

/// The routes of the health port: each under the API's prefix and without it.
pub(super) fn router(service: &Service, grpc: Router, gateway: &Router) -> Router {
    let mut router = Router::new();
    for name in ["health", "ready", "livez"] {
        let path = format!("/api/v1/{name}");
        let gateway = gateway.clone();
        let inner = path.clone();
        let handler = get(async move || forward(gateway, &inner).await);
        router = router.route(&path, handler.clone()).route(&format!("/{name}"), handler);
    }
    for path in ["agent", "agent/state"] {
        let service = service.clone();
        let handler = get(async move || agent(&service).await);
        router = router
            .route(&format!("/api/v1/{path}"), handler.clone())
            .route(&format!("/{path}"), handler);
    }
    router.merge(grpc)
}

/// The response of the main port.
async fn forward(gateway: Router, path: &str) -> Response {
    use tower::ServiceExt as _;
    let request = http::Request::get(path).body(axum::body::Body::empty());
    match request {
        Ok(request) => gateway.oneshot(request).await.into_response(),
        Err(_) => not_found().await,
    }
}

/// The agent's name and state, without any content of its work.
async fn agent(service: &Service) -> Response {
    match service.get_agent_state(tonic::Request::new(GetAgentStateRequest {})).await {
        Err(status) => refusal(&Error::from(&status)),
        Ok(state) => {
            let state = state.into_inner();
            let body = json!({
                "agent": state.agent,
                "state": state.state,
                "detection_tier": state.detection_tier,
                "state_since_epoch_ms": state.state_since_epoch_ms,
            });
            ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], body.to_string())
                .into_response()
        }
    }
}
