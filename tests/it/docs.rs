//! The table of agents in the documentation is about tests that there are.

use std::path::Path;

#[test]
fn every_row_of_the_journals_is_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/agents.md")).expect("the document");
    let mut rows = 0;
    for journal in text.split("<!-- journal: ").skip(1) {
        let (agent, table) = journal.split_once(" -->").expect("an agent");
        let (table, _) = table.split_once("<!-- end -->").expect("an end");
        for name in table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
            let (module, test) = name.rsplit_once("::").expect("a test in a module");
            let file = root.join("tests/agents").join(agent).join(format!("{module}.rs"));
            let source =
                std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert!(source.contains(&format!("async fn {test}()")), "{agent}::{name} is no test");
            rows += 1;
        }
    }
    assert!(rows > 100, "only {rows} rows");
}
