//! The life of a session: how coop starts its child, replaces it, outlives it and exits.

use std::path::Path;
use std::time::Instant;

use coop_client::{Client, v1};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tonic::Streaming;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::http::Http;
use crate::support::session::{
    Recording, child_pid, event, exited, is_shutdown, lives, pid_in, refusal, rest, see, status,
    type_line,
};
use crate::support::sse::Sse;
use crate::support::until;
use crate::support::ws::Socket;

/// Runs coop until it exits by itself; returns its exit code and stderr.
async fn run_to_the_end(args: &[&str]) -> (Option<i32>, String) {
    let (status, stderr) = Setup::new(args).fail().await;
    (status.code(), stderr)
}

async fn shut_down(client: &mut Client, grace_ms: Option<i32>) {
    let answer = client.shutdown(v1::ShutdownRequest { grace_ms }).await.expect("accepted");
    assert!(answer.into_inner().accepted);
}

async fn events(client: &mut Client) -> Streaming<v1::Event> {
    client.stream_events(v1::StreamEventsRequest::default()).await.expect("a stream").into_inner()
}

// ---- Exit codes and usage ----

#[tokio::test]
async fn coop_exits_with_the_childs_exit_code() {
    let run = ["--port", "0", "--linger", "0", "--", "sh", "-c"];
    for (script, code) in
        [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -9 $$", 137), ("kill -15 $$", 143)]
    {
        let (ended, stderr) = run_to_the_end(&[&run[..], &[script]].concat()).await;
        assert_eq!(ended, Some(code), "{script}: {stderr}");
    }
}

#[tokio::test]
async fn a_command_that_cannot_run_and_wrong_usage_have_different_exit_codes() {
    let setup = Setup::new(["--port", "0", "--socket", "left.sock", "--", "no-such-command"]);
    let home = setup.home().to_owned();
    let (status, stderr) = setup.fail().await;
    assert_eq!(status.code(), Some(127));
    assert!(stderr.contains("no-such-command"), "{stderr}");
    assert!(!home.join("left.sock").exists(), "no socket is left behind");

    let setup = Setup::new(["--port", "0", "--", "./plain"]);
    std::fs::write(setup.home().join("plain"), "not a program").expect("written");
    let (status, stderr) = setup.fail().await;
    assert_eq!(status.code(), Some(126), "{stderr}");

    for args in [
        &["--port", "0", "--no-such-option", "bash"][..],
        &["--port", "0"],
        &["--port", "0", "--"],
        &["--port", "x", "--", "true"],
        &["--port", "0", "--cols", "0", "--", "true"],
        &["--port", "0", "--rows", "1001", "--", "true"],
        &["--port", "0", "--cwd", "/no/such/directory", "--", "true"],
        &["--port", "0", "--label", "nothing", "--", "true"],
        &["--port", "0", "--log-level", "loud", "--", "true"],
    ] {
        let (code, stderr) = run_to_the_end(args).await;
        assert_eq!(code, Some(64), "{args:?}: {stderr}");
        assert!(!stderr.is_empty(), "{args:?}");
    }
}

#[tokio::test]
async fn the_command_may_follow_without_dashes_and_keeps_its_flags() {
    let coop = Setup::new(["--port", "0", "bash", "--norc", "--noprofile"]).start().await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo $0-$((40+2))").await;
    see(&mut client, "bash-42").await;
    assert_eq!(status(&mut client).await.command, ["bash", "--norc", "--noprofile"]);
}

#[tokio::test]
async fn arguments_reach_the_command_unchanged() {
    let words = ["a b", "it's", "", "\"q\"", "ü€🦀", "*", "$HOME", "a\\nb", "--port"];
    let coop = Coop::run(["printf", "[%s]\\n"].iter().chain(&words)).await;
    let mut client = coop.grpc().await;
    exited(&mut client).await;
    for word in words {
        see(&mut client, &format!("[{word}]")).await;
    }
}

#[tokio::test]
async fn stdout_has_one_line_for_each_listener_and_nothing_else() {
    let args = [
        "--port",
        "0",
        "--grpc-port",
        "0",
        "--health-port",
        "0",
        "--socket",
        "here.sock",
        "--",
        "cat",
    ];
    let mut coop = Setup::new(args).start().await;
    assert!(
        coop.http.is_some()
            && coop.grpc.is_some()
            && coop.health.is_some()
            && coop.socket.is_some()
    );
    assert_eq!(Http::tcp(coop.health.expect("a port")).get("/api/v1/health").await.status, 200);
    let socket = coop.home.path().join("here.sock");
    assert_eq!(Http::unix(&socket).get("/api/v1/health").await.status, 200);
    shut_down(&mut coop.grpc().await, None).await;
    assert_eq!(coop.rest_of_stdout().await, "");
    assert_eq!(coop.ended().await.code(), Some(129));
    assert!(!socket.exists(), "the socket is removed at the end");
}

#[tokio::test]
async fn an_unread_log_delays_nothing() {
    let mut coop = Coop::with(&["--log-level", "trace"], SHELL).await;
    let mut client = coop.grpc().await;
    let http = coop.http();
    // Far more than a pipe holds, with both pipes unread.
    for _ in 0..100 {
        assert_eq!(http.get("/api/v1/health").await.status, 200);
        status(&mut client).await;
    }
    type_line(&mut client, "echo a''b").await;
    see(&mut client, "ab").await;
    shut_down(&mut client, None).await;
    assert_eq!(coop.ended().await.code(), Some(129));
    assert!(coop.log().await.len() >= 60_000, "the pipe was full");
}

// ---- After the child's exit ----

#[tokio::test]
async fn after_the_exit_reads_work_and_writes_are_refused() {
    let mut coop = Coop::run(["sh", "-c", "echo last words; exit 3"]).await;
    let mut client = coop.grpc().await;
    assert_eq!(exited(&mut client).await, (Some(3), None));
    see(&mut client, "last words").await;
    let mut recording = Recording::record(&mut client).await;
    recording.until_end().await;
    assert_eq!(recording.text(), "last words\r\n");

    let http = coop.http();
    for (path, body) in [
        ("/api/v1/input", json!({"text": "x"})),
        ("/api/v1/input/raw", json!({"data": "eA=="})),
        ("/api/v1/input/keys", json!({"keys": ["x"]})),
        ("/api/v1/resize", json!({"cols": 80, "rows": 24})),
        ("/api/v1/signal", json!({"signal": "INT"})),
        ("/api/v1/lease", json!({})),
    ] {
        let answer = http.post(path, body).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (410, "EXITED"), "{path}");
    }
    assert_eq!(http.get("/api/v1/session/cwd").await.code(), "EXITED");
    for path in
        ["screen", "screen/text", "scrollback", "output", "status", "agent/state", "env", "health"]
    {
        assert_eq!(http.get(&format!("/api/v1/{path}")).await.status, 200, "{path}");
    }
    let health = http.get("/api/v1/health").await.json();
    assert_eq!(
        (&health["status"], &health["ready"], &health["pid"]),
        (&json!("exited"), &json!(false), &Value::Null)
    );
    assert_eq!(http.get("/api/v1/ready").await.code(), "NOT_READY");
    assert_eq!(http.get("/api/v1/agent/state").await.json()["state"], "exited");

    // The next child gets no input from before.
    client.restart_session(v1::RestartSessionRequest { force: true }).await.expect("restarted");
    exited(&mut client).await;
    let status = status(&mut client).await;
    assert_eq!((status.bytes_written, status.generation), (0, 2));
    shut_down(&mut client, None).await;
    assert_eq!(coop.ended().await.code(), Some(3));
}

