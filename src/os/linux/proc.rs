//! Reads what `/proc` shows of processes.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use rustix::process::getpid;

use crate::os::process::{Process, ProcessState};

/// Returns this process.
pub(crate) fn own_process() -> io::Result<Process> {
    read_process(getpid().as_raw_pid()).ok_or_else(|| io::Error::other("/proc shows no processes"))
}

pub(in crate::os) fn read_process(pid: i32) -> Option<Process> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

pub(in crate::os) fn read_processes() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok());
        found.extend(pid.and_then(read_process));
    }
    Ok(found)
}

/// Returns the children of the process that its threads have started, as far as the kernel lists
/// them.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let lists = threads
        .into_iter()
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let parse = |list: String| list.split_ascii_whitespace().flat_map(str::parse).collect();
    lists.flat_map(|list| -> Vec<i32> { parse(list) }).collect()
}

/// Returns the command that the process runs, as far as the kernel shows it.
pub(crate) fn command_line(pid: i32) -> Vec<OsString> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    line.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

/// Returns the name of the program that the process runs, of which the kernel stores 15 bytes.
pub(crate) fn program_name(pid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns the `NAME=VALUE` pairs that the process was started with, or none if they cannot be
/// read.
pub(crate) fn environment(pid: i32) -> Vec<Vec<u8>> {
    let pairs = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    pairs.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// Returns the working directory of the process.
pub(crate) fn working_dir(pid: i32) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd"))
}

/// Parses one `/proc/PID/stat`. The command name may contain anything, parentheses and newlines
/// too, but it is the only field that does.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|&byte| byte == b'(')?;
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The numbering of proc_pid_stat(5), whose third field is the first one after the name.
    let field = |number: usize| fields.get(number - 3).copied();
    let threads: i64 = field(20)?.parse().ok()?;
    let state = match *field(3)?.as_bytes().first()? {
        // A process whose first thread ended shows as a zombie while its other threads run on.
        b'Z' | b'X' | b'x' if threads <= 1 => ProcessState::Zombie,
        b'T' => ProcessState::Stopped,
        _ => ProcessState::Alive,
    };
    Some(Process {
        pid: pid.trim().parse().ok()?,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        foreground: field(8)?.parse().ok()?,
        state,
        start: field(22)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, getppid};

    use super::*;

    fn stat(pid: i32, name: &str, state: char, parent: i32, session: i32, threads: i64) -> Process {
        let line = format!(
            "{pid} ({name}) {state} {parent} {pid} {session} 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 \
             {threads} 0 {start} 1 2 3\n",
            start = 1000 + pid
        );
        parse_stat(line.as_bytes()).expect("a stat line")
    }

    #[test]
    fn a_hostile_command_name_does_not_shift_the_fields() {
        let process = stat(77, "a) R 1 1 (b\n", 'S', 5, 6, 1);
        assert_eq!((process.pid, process.parent, process.group, process.session), (77, 5, 77, 6));
        assert_eq!(process.start, 1077);
        assert_eq!(process.state, ProcessState::Alive);
    }

    #[test]
    fn a_truncated_line_is_not_a_process() {
        let line = b"77 (x) S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 1077 1";
        assert!(parse_stat(line).is_some());
        for end in 0..line.len() - 8 {
            assert_eq!(parse_stat(&line[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_leader_that_ended_before_its_threads_is_alive() {
        assert!(stat(5, "x", 'Z', 1, 5, 1).is_zombie());
        assert!(!stat(5, "x", 'Z', 1, 5, 3).is_zombie());
        assert!(!stat(5, "x", 'T', 1, 5, 1).is_zombie());
        assert_eq!(stat(5, "x", 'T', 1, 5, 1).state, ProcessState::Stopped);
    }

    #[test]
    fn own_processes_can_be_read() {
        let own = own_process().expect("our own stat");
        assert_eq!(own.pid, getpid().as_raw_pid());
        assert_eq!(own.parent, getppid().map_or(0, Pid::as_raw_pid));
        assert!(!own.is_zombie());
    }

    /// The session is read from a process that started one of its own: that of the test may have
    /// begun in another pid namespace (a container's first process keeps the session of the process
    /// that started the container), and then has no number.
    #[test]
    fn the_number_of_a_session_is_its_leaders_pid() {
        let mut leader = std::process::Command::new("setsid")
            .arg("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("setsid");
        let pid = i32::try_from(leader.id()).expect("a pid");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        // `setsid` is one and the same process before and after it has started the session.
        let session = loop {
            let session = read_process(pid).expect("its stat").session;
            if session == pid || std::time::Instant::now() > deadline {
                break session;
            }
            std::thread::yield_now();
        };
        drop(leader.stdin.take());
        leader.wait().expect("the end of cat");
        assert_eq!(session, pid);
    }

    #[test]
    fn the_command_line_of_a_process_is_read() {
        let own = command_line(getpid().as_raw_pid());
        assert_eq!(own, std::env::args_os().collect::<Vec<_>>());
        assert_eq!(command_line(0), [""]);
    }
}
