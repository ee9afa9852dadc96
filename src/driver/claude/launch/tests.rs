use std::collections::BTreeMap;

use super::*;
use crate::driver::launch::Version;
use crate::driver::launched::{Bench, FRESH};

const OTHER: &str = "99999999-2222-4333-8444-555555555555";
const SETTINGS: &str = "/run/coop/s1/settings.json";
const LATEST: Option<Version> = Some(Version(2, 1, 325));

fn given(args: &[&str]) -> Bench {
    Bench { cwd: "/home/dev/my work_é".into(), version: LATEST, ..Bench::new(outfit, "claude", args) }
}

/// The events for which coop has hooks.
fn events(bench: &Bench) -> Vec<String> {
    bench.written()["hooks"].as_object().unwrap().keys().cloned().collect()
}

fn log_of(id: &str) -> Option<LogPlace> {
    Some(LogPlace::File(format!("/home/dev/.claude/projects/-home-dev-my-work--/{id}.jsonl").into()))
}

fn new_log() -> Option<LogPlace> {
    let dir = "/home/dev/.claude/projects/-home-dev-my-work--".into();
    Some(LogPlace::NewIn { dir, ending: ".jsonl" })
}

#[test]
fn a_plain_command_gets_an_id_and_settings_and_leaves_known_traces() {
    let bench = given(&["--model", "opus", "do it"]);
    assert_eq!(bench.line(), format!("--model opus do it --session-id {FRESH} --settings {SETTINGS}"));
    let outfit = bench.outfit().unwrap();
    assert_eq!(outfit.files.len(), 1);
    assert_eq!(outfit.files[0].0, Path::new(SETTINGS));
    let registry = Some("/home/dev/.claude/sessions".into());
    assert_eq!(outfit.traces, Traces { log: log_of(FRESH), registry, stdout: false });
    let manual = Bench { groom: Groom::Manual, ..given(&["--model", "opus", "do it"]) };
    assert_eq!(manual.outfit(), bench.outfit());
}

#[test]
fn a_pristine_command_stays_as_it_is_but_is_still_watched() {
    let args = ["-p", "--output-format=stream-json", "--settings", "/nowhere", "--resume", OTHER];
    let bench = Bench { groom: Groom::Pristine, ..given(&args) };
    let outfit = bench.outfit().unwrap();
    assert_eq!(outfit.args, bench.args);
    assert_eq!(outfit.files, []);
    assert!(outfit.traces.stdout);
    assert_eq!(outfit.traces.log, log_of(OTHER));
    assert_eq!(Bench { groom: Groom::Pristine, ..given(&[]) }.log(), new_log());
}

#[test]
fn a_command_that_chooses_its_conversation_keeps_it() {
    let added = format!("--settings {SETTINGS}");
    let cases: [(&[&str], Option<LogPlace>); 9] = [
        (&["--session-id", OTHER], log_of(OTHER)),
        (&["--resume", OTHER], log_of(OTHER)),
        (&["-r", OTHER], log_of(OTHER)),
        (&["--resume", OTHER, "--fork-session"], new_log()),
        (&["--resume", "the one about tests"], new_log()),
        (&["--resume"], new_log()),
        (&["-c"], new_log()),
        (&["-pc", "go on"], new_log()),
        (&["--from-pr", "12"], new_log()),
    ];
    for (args, log) in cases {
        let bench = given(args);
        let line = bench.line();
        assert!(!line.contains(FRESH) && line.ends_with(&added), "{line}");
        assert_eq!(bench.log(), log, "{args:?}");
    }
}

#[test]
fn a_value_that_looks_like_a_flag_is_none() {
    let bench = given(&["--append-system-prompt", "--continue", "--agent", "-c"]);
    assert!(bench.line().contains(FRESH));
}

#[test]
fn resuming_replaces_what_the_command_says_of_conversations() {
    let cases: [(&[&str], String); 5] = [
        (&["--model", "opus"], format!("--model opus --resume {OTHER} --settings {SETTINGS}")),
        (&["--session-id", FRESH, "hi"], format!("--settings {SETTINGS} hi --resume {OTHER}")),
        (&["-r", FRESH], format!("--settings {SETTINGS} --resume {OTHER}")),
        (&["-cp", "hi"], format!("--settings {SETTINGS} --print hi --resume {OTHER}")),
        (&["-c", "--", "hi"], format!("--settings {SETTINGS} --resume {OTHER} -- hi")),
    ];
    for (args, line) in cases {
        let bench = Bench { resume: Some(OTHER), ..given(args) };
        assert_eq!(bench.line(), line);
        assert_eq!(bench.log(), log_of(OTHER));
    }
}