#[tokio::test]
async fn a_child_that_has_exited_has_no_directory() {
    // Its background job prints on, so the exit is announced only two seconds later.
    let script = "(while :; do echo more; sleep 0.02; done) & read line; exit 3";
    let coop = Coop::run(["sh", "-c", script]).await;
    let http = coop.http();
    assert_eq!(http.get("/api/v1/session/cwd").await.status, 200);
    type_line(&mut coop.grpc().await, "").await;
    until("EXITED", async || {
        let answer = http.get("/api/v1/session/cwd").await;
        if answer.status == 200 {
            return None;
        }
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (410, "EXITED"));
        Some(())
    })
    .await;
}

#[tokio::test]
async fn a_lingering_coop_serves_and_then_exits() {
    let mut coop = Coop::with(&["--linger", "1"], ["sh", "-c", "read line; exit 5"]).await;
    let mut client = coop.grpc().await;
    let mut events = events(&mut client).await;
    type_line(&mut client, "").await;
    let exit = event(&mut events, "exit").await;
    assert_eq!(status(&mut client).await.exit_code, Some(5), "coop still serves");
    let (rest, why) = rest(&mut events).await;
    let [last] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!((last.r#type.as_str(), last.seq), ("shutdown", exit.seq + 1));
    assert_eq!(shutdown_reason(last), "child_exit");
    assert!(is_shutdown(&why.expect("a reason")));
    assert_eq!(coop.ended().await.code(), Some(5));
}

fn shutdown_reason(event: &v1::Event) -> &str {
    match &event.payload {
        Some(v1::event::Payload::Shutdown(shutdown)) => &shutdown.reason,
        other => panic!("{other:?} is no shutdown"),
    }
}

// ---- Shutdown ----

#[tokio::test]
async fn an_idle_shell_is_shut_down_and_every_stream_ends() {
    let mut coop = Coop::shell().await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo a''b").await;
    see(&mut client, "ab").await;
    let mut recording = Recording::record(&mut client).await;
    let mut events = events(&mut client).await;
    event(&mut events, "state").await;
    let mut screens = client
        .stream_screen(v1::StreamScreenRequest::default())
        .await
        .expect("a stream")
        .into_inner();
    let mut states = client
        .stream_state(v1::StreamStateRequest::default())
        .await
        .expect("a stream")
        .into_inner();
    let mut watch = coop.health_watch("ready").await;
    watch.message().await.expect("a state").expect("not the end");
    let http = coop.http();
    let mut sse = Sse::open(&http, "/api/v1/events").await;

    let start = Instant::now();
    shut_down(&mut client, None).await;
    let (rest_of_events, why) = rest(&mut events).await;
    let kinds: Vec<&str> = rest_of_events.iter().map(|event| event.r#type.as_str()).collect();
    assert_eq!(kinds, ["shutdown", "state", "exit"]);
    assert_eq!(shutdown_reason(&rest_of_events[0]), "api");
    assert!(is_shutdown(&why.expect("a reason")));
    assert!(is_shutdown(&rest(&mut screens).await.1.expect("a reason")));
    let (last_states, why) = rest(&mut states).await;
    assert_eq!(last_states.last().expect("a state").next, "exited");
    assert!(is_shutdown(&why.expect("a reason")));
    recording.until_end().await;
    rest(&mut watch).await;
    sse.wait_for("shutdown").await;
    let last = sse.wait_for("error").await;
    assert_eq!(last.data["code"], "NOT_READY", "{last:?}");
    assert!(sse.next().await.is_none());
    assert_eq!(coop.ended().await.code(), Some(129));
    println!("an idle shell was shut down in {:?}", start.elapsed());
}

/// A child that ignores SIGHUP, and writes its pid to a file.
const IGNORES_SIGHUP: &str = "trap '' HUP; echo $$ > pid; echo up; exec sleep 300";

#[tokio::test]
async fn a_child_that_ignores_the_hangup_is_killed_after_the_grace() {
    let mut coop = Coop::run(["sh", "-c", IGNORES_SIGHUP]).await;
    let mut client = coop.grpc().await;
    see(&mut client, "up").await;
    let pid = child_pid(&mut client).await;
    let mut events = events(&mut client).await;
    shut_down(&mut client, Some(300)).await;
    let exit = event(&mut events, "exit").await;
    assert!(
        matches!(
            exit.payload,
            Some(v1::event::Payload::Exit(v1::ExitEvent { signal: Some(9), .. }))
        ),
        "{exit:?}"
    );
    assert_eq!(coop.ended().await.code(), Some(137));
    assert!(!lives(pid));
}

#[tokio::test]
async fn reads_work_until_the_end_and_a_second_request_skips_the_grace() {
    let mut coop = Coop::run(["sh", "-c", IGNORES_SIGHUP]).await;
    let mut client = coop.grpc().await;
    see(&mut client, "up").await;
    let http = coop.http();
    let mut events = events(&mut client).await;
    // A grace that is longer than the deadline of the test.
    shut_down(&mut client, Some(300_000)).await;
    event(&mut events, "shutdown").await;
    assert_eq!(http.get("/api/v1/health").await.json()["status"], "running");
    assert_eq!(http.get("/api/v1/screen").await.status, 200);
    let refused = http.post("/api/v1/input", json!({"text": "x"})).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (503, "NOT_READY"));
    let refused = http.post("/api/v1/session/restart", json!({})).await;
    assert_eq!(refused.code(), "NOT_READY");
    coop.signal(Signal::TERM);
    assert_eq!(coop.ended().await.code(), Some(137));
}

#[tokio::test]
async fn no_process_of_the_child_outlives_it() {
    let script = "\
        setsid sh -c 'echo $$ > own-session; exec sleep 300' & \
        (setsid sh -c \"trap '' HUP; echo \\$\\$ > orphan; while :; do sleep 60; done\" &) & \
        nohup sh -c 'echo $$ > nohup; exec sleep 300' >/dev/null 2>&1 & \
        echo up; cat";
    let mut coop = Coop::run(["sh", "-c", script]).await;
    let mut client = coop.grpc().await;
    let home = coop.home.path().to_owned();
    let mut pids = Vec::new();
    for name in ["own-session", "orphan", "nohup"] {
        pids.push(pid_in(&home.join(name)).await);
    }
    assert!(pids.iter().all(|pid| lives(*pid)));
    shut_down(&mut client, Some(300)).await;
    coop.ended().await;
    let left: Vec<_> = pids.iter().filter(|pid| lives(**pid)).collect();
    assert!(left.is_empty(), "{left:?} of {pids:?} are left");
}

#[tokio::test]
async fn signals_to_coop_shut_it_down() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut coop = Coop::shell().await;
        let mut client = coop.grpc().await;
        let mut events = events(&mut client).await;
        type_line(&mut client, "echo a''b").await;
        see(&mut client, "ab").await;
        coop.signal(signal);
        assert_eq!(shutdown_reason(&event(&mut events, "shutdown").await), "signal");
        assert!(is_shutdown(&rest(&mut events).await.1.expect("a reason")));
        assert_eq!(coop.ended().await.code(), Some(129), "{signal:?}");
    }
}

