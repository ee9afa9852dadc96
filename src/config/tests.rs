use std::ffi::OsStr;

use super::*;
use crate::cli::{Invocation, parse};
use crate::driver;
use crate::launch::Conversation;
use crate::mux::Multiplexer;

fn config_in(environment: &[(&str, &str)], line: &str) -> Result<Config, ConfigError> {
    let words = ["coop"].into_iter().chain(line.split_whitespace()).map(OsString::from);
    let Invocation::Serve(serve) = parse(words).unwrap() else { panic!("{line} is a verb") };
    let environment =
        environment.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Config::new(*serve, &environment)
}

fn config(line: &str) -> Result<Config, ConfigError> {
    config_in(&[("HOME", "/home/ada")], line)
}

#[test]
fn a_reachable_address_needs_a_token() {
    let outside = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    assert_eq!(config("--host 0.0.0.0 --port 1 bash").unwrap_err(), ConfigError::Exposed(outside));
    assert_eq!(
        config("--host 0.0.0.0 --grpc-port 1 bash").unwrap_err(),
        ConfigError::Exposed(outside)
    );
    assert!(config("--host 0.0.0.0 --port 1 --insecure-no-auth bash").is_ok());
    assert!(config("--host 0.0.0.0 --port 1 --auth-token t bash").is_ok());
    assert_eq!(config("--port 1 bash").unwrap().tcp.unwrap().0, IpAddr::V4(Ipv4Addr::LOCALHOST));
    assert_eq!(config("--port 1 --auth-token t bash").unwrap().tcp.unwrap().0, outside);
    assert!(config("--host ::1 --port 1 bash").is_ok());
    assert_eq!(config("--port 1 --auth-token= bash").unwrap_err(), ConfigError::EmptyToken);
}

#[test]
fn a_nested_coop_leaves_its_parents_socket_alone() {
    let outer = [("COOP_SOCKET", "/run/outer.sock")];
    assert_eq!(config_in(&outer, "--port 1 bash").unwrap().socket, Some("/run/outer.sock".into()));
    let inner = [("COOP_SOCKET", "/run/outer.sock"), ("COOP", "1")];
    assert_eq!(config_in(&inner, "--port 1 bash").unwrap().socket, None);
    assert_eq!(
        config_in(&inner, "--socket /run/inner.sock bash").unwrap().socket,
        Some("/run/inner.sock".into())
    );
}

#[test]
fn the_child_gets_the_sessions_variables_and_no_token() {
    let outer =
        [("COOP_AUTH_TOKEN", "secret"), ("COOP_PORT", "1"), ("COLOR", "yes"), ("TERM", "dumb")];
    let mut config = config_in(&outer, "--port 0 --term vt220 bash").unwrap();
    config.set_child_address(Path::new("/state/coop.sock"), Some(([0, 0, 0, 0], 8080).into()));
    let env = &config.settings.child_spec.env;
    let get =
        |name: &str| env.get(OsStr::new(name)).map(|value| value.to_string_lossy().into_owned());
    assert_eq!(get("COOP_AUTH_TOKEN"), None);
    assert_eq!(get("COOP_PORT"), None);
    assert_eq!(get("COLOR").as_deref(), Some("yes"));
    assert_eq!(get("TERM").as_deref(), Some("vt220"));
    assert_eq!(get("COOP").as_deref(), Some("1"));
    assert_eq!(get("COOP_URL").as_deref(), Some("http://127.0.0.1:8080"));
    assert_eq!(get("COOP_SOCKET").as_deref(), Some("/state/coop.sock"));
    assert_eq!(get("COOP_SESSION_ID").as_deref(), Some(config.session_id.as_str()));
    assert!(!env.values().any(|value| value == "secret"));
}

#[test]
fn without_tcp_the_childs_url_is_the_private_socket() {
    let mut config = config("--socket /run/a.sock bash").unwrap();
    config.set_child_address(Path::new("/state/coop.sock"), None);
    assert_eq!(config.settings.child_spec.env[OsStr::new("COOP_URL")], "unix:///state/coop.sock");
}

#[test]
fn a_conversation_is_named_by_its_id_or_its_log() {
    let id = "3eb55c84-6e34-4744-af17-3e759a9a6542";
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join(format!("rollout-2026-11-17T03-00-00-{id}.jsonl"));
    std::fs::write(&log, "").unwrap();
    let agent = driver::names().next().unwrap();
    let resume = |hint: &str| {
        config(&format!("--agent {agent} --resume {hint} x"))
            .map(|config| config.settings.conversation)
    };
    assert_eq!(resume(id).unwrap(), Some(Conversation { id: id.to_owned(), log: None }));
    let found = resume(log.to_str().unwrap()).unwrap();
    assert_eq!(found, Some(Conversation { id: id.to_owned(), log: Some(log) }));
    for hint in ["latest", "nobody", &format!("/nowhere/{id}.jsonl"), &format!("x{id}")] {
        assert_eq!(resume(hint).unwrap_err(), ConfigError::Resume(hint.to_owned()));
    }
    assert_eq!(config(&format!("--resume {id} bash")).unwrap_err(), ConfigError::NoAgentToResume);
}

