use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::driver::testing::launches::{FRESH, LaunchCase};

const MACHINE: &str = "/etc/gemini-cli/settings.json";
const PROJECTS: &str = "/home/dev/.gemini/projects.json";

fn given(args: &[&str]) -> LaunchCase {
    LaunchCase {
        version: Some(TAKES_ID),
        files: BTreeMap::from([(PROJECTS.into(), r#"{"projects":{"/work":"work-1"}}"#)]),
        ..LaunchCase::new(plan, "/usr/bin/gemini", args)
    }
}

fn chats() -> Option<LogLocation> {
    Some(LogLocation::NewFileIn {
        dir: "/home/dev/.gemini/tmp/work-1/chats".into(),
        ending: ".jsonl",
    })
}

#[test]
fn a_plain_command_gets_an_id_and_the_extension() {
    let launch = given(&["-m", "flash", "do it"]);
    assert_eq!(launch.line(), format!("-m flash do it --session-id {FRESH}"));
    let plan = launch.plan().unwrap();
    assert_eq!(
        plan.evidence_sources,
        EvidenceSources { log: chats(), registry: None, stdout: false }
    );
    assert_eq!((plan.files, plan.hooks_unavailable), (Vec::new(), None));
    assert_eq!(plan.env[OsStr::new("COOP_HOOK_PROGRAM")], "/opt/it's/coop");
    assert_eq!(plan.shared_dir.unwrap().dir, Path::new("/home/dev/.gemini/extensions/coop-hooks"));
}

#[test]
fn the_extension_is_the_same_for_all_sessions_and_does_nothing_without_coop() {
    let shared = |launch: LaunchCase| launch.plan().unwrap().shared_dir.unwrap();
    let one = shared(given(&[]));
    assert_eq!(one, shared(LaunchCase { resume: Some("other"), ..given(&["-y"]) }));
    let hooks: Value = serde_json::from_str(&one.files[1].1).unwrap();
    let hooks = hooks["hooks"].as_object().unwrap();
    let events =
        ["AfterAgent", "AfterTool", "BeforeAgent", "BeforeTool", "Notification", "SessionStart"];
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
fn a_pristine_command_is_unchanged_and_its_log_is_still_found() {
    let args = ["-p", "hi", "-o", "stream-json"];
    let launch =
        LaunchCase { groom: Groom::Pristine, settings: Some(json!({"a": 1})), ..given(&args) };
    let plan = launch.plan().unwrap();
    assert_eq!(
        plan.evidence_sources,
        EvidenceSources { log: chats(), registry: None, stdout: true }
    );
    let hooks_unavailable = Some("the command is run as it was given".to_owned());
    assert_eq!(
        plan,
        LaunchPlan {
            args: launch.args.clone(),
            evidence_sources: plan.evidence_sources.clone(),
            hooks_unavailable,
            ..LaunchPlan::default()
        }
    );
}

#[test]
fn a_command_that_names_a_conversation_or_starts_none_is_unchanged() {
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
    assert_eq!(LaunchCase { version: None, ..given(&["hi"]) }.line(), "hi");
    assert_eq!(LaunchCase { version: Some(Version(0, 60, 9)), ..given(&["hi"]) }.line(), "hi");
}

#[test]
fn resuming_replaces_the_conversation_flags_of_the_command() {
    let line = |args: &[&str]| LaunchCase { resume: Some("other"), ..given(args) }.line();
    assert_eq!(line(&["-y"]), "-y --resume other");
    assert_eq!(line(&["--session-id", "mine", "-y"]), "-y --resume other");
    assert_eq!(line(&["-r=latest"]), "--resume other");
    assert_eq!(line(&["-y", "--", "hi"]), "-y --resume other -- hi");
    assert_eq!(
        LaunchCase { resume: Some("other"), ..given(&[]) }.log(),
        None,
        "the hooks report the file"
    );
}

#[test]
fn flags_are_inserted_where_gemini_reads_flags() {
    let by = |program, args: &[&str]| LaunchCase { program, ..given(args) }.line();
    let added = format!("--session-id {FRESH}");
    assert_eq!(
        by("/bin/bash", &["-c", "gemini \"$@\"", "_"]),
        format!("-c gemini \"$@\" _ {added}")
    );
    assert_eq!(by("node", &["/opt/gemini.js", "--", "x"]), format!("/opt/gemini.js {added} -- x"));
    assert_eq!(by("/opt/gemini-cli", &["-y", "--", "x"]), format!("-y {added} -- x"));
    assert_eq!(by("wrapper", &["--resume", "--", "x"]), format!("--resume -- x {added}"));
    assert_eq!(by("gemini", &["-p", "--resume"]), "-p --resume", "a flag is no value");
}

#[test]
fn a_launch_without_hooks_says_why() {
    assert_eq!(given(&[]).plan().unwrap().hooks_unavailable, None);
    let named = given(&["-e", "mine"]).plan().unwrap().hooks_unavailable;
    assert!(named.is_some_and(|why| why.contains("extensions")));
    let without_home =
        LaunchCase { env: BTreeMap::new(), ..given(&[]) }.plan().unwrap().hooks_unavailable;
    assert!(without_home.is_some_and(|why| why.contains("home")));
}

#[test]
fn subcommands_that_start_no_agent_are_unchanged() {
    for args in [&["mcp", "list"][..], &["extensions", "install", "x"], &["-d", "skills"]] {
        let launch = given(args);
        let hooks_unavailable = Some("the command starts no agent that has hooks".to_owned());
        assert_eq!(
            launch.plan(),
            Ok(LaunchPlan {
                args: launch.args.clone(),
                hooks_unavailable,
                ..LaunchPlan::default()
            })
        );
    }
    assert!(given(&["-m", "mcp"]).line().contains(FRESH), "here mcp is the model's name");
}

#[test]
fn settings_are_merged_over_those_of_the_machine() {
    let mut launch = LaunchCase {
        settings: Some(json!({"ui": {"theme": "x"}, "list": [2]})),
        mcp: Some(json!({"db": {"command": "run"}})),
        ..given(&[])
    };
    launch.files.insert(
        MACHINE.into(),
        r#"{"ui":{"theme":"y","footer":1},"list":[1],"mcpServers":{"a":{}}}"#,
    );
    let wanted = json!({
        "ui": {"theme": "x", "footer": 1},
        "list": [2],
        "mcpServers": {"a": {}, "db": {"command": "run"}},
    });
    assert_eq!(launch.written(), wanted);
    let plan = launch.plan().unwrap();
    assert_eq!(plan.files[0].0, Path::new("/run/coop/s1/settings.json"));
    assert_eq!(
        plan.env[OsStr::new("GEMINI_CLI_SYSTEM_SETTINGS_PATH")],
        "/run/coop/s1/settings.json"
    );

    launch.env.insert("GEMINI_CLI_SYSTEM_SETTINGS_PATH".into(), "own.json".into());
    launch.files.insert("/work/own.json".into(), r#"{"own":true}"#);
    assert_eq!(launch.written()["own"], true);
}

#[test]
fn invalid_settings_are_an_error_that_names_them() {
    let refusal = |settings: Option<Value>, mcp: Option<Value>, machine: &'static str| {
        let mut launch = LaunchCase { settings, mcp, ..given(&[]) };
        launch.files.insert(MACHINE.into(), machine);
        launch.plan().expect_err("no plan")
    };
    assert!(refusal(Some(json!([])), None, "{}").contains("the settings in the agent config"));
    assert!(refusal(None, Some(json!(1)), "{}").contains("the MCP servers in the agent config"));
    assert!(refusal(Some(json!({})), None, "[]").contains(MACHINE));
    assert!(refusal(Some(json!({})), None, "{").contains(MACHINE));
}

#[test]
fn log_and_extension_paths_follow_the_environment() {
    let mut launch = given(&[]);
    launch.env.insert("GEMINI_CLI_HOME".into(), "/other".into());
    assert_eq!(launch.log(), None, "this home has not seen the folder");
    launch.files.insert("/other/.gemini/projects.json".into(), r#"{"projects":{"/work":"w"}}"#);
    let dir = "/other/.gemini/tmp/w/chats".into();
    assert_eq!(launch.log(), Some(LogLocation::NewFileIn { dir, ending: ".jsonl" }));
    for odd in [r#"{"projects":{"/work":"../up"}}"#, r#"{"projects":{"/work":""}}"#, "{", "[]"] {
        launch.files.insert("/other/.gemini/projects.json".into(), odd);
        assert_eq!(launch.log(), None, "{odd}");
    }
    launch.env.clear();
    let plan = launch.plan().unwrap();
    assert_eq!((plan.shared_dir, plan.evidence_sources), (None, EvidenceSources::default()));
}
