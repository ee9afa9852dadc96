//! Safe by default: who may call what, from where, and how many.

mod caps;
mod origins;
mod places;
mod probes;
mod secrets;
mod tokens;
