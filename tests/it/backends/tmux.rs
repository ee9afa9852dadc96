//! A tmux pane through coop: input, output, size and exit work as they do with a child of coop.

use coop_client::v1;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::multiplexer::{Multiplexer, press, see_prompt, send_signal, shut_down};
use crate::support::coop::Coop;
use crate::support::session::{
    child_pid, event, exited, lives, pid_in, refusal, rows, see, status, type_line,
};
use crate::support::ws::Socket;
use crate::support::{soon, until};

#[tokio::test]
async fn typed_text_is_shown_and_the_session_outlives_coop() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    type_line(
        &mut client,
        "printf '%s \\033[31m%s\\033[m\\n' \"h\u{e9}-$((6 * 7))-\u{6f22}\" crimson",
    )
    .await;
    see(&mut client, "h\u{e9}-42-\u{6f22} crimson").await;
    let ansi = v1::GetScreenRequest { format: 1, ..Default::default() };
    let screen = client.get_screen(ansi).await.expect("a screen").into_inner();
    assert!(screen.lines.iter().any(|row| row.contains("31m")), "{:?}", screen.lines);

    let status = status(&mut client).await;
    let pane: i32 = tmux.ask(&["display-message", "-p", "#{pane_pid}"]).parse().expect("a pid");
    assert_eq!((status.state.as_str(), status.pid), ("running", Some(pane)));
    assert_eq!((status.backend.as_str(), status.agent_state.as_str()), ("tmux", "unknown"));
    assert_eq!(status.command, ["bash", "--norc", "--noprofile"]);
    let cwd = client.get_cwd(v1::GetCwdRequest {}).await.expect("a directory").into_inner().cwd;
    assert_eq!(
        (cwd.as_str(), cwd.as_str()),
        (tmux.path().to_str().expect("a path"), status.cwd.as_str())
    );

    assert_eq!(shut_down(coop).await, Some(0));
    assert!(lives(pane));
    assert!(tmux.ask(&["capture-pane", "-p", "-t", "=work:"]).contains("crimson"));
}

#[tokio::test]
async fn keys_and_signals_reach_the_foreground_program() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "cat -v").await;
    see(&mut client, "$ cat -v").await;
    press(&mut client, &["Up", "Tab", "x", "Enter"]).await;
    until("the keys", async || {
        rows(&mut client).await.iter().any(|row| row.ends_with("x")).then_some(())
    })
    .await;
    assert!(rows(&mut client).await.iter().any(|row| row.starts_with("^[[A")));
    press(&mut client, &["C-c"]).await;
    see_prompt(&mut client).await;
    type_line(&mut client, "echo out-$((1 + 1))").await;
    see(&mut client, "out-2").await;

    let shell = child_pid(&mut client).await;
    let file = tmux.path().join("pid");
    type_line(&mut client, "sh -c 'echo $$ > pid; exec sleep 3600'").await;
    let sleeper = pid_in(&file).await;
    send_signal(&mut client, "TERM").await;
    until("the signalled process to end", async || (!lives(sleeper)).then_some(())).await;
    see_prompt(&mut client).await;
    type_line(&mut client, "echo out-$((1 + 2))").await;
    see(&mut client, "out-3").await;
    assert_eq!(child_pid(&mut client).await, shell, "only the foreground was signalled");
}

#[tokio::test]
async fn the_modes_of_a_full_screen_program_are_respected() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    type_line(
        &mut client,
        "printf '\\033[?1049h\\033[?1h\\033[?25l\\033]2;busy\\033\\\\'; stty -echo; cat -v",
    )
    .await;
    let screen = until("the alternate screen", async || {
        let screen = client
            .get_screen(v1::GetScreenRequest::default())
            .await
            .expect("a screen")
            .into_inner();
        screen.alt_screen.then_some(screen)
    })
    .await;
    assert_eq!((screen.title.as_str(), screen.cursor.expect("a cursor").hidden), ("busy", true));
    press(&mut client, &["Up", "Enter"]).await;
    until("the key", async || {
        rows(&mut client).await.iter().any(|row| row.ends_with("^[OA")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_agent_in_tmux_is_recognised_by_its_screen() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.setup(&["--attach", "tmux:work", "--agent", "claude"]).start().await;
    let state = coop.http().get("/api/v1/agent/state").await.json();
    assert_eq!((&state["agent"], &state["detection_tier"]), (&json!("claude"), &json!("process")));
    // No hook was installed, and coop does not wait for one.
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo here-$((1 + 1))").await;
    see(&mut client, "here-2").await;
}

#[tokio::test]
async fn several_lines_are_one_paste_if_the_program_takes_pastes() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "bind 'set enable-bracketed-paste on'; echo ready").await;
    see(&mut client, "ready").await;
    let text = "echo one-$((0+1))\necho two-$((1+1))".to_owned();
    soon("a paste", client.send_input(v1::SendInputRequest { text, enter: false }))
        .await
        .expect("pasted");
    see(&mut client, "echo two-$((1+1))").await;
    assert!(!rows(&mut client).await.iter().any(|row| row == "one-1"), "nothing runs before Enter");
    press(&mut client, &["Enter"]).await;
    see(&mut client, "one-1").await;
    see(&mut client, "two-2").await;
    assert_eq!(tmux.ask(&["list-buffers"]), "", "no paste buffer is left in tmux");

    // Without the mode the lines are typed as they are, with no markers around them.
    type_line(&mut client, "cat -v > pasted").await;
    let text = "a\nb".to_owned();
    soon("a paste", client.send_input(v1::SendInputRequest { text, enter: true }))
        .await
        .expect("pasted");
    press(&mut client, &["C-d"]).await;
    let file = tmux.path().join("pasted");
    until("the file", async || (std::fs::read(&file).ok()? == b"a\nb\n").then_some(())).await;
}

