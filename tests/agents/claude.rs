//! Tests of the real claude.

mod api_errors;
mod first_run;
mod interrupt;
mod keyboard;
mod lifecycle;
mod nudge;
mod permission;
mod question;
mod without_hooks;
