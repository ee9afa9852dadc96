//! coop as a client: what the verbs ask of a running coop, and how they say what came of it.
//! It knows the API as every other client does, and nothing of the server behind it.

mod attach;
mod attempts;
mod display;
mod events;
mod failure;
mod follow;
mod keyboard;
mod local;
mod mute;
mod person;
mod print;
mod prompt;
mod query;
mod shutdown;
mod sitting;
mod state;
mod talk;

use std::ffi::OsStr;
use std::process::ExitCode;
use std::time::Duration;

use coop_client::v1;
use coop_client::{Client, Credentials, Target, connect};
use tokio::time::timeout;
use tonic::{Response, Status};

use crate::cli::{self, Verb};
use crate::config::{self, Environment};
use failure::Failure;

/// Longer than any answer takes: coop itself gives up on a write after 5 seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Set in every child of a coop.
const SESSION: &str = "COOP_SESSION_ID";

/// Does what the verb says; the exit code tells scripts what came of it.
pub async fn run(verb: Verb, environment: &Environment) -> ExitCode {
    match Box::pin(perform(verb, environment)).await {
        Ok(code) => code,
        Err(failure) => {
            if let Some(text) = failure.text() {
                print::say(&text);
            }
            failure.exit_code()
        }
    }
}

async fn perform(verb: Verb, environment: &Environment) -> Result<ExitCode, Failure> {
    match verb {
        Verb::Attach { target, lock, no_resize } => {
            let line = Line::new(target.target, target.identity, environment)?;
            let inside = environment.get(OsStr::new(SESSION)).map(|id| id.to_string_lossy().into_owned());
            return attach::run(&line, attach::Wanted { lock, resize: !no_resize, inside }).await;
        }
        Verb::Screen { target, ansi, json } => {
            screen(&Line::new(target.target, target.identity, environment)?, ansi, json).await?;
        }
        Verb::Input { at, no_enter, text, json } => {
            let line = Line::new(at.target, at.identity, environment)?;
            let request = v1::SendInputRequest { text: text.join(" "), enter: !no_enter };
            let answer = call(line.connect().await?.send_input(request)).await?;
            print::json_if(json, &answer)?;
        }
        Verb::Keys { at, keys, json } => {
            let line = Line::new(at.target, at.identity, environment)?;
            let answer = call(line.connect().await?.send_keys(v1::SendKeysRequest { keys })).await?;
            print::json_if(json, &answer)?;
        }
        Verb::Events { target, since, types, json } => {
            let line = Line::new(target.target, target.identity, environment)?;
            let request = v1::StreamEventsRequest { since_seq: since, types, epoch: None };
            events::run(&line, request, json).await?;
        }
        Verb::State(state) => {
            let line = Line::new(state.target.target.clone(), state.target.identity.clone(), environment)?;
            state::run(&line, state).await?;
        }
        Verb::Nudge(nudge) => {
            let line = Line::new(nudge.at.target.clone(), nudge.at.identity.clone(), environment)?;
            talk::nudge(&line, nudge).await?;
        }
        Verb::Respond(respond) => {
            let line = Line::new(respond.at.target.clone(), respond.at.identity.clone(), environment)?;
            talk::respond(&line, respond).await?;
        }
        Verb::Interrupt { target, json } => {
            talk::interrupt(&Line::new(target.target, target.identity, environment)?, json).await?;
        }
        Verb::Explain { target, json } => {
            state::explain(&Line::new(target.target, target.identity, environment)?, json).await?;
        }
        Verb::Shutdown { target, grace, json } => {
            let line = Line::new(target.target, target.identity, environment)?;
            shutdown::run(&line, grace.map(Duration::from_secs), json).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn screen(line: &Line, ansi: bool, json: bool) -> Result<(), Failure> {
    let format = match ansi {
        true => v1::get_screen_request::Format::Ansi,
        false => v1::get_screen_request::Format::Text,
    };
    let request = v1::GetScreenRequest { format: format.into(), ..Default::default() };
    let screen = call(line.connect().await?.get_screen(request)).await?;
    if json { print::json(&screen) } else { print::out(&print::rows(&screen.lines)) }
}

/// Whom to call, and as whom.
#[derive(Debug)]
struct Line {
    target: Target,
    credentials: Credentials,
}

impl Line {
    fn new(
        named: Option<String>,
        identity: cli::Identity,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let named = named.unwrap_or_else(|| config::default_target(environment));
        let target = Target::parse(&named).map_err(|error| Failure::Usage(error.to_string()))?;
        let read = |path: std::path::PathBuf| {
            std::fs::read(&path)
                .map_err(|error| Failure::Usage(format!("--tls-ca {}: {error}", path.display())))
        };
        let ca = identity.tls_ca.map(read).transpose()?;
        Ok(Self { target, credentials: Credentials { token: identity.token, ca, ..Credentials::default() } })
    }

    async fn connect(&self) -> Result<Client, Failure> {
        connect(&self.target, self.credentials.clone()).await.map_err(Failure::from)
    }
}

/// Waits for an answer, but not forever.
async fn call<T>(answer: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Failure> {
    call_for(PATIENCE, answer).await
}

async fn call_for<T>(
    patience: Duration,
    answer: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Failure> {
    match timeout(patience, answer).await {
        Ok(answer) => Ok(answer.map_err(Failure::from)?.into_inner()),
        Err(_) => Err(Failure::Unreachable(format!("no answer within {} s", patience.as_secs()))),
    }
}
