//! How the next child is made: its command, its directory and its environment. The running
//! child never sees a change.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Code, Error};
use crate::pty::{Launch, WindowSize};
use crate::term::Size;

/// What to start, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: BTreeMap<OsString, OsString>,
}

/// What a switch changes; empty fields keep what was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub command: Vec<String>,
    pub cwd: Option<PathBuf>,
    pub env: BTreeMap<String, String>,
}

impl Recipe {
    /// Sets a variable, unless the kernel would refuse the whole environment because of it.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let held =
            self.env.iter().filter(|(name, _)| *name != key).map(|(name, value)| name.len() + value.len());
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
    pub fn with(&self, change: Change) -> Self {
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

    /// The command as people read it.
    pub fn command(&self) -> Vec<String> {
        let words = [&self.program].into_iter().chain(&self.args);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// The environment as text; what is no UTF-8 is shown as well as it can be.
    pub fn env_text(&self) -> BTreeMap<String, String> {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        self.env.iter().map(|(key, value)| (text(key), text(value))).collect()
    }
}

/// The kernel starts nothing with a larger variable, and nothing with much more of them.
const VARIABLE_LIMIT: usize = 128 << 10;
const ENVIRONMENT_LIMIT: usize = 1 << 20;

/// Refuses what no environment can hold.
pub fn check_variable(key: &str, value: &str) -> Result<(), Error> {
    if key.is_empty() || key.contains(['=', '\0']) {
        return Err(Error::bad_request(format!(
            "{key:?} cannot be the name of a variable: it is empty or has = or NUL in it"
        )));
    }
    if key.len() + value.len() + 2 > VARIABLE_LIMIT {
        let message = format!("{key} and its value are larger than {VARIABLE_LIMIT} bytes");
        return Err(Error::new(Code::TooLarge, message));
    }
    if value.contains('\0') {
        return Err(Error::bad_request(format!("the value of {key} has a NUL byte in it")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> Recipe {
        Recipe {
            program: "bash".into(),
            args: vec!["-l".into()],
            cwd: "/".into(),
            env: BTreeMap::from([("A".into(), "1".into())]),
        }
    }

    #[test]
    fn an_empty_change_keeps_everything() {
        assert_eq!(recipe().with(Change::default()), recipe());
    }

    #[test]
    fn a_change_replaces_the_whole_command_and_adds_variables() {
        let change = Change {
            command: vec!["cat".into()],
            cwd: Some("/tmp".into()),
            env: BTreeMap::from([("B".into(), "2".into())]),
        };
        let next = recipe().with(change);
        assert_eq!(next.command(), ["cat"]);
        assert_eq!(next.cwd, PathBuf::from("/tmp"));
        assert_eq!(next.env.len(), 2);
    }

    #[test]
    fn impossible_variables_are_refused() {
        for (key, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            assert!(check_variable(key, value).is_err(), "{key:?}={value:?}");
        }
        assert!(check_variable("PATH", "/bin").is_ok());
        assert!(check_variable("BIG", &"x".repeat(VARIABLE_LIMIT)).is_err());
    }

    #[test]
    fn the_environment_stays_small_enough_to_start_anything() {
        let mut recipe = recipe();
        let big = "x".repeat(100 << 10);
        let taken = (0..20).take_while(|n| recipe.put(&format!("BIG{n}"), &big).is_ok()).count();
        assert_eq!(taken, 10);
        assert!(recipe.put("BIG0", "small again").is_ok());
        assert!(recipe.put("A", "2").is_ok());
    }
}
