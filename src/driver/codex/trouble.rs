//! What Codex calls its errors, and which of ours each of them is. It knows neither where an error was told nor what
//! becomes of the turn.

use serde_json::Value;

use crate::driver::agent::{ErrorCategory, Trouble};
use crate::driver::trouble::{Sign, by_name, by_status, by_words};

/// Codex's own names; what is not here says nothing by its name.
const NAMES: [Sign; 4] = [
    ("usage_limit_exceeded", ErrorCategory::RateLimited),
    ("server_overloaded", ErrorCategory::ServerError),
    ("internal_server_error", ErrorCategory::ServerError),
    ("unauthorized", ErrorCategory::Unauthorized),
];

/// Words of its messages, in lower case; the first that occurs decides.
const WORDS: [Sign; 19] = [
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

/// An error as the log has it: its words, and its name or a name with a status in it.
pub(super) fn of(error: &Value) -> Trouble {
    let text = error["message"].as_str().unwrap_or_default();
    let info = &error["codex_error_info"];
    let words = by_words(&WORDS, text);
    let category = words
        .filter(|category| matches!(category, ErrorCategory::OutOfCredits | ErrorCategory::NoInternet))
        .or_else(|| by_name(&NAMES, info.as_str()?))
        .or_else(|| by_status(status(info)?))
        .or(words);
    let detail = match (text.trim(), info) {
        ("", Value::String(name)) => name.clone(),
        ("", info) if !info.is_null() => info.to_string(),
        (text, _) => text.to_owned(),
    };
    Trouble::new(category, &detail)
}

/// An error of which only the words are known.
pub(super) fn from_text(text: &str) -> Trouble {
    Trouble::new(by_words(&WORDS, text), text)
}

/// An error of which nothing is known.
pub(super) fn unsaid() -> Trouble {
    from_text("")
}

/// The status in `{"http_connection_failed": {"http_status_code": 401}}`, whatever the outer name.
fn status(info: &Value) -> Option<u64> {
    info.as_object()?.values().find_map(|value| value["http_status_code"].as_u64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::driver::trouble::check;

    #[test]
    fn what_codex_says_is_recognised() {
        let cases = [
            (
                "unexpected status 401 Unauthorized: Incorrect API key provided: sk-x",
                ErrorCategory::Unauthorized,
            ),
            ("exceeded retry limit, last status: 429 Too Many Requests", ErrorCategory::RateLimited),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                ErrorCategory::ServerError,
            ),
            (
                "You’ve hit your usage limit. Visit https://x to purchase more credits",
                ErrorCategory::RateLimited,
            ),
            ("Quota exceeded. Check your plan and billing details.", ErrorCategory::OutOfCredits),
            ("Selected model is at capacity. Please try a different model.", ErrorCategory::ServerError),
            ("Connection failed: error sending request", ErrorCategory::NoInternet),
            ("Codex ran out of room in the model's context window.", ErrorCategory::Other),
        ];
        check(from_text, &cases);
    }

    #[test]
    fn a_name_or_a_status_counts_more_than_words() {
        let failed = |info| of(&json!({"message": "mock rate limit", "codex_error_info": info})).category;
        assert_eq!(failed(json!("server_overloaded")), ErrorCategory::ServerError);
        assert_eq!(failed(json!({"x": {"http_status_code": 401}})), ErrorCategory::Unauthorized);
        assert_eq!(failed(json!("other")), ErrorCategory::RateLimited);
        assert_eq!(failed(json!(null)), ErrorCategory::RateLimited);
        assert_eq!(of(&json!(7)), unsaid());
    }
}
