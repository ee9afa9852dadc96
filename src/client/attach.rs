//! `coop attach`: connects this terminal to the session's, and reconnects when the connection is
//! lost.

use std::process::ExitCode;

use coop_client::{Client, v1};
use tokio::sync::mpsc;
use tokio::time::sleep_until;
use tokio_stream::wrappers::ReceiverStream;

use super::attach_stream::{AttachStream, Ending};
use super::failure::Failure;
use super::raw_terminal::{self, RawTerminal};
use super::retry::Retry;
use super::user::User;
use super::{Endpoint, call, events, print};
use crate::error::Code;

/// How many requests may be queued for the connection.
const IN_FLIGHT: usize = 16;

/// The options of the verb.
#[derive(Debug)]
pub(super) struct Options {
    /// Prevent every other client from typing.
    pub(super) lock: bool,
    /// Give the session this terminal's size.
    pub(super) resize: bool,
    /// Let the program set this terminal's clipboard.
    pub(super) allow_clipboard: bool,
    /// The session that this program runs in, if any.
    pub(super) inside: Option<String>,
}

pub(super) async fn run(endpoint: &Endpoint, options: Options) -> Result<ExitCode, Failure> {
    let mut coop = endpoint.connect().await?;
    let health = call(coop.get_health(v1::GetHealthRequest {})).await?;
    if RawTerminal::is_screen() && options.inside.as_deref() == Some(health.session_id.as_str()) {
        let text = "this terminal belongs to that session, so attaching would show the session \
                    inside itself; run coop attach from another terminal";
        return Err(Failure::Usage(text.to_owned()));
    }
    // An error up to here is printed on a screen that is not changed yet.
    let (attach_stream, warning) = attach(&mut coop, &options).await?;
    let mut user = User::start(options.allow_clipboard)
        .map_err(|error| Failure::Usage(format!("this terminal: {error}")))?;
    if let Some(warning) = warning {
        user.notice(&warning);
    }
    let ending = stay_attached(endpoint, &options, attach_stream, &mut user).await;
    user.finish().await;
    report(endpoint, ending)
}

/// Stays attached over any number of connections.
async fn stay_attached(
    endpoint: &Endpoint,
    options: &Options,
    first: AttachStream,
    user: &mut User,
) -> Ending {
    let mut attach_stream = first;
    loop {
        attach_stream = match attach_stream.run(user).await {
            Ending::Failed(failure) if failure.is_transient() => {
                match reconnect(endpoint, options, &failure, user).await {
                    Ok(attach_stream) => attach_stream,
                    Err(ending) => return ending,
                }
            }
            ending => return ending,
        };
    }
}

/// Opens a stream. Returns a warning if the session could not take this terminal's size.
async fn attach(
    coop: &mut Client,
    options: &Options,
) -> Result<(AttachStream, Option<String>), Failure> {
    // The size is set first, so that the first snapshot has it.
    let size = raw_terminal::size().filter(|_| options.resize);
    let warning = match size {
        Some(v1::TerminalSize { cols, rows }) => {
            call(coop.resize(v1::ResizeRequest { cols, rows })).await.err()
        }
        None => None,
    };
    let warning = match warning {
        Some(failure) if failure.is_transient() => return Err(failure),
        // The stream itself reports the exit of the child.
        Some(Failure::Refused { code, .. }) if code == Code::Exited.as_str() => None,
        Some(failure) => failure.text(),
        None => None,
    };
    let (requests, stream) = mpsc::channel(IN_FLIGHT);
    let responses = call(coop.attach(ReceiverStream::new(stream))).await?;
    Ok((AttachStream::new(requests, responses, options.resize, size, options.lock), warning))
}

async fn reconnect(
    endpoint: &Endpoint,
    options: &Options,
    why: &Failure,
    user: &mut User,
) -> Result<AttachStream, Ending> {
    let why = why.text().unwrap_or_default();
    user.show_disconnected(&format!("coop: trying again, Ctrl-] gives up ({why})"));
    let mut retry = Retry::new();
    loop {
        let attempt = async { attach(&mut endpoint.connect().await?, options).await };
        let failure = match user.until(attempt).await? {
            Ok((attach_stream, warning)) => {
                user.discard_keys();
                if let Some(warning) = warning {
                    user.notice(&warning);
                }
                return Ok(attach_stream);
            }
            Err(failure) => failure,
        };
        let Some(next) = retry.next_after(&failure) else { return Err(Ending::Failed(failure)) };
        user.until(sleep_until(next)).await?;
    }
}

fn report(endpoint: &Endpoint, ending: Ending) -> Result<ExitCode, Failure> {
    match ending {
        Ending::Exited(exit) => {
            print::message(&events::describe_exit(&exit));
            Ok(exit_code(&exit))
        }
        Ending::Detached => {
            if RawTerminal::has_keyboard() {
                print::message(&format!("detached; to come back: coop attach {}", endpoint.target));
            }
            Ok(ExitCode::SUCCESS)
        }
        Ending::Quit(signal) => Ok(ExitCode::from(128 | signal)),
        Ending::Closed => Err(Failure::Unreachable("coop has ended the session".to_owned())),
        Ending::OutputClosed => Err(Failure::OutputClosed),
        Ending::Failed(failure) => Err(failure),
    }
}

/// The child's exit code, as a shell reports it.
fn exit_code(exit: &v1::ExitEvent) -> ExitCode {
    let code = match (exit.code, exit.signal) {
        (_, Some(signal)) => 128 + signal,
        (Some(code), None) => code,
        (None, None) => 1,
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_child() {
        let exit = |code, signal| exit_code(&v1::ExitEvent { code, signal, generation: 1 });
        assert_eq!(exit(Some(0), None), ExitCode::SUCCESS);
        assert_eq!(exit(Some(3), None), ExitCode::from(3));
        assert_eq!(exit(None, Some(9)), ExitCode::from(137));
        assert_eq!(exit(None, None), ExitCode::FAILURE);
    }
}
