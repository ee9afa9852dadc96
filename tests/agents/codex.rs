//! The real codex.

mod bare;
mod first_run;
mod interrupt;
mod life;
mod mcp;
mod nudge;
mod permission;
mod question;
mod talk;
mod trouble;
