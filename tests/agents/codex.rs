//! Tests of the real codex.

mod api_errors;
mod first_run;
mod interrupt;
mod keyboard;
mod lifecycle;
mod mcp;
mod nudge;
mod permission;
mod question;
mod settings;
mod without_hooks;
