//! Where coop listens: on loopback unless there is a token, and never on a socket in use.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::json;

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::http::Http;
use crate::support::until;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).expect("it exists").permissions().mode() & 0o777
}

async fn refused(args: &[&str]) -> String {
    let (status, stderr) = Setup::new(args).fail().await;
    assert_eq!(status.code(), Some(64), "{args:?}: {stderr}");
    stderr
}

async fn starts(args: &[&str]) {
    let coop = Setup::new(args).start().await;
    assert_eq!(Http::tcp(coop.address()).get("/api/v1/health").await.status, 200, "{args:?}");
}

#[tokio::test]
async fn listening_beyond_loopback_needs_a_token() {
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        for port in ["--port", "--grpc-port"] {
            let stderr = refused(&["--host", host, port, "0", "--", "bash"]).await;
            for way in ["COOP_AUTH_TOKEN", "127.0.0.1", "--insecure-no-auth"] {
                assert!(
                    stderr.contains(way),
                    "{host} {port}: the error does not name {way}: {stderr}"
                );
            }
        }
    }
    starts(&["--host", "0.0.0.0", "--port", "0", "--insecure-no-auth", "--", "cat"]).await;
    starts(&["--host", "0.0.0.0", "--port", "0", "--auth-token", "t", "--", "cat"]).await;
    starts(&["--host", "127.0.0.2", "--port", "0", "--", "cat"]).await;
    let local = Coop::shell().await;
    assert!(local.address().ip().is_loopback(), "{}", local.address());
}

#[tokio::test]
async fn an_empty_token_is_refused() {
    for token in ["", "   "] {
        assert!(
            refused(&["--port", "0", "--auth-token", token, "--", "cat"]).await.contains("empty"),
            "{token:?}"
        );
    }
    let setup = Setup::new(["--port", "0", "--", "cat"]).env("COOP_AUTH_TOKEN", "");
    let (status, stderr) = setup.fail().await;
    assert_eq!(
        status.code(),
        Some(64),
        "an empty variable does not mean that no token is needed: {stderr}"
    );
}

#[tokio::test]
async fn a_bad_token_file_is_refused_with_its_line() {
    let cases = [
        (Some("good read\nbad root\n"), "line 2"),
        (Some("one read\n\n# note\ntwo write admin\n"), "line 4"),
        (Some("t read,,write\n"), "line 1"),
        (Some("good name=a\nbad read name=a\n"), "line 2"),
        (Some("good read\ngood write\n"), "line 2"),
        (Some("good\n\ntwo\u{7} read\n"), "line 3"),
        (Some("good read name=a/b\n"), "line 1"),
        (Some("\n# nothing\n"), "no token"),
        (Some(""), "no token"),
        (None, "No such file"),
    ];
    for (content, says) in cases {
        let setup = Setup::new(["--port", "0", "--auth-token-file", "tokens", "--", "cat"]);
        if let Some(content) = content {
            setup.file("tokens", content, 0o600);
        }
        let (status, stderr) = setup.fail().await;
        assert_eq!(status.code(), Some(64), "{content:?}: {stderr}");
        assert!(stderr.contains(says) && stderr.contains("tokens"), "{content:?}: {stderr}");
        assert!(
            !stderr.contains("good") && !stderr.contains("two"),
            "the error shows no token: {stderr}"
        );
    }
}

#[tokio::test]
async fn sockets_and_state_belong_to_the_owner_alone_and_are_removed() {
    let args = ["--port", "0", "--socket", "here.sock", "--"];
    let mut coop = Setup::new(args.iter().chain(&SHELL)).start().await;
    let socket = coop.home.path().join("here.sock");
    let (private, state_dir) = (coop.private_socket(), coop.state_dir());
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(&private), 0o600);
    assert_eq!(mode(&state_dir), 0o700);
    assert!(std::fs::symlink_metadata(&socket).expect("it exists").file_type().is_socket());
    for path in [&socket, &private] {
        assert_eq!(Http::unix(path).get("/api/v1/health").await.status, 200, "{}", path.display());
    }
    assert_eq!(coop.http().post("/api/v1/shutdown", json!({})).await.status, 200);
    coop.ended().await;
    assert!(!socket.exists() && !private.exists());
}

