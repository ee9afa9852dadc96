//! Questions that a model has, whichever agent puts them: what is asked, what is answered, what the model is told.

use coop_client::v1;
use serde_json::{Value, json};

use crate::world::World;

pub fn choice(question: &str, header: &str, labels: &[&str], several: bool) -> Value {
    let options: Vec<Value> = labels
        .iter()
        .map(|label| json!({ "label": label, "description": format!("It is {label}") }))
        .collect();
    json!({ "question": question, "header": header, "options": options, "multiSelect": several })
}

pub fn picked(options: &[i32]) -> v1::Answer {
    v1::Answer { options: options.to_vec(), ..Default::default() }
}

pub fn words(text: &str) -> v1::Answer {
    v1::Answer { text: Some(text.to_owned()), ..Default::default() }
}

pub fn answers(answers: Vec<v1::Answer>) -> v1::RespondRequest {
    v1::RespondRequest { answers, ..Default::default() }
}

/// What the model was told has all of the chosen in it, and nothing of the others.
pub fn is_told(world: &World, chosen: &[&str], others: &[&str]) {
    let told = world.api.last_result();
    for label in chosen {
        assert!(told.contains(label), "{label} in {told}");
    }
    for label in others {
        assert!(!told.contains(label), "no {label} in {told}");
    }
}
