//! An agent's name stands in its own folder and in the registry, and nowhere else in the sources: whatever is particular
//! about it is, too.

use std::path::{Path, PathBuf};

use coop::driver;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn no_agent_is_named_outside_its_folder() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    let agents: Vec<&str> = driver::names().filter(|name| *name != driver::UNKNOWN).collect();
    let mut at_home = 0;
    let mut elsewhere = Vec::new();
    for path in &found {
        let place = path.strip_prefix(&src).expect("below it");
        if place == Path::new("driver/mod.rs") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a file")).to_lowercase();
        for agent in &agents {
            let home = place.starts_with(Path::new("driver").join(agent));
            let named = text.lines().enumerate().filter(|(_, line)| line.contains(agent));
            for (line, _) in named {
                match home {
                    true => at_home += 1,
                    false => elsewhere.push(format!("{}:{} names {agent}", place.display(), line + 1)),
                }
            }
            if !home && place.to_string_lossy().to_lowercase().contains(agent) {
                elsewhere.push(format!("{} is named after {agent}", place.display()));
            }
        }
    }
    assert!(at_home >= agents.len(), "these are not the sources: {found:?}");
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}
