//! `coop nudge`, `coop respond` and `coop interrupt`: what is said to the agent, and what became of it.

use coop_client::v1;

use super::failure::Failure;
use super::{Line, call, print, prompt};
use crate::cli;
use crate::error::Code;

pub(super) async fn nudge(line: &Line, wanted: cli::Nudge) -> Result<(), Failure> {
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
    let answer = call(line.connect().await?.nudge(request)).await?;
    if wanted.json {
        print::json(&answer)?;
    } else {
        print::out(&format!("{}\n", answer.outcome))?;
    }
    confirmed(&answer.outcome, "Enter was pressed, and the composer may still hold the message")
}

/// What the API is not sure of is no success for a script.
fn confirmed(outcome: &str, otherwise: &str) -> Result<(), Failure> {
    if outcome == "unconfirmed" { Err(Failure::Unconfirmed(otherwise.to_owned())) } else { Ok(()) }
}

pub(super) async fn respond(line: &Line, wanted: cli::Respond) -> Result<(), Failure> {
    let cli::Respond { accept, deny, option, text, answer, prompt_id, json, .. } = wanted;
    let accept = (accept || deny).then_some(accept);
    let answers = answer.into_iter().map(|cli::QuestionAnswer { options, text }| v1::Answer {
        option: None,
        options,
        text,
    });
    let request = v1::RespondRequest { accept, option, text, prompt_id, answers: answers.collect() };
    if request == v1::RespondRequest::default() {
        return show_prompt(line, json).await;
    }
    let answer = call(line.connect().await?.respond(request)).await?;
    if json {
        print::json(&answer)?;
    } else {
        print::out(&format!("{}\n", answer.outcome))?;
    }
    if !answer.delivered {
        let message = "somebody else answered first".to_owned();
        return Err(Failure::Refused { code: answer.outcome.to_uppercase(), message });
    }
    confirmed(&answer.outcome, "the answer was given, and the dialog still stands")
}

async fn show_prompt(line: &Line, json: bool) -> Result<(), Failure> {
    let agent = call(line.connect().await?.get_agent_state(v1::GetAgentStateRequest {})).await?;
    match &agent.prompt {
        Some(prompt) if json => print::json(prompt),
        Some(prompt) => print::out(&prompt::in_full(prompt)),
        None => Err(Failure::Refused {
            code: Code::NoPrompt.as_str().to_owned(),
            message: format!("the agent is at no prompt; it is {}", agent.state),
        }),
    }
}

pub(super) async fn interrupt(line: &Line, json: bool) -> Result<(), Failure> {
    let answer = call(line.connect().await?.interrupt(v1::InterruptRequest {})).await?;
    let ended = !matches!(answer.state.as_str(), "working" | "prompt");
    if json {
        print::json(&answer)?;
    } else {
        let what = match (answer.delivered, ended) {
            (false, _) => "nothing to stop",
            (true, true) => "stopped",
            (true, false) => "unconfirmed",
        };
        print::out(&format!("{what}: {}\n", answer.state))?;
    }
    match answer.delivered && !ended {
        true => Err(Failure::Unconfirmed("the key was pressed, and the turn goes on".to_owned())),
        false => Ok(()),
    }
}
