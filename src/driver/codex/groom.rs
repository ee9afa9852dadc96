//! What may be answered without asking anybody, if the operator wishes it so: the way to the composer, and never what
//! grants something that COMMAND did not ask for.

use crate::driver::prompt::{Answer, Prompt};

pub(super) fn answer(prompt: &Prompt) -> Option<Answer> {
    let accept = match prompt.subtype? {
        "trust" => true,
        "update" | "model_migration" => false,
        _ => return None,
    };
    Some(Answer { accept: Some(accept), ..Answer::default() })
}
