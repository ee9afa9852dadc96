//! The journals in the documentation are about every test of the agents, and about nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The suites of one agent, and those of all of them.
const FOLDERS: [(&str, &str); 4] =
    [("claude", "claude"), ("codex", "codex"), ("gemini", "gemini"), ("all", ".")];

/// Every test in a folder, as `module::test`.
fn tests(folder: &Path) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Some(module) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".rs")) else {
            continue;
        };
        let source = fs::read_to_string(&path).expect("a file");
        for test in source.split("#[tokio::test]\nasync fn ").skip(1) {
            let (name, _) = test.split_once('(').expect("a function");
            tests.insert(format!("{module}::{name}"));
        }
    }
    tests
}

#[test]
fn every_test_of_the_agents_has_its_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/agents.md")).expect("the document");
    for (journal, folder) in FOLDERS {
        let start = format!("<!-- journal: {journal} -->");
        let (_, table) = text.split_once(&start).unwrap_or_else(|| panic!("no journal of {journal}"));
        let (table, _) = table.split_once("<!-- end -->").expect("an end");
        let rows: BTreeSet<String> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .map(str::to_owned)
            .collect();
        let tests = tests(&root.join("tests/agents").join(folder));
        assert!(tests.len() > 3, "{journal} has only {tests:?}");
        let (missing, gone): (Vec<_>, Vec<_>) =
            (tests.difference(&rows).collect(), rows.difference(&tests).collect());
        assert!(
            missing.is_empty() && gone.is_empty(),
            "{journal}: without a row {missing:?}, without a test {gone:?}"
        );
    }
}
