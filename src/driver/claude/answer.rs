use crate::driver::Move;
use crate::driver::prompt::{Answer, Prompt};
use crate::driver::sight::Dialog;
use serde_json::Value;
pub(super) fn by_hook(_prompt: &Prompt, _answer: &Answer) -> Option<Value> {
    None
}
pub(super) fn next_move(_prompt: &Prompt, _answer: &Answer, _dialog: &Dialog) -> Move {
    Move::Refuse(String::new())
}