#[tokio::test]
async fn a_dead_socket_is_replaced() {
    let args = ["--socket", "here.sock", "--"];
    let setup = Setup::new(args.iter().chain(&SHELL));
    let socket = setup.home().join("here.sock");
    drop(std::os::unix::net::UnixListener::bind(&socket).expect("bound"));
    let _coop = setup.start().await;
    assert_eq!(Http::unix(&socket).get("/api/v1/health").await.status, 200);
    assert_eq!(mode(&socket), 0o600);
}

#[tokio::test]
async fn a_socket_in_use_is_not_replaced() {
    let args = ["--port", "0", "--socket", "here.sock", "--"];
    let first = Setup::new(args.iter().chain(&SHELL)).start().await;
    let socket = first.home.path().join("here.sock");
    let path = socket.to_str().expect("text");
    let pid = first.http().get("/api/v1/health").await.json()["pid"].clone();
    let port = first.address().port().to_string();
    let still_there = async || {
        let answer = Http::unix(&socket).get("/api/v1/health").await;
        assert_eq!(answer.json()["pid"], pid, "the first coop answers");
    };

    let stderr = refused(&["--socket", path, "--", "cat"]).await;
    assert!(stderr.contains("in use") && stderr.contains(path), "{stderr}");
    still_there().await;

    // A failed start must leave no files. Here the port is in use, and the socket is not.
    let stderr = refused(&["--port", &port, "--socket", "other.sock", "--", "cat"]).await;
    assert!(stderr.contains(&port), "{stderr}");
    let stderr = refused(&["--port", &port, "--socket", path, "--", "cat"]).await;
    assert!(stderr.contains("cannot listen") || stderr.contains("in use"), "{stderr}");
    still_there().await;
    let files: Vec<_> =
        std::fs::read_dir(first.home.path()).expect("a directory").flatten().collect();
    let sockets = files.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
    assert_eq!(sockets.count(), 1, "nothing is left behind: {files:?}");
}

#[tokio::test]
async fn a_file_that_is_not_a_socket_is_not_replaced() {
    let home = tempfile::TempDir::new().expect("a directory");
    let kept = home.path().join("notes");
    std::fs::write(&kept, "mine").expect("written");
    let stderr = refused(&["--socket", kept.to_str().expect("text"), "--", "cat"]).await;
    assert!(stderr.contains("not a socket"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "mine");
}

#[tokio::test]
async fn an_unusable_state_path_is_replaced_by_another() {
    let long = format!("/tmp/{}", "x".repeat(90));
    for state in [long.as_str(), "/proc/nowhere"] {
        let setup = Setup::new(["--port", "0", "--", "sh", "-c", "echo at=$COOP_SOCKET; exec cat"]);
        let coop = setup.env("XDG_STATE_HOME", state).start().await;
        let socket = until("the socket's path", async || {
            let text = coop.http().get("/api/v1/screen/text?lines=1").await.text();
            text.trim().strip_prefix("at=").map(str::to_owned)
        })
        .await;
        assert_eq!(Http::unix(&socket).get("/api/v1/health").await.status, 200, "{socket}");
        let dir = std::path::Path::new(&socket).parent().expect("a directory");
        assert_eq!(
            std::fs::metadata(dir).expect("the directory exists").permissions().mode() & 0o777,
            0o700
        );
        drop(std::fs::remove_dir_all(&long));
    }
}

#[tokio::test]
async fn clear_text_beyond_loopback_and_short_tokens_are_warned_of() {
    let log = async |args: &[&str]| {
        let mut coop = Setup::new(args.iter().chain(&["--", "cat"])).start().await;
        coop.signal(rustix::process::Signal::TERM);
        coop.ended().await;
        coop.log().await
    };
    let (clear, short) = ("clear text", "less than 16 characters");
    let long = "0123456789abcdef";
    let weak = log(&["--port", "0", "--auth-token", "0123456789abcde"]).await;
    assert!(weak.contains(clear) && weak.contains(short), "{weak}");
    let local = log(&["--port", "0", "--auth-token", long, "--host", "127.0.0.1"]).await;
    assert!(!local.contains(clear) && !local.contains(short), "{local}");
}
