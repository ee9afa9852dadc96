use crate::driver::sight::Composer;
pub(super) fn compose(message: &str) -> String {
    message.to_owned()
}
pub(super) fn holds(composer: &Composer, pasted: &str) -> bool {
    composer.draft == pasted
}
