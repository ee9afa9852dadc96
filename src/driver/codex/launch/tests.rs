use serde_json::json;

use super::*;
use crate::driver::launched::Bench;

fn given(args: &[&str]) -> Bench {
    Bench { version: Some(OLDEST), ..Bench::new(outfit, "/usr/bin/codex", args) }
}

fn words(outfit: &Outfit) -> Vec<&str> {
    outfit.args.iter().map(|arg| arg.to_str().unwrap()).collect()
}

#[test]
fn hooks_and_their_trust_go_before_what_was_given() {
    let outfit = given(&["-m", "x", "do it"]).outfit().unwrap();
    let words = words(&outfit);
    assert_eq!((words[0], &words[words.len() - 3..]), ("--no-daemon", &["-m", "x", "do it"][..]));
    let told = |start: &str| words.iter().filter(|word| word.starts_with(start)).count();
    assert_eq!((told("hooks.PermissionRequest=[{hooks=["), told("hooks.state={")), (1, 1));
    assert!(words.iter().any(|word| word.contains(r"'/opt/it'\\''s/coop' hook Stop")), "{words:?}");
    assert_eq!((outfit.unheard, outfit.traces), (None, Traces::default()));
}

#[test]
fn what_cannot_be_heard_says_why_and_its_log_is_looked_for() {
    let silent = |bench: Bench| {
        let outfit = bench.outfit().unwrap();
        assert!(outfit.unheard.is_some() && outfit.traces.log.is_some(), "{outfit:?}");
        assert!(!words(&outfit).iter().any(|word| word.contains("hook Stop")), "{outfit:?}");
        outfit
    };
    silent(given(&["-c", "hooks.Stop=[]"]));
    silent(given(&["--disable", "hooks"]));
    assert_eq!(words(&silent(given(&["login"]))), ["login"]);
    assert_eq!(words(&silent(Bench { groom: Groom::Pristine, ..given(&["x"]) })), ["x"]);
    assert_eq!(words(&silent(Bench { version: Some(Version(0, 9, 0)), ..given(&["x"]) })), ["x"]);
}

#[test]
fn a_conversation_goes_on_with_the_flags_and_without_the_first_words() {
    let resumed = |args: &[&str]| Bench { resume: Some("0-1"), ..given(args) }.outfit().unwrap();
    let outfit = resumed(&["-m", "x", "-i", "pic", "do it"]);
    assert!(words(&outfit).ends_with(&["-m", "x", "resume", "0-1"]), "{outfit:?}");
    let outfit = resumed(&["resume", "--last"]);
    assert!(words(&outfit).ends_with(&["resume", "0-1"]), "{outfit:?}");
    assert_eq!(words(&outfit).iter().filter(|word| **word == "resume").count(), 1);
}

#[test]
fn one_turn_prints_json_if_it_is_told_to() {
    let outfit = given(&["exec", "--json", "x"]).outfit().unwrap();
    assert!(outfit.traces.stdout && !words(&outfit).contains(&"--no-daemon"));
    assert!(!given(&["exec", "x"]).outfit().unwrap().traces.stdout);
    assert!(!given(&["--json"]).outfit().unwrap().traces.stdout);
}

#[test]
fn the_orchestrators_wishes_become_toml() {
    let settings = json!({"model": "m \"q\"", "tui": {"animations": false, "x": [1, "a"]}});
    let mcp = json!({"srv": {"command": "run", "args": ["-v"]}});
    let outfit = Bench { settings: Some(settings), mcp: Some(mcp), ..given(&[]) }.outfit().unwrap();
    let words = words(&outfit);
    assert!(words.contains(&r#"model="m \"q\"""#), "{words:?}");
    assert!(words.contains(&r#"tui={"animations"=false,"x"=[1,"a"]}"#), "{words:?}");
    assert!(words.iter().any(|word| word.starts_with("mcp_servers.srv={")), "{words:?}");
    for wrong in [json!([]), json!({"hooks": {}}), json!({"a b": 1}), json!({"x": null})] {
        let bench = Bench { settings: Some(wrong), ..given(&[]) };
        assert!(bench.outfit().is_err(), "{:?}", bench.settings);
    }
}
