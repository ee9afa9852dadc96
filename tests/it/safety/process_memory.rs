//! What other processes can read of a coop: its arguments, its environment, and its memory. The
//! token is in none of them. The child itself looks, because it runs as the same user as coop.

use crate::support::coop::{Coop, SHELL, Setup};
use crate::support::until;

const TOKEN: &str = "sesame-8841f07c2d";

/// Writes what the kernel shows of every process above the child into the file `seen`.
const LOOK: &str = r#"
pid=$PPID
while [ "$pid" -gt 1 ]; do
  cat /proc/$pid/cmdline /proc/$pid/environ
  pid=$(sed 's/.*) . \([0-9]*\) .*/\1/' /proc/$pid/stat)
done >seen.part 2>errors
mv seen.part seen
cat
"#;

/// Writes into the file `seen` whether the memory of the guard and that of coop can be opened.
const OPEN: &str = r#"
coop=$(sed 's/.*) . \([0-9]*\) .*/\1/' /proc/$PPID/stat)
for pid in $PPID $coop; do
  if (: </proc/$pid/mem); then echo yes; else echo no; fi
done >part
mv part seen
cat
"#;

/// What the kernel shows of the processes above the child, as text with a line for each word.
async fn seen(coop: &Coop) -> String {
    let path = coop.home.path().join("seen");
    let bytes = until("the child to look", async || std::fs::read(&path).ok()).await;
    String::from_utf8_lossy(&bytes).replace('\0', "\n")
}

/// A coop that allows reading its memory, so that the test sees what is there.
fn looked_at(flags: &[&str]) -> Setup {
    let args = ["--port", "0", "--host", "127.0.0.1"].iter().chain(flags);
    let setup = Setup::new(args.chain(&["--", "sh", "./look"]));
    setup.file("look", LOOK, 0o600);
    setup.env("COOP_DUMPABLE", "1").env("COLOR", "teal")
}

#[tokio::test]
async fn the_child_finds_no_token_in_the_environment_of_coop() {
    let coop = looked_at(&[]).env("COOP_AUTH_TOKEN", TOKEN).start().await;
    let seen = seen(&coop).await;
    assert!(seen.contains("COLOR=teal"), "the environment was not read: {seen}");
    assert!(seen.contains("COOP_AUTH_TOKEN=***"), "{seen}");
    assert!(!seen.contains(TOKEN), "{seen}");
    let http = coop.http();
    assert_eq!(http.token(TOKEN).get("/api/v1/status").await.status, 200, "the token still works");
    let stars = "*".repeat(TOKEN.len());
    assert_eq!(http.token(&stars).get("/api/v1/status").await.status, 401);
}

#[tokio::test]
async fn the_child_finds_no_token_in_the_arguments_of_coop() {
    let joined = format!("--auth-token={TOKEN}");
    for flags in [&["--auth-token", TOKEN][..], &[&joined], &["--auth-token", "x", "--name", "n"]] {
        let coop = looked_at(flags).start().await;
        let seen = seen(&coop).await;
        assert!(seen.contains("--auth-token") && seen.contains("./look"), "{seen}");
        assert!(!seen.contains(TOKEN), "{flags:?}: {seen}");
        let token = if flags.contains(&"x") { "x" } else { TOKEN };
        assert_eq!(coop.http().token(token).get("/api/v1/status").await.status, 200);
        assert!(!seen.lines().any(|line| line == "x"), "{seen}");
        assert_eq!(seen.lines().any(|line| line == "--name"), flags.contains(&"--name"), "{seen}");
    }
}

/// Opens the memory of coop as a debugger does. Root gives up its right to read every memory.
#[tokio::test]
async fn the_child_may_not_read_the_memory_of_coop() {
    for (dumpable, readable) in [(None, "no"), (Some("1"), "yes")] {
        let is_root = rustix::process::geteuid().is_root();
        let before: &[&str] =
            if is_root { &["setpriv", "--bounding-set", "-sys_ptrace"] } else { &[] };
        let setup = Setup::through(before, ["--port", "0", "--", "sh", "./look"]);
        setup.file("look", OPEN, 0o600);
        let coop = match dumpable {
            Some(value) => setup.env("COOP_DUMPABLE", value),
            None => setup,
        };
        let coop = coop.start().await;
        let both = format!("{readable}\n{readable}\n");
        assert_eq!(seen(&coop).await, both, "COOP_DUMPABLE={dumpable:?}");
        let environment = coop.child_environment().await;
        assert!(!environment.contains_key("COOP_DUMPABLE"), "{environment:?}");
    }
}

#[tokio::test]
async fn a_client_verb_hides_its_token() {
    let args = ["--port", "0", "--host", "127.0.0.1", "--"];
    let coop = Setup::new(args.iter().chain(&SHELL)).env("COOP_AUTH_TOKEN", TOKEN).start().await;
    let target = format!("http://{}", coop.address());
    let mut events = tokio::process::Command::new(env!("CARGO_BIN_EXE_coop"))
        .args(["events", "--token", TOKEN, &target])
        .env("COOP_AUTH_TOKEN", TOKEN)
        .env("COOP_DUMPABLE", "1")
        .stdout(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let proc = format!("/proc/{}", events.id().expect("it runs"));
    let hidden = |file: &str| {
        let text = std::fs::read(format!("{proc}/{file}")).expect("it runs");
        !String::from_utf8_lossy(&text).contains(TOKEN)
    };
    until("the token to be overwritten", async || {
        (hidden("cmdline") && hidden("environ")).then_some(())
    })
    .await;
    events.kill().await.expect("ended");
}
