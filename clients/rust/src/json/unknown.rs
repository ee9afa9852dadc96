//! The words for a name that a request does not have. A mistyped name must not be ignored: the
//! caller would believe that coop did what it did not.

/// Says that there is no such field or parameter, and which known one is nearest to it.
pub fn no_such<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearness = |known: &str| strsim::sorensen_dice(name, known);
    match known.max_by(|one, other| nearness(one).total_cmp(&nearness(other))) {
        Some(nearest) => format!("there is no such {what}, the nearest is {nearest}"),
        None => format!("there is no such {what}, and no other"),
    }
}
