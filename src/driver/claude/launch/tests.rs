use std::collections::BTreeMap;

use super::*;
use crate::driver::launch::Version;
use crate::driver::testing::launches::{FRESH, LaunchCase};

const OTHER: &str = "99999999-2222-4333-8444-555555555555";
const SETTINGS: &str = "/run/coop/s1/settings.json";
const LATEST: Option<Version> = Some(Version(2, 1, 325));

fn given(args: &[&str]) -> LaunchCase {
    LaunchCase {
        cwd: "/home/dev/my work_é".into(),
        version: LATEST,
        ..LaunchCase::new(plan, "claude", args)
    }
}

/// The events for which coop has hooks.
fn events(launch: &LaunchCase) -> Vec<String> {
    launch.written()["hooks"].as_object().unwrap().keys().cloned().collect()
}

fn log_of(id: &str) -> Option<LogLocation> {
    Some(LogLocation::File(
        format!("/home/dev/.claude/projects/-home-dev-my-work--/{id}.jsonl").into(),
    ))
}

fn new_log() -> Option<LogLocation> {
    let dir = "/home/dev/.claude/projects/-home-dev-my-work--".into();
    Some(LogLocation::NewFileIn { dir, ending: ".jsonl" })
}

#[test]
fn a_plain_command_gets_an_id_and_settings() {
    let launch = given(&["--model", "opus", "do it"]);
    assert_eq!(
        launch.line(),
        format!("--model opus do it --session-id {FRESH} --settings {SETTINGS}")
    );
    let plan = launch.plan().unwrap();
    assert_eq!(plan.files.len(), 1);
    assert_eq!(plan.files[0].0, Path::new(SETTINGS));
    let registry = Some("/home/dev/.claude/sessions".into());
    assert_eq!(
        plan.evidence_sources,
        EvidenceSources { log: log_of(FRESH), registry, stdout: false }
    );
    let manual = LaunchCase { groom: Groom::Manual, ..given(&["--model", "opus", "do it"]) };
    assert_eq!(manual.plan(), launch.plan());
}

#[test]
fn a_pristine_command_is_unchanged_and_its_log_is_still_found() {
    let args = ["-p", "--output-format=stream-json", "--settings", "/nowhere", "--resume", OTHER];
    let launch = LaunchCase { groom: Groom::Pristine, ..given(&args) };
    let plan = launch.plan().unwrap();
    assert_eq!(plan.args, launch.args);
    assert_eq!(plan.files, []);
    assert!(plan.evidence_sources.stdout);
    assert_eq!(plan.evidence_sources.log, log_of(OTHER));
    assert_eq!(LaunchCase { groom: Groom::Pristine, ..given(&[]) }.log(), new_log());
}

#[test]
fn a_command_that_names_a_conversation_keeps_it() {
    let added = format!("--settings {SETTINGS}");
    let cases: [(&[&str], Option<LogLocation>); 9] = [
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
        let launch = given(args);
        let line = launch.line();
        assert!(!line.contains(FRESH) && line.ends_with(&added), "{line}");
        assert_eq!(launch.log(), log, "{args:?}");
    }
}

#[test]
fn the_value_of_a_flag_is_not_read_as_a_flag() {
    let launch = given(&["--append-system-prompt", "--continue", "--agent", "-c"]);
    assert!(launch.line().contains(FRESH));
}

#[test]
fn resuming_replaces_the_conversation_flags_of_the_command() {
    let cases: [(&[&str], String); 5] = [
        (&["--model", "opus"], format!("--model opus --resume {OTHER} --settings {SETTINGS}")),
        (&["--session-id", FRESH, "hi"], format!("--settings {SETTINGS} hi --resume {OTHER}")),
        (&["-r", FRESH], format!("--settings {SETTINGS} --resume {OTHER}")),
        (&["-cp", "hi"], format!("--settings {SETTINGS} --print hi --resume {OTHER}")),
        (&["-c", "--", "hi"], format!("--settings {SETTINGS} --resume {OTHER} -- hi")),
    ];
    for (args, line) in cases {
        let launch = LaunchCase { resume: Some(OTHER), ..given(args) };
        assert_eq!(launch.line(), line);
        assert_eq!(launch.log(), log_of(OTHER));
    }
}