#[tokio::test]
async fn a_quiet_session_is_shut_down_after_its_idle_timeout() {
    let mut coop = Coop::with(&["--idle-timeout", "1"], ["cat"]).await;
    let mut client = coop.grpc().await;
    let mut events = events(&mut client).await;
    assert_eq!(shutdown_reason(&event(&mut events, "shutdown").await), "idle_timeout");
    assert_eq!(coop.ended().await.code(), Some(129));
}

#[tokio::test]
async fn sigterm_through_the_api_ends_even_an_interactive_shell() {
    let coop = Coop::shell().await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo a''b").await;
    see(&mut client, "ab").await;
    let answer = coop.http().post("/api/v1/signal", json!({"signal": "SIGTERM"})).await;
    assert_eq!(answer.json()["delivered"], true);
    assert_eq!(
        exited(&mut client).await,
        (None, Some(1)),
        "the shell ignores SIGTERM and ends by SIGHUP"
    );
}

// ---- Restart and switch ----

/// Readers of every kind, which a restart must not end.
struct Readers {
    recording: Recording,
    events: Streaming<v1::Event>,
    screens: Streaming<v1::ScreenSnapshot>,
    states: Streaming<v1::AgentStateEvent>,
    attached: Streaming<v1::AttachResponse>,
    _keyboard: tokio::sync::mpsc::Sender<v1::AttachRequest>,
    sse: Sse,
    socket: Socket,
}

