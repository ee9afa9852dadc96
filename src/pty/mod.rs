//! The child's side of the world: a program on a pseudo terminal, its bytes, its signals, its death and its descendants.
//! Nothing in here knows what the bytes mean, who asked for them, or that a network exists.

pub mod attach;
mod child;
mod descriptors;
mod echo;
mod master;
mod process;
mod signal;
mod spawn;
mod terminate;

#[cfg(test)]
pub(crate) mod tests;

pub use child::{Child, Exit, Reaper};
pub use descriptors::raise_descriptor_limit;
pub use master::{Control, Reader, WindowSize, Writer};
pub(crate) use process::{Identity, Process};
pub use rustix::process::Pid;
pub use signal::{Signal, SignalError, UnknownSignal};
pub use spawn::{Launch, LaunchError, Spawned};
pub use terminate::Terminated;