#[tokio::test]
async fn large_and_binary_input_arrives_byte_for_byte() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(8192).collect();
    type_line(&mut client, "stty raw -echo; head -c 8192 > bytes; stty sane; echo taken").await;
    until("the raw terminal", async || {
        let settings = tmux.ask(&["display-message", "-p", "#{pane_tty}"]);
        let stty = std::process::Command::new("stty")
            .args(["-F", &settings, "-a"])
            .output()
            .expect("stty");
        String::from_utf8_lossy(&stty.stdout).contains("-icanon").then_some(())
    })
    .await;
    // tmux is in copy mode, as when a user scrolls back. The input must still reach the program.
    tmux.ask(&["copy-mode", "-t", "=work:"]);
    let data = bytes.clone().into();
    let written = soon("the bytes", client.send_input_raw(v1::SendInputRawRequest { data })).await;
    assert_eq!(written.expect("written").into_inner().bytes_written, 8192);
    see(&mut client, "taken").await;
    assert!(std::fs::read(tmux.path().join("bytes")).expect("a file") == bytes);
}

#[tokio::test]
async fn the_size_follows_the_pane() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    let size = || tmux.ask(&["display-message", "-p", "#{pane_width}x#{pane_height}"]);
    let resized = coop.http().post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await;
    assert_eq!(resized.status, 200, "{}", resized.text());
    assert_eq!(size(), "100x30");
    let screen =
        client.get_screen(v1::GetScreenRequest::default()).await.expect("a screen").into_inner();
    assert_eq!((screen.cols, screen.rows), (100, 30));

    let since_seq = status(&mut client).await.event_seq;
    let request = v1::StreamEventsRequest { since_seq, ..Default::default() };
    let mut events = client.stream_events(request).await.expect("events").into_inner();
    tmux.ask(&["resize-window", "-t", "=work:", "-x", "90", "-y", "20"]);
    let Some(v1::event::Payload::Resize(seen)) = event(&mut events, "resize").await.payload else {
        panic!("no size")
    };
    assert_eq!((seen.cols, seen.rows), (90, 20));

    assert_eq!(shut_down(coop).await, Some(0));
    assert_eq!(
        tmux.ask(&["show-options", "-wv", "-t", "=work:", "window-size"]),
        "",
        "the option is as it was before"
    );
}

#[tokio::test]
async fn the_end_of_the_pane_is_the_childs_exit() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    // A second session keeps the server running.
    tmux.new_session("other");
    type_line(&mut client, "exit 3").await;
    assert_eq!(
        exited(&mut client).await,
        (None, None),
        "tmux does not report how a program exited"
    );
    let request = v1::SendInputRequest { text: "x".into(), enter: true };
    let refused = client.send_input(request).await.expect_err("the program has exited");
    assert_eq!(refusal(&refused).code, "EXITED");
    drop(coop);

    tmux.ask(&["set-option", "-g", "remain-on-exit", "on"]);
    let mut coop = tmux.setup(&["--attach", "tmux:other", "--linger", "0"]).start().await;
    let mut client = coop.grpc().await;
    let mut events = client
        .stream_events(v1::StreamEventsRequest::default())
        .await
        .expect("events")
        .into_inner();
    type_line(&mut client, "exit 3").await;
    let Some(v1::event::Payload::Exit(exit)) = event(&mut events, "exit").await.payload else {
        panic!("no exit")
    };
    // tmux 3.3 keeps the code or not, depending on whether it notices first the exit or the
    // closed terminal.
    let kept =
        tmux.ask(&["display-message", "-p", "-t", "=other:", "#{pane_dead}/#{pane_dead_status}"]);
    match kept.as_str() {
        "1/3" => assert_eq!(exit.code, Some(3)),
        other => assert_eq!((other, exit.code), ("1/", None)),
    }
    assert_eq!(coop.ended().await.code(), Some(exit.code.unwrap_or(255)));
}

