use crate::driver::prompt::{Answer, Prompt};
pub(super) fn answer(_prompt: &Prompt, _command: &[String]) -> Option<Answer> {
    None
}
