//! Where coop listens: not for everybody unless told so, and never in another's place.

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
async fn nobody_is_let_in_by_mistake() {
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        for port in ["--port", "--grpc-port"] {
            let said = refused(&["--host", host, port, "0", "--", "bash"]).await;
            for way in ["COOP_AUTH_TOKEN", "127.0.0.1", "--insecure-no-auth"] {
                assert!(said.contains(way), "{host} {port}: how to start safely: {said}");
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
async fn a_token_that_is_none_is_refused() {
    for token in ["", "   "] {
        assert!(
            refused(&["--port", "0", "--auth-token", token, "--", "cat"]).await.contains("empty"),
            "{token:?}"
        );
    }
    let setup = Setup::new(["--port", "0", "--", "cat"]).env("COOP_AUTH_TOKEN", "");
    let (status, stderr) = setup.fail().await;
    assert_eq!(status.code(), Some(64), "an empty variable is a mistake, not an open door: {stderr}");
}

#[tokio::test]
async fn a_bad_token_file_is_refused_with_its_line() {
    let cases = [
        (Some("good read\nbad root\n"), "line 2"),
        (Some("one read\n\n# note\ntwo write admin\n"), "line 4"),
        (Some("t read,,write\n"), "line 1"),
        (Some("\n# nothing\n"), "no token"),
        (Some(""), "no token"),
        (None, "No such file"),
    ];
    for (content, says) in cases {
        let setup = Setup::new(["--port", "0", "--auth-token-file", "tokens", "--", "cat"]);
        if let Some(content) = content {
            std::fs::write(setup.home().join("tokens"), content).expect("written");
        }
        let (status, stderr) = setup.fail().await;
        assert_eq!(status.code(), Some(64), "{content:?}: {stderr}");
        assert!(stderr.contains(says) && stderr.contains("tokens"), "{content:?}: {stderr}");
        assert!(!stderr.contains("good") && !stderr.contains("two"), "no token is repeated: {stderr}");
    }
}

#[tokio::test]
async fn sockets_and_state_are_for_the_owner_alone_and_go_at_the_end() {
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
async fn a_living_socket_is_never_taken() {
    let args = ["--port", "0", "--socket", "here.sock", "--"];
    let first = Setup::new(args.iter().chain(&SHELL)).start().await;
    let socket = first.home.path().join("here.sock");
    let place = socket.to_str().expect("text");
    let pid = first.http().get("/api/v1/health").await.json()["pid"].clone();
    let port = first.address().port().to_string();
    let still_there = async || {
        let answer = Http::unix(&socket).get("/api/v1/health").await;
        assert_eq!(answer.json()["pid"], pid, "the first one answers");
    };

    let said = refused(&["--socket", place, "--", "cat"]).await;
    assert!(said.contains("in use") && said.contains(place), "{said}");
    still_there().await;

    // What fails must not have touched anything before: here the port is taken, not the socket.
    let said = refused(&["--port", &port, "--socket", "other.sock", "--", "cat"]).await;
    assert!(said.contains(&port), "{said}");
    let said = refused(&["--port", &port, "--socket", place, "--", "cat"]).await;
    assert!(said.contains("cannot listen") || said.contains("in use"), "{said}");
    still_there().await;
    let beside: Vec<_> = std::fs::read_dir(first.home.path()).expect("a directory").flatten().collect();
    let sockets = beside.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()));
    assert_eq!(sockets.count(), 1, "nothing is left behind: {beside:?}");
}

#[tokio::test]
async fn a_file_that_is_no_socket_is_left_alone() {
    let home = tempfile::TempDir::new().expect("a directory");
    let kept = home.path().join("notes");
    std::fs::write(&kept, "mine").expect("written");
    let said = refused(&["--socket", kept.to_str().expect("text"), "--", "cat"]).await;
    assert!(said.contains("no socket"), "{said}");
    assert_eq!(std::fs::read_to_string(&kept).expect("still there"), "mine");
}

#[tokio::test]
async fn a_state_path_that_is_too_long_or_cannot_be_written_is_gone_around() {
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
        assert_eq!(std::fs::metadata(dir).expect("it is there").permissions().mode() & 0o777, 0o700);
        drop(std::fs::remove_dir_all(&long));
    }
}
