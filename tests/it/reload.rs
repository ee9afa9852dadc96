//! Token and TLS files that change while coop runs: new ones count at once, removed tokens are
//! refused everywhere, and a file that cannot be used changes nothing.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use coop_client::{Client, Credentials, v1};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::ChildStderr;
use tonic::Code;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::session::{event, refusal};
use crate::support::sse::Sse;
use crate::support::ws::Socket;
use crate::support::{soon, until};

const BEFORE: &str = "stays read name=ada\ngoes admin name=bob\n";
const AFTER: &str = "stays read name=ada\ncomes write name=eve\n";

fn setup(token_file: &str) -> Setup {
    let words = ["--port", "0", "--host", "127.0.0.1", "--auth-token-file", token_file, "--"];
    Setup::new(words.iter().chain(&SHELL))
}

/// Puts a new file in the place of the old one, in one step.
fn replace(path: &Path, text: &str, mode: u32) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).expect("written");
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(mode)).expect("permitted");
    std::fs::rename(&new, path).expect("renamed");
}

async fn grpc(coop: &Coop, token: &str) -> Client {
    coop.grpc_as(Credentials { token: Some(token.to_owned()), ..Default::default() }).await
}

/// Waits until this token is known, or no longer known.
async fn until_known(coop: &Coop, token: &str, known: bool) {
    let wanted = if known { 200 } else { 401 };
    until(&format!("{token} to get {wanted}"), async || {
        (coop.http().token(token).get("/api/v1/status").await.status == wanted).then_some(())
    })
    .await;
}

fn log(coop: &mut Coop) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(coop.process.stderr.take().expect("a pipe")).lines()
}

/// The next line of the log with this text.
async fn logged(log: &mut Lines<BufReader<ChildStderr>>, wanted: &str) -> String {
    loop {
        let line = soon(wanted, log.next_line()).await.expect("text").expect("not the end");
        if line.contains(wanted) {
            return line;
        }
    }
}

#[tokio::test]
async fn a_removed_token_is_refused_at_once_and_loses_its_open_streams() {
    let setup = setup("tokens");
    setup.file("tokens", BEFORE, 0o600);
    let coop = setup.start().await;
    let (mut ada, mut bob) = (grpc(&coop, "stays").await, grpc(&coop, "goes").await);
    let request = v1::StreamEventsRequest::default();
    let mut lasting = ada.stream_events(request.clone()).await.expect("events").into_inner();
    let mut ending = bob.stream_events(request).await.expect("events").into_inner();
    let mut sse = Sse::open(&coop.http().token("goes"), "/api/v1/events").await;
    let mut socket = Socket::connect(&coop, "mode=state&token=goes").await;
    socket.wait_for("state").await;
    // It raises its rights with a token in a frame.
    let mut raised = Socket::connect(&coop, "mode=state&token=stays").await;
    raised.ask(json!({"type": "auth", "token": "goes"})).await.expect("a token");
    let mut reader = Socket::connect(&coop, "mode=state&token=stays").await;
    reader.wait_for("state").await;
    assert_eq!(coop.http().token("comes").get("/api/v1/status").await.status, 401);

    replace(&coop.home.path().join("tokens"), AFTER, 0o600);
    until_known(&coop, "comes", true).await;
    assert_eq!(coop.http().token("goes").get("/api/v1/status").await.status, 401);
    let refused = bob.get_status(v1::GetStatusRequest {}).await.expect_err("on its connection");
    assert_eq!(refused.code(), Code::Unauthenticated);
    let end = loop {
        match soon("the end of the stream", ending.message()).await {
            Ok(message) => assert!(message.is_some(), "it ends with an error"),
            Err(status) => break status,
        }
    };
    assert_eq!((end.code(), refusal(&end).code.as_str()), (Code::Unauthenticated, "UNAUTHORIZED"));
    assert_eq!(sse.wait_for("error").await.data["code"], "UNAUTHORIZED");
    assert_eq!(socket.closed().await, 4401);
    assert_eq!(raised.closed().await, 4401);

    let size = json!({"cols": 90, "rows": 30});
    assert_eq!(coop.http().token("comes").post("/api/v1/resize", size).await.status, 200);
    assert_eq!(event(&mut lasting, "resize").await.by.as_deref(), Some("token:eve"));
    assert_eq!(reader.wait_for("resize").await["by"], "token:eve");
    ada.get_status(v1::GetStatusRequest {}).await.expect("the token is still valid");
}

#[tokio::test]
async fn a_token_file_that_cannot_be_used_changes_nothing_and_is_reported_once() {
    let setup = setup("tokens");
    setup.file("tokens", BEFORE, 0o600);
    let mut coop = setup.start().await;
    let mut log = log(&mut coop);
    let path = coop.home.path().join("tokens");
    let cannot = "the tokens from before stay valid";
    for (text, mode, says) in [
        ("stays read\ngoes secret\n", 0o600, "line 2: this is not a scope"),
        ("", 0o600, "it contains no token"),
        (AFTER, 0o644, "mode 0644"),
    ] {
        // The second time nothing has changed.
        replace(&path, text, mode);
        replace(&path, text, mode);
        let line = logged(&mut log, cannot).await;
        assert!(line.contains(says), "{line}");
        assert!(!line.contains("goes") && !line.contains("secret"), "{line}");
        assert_eq!(coop.http().token("goes").get("/api/v1/status").await.status, 200);
    }
    std::fs::remove_file(&path).expect("removed");
    assert!(logged(&mut log, cannot).await.contains("No such file"));
    assert_eq!(coop.http().token("goes").get("/api/v1/status").await.status, 200);
    replace(&path, AFTER, 0o600);
    until_known(&coop, "comes", true).await;
    until_known(&coop, "goes", false).await;
}

#[tokio::test]
async fn a_secret_of_kubernetes_is_read_again_when_its_link_changes() {
    let setup = setup("secret/tokens");
    let secret = setup.home().join("secret");
    let version = |name: &str, text: &str| {
        std::fs::create_dir_all(secret.join(name)).expect("a directory");
        replace(&secret.join(name).join("tokens"), text, 0o440);
    };
    version("..1", BEFORE);
    symlink("..1", secret.join("..data")).expect("a link");
    symlink("..data/tokens", secret.join("tokens")).expect("a link");
    let coop = setup.start().await;
    assert_eq!(coop.http().token("goes").get("/api/v1/status").await.status, 200);
    for (number, text, known, unknown) in
        [("..2", AFTER, "comes", "goes"), ("..3", BEFORE, "goes", "comes")]
    {
        version(number, text);
        symlink(number, secret.join("..data_tmp")).expect("a link");
        std::fs::rename(secret.join("..data_tmp"), secret.join("..data")).expect("renamed");
        until_known(&coop, known, true).await;
        until_known(&coop, unknown, false).await;
    }
}

#[tokio::test]
async fn the_token_of_the_variable_outlives_every_change_of_the_file() {
    let setup = setup("tokens").env("COOP_AUTH_TOKEN", "always");
    setup.file("tokens", BEFORE, 0o600);
    let coop = setup.start().await;
    replace(&coop.home.path().join("tokens"), AFTER, 0o600);
    until_known(&coop, "comes", true).await;
    until_known(&coop, "always", true).await;
}
