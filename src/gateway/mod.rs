//! HTTP/JSON, server-sent events and WebSocket over the one gRPC service, driven by what the
//! proto says of each RPC. It knows no RPC's meaning and holds no state of the session.

mod call;
#[rustfmt::skip]
#[path = "gen.rs"]
mod generated;
mod http;
mod params;
mod refusal;
mod sse;
mod table;
pub mod ws;

pub use call::{Call, Input, Item, Mark, Payload, Reply, Shape};
pub use generated::{METHODS, ROUTES, Rpc, dispatch};
pub use http::{BODY_LIMIT, router};
pub use refusal::{envelope, method_not_allowed, not_found, refusal};
pub use table::{Body, Method, Param, ParamKind, Route, Streaming, Verb};
