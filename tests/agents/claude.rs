//! The real claude.

mod first_run;
mod interrupt;
mod nudge;
mod talk;
mod trouble;
