//! HTTP/JSON, server-sent events and WebSocket over the one gRPC service, driven by the options of
//! each RPC in the proto. It does not know what an RPC does and holds no state of the session.

mod call;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
#[rustfmt::skip]
#[path = "gen.rs"]
mod generated;
mod http;
mod intake;
mod params;
mod refusal;
mod route;
mod sse;
pub mod ws;

pub use generated::ROUTES;
pub use http::router;
pub use intake::{InputBudget, Intake, Share};
#[cfg(test)]
pub(crate) use intake::{
    PAUSE, SMALL_MESSAGE, SMALL_RESERVE, STRANGER_INPUT, STRANGER_MESSAGE_TIME, TRUSTED_INPUT,
};
pub use params::TOKEN_PARAMETER;
pub use refusal::{envelope, method_not_allowed, not_found, refusal};
pub use route::Route;
