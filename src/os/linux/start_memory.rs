//! The memory in which the kernel put the arguments and the environment when the process started,
//! which `/proc` shows to other processes for as long as this one lives. It must not know which of
//! them are secret.

use std::fs;
use std::io;
use std::ops::Range;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// What a secret is overwritten with.
const FILL: u8 = b'*';

/// Overwrites the values of these flags, given as `--flag VALUE` or `--flag=VALUE`, and of these
/// variables. Arguments and environment must have been copied before, and no other thread may run.
pub(crate) fn overwrite_secrets(flags: &[&str], variables: &[&str]) -> io::Result<()> {
    let missing = || io::Error::other("/proc does not show where the arguments are");
    let (arguments, environment) = areas(&fs::read("/proc/self/stat")?).ok_or_else(missing)?;
    // SAFETY: the kernel names the two areas of the stack, which stay mapped and writable. There
    // is no other thread, and Rust keeps no reference into them: `std::env` returns copies.
    unsafe {
        overwrite_flags(bytes(arguments), flags);
        overwrite_variables(bytes(environment), variables);
    }
    Ok(())
}

/// Lets no process but root's read this one's memory, trace it, or get its core dump.
pub(crate) fn forbid_dumps() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// The addresses of the arguments and of the environment, as `/proc/PID/stat` names them.
fn areas(stat: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    // The name of the command may contain anything; the fields after it are numbers.
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The numbering of proc_pid_stat(5), whose third field is the first one after the name.
    let address = |number: usize| fields.get(number - 3)?.parse::<usize>().ok();
    let area = |start: usize, end: usize| (0 < start && start <= end).then_some(start..end);
    Some((area(address(48)?, address(49)?)?, area(address(50)?, address(51)?)?))
}

/// # Safety
/// The addresses must be mapped and writable, and nothing else may use them meanwhile.
unsafe fn bytes<'a>(area: Range<usize>) -> &'a mut [u8] {
    let start = std::ptr::with_exposed_provenance_mut(area.start);
    // SAFETY: the caller guarantees it.
    unsafe { std::slice::from_raw_parts_mut(start, area.len()) }
}

fn overwrite_flags(arguments: &mut [u8], flags: &[&str]) {
    let mut value_follows = false;
    for word in arguments.split_mut(|byte| *byte == 0) {
        if std::mem::take(&mut value_follows) {
            word.fill(FILL);
        } else if flags.iter().any(|flag| word == flag.as_bytes()) {
            value_follows = true;
        } else {
            overwrite_value(word, flags);
        }
    }
}

fn overwrite_variables(environment: &mut [u8], variables: &[&str]) {
    for pair in environment.split_mut(|byte| *byte == 0) {
        overwrite_value(pair, variables);
    }
}

/// Overwrites the value of `NAME=VALUE`, if it has one of these names.
fn overwrite_value(pair: &mut [u8], names: &[&str]) {
    let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { return };
    let (name, value) = pair.split_at_mut(equals);
    if let Some((_, value)) = value.split_first_mut()
        && names.iter().any(|secret| name == secret.as_bytes())
    {
        value.fill(FILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_values_of_secrets_are_overwritten() {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"coop\0--secret\0abc\0--\0cat\0", b"coop\0--secret\0***\0--\0cat\0"),
            (b"coop\0--secret=a=c\0x\0", b"coop\0--secret=***\0x\0"),
            (b"--secret\0--secret\0x\0", b"--secret\0********\0x\0"),
            (b"--secrets\0abc\0--secret=", b"--secrets\0abc\0--secret="),
            (b"--secret", b"--secret"),
            (b"", b""),
        ];
        for (given, wanted) in cases {
            let mut words = given.to_vec();
            overwrite_flags(&mut words, &["--secret"]);
            assert_eq!(words, wanted, "{}", given.escape_ascii());
        }
        let mut environment = b"A=1\0SECRET=x=\0SECRETS=y\0SECRET\0".to_vec();
        overwrite_variables(&mut environment, &["SECRET"]);
        assert_eq!(environment, b"A=1\0SECRET=**\0SECRETS=y\0SECRET\0");
    }

    #[test]
    fn the_areas_of_this_process_are_those_that_proc_shows() {
        let stat = fs::read("/proc/self/stat").expect("our own stat");
        let (arguments, environment) = areas(&stat).expect("addresses");
        assert_eq!(arguments.len(), fs::read("/proc/self/cmdline").expect("read").len());
        assert_eq!(environment.len(), fs::read("/proc/self/environ").expect("read").len());
        assert_eq!(areas(b"1 (x) S 1"), None);
    }
}
