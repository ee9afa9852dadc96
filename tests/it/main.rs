//! coop as its users meet it: the real binary, real children, real sockets.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "tests drive whole processes and fail by panicking"
)]

mod agent_verbs;
mod attach;
mod backends;
mod docs;
mod flow;
mod hook;
mod hostile;
mod lifecycle;
mod names;
mod patterns;
mod programs;
mod readme;
mod safety;
mod scenario;
mod streams;
mod support;
mod tls;
mod verbs;
