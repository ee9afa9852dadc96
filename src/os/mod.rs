//! What differs from one Unix to the next, behind one interface. A port is one more folder beside
//! `linux/` that has the same items; nothing outside of this module knows which system it runs on.
//!
//! - processes: [`Process`], [`Processes`], [`own_process`], [`command_line`], [`program_name`],
//!   [`environment`], [`working_dir`], [`ExitWatch`], [`children`]
//! - children: [`become_subreaper`], [`first_zombie`], [`reset_signals`], [`close_on_exec`]
//! - a copy of this process: [`fork`], [`block_signals`], [`close_inherited`], [`name_process`],
//!   [`exit_at_once`]
//! - signals: [`SIGNAL_NAMES`], [`signal_from_number`], [`Process::send`]
//! - secrets: [`overwrite_secrets`], [`forbid_dumps`]
//! - named pipes: [`open_fifo`]

mod process;

#[cfg(not(target_os = "linux"))]
compile_error!("coop runs on Linux only; another system needs its own version of src/os/linux/");

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use self::linux as system;

pub(crate) use self::process::{
    Delivery, Process, ProcessIdentity, ProcessState, Processes, TreeRoot,
};
pub(crate) use self::system::{
    ExitWatch, SIGNAL_NAMES, become_subreaper, block_signals, children, close_inherited,
    close_on_exec, command_line, environment, exit_at_once, first_zombie, forbid_dumps, fork,
    name_process, open_fifo, overwrite_secrets, own_process, program_name, reset_signals,
    signal_from_number, working_dir,
};
