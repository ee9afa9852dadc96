//! Records requests that were refused before a call began: by the guard, or because they could not
//! be read. Calls record themselves. It decides nothing.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::guard::rpc_of;
use super::peer::Peer;
use crate::error::{Code, Error};
use crate::service::{AuditLog, Caller, Method, Rpc, Trail};

/// The layer around the guard.
pub(super) async fn refusals(
    State(audit): State<AuditLog>,
    mut request: Request,
    next: Next,
) -> Response {
    let trail = Trail::default();
    request.extensions_mut().insert(trail.clone());
    let peer = request.extensions().get::<Peer>().cloned();
    let (verb, path) = (request.method(), request.uri().path());
    let rpc = rpc_of(verb, path).map(Rpc::method);
    // A known path may contain an id that is a secret; the name says as much.
    let call = rpc.map_or_else(|| format!("{verb} {path}"), |rpc| rpc.name.to_owned());
    let writes = rpc.is_some_and(Method::writes);
    let response = next.run(request).await;
    if let Some(code) = refused_with(&response)
        && (writes || matches!(code, Code::Unauthorized | Code::Forbidden))
        && !trail.is_recorded()
    {
        match (trail.caller(), peer) {
            (Some(caller), _) => audit.refused(caller, &call, code),
            (None, Some(Peer { from, by, .. })) => {
                audit.refused(&Caller::unauthenticated(from, by), &call, code);
            }
            (None, None) => {}
        }
    }
    response
}

/// The code of a refusal, over HTTP or gRPC.
fn refused_with(response: &Response) -> Option<Code> {
    let over_http = response.extensions().get::<Code>().copied();
    over_http.or_else(|| {
        let status = tonic::Status::from_header_map(response.headers())?;
        (status.code() != tonic::Code::Ok).then(|| Error::from(&status).code)
    })
}
