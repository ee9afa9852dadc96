//! `coop nudge`, `coop respond` and `coop interrupt`: send the agent a message, an answer or an
//! interrupt, and print the outcome.

use coop_client::v1;

use super::failure::Failure;
use super::{Endpoint, call, print, prompt};
use crate::cli;
use crate::error::Code;

pub(super) async fn nudge(endpoint: &Endpoint, wanted: cli::Nudge) -> Result<(), Failure> {
    let mode = match (wanted.queue, wanted.interrupt) {
        (true, _) => "queue",
        (_, true) => "interrupt",
        (false, false) => "reject_if_busy",
    };
    let request = v1::NudgeRequest {
        message: wanted.text.join(" "),
        mode: mode.to_owned(),
        idempotency_key: wanted.key,
        confirm_timeout_ms: wanted.no_confirm.then_some(0),
    };
    let response = call(endpoint.connect().await?.nudge(request)).await?;
    if wanted.json {
        print::json(&response)?;
    } else {
        print::out(&format!("{}\n", response.outcome))?;
    }
    confirmed(&response.outcome, "Enter was pressed, and the composer may still hold the message")
}

/// Makes an unconfirmed outcome a failure, so that scripts do not take it for success.
fn confirmed(outcome: &str, otherwise: &str) -> Result<(), Failure> {
    if outcome == "unconfirmed" { Err(Failure::Unconfirmed(otherwise.to_owned())) } else { Ok(()) }
}

pub(super) async fn respond(endpoint: &Endpoint, wanted: cli::Respond) -> Result<(), Failure> {
    let cli::Respond { accept, deny, option, text, answer, prompt_id, json, .. } = wanted;
    let accept = (accept || deny).then_some(accept);
    let answers = answer.into_iter().map(|cli::QuestionAnswer { options, text }| v1::Answer {
        option: None,
        options,
        text,
    });
    let request =
        v1::RespondRequest { accept, option, text, prompt_id, answers: answers.collect() };
    if request == v1::RespondRequest::default() {
        return show_prompt(endpoint, json).await;
    }
    let response = call(endpoint.connect().await?.respond(request)).await?;
    if json {
        print::json(&response)?;
    } else {
        print::out(&format!("{}\n", response.outcome))?;
    }
    if !response.delivered {
        let message = "another client or the user answered first".to_owned();
        return Err(Failure::Refused { code: response.outcome.to_uppercase(), message });
    }
    confirmed(&response.outcome, "the answer was given, and the dialog is still open")
}

async fn show_prompt(endpoint: &Endpoint, json: bool) -> Result<(), Failure> {
    let agent =
        call(endpoint.connect().await?.get_agent_state(v1::GetAgentStateRequest {})).await?;
    match &agent.prompt {
        Some(prompt) if json => print::json(prompt),
        Some(prompt) => print::out(&prompt::details(prompt)),
        None => Err(Failure::Refused {
            code: Code::NoPrompt.as_str().to_owned(),
            message: format!("the agent is at no prompt; it is {}", agent.state),
        }),
    }
}

pub(super) async fn interrupt(endpoint: &Endpoint, json: bool) -> Result<(), Failure> {
    let response = call(endpoint.connect().await?.interrupt(v1::InterruptRequest {})).await?;
    if json {
        print::json(&response)?;
    } else {
        print::out(&format!("{}: {}\n", response.outcome.replace('_', " "), response.state))?;
    }
    match response.outcome.as_str() {
        "still_working" => {
            Err(Failure::Unconfirmed("the key was pressed, and the turn goes on".to_owned()))
        }
        _ => Ok(()),
    }
}
