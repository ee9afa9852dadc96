//! Maps Codex's errors to coop's error categories. It does not know which source reported an error.

use serde_json::Value;

use crate::driver::agent::{ApiError, ErrorCategory};
use crate::driver::api_error::{ErrorPattern, by_name, by_status, by_words};

/// Codex's error names. Names that are missing here have no fixed category.
const NAMES: [ErrorPattern; 4] = [
    ("usage_limit_exceeded", ErrorCategory::RateLimited),
    ("server_overloaded", ErrorCategory::ServerError),
    ("internal_server_error", ErrorCategory::ServerError),
    ("unauthorized", ErrorCategory::Unauthorized),
];

/// Phrases of Codex's error messages, in lower case; the first one that occurs decides.
const WORDS: [ErrorPattern; 19] = [
    ("waiting for network", ErrorCategory::NoInternet),
    ("connection failed", ErrorCategory::NoInternet),
    ("error sending request", ErrorCategory::NoInternet),
    ("connection refused", ErrorCategory::NoInternet),
    ("dns error", ErrorCategory::NoInternet),
    ("quota exceeded", ErrorCategory::OutOfCredits),
    ("insufficient_quota", ErrorCategory::OutOfCredits),
    ("usage limit", ErrorCategory::RateLimited),
    ("401 unauthorized", ErrorCategory::Unauthorized),
    ("403 forbidden", ErrorCategory::Unauthorized),
    ("incorrect api key", ErrorCategory::Unauthorized),
    ("402 payment", ErrorCategory::OutOfCredits),
    ("429 too many", ErrorCategory::RateLimited),
    ("rate limit", ErrorCategory::RateLimited),
    ("high demand", ErrorCategory::ServerError),
    ("at capacity", ErrorCategory::ServerError),
    ("status: 5", ErrorCategory::ServerError),
    ("unexpected status 5", ErrorCategory::ServerError),
    ("stream disconnected", ErrorCategory::ServerError),
];

/// An error in the log: a message, and a name or an object with an HTTP status.
pub(super) fn of(error: &Value) -> ApiError {
    let text = error["message"].as_str().unwrap_or_default();
    let info = &error["codex_error_info"];
    let words = by_words(&WORDS, text);
    let category = words
        .filter(|category| {
            matches!(category, ErrorCategory::OutOfCredits | ErrorCategory::NoInternet)
        })
        .or_else(|| by_name(&NAMES, info.as_str()?))
        .or_else(|| by_status(status(info)?))
        .or(words);
    let detail = match (text.trim(), info) {
        ("", Value::String(name)) => name.clone(),
        ("", info) if !info.is_null() => info.to_string(),
        (text, _) => text.to_owned(),
    };
    ApiError::new(category, &detail)
}

/// An error of which only the message is known.
pub(super) fn from_text(text: &str) -> ApiError {
    ApiError::new(by_words(&WORDS, text), text)
}

/// An error without any details.
pub(super) fn unknown() -> ApiError {
    from_text("")
}

/// The HTTP status in `{"http_connection_failed": {"http_status_code": 401}}`, under any outer
/// name.
fn status(info: &Value) -> Option<u64> {
    info.as_object()?.values().find_map(|value| value["http_status_code"].as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::api_error::check;

    #[test]
    fn error_messages_of_codex_are_categorised() {
        let cases = [
            (
                "unexpected status 401 Unauthorized: Incorrect API key provided: sk-x",
                ErrorCategory::Unauthorized,
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                ErrorCategory::RateLimited,
            ),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                ErrorCategory::ServerError,
            ),
            (
                "You’ve hit your usage limit. Visit https://x to purchase more credits",
                ErrorCategory::RateLimited,
            ),
            ("Quota exceeded. Check your plan and billing details.", ErrorCategory::OutOfCredits),
            (
                "Selected model is at capacity. Please try a different model.",
                ErrorCategory::ServerError,
            ),
            ("Connection failed: error sending request", ErrorCategory::NoInternet),
            ("Codex ran out of room in the model's context window.", ErrorCategory::Other),
        ];
        check(from_text, &cases);
    }

    #[test]
    fn a_name_or_a_status_counts_more_than_the_message() {
        let failed =
            |info| of(&json!({"message": "mock rate limit", "codex_error_info": info})).category;
        assert_eq!(failed(json!("server_overloaded")), ErrorCategory::ServerError);
        assert_eq!(failed(json!({"x": {"http_status_code": 401}})), ErrorCategory::Unauthorized);
        assert_eq!(failed(json!("other")), ErrorCategory::RateLimited);
        assert_eq!(failed(json!(null)), ErrorCategory::RateLimited);
        assert_eq!(of(&json!(7)), unknown());
    }
}