#[tokio::test]
async fn a_pane_of_a_new_server_with_the_same_id_gets_no_input() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    // A new server gives out the same ids again.
    let pane = tmux.ask(&["display-message", "-p", "#{pane_id}"]);
    tmux.ask(&["kill-server"]);
    until("a new server", async || tmux.try_session("work").status.success().then_some(())).await;
    assert_eq!(tmux.ask(&["display-message", "-p", "#{pane_id}"]), pane);
    let request = v1::SendInputRequest { text: "echo wrong-pane".into(), enter: true };
    let refused =
        soon("an answer", client.send_input(request)).await.expect_err("it is another pane");
    assert_eq!(refusal(&refused).code, "EXITED");
    assert_eq!(exited(&mut client).await, (None, None));
    assert!(!tmux.ask(&["capture-pane", "-p", "-t", "=work:"]).contains("wrong-pane"));
}

#[tokio::test]
async fn two_coops_share_a_session() {
    let tmux = Multiplexer::tmux("work");
    let (first, second) = (tmux.attach("tmux:work").await, tmux.attach("tmux:work").await);
    let (mut here, mut there) = (first.grpc().await, second.grpc().await);
    type_line(&mut here, "echo from-$((0 + 1))").await;
    see(&mut there, "from-1").await;
    type_line(&mut there, "echo from-$((1 + 1))").await;
    see(&mut here, "from-2").await;
    assert_eq!(shut_down(first).await, Some(0));
    type_line(&mut there, "echo from-$((1 + 2))").await;
    see(&mut there, "from-3").await;
}

#[tokio::test]
async fn a_tmux_that_hangs_does_not_hang_coop() {
    let tmux = Multiplexer::tmux("work");
    let mut coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    let server: i32 = tmux.ask(&["display-message", "-p", "#{pid}"]).parse().expect("a pid");
    let server = Pid::from_raw(server).expect("a pid");
    kill_process(server, Signal::STOP).expect("stopped");
    let request = v1::SendInputRequest { text: "echo late-$((1 + 1))".into(), enter: true };
    let refused = soon("an answer", client.send_input(request)).await.expect_err("it hangs");
    let resize = coop.http().post("/api/v1/resize", json!({"cols": 90, "rows": 20})).await;
    let (health, screen) = (coop.http().get("/api/v1/health").await, rows(&mut client).await);
    kill_process(server, Signal::CONT).expect("continued");
    assert_eq!(refusal(&refused).code, "TIMEOUT");
    assert_eq!(resize.code(), "UNSUPPORTED");
    assert_eq!((health.status.as_u16(), screen.len()), (200, 24));
    see(&mut client, "late-2").await;
    type_line(&mut client, "echo again-$((1 + 1))").await;
    see(&mut client, "again-2").await;

    kill_process(server, Signal::STOP).expect("stopped");
    coop.signal(rustix::process::Signal::TERM);
    let code = coop.ended().await.code();
    kill_process(server, Signal::CONT).expect("continued");
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn a_user_can_attach_with_coop_attach() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let target = format!("http://{}", coop.address());
    let user_coop = Coop::with(
        &["--cols", "100", "--rows", "20"],
        [env!("CARGO_BIN_EXE_coop"), "attach", &target],
    )
    .await;
    let mut terminal = user_coop.grpc().await;
    see(&mut terminal, "$").await;
    type_line(&mut terminal, "echo typed-$((1 + 1))").await;
    see(&mut terminal, "typed-2").await;
    assert_eq!(tmux.ask(&["display-message", "-p", "#{pane_width}x#{pane_height}"]), "100x20");
    press(&mut terminal, &["C-]"]).await;
    assert_eq!(exited(&mut terminal).await.0, Some(0));
    assert!(tmux.ask(&["capture-pane", "-p", "-t", "=work:"]).contains("typed-2"));
}

#[tokio::test]
async fn screen_streams_and_websockets_work() {
    let tmux = Multiplexer::tmux("work");
    let coop = tmux.attach("tmux:work").await;
    let mut client = coop.grpc().await;
    let mut screens = client
        .stream_screen(v1::StreamScreenRequest::default())
        .await
        .expect("screens")
        .into_inner();
    let mut everything = Socket::connect(&coop, "").await;
    type_line(&mut client, "echo pushed-$((1 + 1))").await;
    loop {
        let screen =
            soon("a screen", screens.message()).await.expect("no error").expect("not the end");
        if screen.lines.iter().any(|row| row == "pushed-2") {
            break;
        }
    }
    let pushed = |frame: &serde_json::Value| frame["lines"].to_string().contains("pushed-2");
    while !pushed(&everything.wait_for("screen").await) {}
    let mut raw = Socket::connect(&coop, "mode=raw").await;
    assert_eq!(raw.closed().await, 1011, "raw output is not supported");
}