impl Readers {
    async fn open(coop: &Coop, client: &mut Client) -> Self {
        let (keyboard, typed) = tokio::sync::mpsc::channel(1);
        let typed = tokio_stream::wrappers::ReceiverStream::new(typed);
        Self {
            recording: Recording::record(client).await,
            events: events(client).await,
            screens: client
                .stream_screen(v1::StreamScreenRequest::default())
                .await
                .expect("a stream")
                .into_inner(),
            states: client
                .stream_state(v1::StreamStateRequest::default())
                .await
                .expect("a stream")
                .into_inner(),
            attached: client.attach(typed).await.expect("a stream").into_inner(),
            _keyboard: keyboard,
            sse: Sse::open(&coop.http(), "/api/v1/stream/output").await,
            socket: Socket::connect(coop, "mode=all").await,
        }
    }

    /// Checks that each reader sees this text, which the new child prints.
    async fn all_see(&mut self, text: &str) {
        use v1::attach_response::Message;
        self.recording.until_text(text).await;
        until("the screen", async || {
            let screen = self.screens.message().await.expect("no error").expect("not the end");
            screen.lines.iter().any(|row| row.contains(text)).then_some(())
        })
        .await;
        let mut attached = String::new();
        let mut restarts = Vec::new();
        while !attached.contains(text) {
            match self.attached.message().await.expect("no error").expect("not the end").message {
                Some(Message::Output(chunk)) => attached += &String::from_utf8_lossy(&chunk.data),
                Some(Message::Restart(restart)) => restarts.push(restart.generation),
                Some(Message::Exit(exit)) => panic!("{exit:?}, but a restart is no exit"),
                _ => {}
            }
        }
        assert_eq!(restarts, [2]);
        let mut streamed = String::new();
        while !streamed.contains(text) {
            let chunk = self.sse.wait_for("output").await.data;
            streamed += &decoded(&chunk["data"]);
        }
        let mut pushed = String::new();
        while !pushed.contains(text) {
            pushed += &decoded(&self.socket.wait_for("output").await["data"]);
        }
    }
}

