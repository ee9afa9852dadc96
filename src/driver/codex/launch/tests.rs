use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// What becomes of a command.
fn dressed(args: &[&str], change: impl FnOnce(&mut Order)) -> Result<Outfit, String> {
    wished(args, None, None, change)
}

/// What becomes of a command with an orchestrator's wishes.
fn wished(
    args: &[&str],
    settings: Option<&Value>,
    mcp: Option<&Value>,
    change: impl FnOnce(&mut Order),
) -> Result<Outfit, String> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let env = BTreeMap::from([("HOME".into(), "/home/me".into())]);
    let mut order = Order {
        program: OsStr::new("/usr/bin/codex"),
        args: &args,
        env: &env,
        cwd: Path::new("/work"),
        dir: Path::new("/run/coop"),
        hook: Path::new("/usr/bin/it's coop"),
        groom: Groom::Auto,
        settings,
        mcp,
        version: Some(Version(0, 166, 0)),
        resume: None,
        fresh_id: "fresh",
        read: &|_| Err(std::io::ErrorKind::NotFound.into()),
    };
    change(&mut order);
    outfit(&order)
}

fn words(outfit: &Outfit) -> Vec<&str> {
    outfit.args.iter().map(|arg| arg.to_str().unwrap()).collect()
}

#[test]
fn hooks_and_their_trust_go_before_what_was_given() {
    let outfit = dressed(&["-m", "x", "do it"], |_| {}).unwrap();
    let words = words(&outfit);
    assert_eq!((words[0], &words[words.len() - 3..]), ("--no-daemon", &["-m", "x", "do it"][..]));
    let told = |start: &str| words.iter().filter(|word| word.starts_with(start)).count();
    assert_eq!((told("hooks.PermissionRequest=[{hooks=["), told("hooks.state={")), (1, 1));
    assert!(words.iter().any(|word| word.contains(r"'/usr/bin/it'\\''s coop' hook Stop")), "{words:?}");
    assert_eq!((outfit.unheard, outfit.traces), (None, Traces::default()));
}

#[test]
fn what_cannot_be_heard_says_why_and_its_log_is_looked_for() {
    let silent = |args: &[&str], change: fn(&mut Order)| {
        let outfit = dressed(args, change).unwrap();
        assert!(outfit.unheard.is_some() && outfit.traces.log.is_some(), "{outfit:?}");
        assert!(!words(&outfit).iter().any(|word| word.contains("hook Stop")), "{outfit:?}");
        outfit
    };
    silent(&["-c", "hooks.Stop=[]"], |_| {});
    silent(&["--disable", "hooks"], |_| {});
    assert_eq!(words(&silent(&["login"], |_| {})), ["login"]);
    assert_eq!(words(&silent(&["x"], |order| order.groom = Groom::Pristine)), ["x"]);
    assert_eq!(words(&silent(&["x"], |order| order.version = Some(Version(0, 9, 0)))), ["x"]);
}

#[test]
fn a_conversation_goes_on_with_the_flags_and_without_the_first_words() {
    let resume = |order: &mut Order| order.resume = Some("0-1");
    let outfit = dressed(&["-m", "x", "-i", "pic", "do it"], resume).unwrap();
    assert!(words(&outfit).ends_with(&["-m", "x", "resume", "0-1"]), "{outfit:?}");
    let outfit = dressed(&["resume", "--last"], resume).unwrap();
    assert!(words(&outfit).ends_with(&["resume", "0-1"]), "{outfit:?}");
    assert_eq!(words(&outfit).iter().filter(|word| **word == "resume").count(), 1);
}

#[test]
fn one_turn_prints_json_if_it_is_told_to() {
    let outfit = dressed(&["exec", "--json", "x"], |_| {}).unwrap();
    assert!(outfit.traces.stdout && !words(&outfit).contains(&"--no-daemon"));
    assert!(!dressed(&["exec", "x"], |_| {}).unwrap().traces.stdout);
    assert!(!dressed(&["--json"], |_| {}).unwrap().traces.stdout);
}

#[test]
fn the_orchestrators_wishes_become_toml() {
    let settings: Value = json!({"model": "m \"q\"", "tui": {"animations": false, "x": [1, "a"]}});
    let mcp = json!({"srv": {"command": "run", "args": ["-v"]}});
    let outfit = wished(&[], Some(&settings), Some(&mcp), |_| {}).unwrap();
    let words = words(&outfit);
    assert!(words.contains(&r#"model="m \"q\"""#), "{words:?}");
    assert!(words.contains(&r#"tui={"animations"=false,"x"=[1,"a"]}"#), "{words:?}");
    assert!(words.iter().any(|word| word.starts_with("mcp_servers.srv={")), "{words:?}");
    for wrong in [json!([]), json!({"hooks": {}}), json!({"a b": 1}), json!({"x": null})] {
        assert!(wished(&[], Some(&wrong), None, |_| {}).is_err(), "{wrong}");
    }
}
