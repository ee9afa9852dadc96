//! What dead sessions leave is removed by the next start, what belongs to living ones is not, and a
//! start that fails leaves nothing.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, flock, mkfifoat};
use rustix::process::Signal;
use serde_json::json;

use crate::support::coop::{Coop, Setup};
use crate::support::http::Http;
use crate::support::until;

/// The file that a living session holds a lock on.
const LOCK: &str = "coop.sock.lock";

/// A Gemini that only waits.
const AGENT: &str =
    "#!/bin/sh\n[ \"$1\" = --version ] && { echo 0.61.0; exit; }\necho ready\ncat\n";

fn sessions(home: &Path) -> PathBuf {
    home.join(".local/state/coop/sessions")
}

/// What is below a directory, without the lines of the list that are not there.
fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The directory of a session that was killed: its lock is free. It appears complete, as that of a
/// real one does, because a coop that runs may be looking for dead sessions now.
fn dead_session(home: &Path, store: Option<&str>) -> PathBuf {
    let id = uuid::Uuid::new_v4().to_string();
    let dir = home.join(&id);
    std::fs::DirBuilder::new().mode(0o700).create(&dir).expect("made");
    for file in [LOCK, "mcp.json"] {
        std::fs::write(dir.join(file), "secret").expect("written");
    }
    drop(UnixListener::bind(dir.join("coop.sock")).expect("bound"));
    mkfifoat(CWD, dir.join("hooks.pipe"), Mode::RUSR | Mode::WUSR).expect("a pipe");
    if let Some(events) = store {
        std::fs::create_dir(dir.join("store")).expect("made");
        std::fs::write(dir.join("store/events"), events).expect("written");
    }
    let complete = sessions(home).join(id);
    std::fs::rename(dir, &complete).expect("renamed");
    complete
}

async fn gone(path: &Path) {
    until(&format!("{} to be removed", path.display()), async || (!path.exists()).then_some(()))
        .await;
}

/// A coop in the home of another one.
async fn start_in(home: &Path, args: &[&str]) -> Coop {
    Setup::new(args).env("HOME", home.to_str().expect("text")).start().await
}

#[tokio::test]
async fn the_next_start_removes_a_dead_session_and_no_living_one() {
    let first = Coop::run(["cat"]).await;
    let home = first.home.path().to_owned();
    let living = first.state_dir();
    assert!(living.join(LOCK).exists());
    let (dead, stored) = (dead_session(&home, None), dead_session(&home, Some("kept")));
    let _second = start_in(&home, &["--port", "0", "--", "cat"]).await;
    gone(&dead).await;
    gone(&stored.join("mcp.json")).await;
    gone(&stored.join("coop.sock")).await;
    gone(&stored.join("hooks.pipe")).await;
    assert!(stored.join("store/events").exists(), "the store is kept");
    let private = Http::unix(living.join("coop.sock"));
    assert_eq!(private.get("/api/v1/health").await.status, 200, "the living session is left alone");
}