fn decoded(data: &Value) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data.as_str().expect("text"))
        .expect("base64");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn a_restart_keeps_every_reader_and_continues_all_numbers() {
    let coop = Coop::shell().await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo be''fore").await;
    see(&mut client, "before").await;
    let mut readers = Readers::open(&coop, &mut client).await;
    let before = status(&mut client).await;

    let answer = coop.http().post("/api/v1/session/restart", json!({})).await;
    assert_eq!(answer.status, 202);
    let answer = answer.json();
    assert_eq!(answer["generation"], 2);
    let after = status(&mut client).await;
    assert_eq!((after.generation, after.pid.map(Value::from)), (2, Some(answer["pid"].clone())));
    assert_ne!(after.pid, before.pid);
    assert!(!lives(before.pid.expect("a pid")), "the old child is gone");
    assert!(after.bytes_read >= before.bytes_read && after.event_seq > before.event_seq);
    assert!(after.screen_seq > before.screen_seq);

    type_line(&mut client, "echo af''ter").await;
    see(&mut client, "after").await;
    assert!(
        !crate::support::session::rows(&mut client).await.contains(&"before".to_owned()),
        "a fresh screen"
    );
    readers.all_see("after").await;

    let restart = event(&mut readers.events, "restart").await;
    let Some(v1::event::Payload::Restart(restart)) = restart.payload else { panic!("{restart:?}") };
    assert_eq!(
        (restart.generation, restart.reason.as_str(), restart.pid),
        (2, "restart", after.pid)
    );
    assert_eq!(Value::from(restart.offset), answer["offset"]);
    assert!(restart.offset >= before.bytes_read);
    let mut states = Vec::new();
    while states.last().is_none_or(|state| state != "unknown") || states.len() < 3 {
        states.push(readers.states.message().await.expect("no error").expect("not the end").next);
    }
    assert_eq!(states, ["unknown", "restarting", "unknown"]);
}

#[tokio::test]
async fn a_switch_changes_environment_command_and_directory() {
    let coop = Coop::run(["cat"]).await;
    let mut client = coop.grpc().await;
    let http = coop.http();
    let body = json!({
        "credentials": {"KEY": "secret", "BOTH": "first"},
        "extra_env": {"EXTRA": "more", "BOTH": "second"},
        "command": ["sh", "-c", "echo $KEY-$EXTRA-$BOTH; pwd; cat"],
        "cwd": "/usr",
        "force": true,
    });
    let answer = http.put("/api/v1/session/switch", body).await;
    assert_eq!((answer.status.as_u16(), answer.json()["generation"].clone()), (200, json!(2)));
    see(&mut client, "secret-more-second").await;
    see(&mut client, "/usr").await;
    let now = status(&mut client).await;
    assert_eq!((now.cwd.as_str(), now.command.len()), ("/usr", 3));

    // Fields that the request leaves out keep their values. The response to a POST is 202.
    let answer = http
        .post("/api/v1/session/switch", json!({"extra_env": {"EXTRA": "other"}, "force": true}))
        .await;
    assert_eq!((answer.status.as_u16(), answer.json()["generation"].clone()), (202, json!(3)));
    see(&mut client, "secret-other-second").await;
    see(&mut client, "/usr").await;
}

