//! Shared by the drivers' tests: the recordings, screens, answers and launches of every agent are
//! checked in the same way. It knows no agent.

#[cfg(test)]
pub(in crate::driver) mod answers;
#[cfg(test)]
pub(in crate::driver) mod launches;
#[cfg(test)]
pub(in crate::driver) mod recordings;
#[cfg(test)]
pub(in crate::driver) mod replay;
pub mod screens;
