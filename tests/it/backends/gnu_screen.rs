//! A window of GNU screen through coop, within the limits of GNU screen.

use coop_client::v1;
use serde_json::json;

use super::multiplexer::{Multiplexer, press, see_prompt, send_signal, shut_down};
use crate::support::session::{
    child_pid, exited, lives, pid_in, refusal, rows, see, status, type_line,
};
use crate::support::{soon, until};

#[tokio::test]
async fn typed_text_is_shown_and_the_session_outlives_coop() {
    let screen = Multiplexer::screen("work").await;
    let coop = screen.attach("screen:work").await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo 'h\u{e9}'-$((6 * 7)) '$HOME \\n ^A'").await;
    see(&mut client, "h\u{e9}-42 $HOME \\n ^A").await;

    let status = status(&mut client).await;
    assert_eq!((status.state.as_str(), status.backend.as_str()), ("running", "screen"));
    assert_eq!(status.command, ["bash", "--norc", "--noprofile"]);
    assert!(
        status.degraded.iter().any(|what| what.contains("no colours")),
        "{:?}",
        status.degraded
    );
    let shell = status.pid.expect("a pid");
    let cwd = client.get_cwd(v1::GetCwdRequest {}).await.expect("a directory").into_inner().cwd;
    assert_eq!(cwd, screen.path().to_str().expect("a path"));
    let state = coop.home.path().join(".local/state/coop/sessions");

    assert_eq!(shut_down(coop).await, Some(0));
    assert!(lives(shell));
    assert_eq!(screen.screens().len(), 1);
    assert!(
        !state.exists() || state.read_dir().expect("a directory").next().is_none(),
        "coop removes its state directory"
    );
}

#[tokio::test]
async fn keys_and_signals_reach_the_foreground_program() {
    let screen = Multiplexer::screen("work").await;
    let coop = screen.attach("screen:work").await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "cat -v").await;
    see(&mut client, "$ cat -v").await;
    press(&mut client, &["Up", "x", "Enter"]).await;
    until("the keys", async || {
        rows(&mut client).await.iter().any(|row| row.ends_with("Ax")).then_some(())
    })
    .await;
    press(&mut client, &["C-c"]).await;
    see_prompt(&mut client).await;
    type_line(&mut client, "echo out-$((1 + 1))").await;
    see(&mut client, "out-2").await;

    let shell = child_pid(&mut client).await;
    type_line(&mut client, "sh -c 'echo $$ > pid; exec sleep 3600'").await;
    let sleeper = pid_in(&screen.path().join("pid")).await;
    send_signal(&mut client, "INT").await;
    until("the signalled process to end", async || (!lives(sleeper)).then_some(())).await;
    assert_eq!(child_pid(&mut client).await, shell);
}

#[tokio::test]
async fn binary_input_arrives_byte_for_byte() {
    let screen = Multiplexer::screen("work").await;
    let coop = screen.attach("screen:work").await;
    let mut client = coop.grpc().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(1024).collect();
    type_line(
        &mut client,
        "stty raw -echo; touch raw; head -c 1024 > bytes; stty sane; echo taken",
    )
    .await;
    until("the raw terminal", async || screen.path().join("raw").exists().then_some(())).await;
    let data = bytes.clone().into();
    soon("the bytes", client.send_input_raw(v1::SendInputRawRequest { data }))
        .await
        .expect("written");
    see(&mut client, "taken").await;
    assert!(std::fs::read(screen.path().join("bytes")).expect("a file") == bytes);
}

#[tokio::test]
async fn a_resize_is_refused_while_no_user_is_attached() {
    let screen = Multiplexer::screen("work").await;
    let coop = screen.attach("screen:work").await;
    let resized = coop.http().post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await;
    assert_eq!((resized.status.as_u16(), resized.code().as_str()), (501, "UNSUPPORTED"));
    let health = coop.http().get("/api/v1/health").await.json();
    assert_eq!(health["terminal"], json!({"cols": 80, "rows": 24}));
}

#[tokio::test]
async fn the_size_can_be_changed_while_a_user_is_attached() {
    let screen = Multiplexer::screen("work").await;
    let id = screen.screens().remove(0);
    let user_coop = screen.setup(&["--", "screen", "-U", "-x", &id]).start().await;
    let mut user = user_coop.grpc().await;
    see(&mut user, "$").await;
    let coop = screen.attach("screen:work").await;
    let resized = coop.http().post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await;
    assert_eq!(resized.status, 200, "{}", resized.text());
    let mut client = coop.grpc().await;
    type_line(&mut client, "stty size").await;
    see(&mut client, "30 100").await;
    // The user and the client of coop type into the same shell.
    type_line(&mut user, "echo shared-$((1 + 1))").await;
    see(&mut client, "shared-2").await;
}

#[tokio::test]
async fn the_end_of_the_window_is_the_childs_exit() {
    let screen = Multiplexer::screen("work").await;
    let coop = screen.attach("screen:work").await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "exit 3").await;
    assert_eq!(
        exited(&mut client).await,
        (None, None),
        "screen does not report how a program exited"
    );
    let request = v1::SendInputRequest { text: "x".into(), enter: true };
    let refused = client.send_input(request).await.expect_err("the program has exited");
    assert_eq!(refusal(&refused).code, "EXITED");
    assert_eq!(shut_down(coop).await, Some(255), "the exit code for an unknown exit");
}

#[tokio::test]
async fn an_ambiguous_session_name_is_refused() {
    let screen = Multiplexer::screen("work").await;
    screen.new_screen("work").await;
    let (status, stderr) = screen.setup(&["--attach", "screen:work"]).fail().await;
    assert_eq!(status.code(), Some(64));
    let ids = screen.screens();
    assert!(ids.len() == 2 && ids.iter().all(|id| stderr.contains(id)), "{stderr}");
    let coop = screen.attach(&format!("screen:{}", ids[0])).await;
    let mut client = coop.grpc().await;
    type_line(&mut client, "echo named-$((1 + 1))").await;
    see(&mut client, "named-2").await;
}
