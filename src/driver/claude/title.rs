use crate::driver::evidence::Finding;
pub(super) fn read(_title: &str) -> Vec<Finding> {
    Vec::new()
}
