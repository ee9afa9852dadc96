//! Which of our categories an error is in: by the status of the API's answer, by a name or by words. Which names and words
//! an agent has, and which of them counts most, only its driver knows.

use super::agent::{ErrorCategory, Trouble};

/// A name or some words, in lower case, and what they mean.
pub type Sign = (&'static str, ErrorCategory);

/// What Node calls a connection that cannot be made or kept.
pub const NODE: [Sign; 7] = [
    ("econnrefused", ErrorCategory::NoInternet),
    ("econnreset", ErrorCategory::NoInternet),
    ("enotfound", ErrorCategory::NoInternet),
    ("eai_again", ErrorCategory::NoInternet),
    ("etimedout", ErrorCategory::NoInternet),
    ("enetunreach", ErrorCategory::NoInternet),
    ("ehostunreach", ErrorCategory::NoInternet),
];

impl Trouble {
    /// There is always a detail, if only that there is none.
    pub fn new(category: Option<ErrorCategory>, detail: &str) -> Self {
        let detail = match detail.trim() {
            "" => "the agent gave no reason",
            detail => detail,
        };
        Self { category: category.unwrap_or(ErrorCategory::Other), detail: detail.to_owned() }
    }
}

pub fn by_status(status: u64) -> Option<ErrorCategory> {
    match status {
        401 | 403 => Some(ErrorCategory::Unauthorized),
        402 => Some(ErrorCategory::OutOfCredits),
        429 => Some(ErrorCategory::RateLimited),
        500..=599 => Some(ErrorCategory::ServerError),
        _ => None,
    }
}

pub fn by_name(names: &[Sign], name: &str) -> Option<ErrorCategory> {
    names.iter().find(|(known, _)| *known == name).map(|(_, category)| *category)
}

/// The first of the words that occurs in the text decides.
pub fn by_words<'a>(words: impl IntoIterator<Item = &'a Sign>, text: &str) -> Option<ErrorCategory> {
    let text = text.to_lowercase();
    words.into_iter().find(|(words, _)| text.contains(words)).map(|(_, category)| *category)
}

/// What a driver must make of its agent's words. Of nothing it must make something, too.
#[cfg(test)]
pub(super) fn check(from_text: fn(&str) -> Trouble, cases: &[(&str, ErrorCategory)]) {
    for (text, category) in cases.iter().chain(&[("", ErrorCategory::Other), (" ", ErrorCategory::Other)]) {
        let trouble = from_text(text);
        assert_eq!(trouble.category, *category, "{text}");
        assert!(!trouble.detail.is_empty(), "{text}");
    }
}
