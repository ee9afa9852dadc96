//! The patterns that describe a program's screen: read, checked and compiled. It does not know what
//! follows from a match.

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// How many lines from the bottom are read by default, and at most.
const LINES: usize = 5;
const MOST_LINES: usize = 50;
/// Every pattern is tried on every line of every screen, so their number and size are limited.
const COUNT: usize = 16;
const LENGTH: usize = 512;
const COMPILED: usize = 64 << 10;

const KEYS: [&str; 5] = ["prompt", "working", "error", "composer", "lines"];

/// How a program's screen looks. Every pattern is a regular expression for one line, without its
/// trailing spaces.
#[derive(Debug, Clone)]
pub struct Patterns {
    /// The program asks a question.
    pub(super) prompt: Vec<Regex>,
    /// The program works.
    pub(super) working: Vec<Regex>,
    /// The program shows an error.
    pub(super) error: Vec<Regex>,
    /// The composer. What is typed there is its group, or otherwise everything after the match.
    pub(super) composer: Option<Regex>,
    /// How many non-empty lines are read, from the bottom.
    pub(super) lines: usize,
}

impl Patterns {
    /// Reads the object under `screen`. An error starts with the path of the wrong value.
    pub fn read(screen: &Map<String, Value>) -> Result<Self, String> {
        if let Some(key) = screen.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("screen.{key}: unknown key; the keys are {}", KEYS.join(", ")));
        }
        let composer = match screen.get("composer") {
            None | Some(Value::Null) => None,
            Some(pattern) => Some(composer(pattern)?),
        };
        let patterns = Self {
            prompt: list(screen, "prompt")?,
            working: list(screen, "working")?,
            error: list(screen, "error")?,
            composer,
            lines: lines(screen.get("lines"))?,
        };
        let lists = [&patterns.prompt, &patterns.working, &patterns.error];
        match patterns.composer.is_none() && lists.iter().all(|list| list.is_empty()) {
            true => Err("screen: it contains no pattern".to_owned()),
            false => Ok(patterns),
        }
    }
}

fn list(screen: &Map<String, Value>, key: &str) -> Result<Vec<Regex>, String> {
    match screen.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() > COUNT => {
            Err(format!("screen.{key}: it has {} patterns; the most is {COUNT}", list.len()))
        }
        Some(Value::Array(list)) => {
            let named = |(at, pattern)| compile(&format!("screen.{key}[{at}]"), pattern);
            list.iter().enumerate().map(named).collect()
        }
        Some(_) => Err(format!("screen.{key}: it must be a list of patterns")),
    }
}

fn composer(pattern: &Value) -> Result<Regex, String> {
    let composer = compile("screen.composer", pattern)?;
    // The whole match counts as a group.
    match composer.captures_len() {
        0..=2 => Ok(composer),
        more => Err(format!("screen.composer: it has {} groups; at most one is allowed", more - 1)),
    }
}

fn compile(path: &str, pattern: &Value) -> Result<Regex, String> {
    let Some(text) = pattern.as_str() else { return Err(format!("{path}: it must be a string")) };
    if text.len() > LENGTH {
        return Err(format!("{path}: it has {} bytes; the most is {LENGTH}", text.len()));
    }
    let compiled = RegexBuilder::new(text).size_limit(COMPILED).build();
    let regex = compiled.map_err(|error| format!("{path}: {text:?}: {error}"))?;
    match regex.is_match("") {
        true if path != "screen.composer" => Err(format!("{path}: {text:?} matches an empty line")),
        true | false => Ok(regex),
    }
}

fn lines(value: Option<&Value>) -> Result<usize, String> {
    let number = match value {
        None | Some(Value::Null) => return Ok(LINES),
        Some(value) => value.as_u64().and_then(|number| usize::try_from(number).ok()),
    };
    let wrong = || format!("screen.lines: it must be a number from 1 to {MOST_LINES}");
    number.filter(|number| (1..=MOST_LINES).contains(number)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(screen: &Value) -> Result<Patterns, String> {
        Patterns::read(screen.as_object().unwrap())
    }

    #[test]
    fn missing_keys_have_defaults() {
        let patterns = read(&json!({"composer": "^> ?(.*)$"})).unwrap();
        assert_eq!((patterns.lines, patterns.working.len()), (5, 0));
        let patterns = read(&json!({"working": ["a", "b"], "prompt": null, "lines": 50})).unwrap();
        assert_eq!((patterns.lines, patterns.working.len()), (50, 2));
        assert!(patterns.composer.is_none());
    }

    #[test]
    fn an_error_starts_with_the_path_of_the_wrong_value() {
        for (screen, says) in [
            (json!({}), "screen: it contains no pattern"),
            (json!({"working": []}), "screen: it contains no pattern"),
            (json!({"working": ["fine", "(open"]}), "screen.working[1]: \"(open\": "),
            (json!({"prompt": "text"}), "screen.prompt: it must be a list"),
            (json!({"prompt": [1]}), "screen.prompt[0]: it must be a string"),
            (json!({"error": ["x*"]}), "screen.error[0]: \"x*\" matches an empty line"),
            (
                json!({"error": ["x".repeat(513)]}),
                "screen.error[0]: it has 513 bytes; the most is 512",
            ),
            (json!({"error": ["x".repeat(512), "((x{99}){99}){99}"]}), "screen.error[1]: "),
            (json!({"error": vec!["x"; 17]}), "screen.error: it has 17 patterns; the most is 16"),
            (json!({"composer": "(a)(b)"}), "screen.composer: it has 2 groups"),
            (json!({"composer": ["a"]}), "screen.composer: it must be a string"),
            (
                json!({"composer": "a", "lines": 0}),
                "screen.lines: it must be a number from 1 to 50",
            ),
            (json!({"composer": "a", "lines": 51}), "screen.lines: "),
            (json!({"composer": "a", "lines": "5"}), "screen.lines: "),
            (json!({"composer": "a", "busy": []}), "screen.busy: unknown key"),
        ] {
            let error = read(&screen).unwrap_err();
            assert!(error.starts_with(says), "{screen}: {error}");
        }
    }
}
