//! Maps Claude's errors to coop's error categories. It does not know which source reported an
//! error.

use serde_json::Value;

use crate::driver::agent::{ApiError, ErrorCategory, Parked};
use crate::driver::api_error::{ErrorPattern, NODE_ERRORS, by_name, by_status, by_words};
use crate::driver::evidence::Claim;

/// Claude's error names, which hooks, log and stdout share. Names that are missing here have no
/// fixed category.
const NAMES: [ErrorPattern; 9] = [
    ("authentication_failed", ErrorCategory::Unauthorized),
    ("oauth_org_not_allowed", ErrorCategory::Unauthorized),
    ("account_on_hold", ErrorCategory::Unauthorized),
    ("verification_required", ErrorCategory::Unauthorized),
    ("cloud_credential_error", ErrorCategory::Unauthorized),
    ("billing_error", ErrorCategory::OutOfCredits),
    ("rate_limit", ErrorCategory::RateLimited),
    ("overloaded", ErrorCategory::ServerError),
    ("server_error", ErrorCategory::ServerError),
];

/// Phrases of Claude's error messages, in lower case; the first one that occurs decides.
const WORDS: [ErrorPattern; 22] = [
    ("connection refused", ErrorCategory::NoInternet),
    ("connection error", ErrorCategory::NoInternet),
    ("unable to connect", ErrorCategory::NoInternet),
    ("internet connection", ErrorCategory::NoInternet),
    ("credit balance", ErrorCategory::OutOfCredits),
    ("add funds", ErrorCategory::OutOfCredits),
    ("invalid api key", ErrorCategory::Unauthorized),
    ("not logged in", ErrorCategory::Unauthorized),
    ("/login", ErrorCategory::Unauthorized),
    ("authentication", ErrorCategory::Unauthorized),
    ("oauth token", ErrorCategory::Unauthorized),
    ("(401)", ErrorCategory::Unauthorized),
    ("error: 401", ErrorCategory::Unauthorized),
    ("error: 403", ErrorCategory::Unauthorized),
    ("429", ErrorCategory::RateLimited),
    ("rate limit", ErrorCategory::RateLimited),
    ("usage limit", ErrorCategory::RateLimited),
    ("limit reached · resets", ErrorCategory::RateLimited),
    ("hit your limit", ErrorCategory::RateLimited),
    ("overloaded", ErrorCategory::ServerError),
    ("server error", ErrorCategory::ServerError),
    ("server-side issue", ErrorCategory::ServerError),
];

/// Limits that a retry does not lift, in lower case.
const LIMITS: [&str; 3] = ["usage limit", "limit reached", "hit your limit"];

/// An error by its name, the HTTP status of the API's response and Claude's message, as far as each
/// is known.
pub(super) fn of(name: Option<&str>, status: Option<u64>, text: &str) -> ApiError {
    let words = by_words(NODE_ERRORS.iter().chain(&WORDS), text);
    // Claude reports a failed connection as `server_error`; only the message distinguishes the two.
    let category = words
        .filter(|category| *category == ErrorCategory::NoInternet)
        .or_else(|| by_name(&NAMES, name?))
        .or_else(|| by_status(status?))
        .or(words);
    let detail = match (text.trim(), name, status) {
        ("", Some(name), Some(status)) => format!("{name} ({status})"),
        ("", Some(name), None) => name.to_owned(),
        ("", None, Some(status)) => format!("the API returned status {status}"),
        (text, _, _) => text.to_owned(),
    };
    ApiError::new(category, &detail)
}

/// An error of which only the message is known. A number in it may be the HTTP status.
pub(super) fn from_text(text: &str) -> ApiError {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == 3);
    let status =
        numbers.filter_map(|digits| digits.parse().ok()).find(|status| (400..600).contains(status));
    of(None, status, text)
}

/// An error in a line or payload that has its name in `error` and its status in the given field.
pub(super) fn in_fields(from: &Value, status: &str, text: &str) -> ApiError {
    of(from["error"].as_str(), from[status].as_u64(), text)
}

/// The claim that follows from an error: a limit that only time lifts parks the agent, any other
/// error fails the turn.
pub(super) fn claim(api_error: ApiError) -> Claim {
    let words = api_error.detail.to_lowercase();
    if api_error.category != ErrorCategory::RateLimited
        || !LIMITS.iter().any(|limit| words.contains(limit))
    {
        return Claim::Failed(api_error);
    }
    let resume_at_epoch_ms = reset(&api_error.detail);
    Claim::Parked(Parked { api_error, resume_at_epoch_ms })
}

/// When the limit is lifted, if the message ends in `|` and a Unix time in seconds.
fn reset(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once('|')?;
    let digits: &str = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse::<u64>().ok().filter(|_| digits.len() == 10).map(|seconds| seconds * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::api_error::check;

    #[test]
    fn a_limit_parks_the_agent_with_a_time_only_if_the_message_has_one() {
        let claimed = |text: &str| claim(of(Some("rate_limit"), Some(429), text));
        let Claim::Parked(parked) = claimed("Claude AI usage limit reached|1794900000") else {
            panic!("not parked")
        };
        assert_eq!(parked.resume_at_epoch_ms, Some(1_794_900_000_000));
        for text in [
            "You've hit your limit · resets 3pm",
            "Usage limit reached|soon",
            "usage limit reached|12345678901",
        ] {
            let Claim::Parked(parked) = claimed(text) else { panic!("{text} does not park") };
            assert_eq!(parked.resume_at_epoch_ms, None, "{text}");
        }
        assert!(matches!(claimed("API Error: Request rejected (429)"), Claim::Failed(_)));
        assert!(matches!(claim(of(None, Some(500), "limit reached|1794900000")), Claim::Failed(_)));
    }

    #[test]
    fn error_messages_of_claude_are_categorised() {
        let cases = [
            (
                "API Error: Request rejected (429) · Please try again later.",
                ErrorCategory::RateLimited,
            ),
            ("Invalid API key · Fix external API key", ErrorCategory::Unauthorized),
            ("Not logged in · Please run /login", ErrorCategory::Unauthorized),
            ("API Error: 529 Overloaded. This is a server-side issue", ErrorCategory::ServerError),
            ("API Error: 500 Internal server error.", ErrorCategory::ServerError),
            ("API Error: Connection refused — x (ECONNREFUSED)", ErrorCategory::NoInternet),
            ("Credit balance too low · Add funds", ErrorCategory::OutOfCredits),
            ("Context limit reached · /compact or /clear to continue", ErrorCategory::Other),
            ("API Error: 400 mock bad request", ErrorCategory::Other),
        ];
        check(from_text, &cases);
    }

    #[test]
    fn a_name_counts_more_than_a_status_and_a_status_more_than_words() {
        assert_eq!(
            of(Some("billing_error"), Some(400), "overloaded").category,
            ErrorCategory::OutOfCredits
        );
        assert_eq!(
            of(Some("unknown"), Some(429), "overloaded").category,
            ErrorCategory::RateLimited
        );
        assert_eq!(
            of(Some("unknown"), Some(400), "Overloaded").category,
            ErrorCategory::ServerError
        );
    }

    #[test]
    fn a_refused_connection_is_no_server_error_despite_its_name() {
        let text = "API Error: Connection refused — check your proxy (ECONNREFUSED)";
        assert_eq!(of(Some("server_error"), None, text).category, ErrorCategory::NoInternet);
    }

    #[test]
    fn an_error_without_a_message_shows_its_name_and_status() {
        assert_eq!(of(Some("rate_limit"), Some(429), " ").detail, "rate_limit (429)");
    }
}
