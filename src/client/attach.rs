//! `coop attach`: this terminal becomes the session's, over as many connections as it takes.

use std::process::ExitCode;

use coop_client::{Client, v1};
use tokio::sync::mpsc;
use tokio::time::sleep_until;
use tokio_stream::wrappers::ReceiverStream;

use super::attempts::Attempts;
use super::failure::Failure;
use super::local::{self, LocalTerminal};
use super::person::Person;
use super::sitting::{Ending, Sitting};
use super::{Line, call, events, print};
use crate::error::Code;

/// Requests on their way.
const IN_FLIGHT: usize = 16;

/// How the person wants to sit.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Keep everybody else from typing.
    pub(super) lock: bool,
    /// The session takes on this terminal's size.
    pub(super) resize: bool,
    /// The session that this very program runs in, if it does.
    pub(super) inside: Option<String>,
}

pub(super) async fn run(line: &Line, wanted: Wanted) -> Result<ExitCode, Failure> {
    let mut coop = line.connect().await?;
    let health = call(coop.get_health(v1::GetHealthRequest {})).await?;
    if LocalTerminal::is_screen() && wanted.inside.as_deref() == Some(health.session_id.as_str()) {
        let text = "this terminal is that session's: attached to itself, it would show itself showing itself";
        return Err(Failure::Usage(text.to_owned()));
    }
    // Whatever is refused now is said on a screen that nothing has touched yet.
    let (sitting, complaint) = attach(&mut coop, &wanted).await?;
    let mut person = Person::sit_down().map_err(|error| Failure::Usage(format!("this terminal: {error}")))?;
    if let Some(complaint) = complaint {
        person.notice(&complaint);
    }
    let ending = sit(line, &wanted, sitting, &mut person).await;
    person.stand_up().await;
    conclude(line, ending)
}

/// Sits through any number of connections.
async fn sit(line: &Line, wanted: &Wanted, first: Sitting, person: &mut Person) -> Ending {
    let mut sitting = first;
    loop {
        sitting = match sitting.hold(person).await {
            Ending::Failed(failure) if failure.is_transient() => {
                match reconnect(line, wanted, &failure, person).await {
                    Ok(sitting) => sitting,
                    Err(ending) => return ending,
                }
            }
            ending => return ending,
        };
    }
}

/// Opens a stream. What keeps it from having this terminal's size is told as well.
async fn attach(coop: &mut Client, wanted: &Wanted) -> Result<(Sitting, Option<String>), Failure> {
    // The size comes first, so that the screen is drawn for it from the beginning.
    let size = local::size().filter(|_| wanted.resize);
    let complaint = match size {
        Some(v1::TerminalSize { cols, rows }) => {
            call(coop.resize(v1::ResizeRequest { cols, rows })).await.err()
        }
        None => None,
    };
    let complaint = match complaint {
        Some(failure) if failure.is_transient() => return Err(failure),
        // The end of the child is told in its own way.
        Some(Failure::Refused { code, .. }) if code == Code::Exited.as_str() => None,
        Some(failure) => failure.text(),
        None => None,
    };
    let (requests, stream) = mpsc::channel(IN_FLIGHT);
    let answers = call(coop.attach(ReceiverStream::new(stream))).await?;
    Ok((Sitting::new(requests, answers, wanted.resize, size, wanted.lock), complaint))
}

async fn reconnect(
    line: &Line,
    wanted: &Wanted,
    why: &Failure,
    person: &mut Person,
) -> Result<Sitting, Ending> {
    let why = why.text().unwrap_or_default();
    person.lose(&format!("coop: trying again, Ctrl-] gives up ({why})"));
    let mut attempts = Attempts::new();
    loop {
        let attempt = async { attach(&mut line.connect().await?, wanted).await };
        let failure = match person.until(attempt).await? {
            Ok((sitting, complaint)) => {
                person.forget_keys();
                if let Some(complaint) = complaint {
                    person.notice(&complaint);
                }
                return Ok(sitting);
            }
            Err(failure) => failure,
        };
        let Some(next) = attempts.next_after(&failure) else { return Err(Ending::Failed(failure)) };
        person.until(sleep_until(next)).await?;
    }
}

fn conclude(line: &Line, ending: Ending) -> Result<ExitCode, Failure> {
    match ending {
        Ending::Exited(exit) => {
            print::say(&events::describe_exit(&exit));
            Ok(exit_code(&exit))
        }
        Ending::Detached => {
            if LocalTerminal::has_keyboard() {
                print::say(&format!("detached; to come back: coop attach {}", line.target));
            }
            Ok(ExitCode::SUCCESS)
        }
        Ending::Quit(signal) => Ok(ExitCode::from(128 | signal)),
        Ending::Closed => Err(Failure::Unreachable("coop has ended the session".to_owned())),
        Ending::Unseen => Err(Failure::Unread),
        Ending::Failed(failure) => Err(failure),
    }
}

/// The child's own, as a shell would have it.
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
    fn the_exit_code_is_the_childs() {
        let exit = |code, signal| exit_code(&v1::ExitEvent { code, signal, generation: 1 });
        assert_eq!(exit(Some(0), None), ExitCode::SUCCESS);
        assert_eq!(exit(Some(3), None), ExitCode::from(3));
        assert_eq!(exit(None, Some(9)), ExitCode::from(137));
        assert_eq!(exit(None, None), ExitCode::FAILURE);
    }
}
