//! Integration tests: the real binary, real children, real sockets.
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
mod architecture;
mod attach;
mod audit;
mod backends;
mod bad_requests;
mod delivery;
mod docs;
mod foreground;
mod hook;
mod identity;
mod invariants;
mod leftovers;
mod lifecycle;
mod make_run;
mod names;
mod os_boundary;
mod outliving;
mod program_status;
mod programs;
mod readme;
mod reload;
mod safety;
mod screen_patterns;
mod sources;
mod starting;
mod stopped_guard;
mod streams;
mod strict_json;
mod style;
mod support;
mod tls;
mod transports;
mod verbs;
