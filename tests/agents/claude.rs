//! The real claude.

mod first_run;
mod talk;
