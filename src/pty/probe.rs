//! Runs a program to the end only to read what it prints. The program has no terminal, and none of
//! its process group is left afterwards. It must not know what the output means.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::{Instant, timeout_at};

use super::program::{Program, Streams};
use super::reaper::{HeldGroup, Reaper};

/// A program to be run for its standard output.
#[derive(Debug, Clone)]
pub struct Probe {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// The whole environment of the program; later entries win over earlier ones.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    /// The output beyond this many bytes is not read.
    pub output_limit: usize,
    /// When the program is ended although it has not closed its output.
    pub deadline: Instant,
}

impl Probe {
    /// Runs the program in a session of its own, and returns what it printed up to the end of its
    /// output, the limit or the deadline, whichever comes first.
    ///
    /// The whole process group is killed before this returns, and when it is dropped before that:
    /// also a background process that holds the output open. The reaper must be running.
    pub async fn output(self, reaper: Reaper) -> io::Result<Vec<u8>> {
        let (group, stdout) = self.start(reaper).await?;
        let mut output = Vec::new();
        let mut rest = stdout.take(self.output_limit as u64);
        // At the deadline, what has been printed so far is the output.
        let read = timeout_at(self.deadline, rest.read_to_end(&mut output)).await;
        group.end().await;
        match read {
            Ok(Err(error)) => Err(error),
            Ok(Ok(_)) | Err(_) => Ok(output),
        }
    }

    async fn start(&self, reaper: Reaper) -> io::Result<(HeldGroup, pipe::Receiver)> {
        let (output, input) = io::pipe()?;
        let group = reaper.hold_group(Program {
            path: self.program.clone(),
            name: self.program.clone().into_os_string(),
            args: self.args.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            streams: Streams::Output(input.into()),
        });
        let group = group.await?;
        Ok((group, pipe::Receiver::from_owned_fd(output.into())?))
    }
}
