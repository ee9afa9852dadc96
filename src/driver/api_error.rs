//! Assigns a category to an API error by its HTTP status, its name or its text. Only a driver knows
//! the names and texts of its agent, and which of them counts most.

use super::agent::{ApiError, ErrorCategory};

/// A name or a part of a text, in lower case, and the category that it means.
pub(super) type ErrorPattern = (&'static str, ErrorCategory);

/// The codes of Node for a connection that cannot be made or kept.
pub(super) const NODE_ERRORS: [ErrorPattern; 7] = [
    ("econnrefused", ErrorCategory::NoInternet),
    ("econnreset", ErrorCategory::NoInternet),
    ("enotfound", ErrorCategory::NoInternet),
    ("eai_again", ErrorCategory::NoInternet),
    ("etimedout", ErrorCategory::NoInternet),
    ("enetunreach", ErrorCategory::NoInternet),
    ("ehostunreach", ErrorCategory::NoInternet),
];

impl ApiError {
    /// An error without category is `Other`, and one without detail says so.
    pub fn new(category: Option<ErrorCategory>, detail: &str) -> Self {
        let detail = match detail.trim() {
            "" => "the agent gave no reason",
            detail => detail,
        };
        Self { category: category.unwrap_or(ErrorCategory::Other), detail: detail.to_owned() }
    }
}

pub(super) fn by_status(status: u64) -> Option<ErrorCategory> {
    match status {
        401 | 403 => Some(ErrorCategory::Unauthorized),
        402 => Some(ErrorCategory::OutOfCredits),
        429 => Some(ErrorCategory::RateLimited),
        500..=599 => Some(ErrorCategory::ServerError),
        _ => None,
    }
}

pub(super) fn by_name(names: &[ErrorPattern], name: &str) -> Option<ErrorCategory> {
    names.iter().find(|(known, _)| *known == name).map(|(_, category)| *category)
}

/// The first of the patterns that occurs in the text decides.
pub(super) fn by_words<'a>(
    words: impl IntoIterator<Item = &'a ErrorPattern>,
    text: &str,
) -> Option<ErrorCategory> {
    let text = text.to_lowercase();
    words.into_iter().find(|(words, _)| text.contains(words)).map(|(_, category)| *category)
}

/// Checks the category that a driver gives to each text, and that an empty text gets one, too.
#[cfg(test)]
pub(super) fn check(from_text: fn(&str) -> ApiError, cases: &[(&str, ErrorCategory)]) {
    for (text, category) in
        cases.iter().chain(&[("", ErrorCategory::Other), (" ", ErrorCategory::Other)])
    {
        let api_error = from_text(text);
        assert_eq!(api_error.category, *category, "{text}");
        assert!(!api_error.detail.is_empty(), "{text}");
    }
}