#[test]
fn options_after_the_command_belong_to_it() {
    let child_spec = config("--port 1 ls --port 2 -la").unwrap().settings.child_spec;
    assert_eq!(child_spec.command(), ["ls", "--port", "2", "-la"]);
    let child_spec = config("--port 1 -- -odd --x").unwrap().settings.child_spec;
    assert_eq!(child_spec.command(), ["-odd", "--x"]);
    assert!(parse(["coop", "--bogus", "bash"].map(OsString::from)).is_err());
}

#[test]
fn invalid_command_lines_are_rejected_with_a_reason() {
    for (line, says) in [
        ("--port 1", "no command"),
        ("--host nowhere --port 1 bash", "not an address"),
        ("--cols 0 bash", "from 1 to 1000"),
        ("--rows 1001 bash", "from 1 to 1000"),
        ("--tls-cert a bash", "go together"),
        ("--tls-client-ca a bash", "needs --tls-cert"),
        ("--allow-origin desk bash", "is not an origin"),
        ("--label x bash", "KEY=VALUE"),
        ("--ring-size 9999999999 bash", "the largest value is"),
        ("--cwd /nowhere bash", "No such file"),
        ("--agent-config /nowhere bash", "No such file"),
        ("--attach tmux:x bash", "no COMMAND"),
        ("--attach tmux:x --cwd /", "no --cwd"),
        ("--attach zellij:x", "tmux:NAME or screen:NAME"),
        ("--attach tmux:", "tmux:NAME or screen:NAME"),
        ("--auth-token-file /nowhere bash", "No such file"),
    ] {
        let error = config(line).unwrap_err().to_string();
        assert!(error.contains(says), "{line}: {error}");
    }
}

#[test]
fn the_multiplexers_commands_get_no_secret_of_coops() {
    let outer =
        [("COOP_AUTH_TOKEN", "secret"), ("COOP_ATTACH", "tmux:x"), ("TMUX_TMPDIR", "/run/t")];
    let config = config_in(&outer, "--port 1 --attach screen:my.own").unwrap();
    let Attach { address, env } = config.attach.unwrap();
    assert_eq!(address, Address { multiplexer: Multiplexer::Screen, name: "my.own".to_owned() });
    assert_eq!(env, [("TMUX_TMPDIR".into(), "/run/t".into())]);
    assert_eq!(config.settings.backend, BackendKind::Attached(Multiplexer::Screen));
    assert_eq!(config.agent, "unknown");
}

#[test]
fn screen_patterns_are_only_for_programs_without_a_driver() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let with = |json: &str, agent: &str| {
        std::fs::write(file.path(), json).unwrap();
        config(&format!("--agent-config {} --agent {agent} bash", file.path().display()))
    };
    let (good, bad) =
        (r#"{"screen": {"composer": "^> "}}"#, r#"{"screen": {"prompt": ["fine", "(open"]}}"#);
    assert!(with(good, driver::UNKNOWN).unwrap().settings.agent.is_some());
    assert!(with("{}", driver::UNKNOWN).unwrap().settings.agent.is_none());
    let own = driver::names().find(|name| *name != driver::UNKNOWN).unwrap();
    assert_eq!(with(good, own).unwrap_err(), ConfigError::ScreenWithDriver(own));
    assert!(with("{}", own).unwrap().settings.agent.is_some());
    let error = with(bad, driver::UNKNOWN).unwrap_err().to_string();
    let prefix = format!("--agent-config {}: screen.prompt[1]: \"(open\": ", file.path().display());
    assert!(error.starts_with(&prefix), "{error}");
    let error = with(r#"{"screen": []}"#, driver::UNKNOWN).unwrap_err().to_string();
    assert!(error.ends_with("screen is not a JSON object"), "{error}");
}

#[test]
fn the_agent_is_recognised_by_the_programs_name() {
    assert_eq!(config("bash").unwrap().agent, "unknown");
    for name in driver::names() {
        assert_eq!(config(&format!("/opt/bin/{name} -p")).unwrap().agent, name);
        assert_eq!(config(&format!("--agent {name} bash")).unwrap().agent, name);
    }
}
