//! Only the agent's own folder and the registry name an agent. So everything that is specific to an
//! agent is in one place.

use coop::driver;

use crate::sources::files;

#[test]
fn no_agent_is_named_outside_its_folder() {
    let files = files("src");
    let agents: Vec<&str> = driver::names().filter(|name| *name != driver::UNKNOWN).collect();
    let mut inside = 0;
    let mut outside = Vec::new();
    for file in files.iter().filter(|file| file.path != "driver/mod.rs") {
        let text = file.text.to_lowercase();
        for agent in &agents {
            let is_own = file.path.starts_with(&format!("driver/{agent}/"));
            for (number, _) in (1..).zip(text.lines()).filter(|(_, line)| line.contains(agent)) {
                if is_own {
                    inside += 1;
                } else {
                    outside.push(format!("src/{}:{number} names {agent}", file.path));
                }
            }
            if !is_own && file.path.to_lowercase().contains(agent) {
                outside.push(format!("src/{} is named after {agent}", file.path));
            }
        }
    }
    assert!(inside >= agents.len(), "only {inside} lines of {} files name an agent", files.len());
    assert!(outside.is_empty(), "{outside:#?}");
}
