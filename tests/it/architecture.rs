//! ARCHITECTURE.md names files and functions in its walks; each of them exists.

use std::path::Path;

/// The steps of the walks: a file, and a function in it.
fn steps(text: &str) -> Vec<(String, String)> {
    let walks = text.split("## Three walks").nth(1).expect("the walks");
    let walks = walks.split("\n## ").next().expect("their end");
    let mut steps = Vec::new();
    for line in walks.lines() {
        let mut file = None;
        // The odd pieces between backquotes are code.
        for code in line.split('`').skip(1).step_by(2) {
            if code.starts_with("src/") {
                file = Some(code.to_owned());
            } else if let Some(file) = file.as_ref().filter(|_| is_function(code)) {
                steps.push((file.clone(), code.to_owned()));
            }
        }
    }
    steps
}

fn is_function(code: &str) -> bool {
    code.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn defines(source: &str, function: &str) -> bool {
    source.lines().any(|line| {
        let after = line.split("fn ").nth(1).unwrap_or_default();
        after.strip_prefix(function).is_some_and(|rest| rest.starts_with(['(', '<']))
    })
}

#[test]
fn every_step_of_the_walks_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the document");
    let steps = steps(&text);
    assert!(steps.len() >= 24, "three walks: {steps:?}");
    for (file, function) in steps {
        let source = std::fs::read_to_string(root.join(&file)).unwrap_or_else(|error| {
            panic!("ARCHITECTURE.md names {file}, which cannot be read: {error}")
        });
        assert!(defines(&source, &function), "{file} has no function {function}");
    }
}

#[test]
fn a_missing_function_is_found() {
    let text = "## Three walks\n1. `src/a.rs`: `one` and `two`; see `Type`\n\n## Next\n`three`";
    let expected = [("src/a.rs", "one"), ("src/a.rs", "two")];
    let expected = expected.map(|(file, function)| (file.to_owned(), function.to_owned()));
    assert_eq!(steps(text), expected);
    assert!(defines("    pub(super) async fn one<T>(self) {", "one"));
    assert!(!defines("fn one_more() {}\n// one()", "one"));
}
