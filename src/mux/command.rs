//! Runs one command of a multiplexer: it takes a limited time and prints a limited amount, whatever
//! the program does. It must not know what the command is for.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use crate::pty::Exit;

/// How long a command may take. A capture and a write together stay below the time that a writer
/// waits for progress.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The most output that is read: a thousand by a thousand cells, each in a colour of its own.
const OUTPUT_LIMIT: u64 = 32 << 20;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("it is not installed, or not in PATH")]
    NotInstalled,
    #[error("it did not answer within {} s", TIMEOUT.as_secs())]
    TimedOut,
    #[error("{0}")]
    Failed(String),
    /// The program in the pane has exited, or the pane is gone.
    #[error("the program in it has exited")]
    Exited(Exit),
}

#[derive(Debug)]
pub(super) struct CommandOutput {
    pub(super) succeeded: bool,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl CommandOutput {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns the output of a command that succeeded, or the error message of one that failed.
    pub(super) fn checked(self) -> Result<Self, CommandError> {
        if self.succeeded {
            return Ok(self);
        }
        // GNU screen prints its errors to stdout.
        let message = if self.stderr.trim().is_empty() { self.text() } else { self.stderr };
        Err(CommandError::Failed(message.trim().to_owned()))
    }
}

/// The multiplexer's program, and the environment it runs in.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) env: Vec<(OsString, OsString)>,
}

impl Program {
    pub(super) async fn run<A: AsRef<OsStr>>(
        &self,
        args: &[A],
    ) -> Result<CommandOutput, CommandError> {
        self.run_with_stdin(args, b"").await
    }

    pub(super) async fn run_with_stdin<A: AsRef<OsStr>>(
        &self,
        args: &[A],
        stdin: &[u8],
    ) -> Result<CommandOutput, CommandError> {
        match timeout(TIMEOUT, self.output(args, stdin)).await {
            Ok(Ok(output)) if output.stdout.len() as u64 > OUTPUT_LIMIT => {
                Err(CommandError::Failed(format!("it printed more than {OUTPUT_LIMIT} bytes")))
            }
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
                Err(CommandError::NotInstalled)
            }
            Ok(Err(error)) => Err(CommandError::Failed(error.to_string())),
            Err(_) => Err(CommandError::TimedOut),
        }
    }

    async fn output<A: AsRef<OsStr>>(&self, args: &[A], stdin: &[u8]) -> io::Result<CommandOutput> {
        let mut child = Command::new(self.name)
            .args(args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (mut input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write_input = async move {
            if let Some(input) = &mut input {
                // A command that does not read its input has not failed because of that.
                drop(input.write_all(stdin).await);
            }
        };
        let ((), stdout, stderr) = tokio::join!(write_input, read(output), read(errors));
        let succeeded = child.wait().await?.success();
        Ok(CommandOutput {
            succeeded,
            stdout: stdout?,
            stderr: String::from_utf8_lossy(&stderr?).into_owned(),
        })
    }
}

/// Reads to the end, or one byte beyond the limit.
async fn read(from: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(OUTPUT_LIMIT + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &'static str) -> Program {
        Program {
            name,
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("COLOUR".into(), "red".into())],
        }
    }

    #[tokio::test]
    async fn a_command_gets_only_the_given_environment_and_its_output_is_returned() {
        let output = program("sh")
            .run_with_stdin(&["-c", "cat; env >&2; exit 3"], b"bytes \xff")
            .await
            .unwrap();
        assert_eq!((output.succeeded, output.stdout.as_slice()), (false, &b"bytes \xff"[..]));
        assert!(
            output.stderr.contains("COLOUR=red") && !output.stderr.contains("HOME="),
            "{}",
            output.stderr
        );
    }

    #[tokio::test]
    async fn a_missing_program_is_reported_as_not_installed() {
        let missing = program("coop-has-no-such-program").run(&["x"]).await;
        assert!(matches!(missing, Err(CommandError::NotInstalled)), "{missing:?}");
    }

    #[tokio::test]
    async fn a_program_that_hangs_times_out() {
        let hangs = program("sleep").run(&["3600"]).await;
        assert!(matches!(hangs, Err(CommandError::TimedOut)), "{hangs:?}");
    }

    #[tokio::test]
    async fn output_beyond_the_limit_is_an_error() {
        let output = program("sh").run(&["-c", "head -c 40000000 /dev/zero"]).await;
        assert!(matches!(output, Err(CommandError::Failed(_) | CommandError::TimedOut)));
    }
}