#[tokio::test]
async fn a_switch_to_a_command_that_cannot_run_keeps_the_child() {
    let coop = Coop::shell().await;
    let mut client = coop.grpc().await;
    let pid = child_pid(&mut client).await;
    for body in [
        json!({"command": ["no-such-command"]}),
        json!({"command": [""]}),
        json!({"command": ["/etc/passwd"]}),
        json!({"cwd": "/no/such/directory"}),
        json!({"extra_env": {"A=B": "x"}}),
        json!({"extra_env": {"": "x"}}),
    ] {
        let answer = coop.http().put("/api/v1/session/switch", body.clone()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (400, "BAD_REQUEST"),
            "{body}"
        );
    }
    let status = status(&mut client).await;
    assert_eq!((status.pid, status.generation), (Some(pid), 1));
    type_line(&mut client, "echo a''b").await;
    see(&mut client, "ab").await;
}

#[tokio::test]
async fn a_replacement_excludes_other_lifecycle_requests() {
    let coop = Coop::run(["sh", "-c", IGNORES_SIGHUP]).await;
    let mut client = coop.grpc().await;
    see(&mut client, "up").await;
    let old = pid_in(&coop.home.path().join("pid")).await;
    let mut switching = client.clone();
    let request = v1::SwitchSessionRequest {
        command: ["sh", "-c", "echo late=$LATE; cat"].map(str::to_owned).into(),
        ..Default::default()
    };
    // The old child ignores SIGHUP, so this waits.
    let switching = tokio::spawn(async move { switching.switch_session(request).await });
    until("the switch to begin", async || {
        (status(&mut client).await.state == "starting").then_some(())
    })
    .await;

    let http = coop.http();
    let again = http.put("/api/v1/session/switch", json!({"force": true})).await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (409, "SWITCH_IN_PROGRESS"));
    let again = http.post("/api/v1/session/restart", json!({})).await;
    assert_eq!(again.code(), "SWITCH_IN_PROGRESS");
    let write = http.post("/api/v1/input", json!({"text": "x"})).await;
    assert_eq!((write.status.as_u16(), write.code().as_str()), (503, "NOT_READY"));
    assert_eq!(http.get("/api/v1/agent/state").await.json()["state"], "restarting");
    assert_eq!(http.get("/api/v1/screen").await.status, 200);
    // The next child, which has not started yet, gets a variable that is set now.
    assert_eq!(http.put("/api/v1/env/LATE", json!({"value": "set"})).await.status, 200);
    assert!(lives(old) && !switching.is_finished());

    kill_process(Pid::from_raw(old).expect("a pid"), Signal::KILL).expect("killed");
    let switched = switching.await.expect("joined").expect("switched").into_inner();
    assert_eq!(switched.generation, 2);
    see(&mut client, "late=set").await;
    assert_eq!(http.get("/api/v1/env/LATE").await.json()["value"], "set");
}

// ---- The child's environment and directory ----

