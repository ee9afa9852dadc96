//! Helpers for questions of the model, for every agent: questions, answers, and the tool result.

use coop_client::v1;
use serde_json::{Value, json};

use crate::harness::TestSession;

pub fn choice(question: &str, header: &str, labels: &[&str], several: bool) -> Value {
    let options: Vec<Value> = labels
        .iter()
        .map(|label| json!({ "label": label, "description": format!("It is {label}") }))
        .collect();
    json!({ "question": question, "header": header, "options": options, "multiSelect": several })
}

pub fn option_answer(options: &[i32]) -> v1::Answer {
    v1::Answer { options: options.to_vec(), ..Default::default() }
}

pub fn text_answer(text: &str) -> v1::Answer {
    v1::Answer { text: Some(text.to_owned()), ..Default::default() }
}

pub fn answers(answers: Vec<v1::Answer>) -> v1::RespondRequest {
    v1::RespondRequest { answers, ..Default::default() }
}

/// Asserts that the tool result contains all of the chosen labels and none of the others.
pub fn assert_tool_result(session: &TestSession, chosen: &[&str], others: &[&str]) {
    let result = session.api.last_result();
    for label in chosen {
        assert!(result.contains(label), "{label} in {result}");
    }
    for label in others {
        assert!(!result.contains(label), "no {label} in {result}");
    }
}
