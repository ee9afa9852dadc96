//! Linux: `/proc`, the child subreaper, pidfds, and calls that only Linux has.

mod exec;
mod exit_watch;
mod fifo;
mod fork;
mod proc;
mod signal;
mod start_memory;
mod zombie;

use std::io;

use rustix::process::{getpid, set_child_subreaper};

pub(super) use self::proc::{read_process, read_processes};
pub(super) use self::signal::send_signal;
pub(crate) use self::{
    exec::{close_on_exec, reset_signals},
    exit_watch::ExitWatch,
    fifo::open_fifo,
    fork::{block_signals, close_inherited, exit_at_once, fork, name_process},
    proc::{children, command_line, environment, own_process, program_name, working_dir},
    signal::{SIGNAL_NAMES, signal_from_number},
    start_memory::{forbid_dumps, overwrite_secrets},
    zombie::first_zombie,
};

/// Makes this process the parent of every orphan among its descendants.
pub(crate) fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}