#[tokio::test]
async fn variables_are_for_the_next_child() {
    let coop = Setup::new(["--port", "0", "--", "sh", "-c", "echo [$PLAIN][$PUT]; cat"])
        .env("PLAIN", "p")
        .start()
        .await;
    let mut client = coop.grpc().await;
    let http = coop.http();
    see(&mut client, "[p][]").await;
    let put = http.put("/api/v1/env/PUT", json!({"value": "ü ="})).await;
    assert_eq!((put.status.as_u16(), put.json()), (200, json!({"key": "PUT", "value": "ü ="})));
    assert_eq!(http.get("/api/v1/env/PUT").await.json()["value"], "ü =");
    assert_eq!(http.get("/api/v1/env").await.json()["vars"]["PLAIN"], "p");
    assert_eq!(http.delete("/api/v1/env/PLAIN").await.status, 200);
    for missing in [http.get("/api/v1/env/PLAIN").await, http.delete("/api/v1/env/PLAIN").await] {
        assert_eq!((missing.status.as_u16(), missing.code().as_str()), (404, "NOT_FOUND"));
    }
    assert_eq!(http.put("/api/v1/env/A%3DB", json!({"value": ""})).await.code(), "BAD_REQUEST");
    for own in ["COOP", "COOP_SOCKET", "COOP_HOOK_NONCE", "COOP_AUTH_TOKEN"] {
        let path = format!("/api/v1/env/{own}");
        for refused in [
            http.put(&path, json!({"value": "x"})).await,
            http.delete(&path).await,
            http.post("/api/v1/session/switch", json!({"extra_env": {own: "x"}})).await,
            http.post("/api/v1/session/switch", json!({"credentials": {own: "x"}})).await,
        ] {
            assert_eq!(refused.code(), "BAD_REQUEST", "{own}");
            let message = refused.json()["message"].clone();
            assert!(message.as_str().is_some_and(|text| text.starts_with(own)), "{message}");
        }
    }
    let environ =
        std::fs::read_to_string(format!("/proc/{}/environ", child_pid(&mut client).await))
            .expect("readable");
    assert!(
        environ.contains("PLAIN=p\0") && !environ.contains("PUT="),
        "the environment of the running child does not change"
    );
    client.restart_session(v1::RestartSessionRequest { force: true }).await.expect("restarted");
    see(&mut client, "[][ü =]").await;
}

#[tokio::test]
async fn the_directory_follows_the_child_and_the_status_describes_the_session() {
    let flags = [
        "--label", "team=red", "--label", "task=a=b", "--name", "ada's", "--cols", "91", "--rows",
        "17",
    ];
    let coop = Coop::with(&flags, SHELL).await;
    let mut client = coop.grpc().await;
    let http = coop.http();
    let home = coop.home.path().canonicalize().expect("a directory");
    assert_eq!(http.get("/api/v1/session/cwd").await.json()["cwd"], *home.to_string_lossy());
    type_line(&mut client, "cd /usr && stty size").await;
    see(&mut client, "17 91").await;
    assert_eq!(http.get("/api/v1/session/cwd").await.json()["cwd"], "/usr");

    let status = http.get("/api/v1/status").await.json();
    let health = http.get("/api/v1/health").await.json();
    assert_eq!(status["labels"], json!({"team": "red", "task": "a=b"}));
    assert_eq!(
        (&status["name"], &status["state"], &status["agent_state"]),
        (&json!("ada's"), &json!("running"), &json!("unknown"))
    );
    assert_eq!(status["cwd"], *home.to_string_lossy(), "the directory in which it was started");
    assert_eq!(status["command"], json!(SHELL));
    assert_eq!((&status["exit_code"], &status["exit_signal"]), (&Value::Null, &Value::Null));
    assert_eq!(status["bytes_written"], "cd /usr && stty size\r".len());
    assert_eq!((&status["generation"], &status["ws_clients"]), (&json!(1), &json!(0)));
    assert!(status["last_output_epoch_ms"].as_u64() >= status["epoch"].as_u64(), "{status}");
    assert!(status["last_input_epoch_ms"].as_u64() >= status["epoch"].as_u64(), "{status}");
    assert!(
        status["screen_seq"].as_u64() > Some(0) && status["bytes_read"].as_u64() > Some(0),
        "{status}"
    );
    assert_eq!(
        (&health["pid"], &health["session_id"], &health["epoch"]),
        (&status["pid"], &status["session_id"], &status["epoch"])
    );
    assert_eq!(
        (&health["ready"], &health["terminal"]),
        (&json!(true), &json!({"cols": 91, "rows": 17}))
    );
    let socket = Socket::connect(&coop, "mode=state").await;
    until("the socket to be counted", async || {
        (http.get("/api/v1/health").await.json()["ws_clients"] == 1).then_some(())
    })
    .await;
    drop(socket);
}

