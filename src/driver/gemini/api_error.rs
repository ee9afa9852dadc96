//! Maps Gemini's errors to coop's error categories. It does not know which source reported an
//! error.

use serde_json::Value;

use crate::driver::agent::{ApiError, ErrorCategory};
use crate::driver::api_error::{ErrorPattern, NODE_ERRORS, by_status, by_words};

/// How the errors start that end a turn, in every source.
const ENDINGS: [&str; 2] = ["[API Error", "The model returned an empty response"];

/// Phrases of Gemini's error messages, in lower case; the first one that occurs decides.
const WORDS: [ErrorPattern; 23] = [
    ("fetch failed", ErrorCategory::NoInternet),
    ("network error", ErrorCategory::NoInternet),
    ("socket hang up", ErrorCategory::NoInternet),
    ("api error: terminated", ErrorCategory::NoInternet),
    ("credit", ErrorCategory::OutOfCredits),
    ("billing", ErrorCategory::OutOfCredits),
    ("unauthenticated", ErrorCategory::Unauthorized),
    ("permission_denied", ErrorCategory::Unauthorized),
    ("api_key_invalid", ErrorCategory::Unauthorized),
    ("api key not valid", ErrorCategory::Unauthorized),
    ("authentication", ErrorCategory::Unauthorized),
    ("credentials", ErrorCategory::Unauthorized),
    ("status: 401", ErrorCategory::Unauthorized),
    ("resource_exhausted", ErrorCategory::RateLimited),
    ("exhausted", ErrorCategory::RateLimited),
    ("quota", ErrorCategory::RateLimited),
    ("rate limit", ErrorCategory::RateLimited),
    ("too many requests", ErrorCategory::RateLimited),
    ("usage limit", ErrorCategory::RateLimited),
    ("high demand", ErrorCategory::ServerError),
    ("overloaded", ErrorCategory::ServerError),
    ("unavailable", ErrorCategory::ServerError),
    ("internal", ErrorCategory::ServerError),
];

/// Whether a text that Gemini marks as an error ends a turn. Errors of its own commands do not.
pub(super) fn ends_a_turn(text: &str) -> bool {
    ENDINGS.iter().any(|beginning| text.trim_start().starts_with(beginning))
}

/// An error of which only the message is known, which may contain the API's whole response.
pub(super) fn from_text(text: &str) -> ApiError {
    let words = || by_words(NODE_ERRORS.iter().chain(&WORDS), text);
    ApiError::new(status(text).and_then(by_status).or_else(words), text)
}

/// The status in the API's response, if the text contains it.
fn status(text: &str) -> Option<u64> {
    let (begin, end) = (text.find('{')?, text.rfind('}')?);
    let answer: Value = serde_json::from_str(text.get(begin..=end)?).ok()?;
    answer.pointer("/error/code")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::api_error::check;

    #[test]
    fn error_messages_of_gemini_are_categorised() {
        let cases = [
            (
                concat!(
                    r#"[API Error: {"error":{"code":401,"message":"Request had invalid "#,
                    r#"authentication credentials.","status":"UNAUTHENTICATED"}}]"#,
                ),
                ErrorCategory::Unauthorized,
            ),
            (
                concat!(
                    r#"[API Error: {"error":{"code":400,"message":"API key not valid.","#,
                    r#""status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
                ),
                ErrorCategory::Unauthorized,
            ),
            (
                "[API Error: You have exhausted your daily quota on this model.]",
                ErrorCategory::RateLimited,
            ),
            (
                "[API Error: Resource has been exhausted (e.g. check quota).]",
                ErrorCategory::RateLimited,
            ),
            (
                r#"[API Error: {"error":{"code":503,"message":"quota of patience"}}]"#,
                ErrorCategory::ServerError,
            ),
            ("[API Error: terminated]", ErrorCategory::NoInternet),
            (
                "[API Error: exception TypeError: fetch failed sending request]",
                ErrorCategory::NoInternet,
            ),
            ("[API Error: models/x is not found]", ErrorCategory::Other),
        ];
        check(from_text, &cases);
    }

    #[test]
    fn not_every_error_ends_a_turn() {
        assert!(ends_a_turn("[API Error: terminated]"));
        assert!(ends_a_turn("The model returned an empty response with no text or thoughts."));
        assert!(!ends_a_turn("Unknown command: /nonsense"));
    }

    #[test]
    fn text_with_unbalanced_braces_is_accepted() {
        for text in ["}{", "{", "}", "[API Error: {]", "{}", "é}é{é"] {
            from_text(text);
        }
    }
}