#[test]
fn flags_stand_where_claude_takes_them_for_flags() {
    let added = format!("--session-id {FRESH} --settings {SETTINGS}");
    assert_eq!(given(&["-d", "--", "-not a flag"]).line(), format!("-d {added} -- -not a flag"));
    let by = |program, args: &[&str]| Bench { program, ..given(args) }.line();
    assert_eq!(
        by("/bin/bash", &["-c", "exec claude \"$@\"", "_"]),
        format!("-c exec claude \"$@\" _ {added}")
    );
    assert_eq!(by("env", &["A=b", "/opt/claude", "--", "x"]), format!("A=b /opt/claude {added} -- x"));
    assert_eq!(by("wrapper", &["run", "--", "x"]), format!("run -- x {added}"));
    assert_eq!(by("/opt/claude", &["--", "x"]), format!("{added} -- x"));
}

#[test]
fn settings_of_the_command_are_the_base_and_their_flag_is_replaced_where_it_stands() {
    let files = BTreeMap::from([("/home/dev/my work_é/mine.json".into(), r#"{"model":"opus"}"#)]);
    for args in [&["--tools", "A", "--settings", "mine.json", "hi"][..], &["--settings=mine.json", "hi"]] {
        let bench = Bench { files: files.clone(), ..given(args) };
        assert!(bench.line().contains(&format!("--settings {SETTINGS} hi")), "{}", bench.line());
        assert_eq!(bench.line().matches("--settings").count(), 1);
        assert_eq!(bench.written()["model"], "opus");
    }
    let bench = given(&["--settings", r#" {"model":"a"}"#, "--settings", r#"{"env":{}}"#]);
    assert_eq!(bench.written()["model"], Value::Null, "only the last one counts for Claude");
}

#[test]
fn settings_that_cannot_be_used_are_an_error_that_says_which() {
    let refusal = |args: &[&str], settings: Option<Value>| {
        let files = BTreeMap::from([("/list.json".into(), "[]"), ("/broken.json".into(), "{")]);
        Bench { files, settings, ..given(args) }.outfit().expect_err("no outfit")
    };
    assert!(
        refusal(&["--settings", "/gone.json"], None)
            .contains("/gone.json, which --settings names, cannot be read")
    );
    assert!(refusal(&["--settings", "/list.json"], None).contains("is no JSON object"));
    assert!(refusal(&["--settings", "/broken.json"], None).contains("is no JSON: "));
    assert!(refusal(&["--settings={"], None).contains("the value of --settings is no JSON"));
    assert!(refusal(&[], Some(json!(1))).contains("agent config"));
    assert!(refusal(&[], Some(json!({"hooks": 1}))).contains("`hooks`"));
    assert!(refusal(&[], Some(json!({"hooks": {"Stop": {}}}))).contains("`hooks.Stop`"));
}

#[test]
fn layers_are_merged_and_hooks_of_all_of_them_run_in_order() {
    let base = r#"{"env":{"A":"1","B":"1"},"permissions":{"allow":["X"]},"hooks":{"Stop":[{"n":1}],"Setup":[{"n":1}]}}"#;
    let wanted = json!({"env": {"B": "2"}, "permissions": {"allow": ["Y"]}, "hooks": {"Stop": [{"n": 2}]}});
    let bench = Bench { settings: Some(wanted), ..given(&["--settings", base]) };
    let written = bench.written();
    assert_eq!(written["env"], json!({"A": "1", "B": "2"}));
    assert_eq!(written["permissions"], json!({"allow": ["Y"]}));
    assert_eq!(written["hooks"]["Setup"], json!([{"n": 1}]));
    let command = r"'/opt/it'\''s/coop' hook Stop";
    let own = json!({"hooks": [{"type": "command", "command": command, "timeout": 10}]});
    assert_eq!(written["hooks"]["Stop"], json!([{"n": 1}, {"n": 2}, own]));
}

#[test]
fn only_events_that_the_version_knows_are_named() {
    let of = |version| events(&Bench { version, ..given(&[]) });
    assert_eq!(of(LATEST).len(), 12);
    assert_eq!(of(Some(Version(1, 0, 38))), ["Notification", "PostToolUse", "PreToolUse", "Stop"]);
    assert_eq!(of(Some(Version(1, 0, 0))), [""; 0]);
    let oldest = of(Some(Version(2, 0, 0)));
    assert_eq!(of(None), oldest);
    assert!(oldest.contains(&"SessionStart".to_owned()) && !oldest.contains(&"StopFailure".to_owned()));
    assert!(of(Some(Version(2, 0, 45))).contains(&"PermissionRequest".to_owned()));
    assert!(!of(Some(Version(2, 0, 44))).contains(&"PermissionRequest".to_owned()));
}

#[test]
fn where_no_permission_hook_exists_asking_tools_are_announced_before_they_are_used() {
    let before = |version| Bench { version, ..given(&[]) }.written()["hooks"]["PreToolUse"].clone();
    assert_eq!(before(LATEST).as_array().unwrap().len(), 1);
    let old = before(None);
    assert_eq!(old[1]["matcher"], "AskUserQuestion|ExitPlanMode");
    assert!(old[1]["hooks"][0]["command"].as_str().unwrap().ends_with(" hook ToolAsks"));
}

#[test]
fn nothing_waits_for_an_answer_where_there_are_no_dialogs() {
    for version in [LATEST, None] {
        let hooks = Bench { version, ..given(&["-p", "do it"]) }.written()["hooks"].clone();
        assert_eq!(hooks["PermissionRequest"], Value::Null);
        assert_eq!(hooks["PreToolUse"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn servers_of_the_orchestrator_have_a_file_of_their_own() {
    let bench = Bench { mcp: Some(json!({"db": {"command": "x"}})), ..given(&[]) };
    let outfit = bench.outfit().unwrap();
    let (path, text) = &outfit.files[1];
    assert_eq!(path, Path::new("/run/coop/s1/mcp.json"));
    assert_eq!(text, r#"{"mcpServers":{"db":{"command":"x"}}}"#);
    assert!(bench.line().contains("--mcp-config /run/coop/s1/mcp.json --settings"));
    assert!(Bench { mcp: Some(json!([])), ..given(&[]) }.outfit().is_err());
}

#[test]
fn traces_follow_the_environment() {
    let mut bench = given(&[]);
    bench.env.insert("CLAUDE_CONFIG_DIR".into(), "/cfg".into());
    let traces = bench.outfit().unwrap().traces;
    assert_eq!(traces.registry, Some("/cfg/sessions".into()));
    assert!(matches!(traces.log, Some(LogPlace::File(path)) if path.starts_with("/cfg/projects")));
    bench.env.clear();
    assert_eq!(bench.outfit().unwrap().traces, Traces::default());

    let long = |length: usize| Bench { cwd: format!("/{}", "a".repeat(length)).into(), ..given(&[]) }.log();
    assert!(long(199).is_some());
    assert_eq!(long(200), None);
    assert_eq!(given(&["-w", "tree"]).log(), None);
    assert_eq!(given(&["-p", "--no-session-persistence", "x"]).log(), None);
}

#[test]
fn json_lines_are_expected_only_where_claude_prints_them() {
    let stdout = |args: &[&str]| given(args).outfit().unwrap().traces.stdout;
    assert!(stdout(&["-p", "hi", "--output-format", "stream-json", "--verbose"]));
    assert!(stdout(&["--print", "--output-format=stream-json"]));
    assert!(!stdout(&["--output-format", "stream-json"]));
    assert!(!stdout(&["-p", "--output-format", "json"]));
    assert!(!stdout(&["-p", "--", "--output-format=stream-json"]));
}

#[test]
fn slugs_are_those_that_claude_makes() {
    let slug = |path: &str| slug(Path::new(path)).unwrap();
    assert_eq!(slug("/home/dev/a.b_c d"), "-home-dev-a-b-c-d");
    assert_eq!(slug("/é/😀"), "-----");
}
