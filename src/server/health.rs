//! Health for probes: the gRPC health service, and the port of its own that needs no token and
//! tells nothing of what the agent does.

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use coop_client::v1::GetAgentStateRequest;
use coop_client::v1::coop_server::Coop as _;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::json;
use tonic::Request;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::server::HealthReporter;

use crate::error::Error;
use crate::gateway::{not_found, refusal};
use crate::service::Service;

/// The name for coop as a whole: it answers.
const PROCESS: &str = "";
const SERVICE: &str = "coop.v1.Coop";
/// The name under which readiness is served: up, and the agent has left `starting`.
const READY: &str = "ready";

/// The health service; what it says is kept true by [`report`].
pub fn service() -> (HealthReporter, HealthServer<impl Health>) {
    tonic_health::server::health_reporter()
}

/// Follows the session until coop goes.
pub async fn report(mut reporter: HealthReporter, service: Service) {
    reporter.set_service_status(SERVICE, ServingStatus::Serving).await;
    let mut events = service.session().events().subscribe();
    let mut told = None;
    loop {
        events.mark_unchanged();
        let ready = service.session().snapshot().ready();
        // A status that is set again is told again, and most events do not change it.
        if told != Some(ready) {
            let status = if ready { ServingStatus::Serving } else { ServingStatus::NotServing };
            reporter.set_service_status(READY, status).await;
            told = Some(ready);
        }
        tokio::select! {
            changed = events.changed() => if changed.is_err() { break },
            () = service.closing().closed() => break,
        }
    }
    // Only a service that is gone lets those go who watch it; they would hold coop up to the last moment.
    for name in [PROCESS, SERVICE, READY] {
        reporter.set_service_status(name, ServingStatus::NotServing).await;
        reporter.clear_service_status(name).await;
    }
}

/// The routes of the health port: each under the API's prefix and without it.
pub fn router(service: &Service, grpc: Router, gateway: &Router) -> Router {
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
        router =
            router.route(&format!("/api/v1/{path}"), handler.clone()).route(&format!("/{path}"), handler);
    }
    router.merge(grpc)
}

/// The same answer that the main port gives.
async fn forward(gateway: Router, path: &str) -> Response {
    use tower::ServiceExt as _;
    let request = http::Request::get(path).body(axum::body::Body::empty());
    match request {
        Ok(request) => gateway.oneshot(request).await.into_response(),
        Err(_) => not_found().await,
    }
}

/// Which agent and how it is doing, and no word of what it does.
async fn agent(service: &Service) -> Response {
    match service.get_agent_state(Request::new(GetAgentStateRequest {})).await {
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
