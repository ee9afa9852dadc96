//! The real gemini.

mod bare;
mod first_run;
mod interrupt;
mod life;
mod nudge;
mod permission;
mod question;
mod talk;
mod trouble;