/// A child that calls coop over the socket and the URL in its environment.
const CALLING_CHILD: &str = "\
    echo $COOP/$COOP_SESSION_ID/$TERM; \
    curl -s --unix-socket $COOP_SOCKET http://localhost/api/v1/health >> by-socket; \
    case $COOP_URL in unix://*) curl -s --unix-socket ${COOP_URL#unix://} http://localhost/api/v1/health;; \
    *) curl -s $COOP_URL/api/v1/health;; esac >> by-url; \
    env > environment; echo done; cat";

async fn check_calls(setup: Setup, id_of: impl AsyncFn(&Coop) -> String) {
    let coop = setup.start().await;
    let home = coop.home.path().to_owned();
    let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap_or_default();
    until("the child's calls", async || {
        read("environment").contains("COOP_SESSION_ID=").then_some(())
    })
    .await;
    let id = id_of(&coop).await;
    for name in ["by-socket", "by-url"] {
        let health: Value =
            serde_json::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(health["session_id"], id, "{name}");
    }
    let environment = read("environment");
    let line = |name: &str| {
        environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    };
    assert_eq!(
        (line("COOP"), line("COOP_SESSION_ID"), line("TERM")),
        (Some("1"), Some(id.as_str()), Some("vt220"))
    );
    assert_eq!((line("COOP_COLS"), line("COOP_LINGER"), line("COOP_PORT")), (None, None, None));
}

fn id_in(health: &Value) -> String {
    health["session_id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn the_child_can_call_coop_over_tcp() {
    let setup = Setup::new(["--port", "0", "--term", "vt220", "--", "sh", "-c", CALLING_CHILD]);
    let setup = setup.env("COOP_COLS", "100").env("COOP_LINGER", "600");
    check_calls(setup, async |coop| id_in(&coop.http().get("/api/v1/health").await.json())).await;
}

#[tokio::test]
async fn the_child_can_call_coop_over_a_unix_socket() {
    let setup =
        Setup::new(["--socket", "here.sock", "--term", "vt220", "--", "sh", "-c", CALLING_CHILD]);
    check_calls(setup, async |coop| {
        let http = Http::unix(coop.home.path().join("here.sock"));
        id_in(&http.get("/api/v1/health").await.json())
    })
    .await;
}

#[tokio::test]
async fn a_nested_coop_does_not_use_its_parents_sockets() {
    let args = ["--port", "0", "--socket", "outer.sock", "--"];
    let coop = Setup::new(args.iter().chain(&SHELL)).start().await;
    let mut client = coop.grpc().await;
    let sockets = |coop: &Coop| {
        let socket = coop.home.path().join("outer.sock");
        let own = std::fs::metadata(&socket).expect("a socket");
        (Http::unix(socket), std::os::unix::fs::MetadataExt::ino(&own))
    };
    let (http, inode) = sockets(&coop);
    let inner = Path::new(env!("CARGO_BIN_EXE_coop")).display();
    type_line(
        &mut client,
        &format!("{inner} --port 0 --linger 0 -- sh -c 'exit 7' >/dev/null; echo inner=$?"),
    )
    .await;
    see(&mut client, "inner=7").await;
    type_line(
        &mut client,
        &format!("{inner} --port 0 --socket outer.sock -- true 2>/dev/null; echo taken=$?"),
    )
    .await;
    see(&mut client, "taken=64").await;
    assert_eq!(sockets(&coop).1, inode, "the same file");
    assert_eq!(http.get("/api/v1/health").await.status, 200);
    type_line(
        &mut client,
        "curl -s --unix-socket $COOP_SOCKET http://localhost/api/v1/status -o st; echo curl=$?",
    )
    .await;
    see(&mut client, "curl=0").await;
}

#[tokio::test]
async fn an_error_has_its_code_over_grpc() {
    let coop = Coop::run(["true"]).await;
    let mut client = coop.grpc().await;
    exited(&mut client).await;
    let refused = client
        .send_signal(v1::SendSignalRequest { signal: "INT".to_owned() })
        .await
        .expect_err("exited");
    assert_eq!(
        (refused.code(), refusal(&refused).code.as_str()),
        (tonic::Code::NotFound, "EXITED")
    );
}
