//! Documents that name tests. `tests/agents/journal.md` is generated from a run of the agent tests:
//! it has one row for each of them, and no row for a test that does not exist. `SECURITY.md` names
//! the tests that show what a caller cannot do.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The agents, each with a folder of tests. The tests beside these folders drive all of them.
const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

/// Every agent test in the files of a folder, as `module::test`.
fn tests(folder: &Path) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Some(module) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".rs"))
        else {
            continue;
        };
        let source = fs::read_to_string(&path).expect("a file");
        for test in source.split("#[tokio::test]\nasync fn ").skip(1) {
            let (name, _) = test.split_once('(').expect("a function");
            tests.insert(format!("{module}::{name}"));
        }
    }
    assert!(tests.len() > 3, "{} has only {tests:?}", folder.display());
    tests
}

#[test]
fn the_journal_has_one_row_for_each_agent_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents");
    let mut tests_in_the_sources = tests(&folder);
    for agent in AGENTS {
        let of_agent = tests(&folder.join(agent));
        tests_in_the_sources.extend(of_agent.iter().map(|test| format!("{agent}::{test}")));
    }
    let text = fs::read_to_string(folder.join("journal.md")).expect("the journal");
    let rows: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let tests_in_the_journal: BTreeSet<String> = rows.iter().copied().map(str::to_owned).collect();
    assert_eq!(rows.len(), tests_in_the_journal.len(), "a test has two rows");
    let missing: Vec<_> = tests_in_the_sources.difference(&tests_in_the_journal).collect();
    let stale: Vec<_> = tests_in_the_journal.difference(&tests_in_the_sources).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "tests without a row: {missing:#?}\nrows without a test: {stale:#?}\nRun `make \
         journal`, or rename the row with its test."
    );
}

/// The names of all functions in the Rust files of a module: `NAME.rs`, or the folder `NAME`.
fn functions_of(module: &str, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            functions_of(module, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && path.components().any(|part| {
                Path::new(part.as_os_str()).file_stem().is_some_and(|stem| stem == module)
            })
        {
            let source = fs::read_to_string(&path).expect("a file");
            found.extend(
                source.split("fn ").skip(1).filter_map(|function| {
                    function.split_once('(').map(|(name, _)| name.to_owned())
                }),
            );
        }
    }
}

#[test]
fn the_tests_that_security_md_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("SECURITY.md")).expect("the document");
    let mut named = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let shown_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        for test in shown_by.split(", ").filter(|test| test.contains("::")) {
            let folder = if test.starts_with("lib ") { "src" } else { "tests/it" };
            let (module, name) = test
                .trim_start_matches("lib ")
                .trim_matches('`')
                .split_once("::")
                .expect("a module and a test");
            let mut functions = BTreeSet::new();
            functions_of(module, &root.join(folder), &mut functions);
            assert!(functions.contains(name), "no test {name} in {module} of {folder}");
            named += 1;
        }
    }
    assert!(named > 30, "only {named} tests are named");
}
