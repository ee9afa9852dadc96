//! What the next child is started from: its command, its directory and its environment. A change
//! never reaches the running child.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Code, Error};
use crate::pty::{Launch, WindowSize};
use crate::term::Size;

/// What to start, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildSpec {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: BTreeMap<OsString, OsString>,
}

/// What a switch changes; an empty field changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecChange {
    pub command: Vec<String>,
    pub cwd: Option<PathBuf>,
    pub env: BTreeMap<String, String>,
}

impl ChildSpec {
    /// Sets a variable, unless the environment gets so large that the kernel would refuse it.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let held = self
            .env
            .iter()
            .filter(|(name, _)| *name != key)
            .map(|(name, value)| name.len() + value.len());
        if held.sum::<usize>() + key.len() + value.len() > ENVIRONMENT_LIMIT {
            return Err(Error::new(
                Code::TooLarge,
                format!("the environment would be larger than {ENVIRONMENT_LIMIT} bytes"),
            ));
        }
        self.env.insert(key.into(), value.into());
        Ok(())
    }

    #[must_use]
    pub fn with(&self, change: SpecChange) -> Self {
        let mut next = self.clone();
        let mut command = change.command.into_iter().map(OsString::from);
        if let Some(program) = command.next() {
            next.program = program;
            next.args = command.collect();
        }
        if let Some(cwd) = change.cwd {
            next.cwd = cwd;
        }
        next.env.extend(change.env.into_iter().map(|(key, value)| (key.into(), value.into())));
        next
    }

    pub fn launch(&self, size: Size) -> Launch {
        Launch {
            program: self.program.clone(),
            args: self.args.clone(),
            env: self.env.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            cwd: self.cwd.clone(),
            size: WindowSize { cols: size.cols(), rows: size.rows() },
        }
    }

    /// The command as text.
    pub fn command(&self) -> Vec<String> {
        let words = [&self.program].into_iter().chain(&self.args);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// The environment as text; invalid UTF-8 is replaced.
    pub fn env_text(&self) -> BTreeMap<String, String> {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        self.env.iter().map(|(key, value)| (text(key), text(value))).collect()
    }
}

/// The kernel starts no program with a larger variable, or with a much larger environment.
const VARIABLE_LIMIT: usize = 128 << 10;
const ENVIRONMENT_LIMIT: usize = 1 << 20;

/// Refuses a variable that no environment can hold.
pub(crate) fn check_variable(key: &str, value: &str) -> Result<(), Error> {
    if key.is_empty() || key.contains(['=', '\0']) {
        return Err(Error::bad_request(format!(
            "{key:?} cannot be the name of a variable: it is empty or has = or NUL in it"
        )));
    }
    check_not_own(key)?;
    if key.len() + value.len() + 2 > VARIABLE_LIMIT {
        let message = format!("{key} and its value are larger than {VARIABLE_LIMIT} bytes");
        return Err(Error::new(Code::TooLarge, message));
    }
    if value.contains('\0') {
        return Err(Error::bad_request(format!("the value of {key} has a NUL byte in it")));
    }
    Ok(())
}

/// Refuses a variable that coop sets for its child, or reads itself: another value would lead hooks
/// and client verbs to another coop.
pub(crate) fn check_not_own(key: &str) -> Result<(), Error> {
    if key == "COOP" || key.starts_with("COOP_") {
        return Err(Error::bad_request(format!(
            "{key} cannot be changed: it is one of coop's own"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child_spec() -> ChildSpec {
        ChildSpec {
            program: "bash".into(),
            args: vec!["-l".into()],
            cwd: "/".into(),
            env: BTreeMap::from([("A".into(), "1".into())]),
        }
    }

    #[test]
    fn an_empty_change_changes_nothing() {
        assert_eq!(child_spec().with(SpecChange::default()), child_spec());
    }

    #[test]
    fn a_change_replaces_the_whole_command_and_adds_variables() {
        let change = SpecChange {
            command: vec!["cat".into()],
            cwd: Some("/tmp".into()),
            env: BTreeMap::from([("B".into(), "2".into())]),
        };
        let next = child_spec().with(change);
        assert_eq!(next.command(), ["cat"]);
        assert_eq!(next.cwd, PathBuf::from("/tmp"));
        assert_eq!(next.env.len(), 2);
    }

    #[test]
    fn impossible_variables_are_refused() {
        for (key, value) in [
            ("", "x"),
            ("A=B", "x"),
            ("A\0", "x"),
            ("A", "x\0"),
            ("COOP", "x"),
            ("COOP_SOCKET", "x"),
            ("COOP_HOOK_NONCE", "x"),
        ] {
            assert!(check_variable(key, value).is_err(), "{key:?}={value:?}");
        }
        assert!(check_variable("PATH", "/bin").is_ok());
        assert!(check_variable("COOPER", "x").is_ok());
        assert!(check_variable("BIG", &"x".repeat(VARIABLE_LIMIT)).is_err());
    }

    #[test]
    fn the_environment_stays_small_enough_to_start_a_program() {
        let mut child_spec = child_spec();
        let big = "x".repeat(100 << 10);
        let taken =
            (0..20).take_while(|n| child_spec.put(&format!("BIG{n}"), &big).is_ok()).count();
        assert_eq!(taken, 10);
        assert!(child_spec.put("BIG0", "small again").is_ok());
        assert!(child_spec.put("A", "2").is_ok());
    }
}
