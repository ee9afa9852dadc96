//! Runs a program on a pseudo terminal: starts it, reads and writes its terminal, sends it signals,
//! reaps it and ends its descendants. It must not know what the bytes mean, nor which client sent
//! them.

mod child;
mod child_table;
mod descriptors;
mod echo;
mod guard;
mod master;
mod parent;
mod parent_link;
mod probe;
mod program;
mod reaper;
mod signal;
mod spawn;
mod terminate;

#[cfg(test)]
pub(crate) mod tests;

pub use child::{Child, Exit};
pub use descriptors::{descriptor_limit, raise_descriptor_limit};
pub use guard::Guard;
pub use master::{Control, Reader, WindowSize, Writer};
pub use probe::Probe;
pub use reaper::Reaper;
pub(crate) use signal::signal_foreground_of;
pub use signal::{Signal, SignalError};
pub use spawn::{Launch, LaunchError, Spawned};
