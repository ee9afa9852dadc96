//! Outcomes of nudges, answers and interrupts, also as part of a refusal.

use coop_client::v1;
use prost::Message as _;

use crate::error::{EncodedResponse, Error};
use crate::session::by::By;
use crate::session::outcome::{
    InterruptReply, NudgeOutcome, NudgeReply, Refusal, RespondOutcome, RespondReply,
};

/// The word for the refusal of a nudge; None if it was not rejected.
pub(super) fn rejection(outcome: &NudgeOutcome) -> Option<String> {
    match outcome {
        NudgeOutcome::Rejected(reason) => Some(reason.as_str().to_owned()),
        NudgeOutcome::Accepted
        | NudgeOutcome::Submitted
        | NudgeOutcome::Unconfirmed
        | NudgeOutcome::Queued => None,
    }
}

pub(in crate::service) fn nudged(nudged: &NudgeReply) -> v1::NudgeResponse {
    v1::NudgeResponse {
        delivered: nudged.outcome.delivered(),
        state_before: nudged.before.as_str().to_owned(),
        reason: rejection(&nudged.outcome),
        state: nudged.after.as_str().to_owned(),
        outcome: nudged.outcome.as_str().to_owned(),
        nudge_id: nudged.id.clone(),
        seq: nudged.seq.0,
        left_in_composer: nudged.left_in_composer,
    }
}

pub(in crate::service) fn responded(responded: &RespondReply) -> v1::RespondResponse {
    match responded {
        RespondReply::Given { kind, outcome, via, superseded_by, after, seq } => {
            v1::RespondResponse {
                delivered: *outcome != RespondOutcome::Superseded,
                prompt_type: kind.as_str().to_owned(),
                reason: None,
                outcome: outcome.as_str().to_owned(),
                via: via.as_str().to_owned(),
                state: after.as_str().to_owned(),
                seq: seq.0,
                superseded_by: superseded_by.as_ref().map(By::to_string),
            }
        }
        RespondReply::NoPrompt { state, seq } => v1::RespondResponse {
            reason: Some(Refusal::NoPrompt.as_str().to_owned()),
            state: state.as_str().to_owned(),
            seq: seq.0,
            ..Default::default()
        },
    }
}

pub(in crate::service) fn interrupted(done: &InterruptReply) -> v1::InterruptResponse {
    v1::InterruptResponse {
        delivered: done.delivered,
        state_before: done.before.as_str().to_owned(),
        reason: (!done.delivered).then(|| done.outcome.as_str().to_owned()),
        state: done.after.as_str().to_owned(),
        seq: done.seq.0,
        outcome: done.outcome.as_str().to_owned(),
    }
}

/// The error of a refused nudge, with its response.
pub(in crate::service) fn refused_nudge(reason: Refusal, response: &v1::NudgeResponse) -> Error {
    refused(reason, "coop.v1.NudgeResponse", response.encode_to_vec())
}

/// The error of a refused answer, with its response.
pub(in crate::service) fn refused_response(
    reason: Refusal,
    response: &v1::RespondResponse,
) -> Error {
    refused(reason, "coop.v1.RespondResponse", response.encode_to_vec())
}

fn refused(reason: Refusal, message_name: &str, bytes: Vec<u8>) -> Error {
    let response = EncodedResponse { message_name: message_name.to_owned(), bytes };
    Error { response: Some(response), ..reason.error() }
}