#[tokio::test]
async fn a_killed_coop_leaves_nothing_after_the_next_start() {
    let config = json!({"mcp": {"x": {"command": "true", "env": {"KEY": "secret"}}}}).to_string();
    let words = ["--port", "0", "--agent-config", "agent.json", "--agent", "gemini", "--"];
    let setup = Setup::new(words.iter().chain(&["./gemini"]));
    setup.file("gemini", AGENT, 0o755);
    setup.file("agent.json", &config, 0o600);
    let mut coop = setup.start().await;
    let home = coop.home.path().to_owned();
    let (dir, extension) = (coop.state_dir(), home.join(".gemini/extensions/coop-hooks"));
    until("the agent", async || {
        coop.http().get("/api/v1/screen/text").await.text().contains("ready").then_some(())
    })
    .await;
    let secret = std::fs::read_to_string(dir.join("settings.json")).expect("the settings");
    assert!(secret.contains("secret") && extension.exists());
    coop.signal(Signal::KILL);
    coop.ended().await;
    // It was killed while it made and deleted extensions, too.
    let begun = home.join(format!(".gemini/.coop-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir(&begun).expect("made");
    std::fs::write(begun.join(".coop-users"), "").expect("written");

    let _next = start_in(&home, &["--port", "0", "--", "cat"]).await;
    gone(&dir).await;
    gone(&extension).await;
    gone(&begun).await;
}

#[tokio::test]
async fn a_start_that_fails_leaves_no_directory() {
    let home = tempfile::TempDir::new().expect("a directory");
    let path = home.path().to_str().expect("text");
    for args in [
        &["--port", "0", "--", "./missing"][..],
        &["--socket", "/proc/nowhere/coop.sock", "--", "cat"],
        &["--port", "0", "--attach", "tmux:no-such-session"],
    ] {
        let (status, stderr) = Setup::new(args).env("HOME", path).fail().await;
        assert!(!status.success(), "{args:?}: {stderr}");
        assert_eq!(names(&sessions(home.path())), Vec::<String>::new(), "{args:?}: {stderr}");
    }
}

#[tokio::test]
async fn a_coop_that_ends_leaves_no_directory() {
    let mut coop = Coop::run(["cat"]).await;
    let sessions = sessions(coop.home.path());
    assert_eq!(names(&sessions).len(), 1);
    coop.signal(Signal::TERM);
    coop.ended().await;
    assert_eq!(names(&sessions), Vec::<String>::new());
}

#[tokio::test]
async fn an_agent_starts_without_hooks_if_the_shared_directory_stays_locked() {
    let setup = Setup::new(["--port", "0", "--agent", "gemini", "--", "./gemini"]);
    setup.file("gemini", AGENT, 0o755);
    let dir = setup.home().join(".gemini/extensions/coop-hooks");
    std::fs::create_dir_all(&dir).expect("a directory");
    let lock = File::create(dir.join(".coop-users")).expect("the lock's file");
    flock(&lock, FlockOperation::LockExclusive).expect("the lock");
    let coop = setup.start().await;
    until("the agent", async || {
        coop.http().get("/api/v1/screen/text").await.text().contains("ready").then_some(())
    })
    .await;
    let explained = coop.http().get("/api/v1/agent/explain").await.text();
    assert!(explained.contains("another process holds its lock"), "{explained}");
    drop(lock);
}

/// Runs coop with a small file system at `$HOME/small`; `None` if this machine cannot mount one.
fn with_small_disk(options: &str, args: &[&str]) -> Option<Setup> {
    let mounted = std::process::Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "only root can mount a small disk");
        return None;
    }
    let script = format!(
        "mkdir -p $HOME/small && mount -t tmpfs -o {options} tmpfs $HOME/small && exec \"$@\""
    );
    let setup = Setup::through(&["unshare", "--mount", "sh", "-c", &script, "sh"], args);
    let small = setup.home().join("small");
    Some(setup.env("XDG_STATE_HOME", small.to_str().expect("text")))
}

#[tokio::test]
async fn a_full_state_directory_is_replaced_by_another_with_a_warning() {
    let args = ["--port", "0", "--", "sh", "-c", "echo at=$COOP_SOCKET; exec cat"];
    let Some(setup) = with_small_disk("size=16k,nr_inodes=2", &args) else { return };
    let mut coop = setup.start().await;
    let socket = until("the socket's path", async || {
        let text = coop.http().get("/api/v1/screen/text?lines=1").await.text();
        text.trim().strip_prefix("at=").map(PathBuf::from)
    })
    .await;
    assert!(socket.starts_with("/tmp"), "{}", socket.display());
    assert_eq!(Http::unix(&socket).get("/api/v1/health").await.status, 200);
    coop.signal(Signal::TERM);
    coop.ended().await;
    let log = coop.log().await;
    assert!(log.contains("No space left on device"), "{log}");
    assert!(!socket.exists(), "it is removed at the end");
}

#[tokio::test]
async fn a_disk_that_is_too_small_for_the_agents_files_is_an_error_that_names_the_file() {
    let args = ["--port", "0", "--agent-config", "agent.json", "--agent", "gemini", "--"];
    let args: Vec<&str> = args.into_iter().chain(["./gemini"]).collect();
    let Some(setup) = with_small_disk("size=16k", &args) else { return };
    setup.file("gemini", AGENT, 0o755);
    let large = json!({"settings": {"large": "x".repeat(100_000)}}).to_string();
    setup.file("agent.json", &large, 0o600);
    let (status, stderr) = setup.fail().await;
    assert!(!status.success(), "{stderr}");
    assert!(stderr.contains("settings.json"), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
}

#[tokio::test]
async fn a_log_that_cannot_be_written_does_not_stop_the_session() {
    let script = "exec \"$@\" 2>/dev/full";
    let before = ["sh", "-c", script, "sh"];
    let args = ["--port", "0", "--log-level", "trace", "--", "cat"];
    let mut coop = Setup::through(&before, args).start().await;
    let http = coop.http();
    assert_eq!(
        http.post("/api/v1/input", json!({"text": "seen", "enter": true})).await.status,
        200
    );
    until("the echo", async || {
        http.get("/api/v1/screen/text").await.text().contains("seen").then_some(())
    })
    .await;
    coop.signal(Signal::TERM);
    coop.ended().await;
}

#[tokio::test]
async fn files_of_a_living_session_are_its_owners_alone() {
    let setup = Setup::new(["--port", "0", "--agent", "gemini", "--", "./gemini"]);
    setup.file("gemini", AGENT, 0o755);
    let coop = setup.start().await;
    let dir = coop.state_dir();
    assert_eq!(std::fs::metadata(&dir).expect("it exists").permissions().mode() & 0o777, 0o700);
    for name in names(&dir) {
        let metadata = std::fs::symlink_metadata(dir.join(&name)).expect("it exists");
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "{name}");
    }
}