#[test]
fn flags_are_inserted_where_claude_reads_flags() {
    let added = format!("--session-id {FRESH} --settings {SETTINGS}");
    assert_eq!(given(&["-d", "--", "-not a flag"]).line(), format!("-d {added} -- -not a flag"));
    let by = |program, args: &[&str]| LaunchCase { program, ..given(args) }.line();
    assert_eq!(
        by("/bin/bash", &["-c", "exec claude \"$@\"", "_"]),
        format!("-c exec claude \"$@\" _ {added}")
    );
    assert_eq!(
        by("env", &["A=b", "/opt/claude", "--", "x"]),
        format!("A=b /opt/claude {added} -- x")
    );
    assert_eq!(by("wrapper", &["run", "--", "x"]), format!("run -- x {added}"));
    assert_eq!(by("/opt/claude", &["--", "x"]), format!("{added} -- x"));
}

#[test]
fn the_settings_flag_of_the_command_is_replaced_in_place_and_its_content_is_the_base() {
    let files = BTreeMap::from([("/home/dev/my work_é/mine.json".into(), r#"{"model":"opus"}"#)]);
    for args in
        [&["--tools", "A", "--settings", "mine.json", "hi"][..], &["--settings=mine.json", "hi"]]
    {
        let launch = LaunchCase { files: files.clone(), ..given(args) };
        assert!(launch.line().contains(&format!("--settings {SETTINGS} hi")), "{}", launch.line());
        assert_eq!(launch.line().matches("--settings").count(), 1);
        assert_eq!(launch.written()["model"], "opus");
    }
    let launch = given(&["--settings", r#" {"model":"a"}"#, "--settings", r#"{"env":{}}"#]);
    assert_eq!(launch.written()["model"], Value::Null, "only the last one counts for Claude");
}

#[test]
fn invalid_settings_are_an_error_that_names_them() {
    let refusal = |args: &[&str], settings: Option<Value>| {
        let files = BTreeMap::from([("/list.json".into(), "[]"), ("/broken.json".into(), "{")]);
        LaunchCase { files, settings, ..given(args) }.plan().expect_err("no plan")
    };
    assert!(
        refusal(&["--settings", "/gone.json"], None)
            .contains("cannot read /gone.json, which --settings names")
    );
    assert!(refusal(&["--settings", "/list.json"], None).contains("is not a JSON object"));
    assert!(refusal(&["--settings", "/broken.json"], None).contains("is not valid JSON: "));
    assert!(refusal(&["--settings={"], None).contains("the value of --settings is not valid JSON"));
    assert!(refusal(&[], Some(json!(1))).contains("agent config"));
    assert!(refusal(&[], Some(json!({"hooks": 1}))).contains("`hooks`"));
    assert!(refusal(&[], Some(json!({"hooks": {"Stop": {}}}))).contains("`hooks.Stop`"));
}

#[test]
fn settings_layers_are_merged_and_hooks_of_all_layers_run_in_order() {
    let base = json!({
        "env": {"A": "1", "B": "1"},
        "permissions": {"allow": ["X"]},
        "hooks": {"Stop": [{"n": 1}], "Setup": [{"n": 1}]},
    })
    .to_string();
    let wanted =
        json!({"env": {"B": "2"}, "permissions": {"allow": ["Y"]}, "hooks": {"Stop": [{"n": 2}]}});
    let launch = LaunchCase { settings: Some(wanted), ..given(&["--settings", &base]) };
    let written = launch.written();
    assert_eq!(written["env"], json!({"A": "1", "B": "2"}));
    assert_eq!(written["permissions"], json!({"allow": ["Y"]}));
    assert_eq!(written["hooks"]["Setup"], json!([{"n": 1}]));
    let command = r"'/opt/it'\''s/coop' hook Stop";
    let own = json!({"hooks": [{"type": "command", "command": command, "timeout": 10}]});
    assert_eq!(written["hooks"]["Stop"], json!([{"n": 1}, {"n": 2}, own]));
}

#[test]
fn only_events_that_the_version_knows_are_hooked() {
    let of = |version| events(&LaunchCase { version, ..given(&[]) });
    assert_eq!(of(LATEST).len(), 12);
    assert_eq!(of(Some(Version(1, 0, 38))), ["Notification", "PostToolUse", "PreToolUse", "Stop"]);
    assert_eq!(of(Some(Version(1, 0, 0))), [""; 0]);
    let oldest = of(Some(Version(2, 0, 0)));
    assert_eq!(of(None), oldest);
    assert!(
        oldest.contains(&"SessionStart".to_owned()) && !oldest.contains(&"StopFailure".to_owned())
    );
    assert!(of(Some(Version(2, 0, 45))).contains(&"PermissionRequest".to_owned()));
    assert!(!of(Some(Version(2, 0, 44))).contains(&"PermissionRequest".to_owned()));
}

#[test]
fn versions_without_a_permission_hook_announce_asking_tools_before_their_use() {
    let before =
        |version| LaunchCase { version, ..given(&[]) }.written()["hooks"]["PreToolUse"].clone();
    assert_eq!(before(LATEST).as_array().unwrap().len(), 1);
    let old = before(None);
    assert_eq!(old[1]["matcher"], "AskUserQuestion|ExitPlanMode");
    assert!(old[1]["hooks"][0]["command"].as_str().unwrap().ends_with(" hook ToolAsks"));
}

#[test]
fn no_hook_waits_for_an_answer_in_print_mode() {
    for version in [LATEST, None] {
        let hooks = LaunchCase { version, ..given(&["-p", "do it"]) }.written()["hooks"].clone();
        assert_eq!(hooks["PermissionRequest"], Value::Null);
        assert_eq!(hooks["PreToolUse"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn mcp_servers_of_the_orchestrator_get_their_own_file() {
    let launch = LaunchCase { mcp: Some(json!({"db": {"command": "x"}})), ..given(&[]) };
    let plan = launch.plan().unwrap();
    let (path, text) = &plan.files[1];
    assert_eq!(path, Path::new("/run/coop/s1/mcp.json"));
    assert_eq!(text, r#"{"mcpServers":{"db":{"command":"x"}}}"#);
    assert!(launch.line().contains("--mcp-config /run/coop/s1/mcp.json --settings"));
    assert!(LaunchCase { mcp: Some(json!([])), ..given(&[]) }.plan().is_err());
}

#[test]
fn log_and_registry_paths_follow_the_environment() {
    let mut launch = given(&[]);
    launch.env.insert("CLAUDE_CONFIG_DIR".into(), "/cfg".into());
    let evidence_sources = launch.plan().unwrap().evidence_sources;
    assert_eq!(evidence_sources.registry, Some("/cfg/sessions".into()));
    let Some(LogLocation::File(log)) = evidence_sources.log else { panic!("no log") };
    assert!(log.starts_with("/cfg/projects"), "{}", log.display());
    launch.env.clear();
    assert_eq!(launch.plan().unwrap().evidence_sources, EvidenceSources::default());

    let long = |length: usize| {
        LaunchCase { cwd: format!("/{}", "a".repeat(length)).into(), ..given(&[]) }.log()
    };
    assert!(long(199).is_some());
    assert_eq!(long(200), None);
    assert_eq!(given(&["-w", "tree"]).log(), None);
    assert_eq!(given(&["-p", "--no-session-persistence", "x"]).log(), None);
}

#[test]
fn json_lines_are_expected_only_in_stream_json_mode() {
    let stdout = |args: &[&str]| given(args).plan().unwrap().evidence_sources.stdout;
    assert!(stdout(&["-p", "hi", "--output-format", "stream-json", "--verbose"]));
    assert!(stdout(&["--print", "--output-format=stream-json"]));
    assert!(!stdout(&["--output-format", "stream-json"]));
    assert!(!stdout(&["-p", "--output-format", "json"]));
    assert!(!stdout(&["-p", "--", "--output-format=stream-json"]));
}

#[test]
fn slugs_match_those_of_claude() {
    let slug = |path: &str| slug(Path::new(path)).unwrap();
    assert_eq!(slug("/home/dev/a.b_c d"), "-home-dev-a-b-c-d");
    assert_eq!(slug("/é/😀"), "-----");
}
