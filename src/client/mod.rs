//! coop as a client: carries out the verbs against a running coop, and prints the results.
//! It uses the API like every other client, and does not know the server.

mod agent;
mod attach;
mod attach_stream;
mod display;
mod events;
mod failure;
mod follow;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod keyboard;
mod print;
mod prompt;
mod query;
mod query_filter;
mod raw_terminal;
mod retry;
mod shutdown;
mod state;
mod user;
mod utf8;

use std::process::ExitCode;
use std::time::Duration;

use coop_client::v1;
use coop_client::{Client, Credentials, Target, connect};
use tokio::time::timeout;
use tonic::{Response, Status};

use crate::cli::{self, Verb};
use crate::config::{self, Environment};
use failure::Failure;

/// How long to wait for an response. coop itself gives up on a write after 5 seconds.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Carries out the verb. The exit code is the result for scripts.
pub async fn run(verb: Verb, environment: &Environment) -> ExitCode {
    match Box::pin(perform(verb, environment)).await {
        Ok(code) => code,
        Err(failure) => {
            if let Some(text) = failure.text() {
                print::message(&text);
            }
            failure.exit_code()
        }
    }
}

async fn perform(verb: Verb, environment: &Environment) -> Result<ExitCode, Failure> {
    match verb {
        Verb::Attach { target, lock, no_resize, allow_clipboard } => {
            let endpoint = Endpoint::new(target.target, target.identity, environment)?;
            let inside = config::surrounding_session(environment);
            let resize = !no_resize;
            let options = attach::Options { lock, resize, allow_clipboard, inside };
            return attach::run(&endpoint, options).await;
        }
        Verb::Screen { target, ansi, json } => {
            screen(&Endpoint::new(target.target, target.identity, environment)?, ansi, json)
                .await?;
        }
        Verb::Input { at, no_enter, text, json } => {
            let endpoint = Endpoint::new(at.target, at.identity, environment)?;
            let request = v1::SendInputRequest { text: text.join(" "), enter: !no_enter };
            let response = call(endpoint.connect().await?.send_input(request)).await?;
            print::json_if(json, &response)?;
        }
        Verb::Keys { at, keys, json } => {
            let endpoint = Endpoint::new(at.target, at.identity, environment)?;
            let response =
                call(endpoint.connect().await?.send_keys(v1::SendKeysRequest { keys })).await?;
            print::json_if(json, &response)?;
        }
        Verb::Events { target, since, types, json } => {
            let endpoint = Endpoint::new(target.target, target.identity, environment)?;
            let request = v1::StreamEventsRequest { since_seq: since, types, epoch: None };
            events::run(&endpoint, request, json).await?;
        }
        Verb::State(state) => {
            let endpoint = Endpoint::new(
                state.target.target.clone(),
                state.target.identity.clone(),
                environment,
            )?;
            state::run(&endpoint, state).await?;
        }
        Verb::Nudge(nudge) => {
            let endpoint =
                Endpoint::new(nudge.at.target.clone(), nudge.at.identity.clone(), environment)?;
            agent::nudge(&endpoint, nudge).await?;
        }
        Verb::Respond(respond) => {
            let endpoint =
                Endpoint::new(respond.at.target.clone(), respond.at.identity.clone(), environment)?;
            agent::respond(&endpoint, respond).await?;
        }
        Verb::Interrupt { target, json } => {
            agent::interrupt(&Endpoint::new(target.target, target.identity, environment)?, json)
                .await?;
        }
        Verb::Explain { target, json } => {
            state::explain(&Endpoint::new(target.target, target.identity, environment)?, json)
                .await?;
        }
        Verb::Shutdown { target, grace, json } => {
            let endpoint = Endpoint::new(target.target, target.identity, environment)?;
            shutdown::run(&endpoint, grace.map(Duration::from_secs), json).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn screen(endpoint: &Endpoint, ansi: bool, json: bool) -> Result<(), Failure> {
    let format = match ansi {
        true => v1::get_screen_request::Format::Ansi,
        false => v1::get_screen_request::Format::Text,
    };
    let request = v1::GetScreenRequest { format: format.into(), ..Default::default() };
    let screen = call(endpoint.connect().await?.get_screen(request)).await?;
    if json { print::json(&screen) } else { print::out(&print::rows(&screen.lines)) }
}

/// The coop to call, and the credentials to call it with.
#[derive(Debug)]
struct Endpoint {
    target: Target,
    credentials: Credentials,
}

impl Endpoint {
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
        Ok(Self {
            target,
            credentials: Credentials { token: identity.token, ca, ..Credentials::default() },
        })
    }

    async fn connect(&self) -> Result<Client, Failure> {
        connect(&self.target, self.credentials.clone()).await.map_err(Failure::from)
    }
}

/// Waits for an response, up to `RESPONSE_TIMEOUT`.
async fn call<T>(
    response: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Failure> {
    call_for(RESPONSE_TIMEOUT, response).await
}

async fn call_for<T>(
    limit: Duration,
    response: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Failure> {
    match timeout(limit, response).await {
        Ok(response) => Ok(response.map_err(Failure::from)?.into_inner()),
        Err(_) => Err(Failure::Unreachable(format!("no response within {} s", limit.as_secs()))),
    }
}
