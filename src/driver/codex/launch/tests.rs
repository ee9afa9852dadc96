use serde_json::json;

use super::*;
use crate::driver::testing::launches::LaunchCase;

fn given(args: &[&str]) -> LaunchCase {
    LaunchCase { version: Some(OLDEST), ..LaunchCase::new(plan, "/usr/bin/codex", args) }
}

fn words(plan: &LaunchPlan) -> Vec<&str> {
    plan.args.iter().map(|arg| arg.to_str().unwrap()).collect()
}

#[test]
fn hooks_and_their_hashes_are_inserted_before_the_given_arguments() {
    let plan = given(&["-m", "x", "do it"]).plan().unwrap();
    let words = words(&plan);
    assert_eq!((words[0], &words[words.len() - 3..]), ("--no-daemon", &["-m", "x", "do it"][..]));
    let count = |start: &str| words.iter().filter(|word| word.starts_with(start)).count();
    assert_eq!((count("hooks.PermissionRequest=[{hooks=["), count("hooks.state={")), (1, 1));
    assert!(words.iter().any(|word| word.contains(r"'/opt/it'\\''s/coop' hook Stop")), "{words:?}");
    assert_eq!((plan.hooks_unavailable, plan.evidence_sources), (None, EvidenceSources::default()));
}

#[test]
fn a_launch_without_hooks_says_why_and_searches_the_log() {
    let without_hooks = |launch: LaunchCase| {
        let plan = launch.plan().unwrap();
        assert!(
            plan.hooks_unavailable.is_some() && plan.evidence_sources.log.is_some(),
            "{plan:?}"
        );
        assert!(!words(&plan).iter().any(|word| word.contains("hook Stop")), "{plan:?}");
        plan
    };
    without_hooks(given(&["-c", "hooks.Stop=[]"]));
    without_hooks(given(&["--disable", "hooks"]));
    assert_eq!(words(&without_hooks(given(&["login"]))), ["login"]);
    assert_eq!(
        words(&without_hooks(LaunchCase { groom: Groom::Pristine, ..given(&["x"]) })),
        ["x"]
    );
    assert_eq!(
        words(&without_hooks(LaunchCase { version: Some(Version(0, 9, 0)), ..given(&["x"]) })),
        ["x"]
    );
}

#[test]
fn resuming_keeps_the_flags_and_drops_the_first_prompt() {
    let resumed = |args: &[&str]| LaunchCase { resume: Some("0-1"), ..given(args) }.plan().unwrap();
    let plan = resumed(&["-m", "x", "-i", "pic", "do it"]);
    assert!(words(&plan).ends_with(&["-m", "x", "resume", "0-1"]), "{plan:?}");
    let plan = resumed(&["resume", "--last"]);
    assert!(words(&plan).ends_with(&["resume", "0-1"]), "{plan:?}");
    assert_eq!(words(&plan).iter().filter(|word| **word == "resume").count(), 1);
}

#[test]
fn exec_prints_json_only_with_its_flag() {
    let plan = given(&["exec", "--json", "x"]).plan().unwrap();
    assert!(plan.evidence_sources.stdout && !words(&plan).contains(&"--no-daemon"));
    assert!(!given(&["exec", "x"]).plan().unwrap().evidence_sources.stdout);
    assert!(!given(&["--json"]).plan().unwrap().evidence_sources.stdout);
}

#[test]
fn settings_of_the_orchestrator_become_toml() {
    let settings = json!({"model": "m \"q\"", "tui": {"animations": false, "x": [1, "a"]}});
    let mcp = json!({"srv": {"command": "run", "args": ["-v"]}});
    let plan =
        LaunchCase { settings: Some(settings), mcp: Some(mcp), ..given(&[]) }.plan().unwrap();
    let words = words(&plan);
    assert!(words.contains(&r#"model="m \"q\"""#), "{words:?}");
    assert!(words.contains(&r#"tui={"animations"=false,"x"=[1,"a"]}"#), "{words:?}");
    assert!(words.iter().any(|word| word.starts_with("mcp_servers.srv={")), "{words:?}");
    assert!(!words.contains(&"--profile") && plan.files.is_empty(), "{plan:?}");
    for wrong in [json!([]), json!({"hooks": {}}), json!({"a b": 1}), json!({"x": null})] {
        let launch = LaunchCase { settings: Some(wrong), ..given(&[]) };
        assert!(launch.plan().is_err(), "{:?}", launch.settings);
    }
}

#[test]
fn settings_that_may_be_secrets_go_into_a_private_profile() {
    let settings = json!({
        "model": "m",
        "model_providers": {"p": {"http_headers": {"x-key": "secret"}}},
        "shell_environment_policy": {"set": {"KEY": "secret"}},
        "unknown": ["secret"],
        "limits": {"most": 3, "fast": true},
    });
    let plan =
        |args: &[&str]| LaunchCase { settings: Some(settings.clone()), ..given(args) }.plan();
    let private = plan(&["do it"]).unwrap();
    let words = words(&private);
    assert!(!words.iter().any(|word| word.contains("secret")), "{words:?}");
    assert!(words.contains(&"model=\"m\"") && words.iter().any(|word| word.starts_with("limits=")));
    let at = words.iter().position(|word| *word == "--profile").unwrap();
    let [(path, text)] = private.files.as_slice() else { panic!("{private:?}") };
    assert_eq!(
        path.file_name().unwrap().to_str().unwrap(),
        format!("{}.config.toml", words[at + 1])
    );
    assert_eq!(path.parent().unwrap().file_name().unwrap(), ".codex");
    let wanted = "model_providers = {\"p\"={\"http_headers\"={\"x-key\"=\"secret\"}}}\n\
                  shell_environment_policy = {\"set\"={\"KEY\"=\"secret\"}}\n\
                  unknown = [\"secret\"]\n";
    assert_eq!(text, wanted);
    // A command with a profile of its own cannot have a second one.
    let error = plan(&["-p", "mine"]).unwrap_err();
    assert!(error.contains("model_providers") && !error.contains("secret\""), "{error}");
}
