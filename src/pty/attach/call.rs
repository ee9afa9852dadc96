//! One call of another program's command line: it takes a limited time and says a limited amount, whatever that program does.
//! It must not know what is asked.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use super::super::child::Exit;

/// A call that takes longer is given up. A look and a write together stay below what a writer waits for progress.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most that is read of an answer: a thousand by a thousand cells, each in a colour of its own.
const ANSWER_LIMIT: u64 = 32 << 20;

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("it is not installed, or not in PATH")]
    NotInstalled,
    #[error("it did not answer within {} s", PATIENCE.as_secs())]
    Slow,
    #[error("{0}")]
    Refused(String),
    /// What was looked at is no longer there.
    #[error("what ran in it has exited")]
    Gone(Exit),
}

/// What a call said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) succeeded: bool,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl Said {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The answer of a call that went well.
    pub(super) fn checked(self) -> Result<Self, Trouble> {
        if self.succeeded {
            return Ok(self);
        }
        // GNU screen complains on stdout.
        let complaint = if self.stderr.trim().is_empty() { self.text() } else { self.stderr };
        Err(Trouble::Refused(complaint.trim().to_owned()))
    }
}

/// The program to call, and the environment it is called in.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) env: Vec<(OsString, OsString)>,
}

impl Program {
    pub(super) async fn call<A: AsRef<OsStr>>(&self, args: &[A]) -> Result<Said, Trouble> {
        self.call_with(args, b"").await
    }

    /// Calls it with these bytes on its stdin.
    pub(super) async fn call_with<A: AsRef<OsStr>>(&self, args: &[A], stdin: &[u8]) -> Result<Said, Trouble> {
        match timeout(PATIENCE, self.run(args, stdin)).await {
            Ok(Ok(said)) if said.stdout.len() as u64 > ANSWER_LIMIT => {
                Err(Trouble::Refused(format!("it said more than {ANSWER_LIMIT} bytes")))
            }
            Ok(Ok(said)) => Ok(said),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Err(Trouble::NotInstalled),
            Ok(Err(error)) => Err(Trouble::Refused(error.to_string())),
            Err(_) => Err(Trouble::Slow),
        }
    }

    async fn run<A: AsRef<OsStr>>(&self, args: &[A], stdin: &[u8]) -> io::Result<Said> {
        let mut child = Command::new(self.name)
            .args(args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (mut input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let type_in = async move {
            if let Some(input) = &mut input {
                // Who does not read its input has not failed because of that.
                drop(input.write_all(stdin).await);
            }
        };
        let ((), stdout, stderr) = tokio::join!(type_in, read(output), read(errors));
        let succeeded = child.wait().await?.success();
        Ok(Said { succeeded, stdout: stdout?, stderr: String::from_utf8_lossy(&stderr?).into_owned() })
    }
}

/// Reads to the end, or one byte further than is allowed.
async fn read(from: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(ANSWER_LIMIT + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &'static str) -> Program {
        Program { name, env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("COLOUR".into(), "red".into())] }
    }

    #[tokio::test]
    async fn a_call_says_what_the_program_says_and_sees_only_its_own_environment() {
        let said = program("sh").call_with(&["-c", "cat; env >&2; exit 3"], b"bytes \xff").await.unwrap();
        assert_eq!((said.succeeded, said.stdout.as_slice()), (false, &b"bytes \xff"[..]));
        assert!(said.stderr.contains("COLOUR=red") && !said.stderr.contains("HOME="), "{}", said.stderr);
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_named_as_such() {
        let missing = program("coop-has-no-such-program").call(&["x"]).await;
        assert!(matches!(missing, Err(Trouble::NotInstalled)), "{missing:?}");
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_given_up() {
        let hangs = program("sleep").call(&["3600"]).await;
        assert!(matches!(hangs, Err(Trouble::Slow)), "{hangs:?}");
    }

    #[tokio::test]
    async fn a_program_that_never_stops_talking_is_cut_short() {
        let talks = program("sh").call(&["-c", "head -c 40000000 /dev/zero"]).await;
        assert!(matches!(talks, Err(Trouble::Refused(_) | Trouble::Slow)));
    }
}
