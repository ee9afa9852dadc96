use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::driver::launched::{Bench, FRESH};

const MACHINE: &str = "/etc/gemini-cli/settings.json";
const PROJECTS: &str = "/home/dev/.gemini/projects.json";

fn given(args: &[&str]) -> Bench {
    Bench {
        version: Some(TAKES_ID),
        files: BTreeMap::from([(PROJECTS.into(), r#"{"projects":{"/work":"work-1"}}"#)]),
        ..Bench::new(outfit, "/usr/bin/gemini", args)
    }
}

fn chats() -> Option<LogPlace> {
    Some(LogPlace::NewIn { dir: "/home/dev/.gemini/tmp/work-1/chats".into(), ending: ".jsonl" })
}

#[test]
fn a_plain_command_gets_an_id_and_the_extension_and_leaves_known_traces() {
    let bench = given(&["-m", "flash", "do it"]);
    assert_eq!(bench.line(), format!("-m flash do it --session-id {FRESH}"));
    let outfit = bench.outfit().unwrap();
    assert_eq!(outfit.traces, Traces { log: chats(), registry: None, stdout: false });
    assert_eq!((outfit.files, outfit.unheard), (Vec::new(), None));
    assert_eq!(outfit.env[OsStr::new("COOP_HOOK_PROGRAM")], "/opt/it's/coop");
    assert_eq!(outfit.shared.unwrap().dir, Path::new("/home/dev/.gemini/extensions/coop-hooks"));
}

#[test]
fn the_extension_does_nothing_outside_of_coop_and_is_the_same_for_all() {
    let shared = |bench: Bench| bench.outfit().unwrap().shared.unwrap();
    let one = shared(given(&[]));
    assert_eq!(one, shared(Bench { resume: Some("other"), ..given(&["-y"]) }));
    let hooks: Value = serde_json::from_str(&one.files[1].1).unwrap();
    let hooks = hooks["hooks"].as_object().unwrap();
    let events = ["AfterAgent", "AfterTool", "BeforeAgent", "BeforeTool", "Notification", "SessionStart"];
    assert_eq!(hooks.keys().collect::<Vec<_>>(), events);
    for (event, hook) in hooks {
        let command = hook[0]["hooks"][0]["command"].as_str().unwrap();
        let run = |env: &[(&str, &str)]| {
            let run = std::process::Command::new("sh")
                .args(["-c", command])
                .env_clear()
                .envs(env.to_vec())
                .output();
            let run = run.expect("a shell");
            assert!(run.status.success() && run.stderr.is_empty(), "{env:?}: {run:?}");
            String::from_utf8(run.stdout).unwrap()
        };
        let (pipe, program) = (("COOP_HOOK_PIPE", "/pipe"), ("COOP_HOOK_PROGRAM", "/bin/echo"));
        for not_ours in [&[][..], &[program], &[pipe], &[pipe, ("COOP_HOOK_PROGRAM", "/nowhere")]] {
            assert_eq!(run(not_ours), "", "{not_ours:?}");
        }
        assert_eq!(run(&[pipe, program]), format!("hook {event}\n"));
    }
    let about: Value = serde_json::from_str(&one.files[0].1).unwrap();
    assert_eq!(about["name"], "coop-hooks");
}

#[test]
fn a_pristine_command_stays_as_it_is_but_is_still_watched() {
    let args = ["-p", "hi", "-o", "stream-json"];
    let bench = Bench { groom: Groom::Pristine, settings: Some(json!({"a": 1})), ..given(&args) };
    let outfit = bench.outfit().unwrap();
    assert_eq!(outfit.traces, Traces { log: chats(), registry: None, stdout: true });
    let unheard = Some("the command is run as it was given".to_owned());
    assert_eq!(
        outfit,
        Outfit { args: bench.args.clone(), traces: outfit.traces.clone(), unheard, ..Outfit::default() }
    );
}

#[test]
fn a_command_that_chooses_its_conversation_or_has_none_keeps_to_it() {
    for args in [
        &["--session-id", "mine"][..],
        &["--session-id=mine"],
        &["-r", "latest"],
        &["--resume"],
        &["--list-sessions"],
        &["--version"],
        &["-v"],
        &["--acp"],
    ] {
        assert_eq!(given(args).line(), args.join(" "));
    }
    assert_eq!(Bench { version: None, ..given(&["hi"]) }.line(), "hi");
    assert_eq!(Bench { version: Some(Version(0, 60, 9)), ..given(&["hi"]) }.line(), "hi");
}

#[test]
fn resuming_replaces_what_the_command_says_of_conversations() {
    let line = |args: &[&str]| Bench { resume: Some("other"), ..given(args) }.line();
    assert_eq!(line(&["-y"]), "-y --resume other");
    assert_eq!(line(&["--session-id", "mine", "-y"]), "-y --resume other");
    assert_eq!(line(&["-r=latest"]), "--resume other");
    assert_eq!(line(&["-y", "--", "hi"]), "-y --resume other -- hi");
    assert_eq!(Bench { resume: Some("other"), ..given(&[]) }.log(), None, "its hooks tell which file it is");
}

#[test]
fn flags_stand_where_gemini_takes_them_for_flags() {
    let by = |program, args: &[&str]| Bench { program, ..given(args) }.line();
    let added = format!("--session-id {FRESH}");
    assert_eq!(by("/bin/bash", &["-c", "gemini \"$@\"", "_"]), format!("-c gemini \"$@\" _ {added}"));
    assert_eq!(by("node", &["/opt/gemini.js", "--", "x"]), format!("/opt/gemini.js {added} -- x"));
    assert_eq!(by("/opt/gemini-cli", &["-y", "--", "x"]), format!("-y {added} -- x"));
    assert_eq!(by("wrapper", &["--resume", "--", "x"]), format!("--resume -- x {added}"));
    assert_eq!(by("gemini", &["-p", "--resume"]), "-p --resume", "a flag is no value");
}

#[test]
fn who_is_not_heard_is_told_why() {
    assert_eq!(given(&[]).outfit().unwrap().unheard, None);
    let named = given(&["-e", "mine"]).outfit().unwrap().unheard;
    assert!(named.is_some_and(|why| why.contains("extensions")));
    let homeless = Bench { env: BTreeMap::new(), ..given(&[]) }.outfit().unwrap().unheard;
    assert!(homeless.is_some_and(|why| why.contains("home")));
}

#[test]
fn chores_are_left_alone() {
    for args in [&["mcp", "list"][..], &["extensions", "install", "x"], &["-d", "skills"]] {
        let bench = given(args);
        let unheard = Some("the command starts no agent that has hooks".to_owned());
        assert_eq!(bench.outfit(), Ok(Outfit { args: bench.args.clone(), unheard, ..Outfit::default() }));
    }
    assert!(given(&["-m", "mcp"]).line().contains(FRESH), "that is the model's name");
}

#[test]
fn settings_are_laid_over_those_of_the_machine() {
    let mut bench = Bench {
        settings: Some(json!({"ui": {"theme": "x"}, "list": [2]})),
        mcp: Some(json!({"db": {"command": "run"}})),
        ..given(&[])
    };
    bench.files.insert(MACHINE.into(), r#"{"ui":{"theme":"y","footer":1},"list":[1],"mcpServers":{"a":{}}}"#);
    let wanted = json!({
        "ui": {"theme": "x", "footer": 1},
        "list": [2],
        "mcpServers": {"a": {}, "db": {"command": "run"}},
    });
    assert_eq!(bench.written(), wanted);
    let outfit = bench.outfit().unwrap();
    assert_eq!(outfit.files[0].0, Path::new("/run/coop/s1/settings.json"));
    assert_eq!(outfit.env[OsStr::new("GEMINI_CLI_SYSTEM_SETTINGS_PATH")], "/run/coop/s1/settings.json");

    bench.env.insert("GEMINI_CLI_SYSTEM_SETTINGS_PATH".into(), "own.json".into());
    bench.files.insert("/work/own.json".into(), r#"{"own":true}"#);
    assert_eq!(bench.written()["own"], true);
}

#[test]
fn settings_that_cannot_be_used_are_an_error_that_says_which() {
    let refusal = |settings: Option<Value>, mcp: Option<Value>, machine: &'static str| {
        let mut bench = Bench { settings, mcp, ..given(&[]) };
        bench.files.insert(MACHINE.into(), machine);
        bench.outfit().expect_err("no outfit")
    };
    assert!(refusal(Some(json!([])), None, "{}").contains("the settings in the agent config"));
    assert!(refusal(None, Some(json!(1)), "{}").contains("the MCP servers in the agent config"));
    assert!(refusal(Some(json!({})), None, "[]").contains(MACHINE));
    assert!(refusal(Some(json!({})), None, "{").contains(MACHINE));
}

#[test]
fn traces_follow_the_environment() {
    let mut bench = given(&[]);
    bench.env.insert("GEMINI_CLI_HOME".into(), "/other".into());
    assert_eq!(bench.log(), None, "this home has not seen the folder");
    bench.files.insert("/other/.gemini/projects.json".into(), r#"{"projects":{"/work":"w"}}"#);
    let dir = "/other/.gemini/tmp/w/chats".into();
    assert_eq!(bench.log(), Some(LogPlace::NewIn { dir, ending: ".jsonl" }));
    for odd in [r#"{"projects":{"/work":"../up"}}"#, r#"{"projects":{"/work":""}}"#, "{", "[]"] {
        bench.files.insert("/other/.gemini/projects.json".into(), odd);
        assert_eq!(bench.log(), None, "{odd}");
    }
    bench.env.clear();
    let outfit = bench.outfit().unwrap();
    assert_eq!((outfit.shared, outfit.traces), (None, Traces::default()));
}
