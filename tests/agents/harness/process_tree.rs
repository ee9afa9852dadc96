//! Kills coop and everything that it started, including processes in their own sessions.

use rustix::process::{Pid, Signal, kill_process};

/// Kills a process and all its descendants.
pub fn kill_tree(root: i32) {
    let mut tree = vec![root];
    let parents = parents();
    let mut visited = 0;
    while let Some(parent) = tree.get(visited).copied() {
        tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        visited += 1;
    }
    for pid in tree.into_iter().filter_map(Pid::from_raw) {
        // The process may have exited already.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Each process with its parent.
fn parents() -> Vec<(i32, i32)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let parent_of = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect()
}
