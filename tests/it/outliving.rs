//! Nothing outlives coop: no process that its child started, and no file that only the session
//! needs, however coop ends.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use coop_client::v1;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, getuid, kill_process, kill_process_group, prlimit,
    setrlimit,
};
use tokio::process::Command;

use crate::support::coop::{Coop, NOBODY, Setup};
use crate::support::fake_agent::FakeAgent;
use crate::support::session::{child_pid, lives, pid_in, refusal, status};
use crate::support::{not_tested, soon, until};

/// How long processes may live after coop was killed, and how often they are looked for.
const AFTER_KILL: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// Ends only by SIGKILL.
const STUBBORN: &str = "trap '' HUP INT TERM; while :; do sleep 1000; done\n";

/// Starts processes that leave the child in every way: a daemon that has lost its parent, its
/// session and its environment, one that is stopped, and a job in the background. Each ignores
/// every signal that it can, and so does the child.
const FAMILY: &str = r#"
trap '' HUP INT TERM
env -i setsid sh -c '(sh "$0/stubborn.sh" daemon & echo $! > "$0/daemon.new"; mv "$0/daemon.new" "$0/daemon") &' "$1"
sh "$1/stubborn.sh" stopped & kill -STOP $!; echo $! > "$1/stopped"
sh "$1/stubborn.sh" job & echo $! > "$1/job"
sh "$1/stubborn.sh" child
"#;

/// A directory that no other test names, with the scripts above. Its path is an argument of every
/// process of the family, so all of them can be found.
struct Family {
    dir: tempfile::TempDir,
}

impl Family {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("stubborn.sh"), STUBBORN).expect("written");
        std::fs::write(dir.path().join("family.sh"), FAMILY).expect("written");
        Self { dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self) -> Vec<String> {
        let dir = self.path().display();
        ["sh".to_owned(), format!("{dir}/family.sh"), dir.to_string()].into()
    }

    async fn start(&self) -> Coop {
        let coop = Coop::run(self.command()).await;
        self.is_up().await;
        coop
    }

    /// Forgets the pids of the family that runs now, before the next one starts.
    fn forget(&self) {
        for name in ["daemon", "stopped", "job"] {
            std::fs::remove_file(self.path().join(name)).expect("removed");
        }
    }

    /// Waits until all of them run; returns their pids.
    async fn is_up(&self) -> Vec<i32> {
        let mut pids = Vec::new();
        for name in ["daemon", "stopped", "job"] {
            pids.push(pid_in(&self.path().join(name)).await);
        }
        until("the daemon to be an orphan", async || {
            (parent_of(pids[0])? == parent_of(group_leader(self)?)?).then_some(())
        })
        .await;
        pids
    }

    /// The processes that name this directory: coop, its guard, and what the child started.
    fn members(&self) -> Vec<(i32, String)> {
        let dir = self.path().to_string_lossy().into_owned();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(&dir) && lives(pid) {
                found.push((pid, line));
            }
        }
        found
    }

    /// Waits until none of them is left, this long at most.
    async fn is_gone_within(&self, limit: Duration) {
        let gone = async {
            while !self.members().is_empty() {
                tokio::time::sleep(POLL).await;
            }
        };
        if tokio::time::timeout(limit, gone).await.is_err() {
            panic!("{:?} live after {limit:?}", self.members());
        }
    }

    async fn is_gone(&self) {
        until(&format!("the end of {:?}", self.members()), async || {
            self.members().is_empty().then_some(())
        })
        .await;
    }
}

impl Drop for Family {
    /// A test that fails must not leave them behind either.
    fn drop(&mut self) {
        for (pid, _) in self.members() {
            let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
        }
    }
}

fn stat(pid: i32, field: usize) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(field)?.parse().ok()
}

fn parent_of(pid: i32) -> Option<i32> {
    stat(pid, 1)
}

/// The child of coop, which leads the session of the job.
fn group_leader(family: &Family) -> Option<i32> {
    stat(std::fs::read_to_string(family.path().join("job")).ok()?.trim().parse().ok()?, 3)
}

/// The directories of sessions below this home.
fn sessions(home: &Path) -> Vec<PathBuf> {
    let sessions = home.join(".local/state/coop/sessions");
    let entries = std::fs::read_dir(sessions).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Sets what coop may have of a resource. It may have the same as this test otherwise.
fn limit(pid: i32, resource: Resource, value: u64) {
    let limit = Rlimit { current: Some(value), maximum: getrlimit(resource).maximum };
    prlimit(Pid::from_raw(pid), resource, limit).expect("a limit");
}

/// Lets this process fork none, and start no thread.
async fn allow_no_process(pid: i32) {
    let mut command = Command::new("prlimit");
    command.args(["--pid", &pid.to_string(), "--nproc=1:"]);
    if getuid().is_root() {
        // Its own user may set the limit, and root may not in a container.
        command.uid(NOBODY).gid(NOBODY);
    }
    assert!(soon("a limit", command.status()).await.expect("prlimit").success());
}

async fn shut_down(coop: &Coop) {
    let request = v1::ShutdownRequest { grace_ms: Some(0) };
    soon("the shutdown", coop.grpc().await.shutdown(request)).await.expect("accepted");
}

// ---- SIGKILL ----

#[tokio::test]
async fn a_killed_coop_leaves_no_process() {
    let family = Family::new();
    let mut coop = family.start().await;
    coop.signal(Signal::KILL);
    coop.ended().await;
    family.is_gone_within(AFTER_KILL).await;
    until("the end of the session's directory", async || {
        sessions(coop.home.path()).is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_killed_process_group_of_coop_leaves_no_process() {
    let family = Family::new();
    let mut words: Vec<String> = vec!["--port".into(), "0".into(), "--".into()];
    words.extend(family.command());
    let mut coop = Setup::new(words).own_group().start().await;
    family.is_up().await;
    let group = Pid::from_raw(coop.pid()).expect("a pid");
    kill_process_group(group, Signal::KILL).expect("killed");
    coop.ended().await;
    family.is_gone().await;
}

#[tokio::test]
async fn a_killed_coop_leaves_no_file_of_its_session() {
    let config = tempfile::NamedTempFile::new().expect("a file");
    let secret = r#"{"mcp": {"tools": {"command": "true", "env": {"KEY": "hidden"}}}}"#;
    std::fs::write(config.path(), secret).expect("written");
    let path = config.path().to_string_lossy().into_owned();
    let mut agent = FakeAgent::new(&["--agent-config", path.as_str()], &[]).await;
    let dir = agent.coop.state_dir();
    let written: Vec<_> = std::fs::read_dir(&dir).expect("a directory").flatten().collect();
    let has_secret = |entry: &std::fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("hidden"))
    };
    assert!(written.iter().any(has_secret), "{written:?}");
    agent.coop.signal(Signal::KILL);
    agent.coop.ended().await;
    until("the end of the files", async || (!dir.exists()).then_some(())).await;
}

#[tokio::test]
async fn a_coop_whose_guard_is_killed_still_serves_and_ends_the_tree() {
    let family = Family::new();
    let mut coop = family.start().await;
    let mut client = coop.grpc().await;
    let child = child_pid(&mut client).await;
    let guard = parent_of(child).expect("the child runs");
    assert_eq!(parent_of(guard), Some(coop.pid()), "the guard is between coop and the child");
    kill_process(Pid::from_raw(guard).expect("a pid"), Signal::KILL).expect("killed");
    until("the child to be coop's", async || (parent_of(child)? == coop.pid()).then_some(())).await;

    family.forget();
    let restart = v1::RestartSessionRequest { force: true };
    let answer = soon("a restart", client.restart_session(restart)).await.expect("restarted");
    assert!(!lives(child), "the first child has ended");
    assert_eq!(Some(child_pid(&mut client).await), answer.into_inner().pid);
    family.is_up().await;
    shut_down(&coop).await;
    assert_eq!(coop.ended().await.code(), Some(128 + 9));
    assert_eq!(family.members(), [], "nothing is left when coop has exited");
}

// ---- Limits ----

#[tokio::test]
async fn without_a_free_descriptor_a_restart_and_a_shutdown_end_the_tree() {
    let family = Family::new();
    let mut coop = family.start().await;
    let mut client = coop.grpc().await;
    let old: Vec<i32> = family.is_up().await;
    // From here on, the connection is accepted.
    assert_eq!(status(&mut client).await.state, "running");
    // Every descriptor below the limit is in use, so coop can open none.
    limit(coop.pid(), Resource::Nofile, 3);
    let restart = v1::RestartSessionRequest { force: true };
    let error = soon("a restart", client.restart_session(restart)).await.expect_err("no terminal");
    let refusal = refusal(&error);
    assert_eq!(refusal.code, "INTERNAL", "{error:?}");
    assert!(error.message().contains("the child was ended"), "{error:?}");
    assert!(!old.iter().any(|pid| lives(*pid)), "the old tree is gone");
    assert_eq!(status(&mut client).await.state, "exited");

    // With descriptors again, the next child starts.
    family.forget();
    limit(coop.pid(), Resource::Nofile, 1024);
    client.restart_session(restart).await.expect("restarted");
    let next = family.is_up().await;
    limit(coop.pid(), Resource::Nofile, 3);
    let shutdown = v1::ShutdownRequest { grace_ms: Some(0) };
    soon("the shutdown", client.shutdown(shutdown)).await.expect("accepted");
    coop.ended().await;
    assert!(!next.iter().any(|pid| lives(*pid)));
    assert_eq!(family.members(), []);
}

#[tokio::test]
async fn with_more_connections_than_descriptors_a_restart_and_a_shutdown_end_the_tree() {
    // The reserve is as large, so a restart may find no descriptor.
    drop(fill_and_end(128).await);
}

#[tokio::test]
async fn with_every_slot_taken_a_restart_starts_the_next_tree_and_a_shutdown_ends_it() {
    fill_and_end(1024).await.expect("the reserve is enough for a restart");
}

/// Takes every slot of a coop that may open this many descriptors, restarts its child, and shuts it
/// down. Nothing of either tree is left. Returns the answer to the restart.
async fn fill_and_end(
    descriptors: usize,
) -> Result<tonic::Response<v1::RestartSessionResponse>, tonic::Status> {
    // This end needs descriptors, too.
    let own = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: own.maximum, ..own }).expect("raised");
    let family = Family::new();
    let mut words: Vec<String> = vec!["--port".into(), "0".into(), "--".into()];
    words.extend(family.command());
    let limit = format!("--nofile={descriptors}:{descriptors}");
    let mut coop = Setup::through(&["prlimit", &limit], words).start().await;
    let old = family.is_up().await;
    let mut client = coop.grpc().await;
    assert_eq!(status(&mut client).await.state, "running");
    let mut held = Vec::new();
    for _ in 0..2 * descriptors {
        let mut stream = std::net::TcpStream::connect(coop.address()).expect("connected");
        // coop may have refused the connection already.
        drop(stream.write_all(b"GET /api/v1/health HTTP/1.1\r\n"));
        held.push(stream);
    }
    family.forget();
    let restart = v1::RestartSessionRequest { force: true };
    let answer = soon("a restart", client.restart_session(restart)).await;
    assert!(!old.iter().any(|pid| lives(*pid)), "{answer:?}, and the old tree is gone");
    let state = if answer.is_ok() { "running" } else { "exited" };
    assert_eq!(status(&mut client).await.state, state, "{answer:?}");
    let shutdown = v1::ShutdownRequest { grace_ms: Some(0) };
    soon("the shutdown", client.shutdown(shutdown)).await.expect("accepted");
    coop.ended().await;
    assert_eq!(family.members(), []);
    drop(held);
    answer
}

#[tokio::test]
async fn where_no_process_can_be_forked_a_shutdown_ends_the_tree() {
    let family = Family::new();
    let mut words: Vec<String> = vec!["--port".into(), "0".into(), "--".into()];
    words.extend(family.command());
    let mut setup = Setup::new(words);
    if getuid().is_root() {
        // The limit does not apply to root.
        setup = setup.without_rights(family.path());
    }
    let mut coop = setup.start().await;
    family.is_up().await;
    let mut client = coop.grpc().await;
    let guard = parent_of(child_pid(&mut client).await).expect("a parent");
    for pid in [coop.pid(), guard] {
        allow_no_process(pid).await;
    }
    let restart = v1::RestartSessionRequest { force: true };
    soon("a restart", client.restart_session(restart)).await.expect_err("no process can be forked");
    let left: Vec<_> = family.members().into_iter().map(|(pid, _)| pid).collect();
    assert!(left.iter().all(|pid| [coop.pid(), guard].contains(pid)), "{:?}", family.members());
    shut_down(&coop).await;
    coop.ended().await;
    assert_eq!(family.members(), []);
}

/// A control group that lets no process be forked. It is removed when this is dropped.
struct FullGroup {
    dir: PathBuf,
}

impl FullGroup {
    /// Makes it below the group of this process; `None` where that is not possible.
    fn new() -> Option<Self> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let dir = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
            let root = match controllers {
                "" => Path::new("/sys/fs/cgroup"),
                "pids" => Path::new("/sys/fs/cgroup/pids"),
                _ => return None,
            };
            let dir = root.join(path).join(format!("coop-test-{}", std::process::id()));
            std::fs::create_dir(&dir).ok()?;
            let group = Self { dir };
            std::fs::write(group.dir.join("pids.max"), "1").is_ok().then_some(group)
        });
        if dir.is_none() {
            not_tested("no control group with pids.max can be made here");
        }
        dir
    }

    fn add(&self, pid: i32) {
        std::fs::write(self.dir.join("cgroup.procs"), pid.to_string()).expect("moved");
    }
}

impl Drop for FullGroup {
    fn drop(&mut self) {
        // It is empty unless the test has failed.
        drop(std::fs::remove_dir(&self.dir));
    }
}

#[tokio::test]
async fn at_the_limit_of_pids_a_restart_fails_and_a_shutdown_ends_the_tree() {
    let Some(group) = FullGroup::new() else { return };
    let family = Family::new();
    let mut coop = family.start().await;
    let mut client = coop.grpc().await;
    let guard = parent_of(child_pid(&mut client).await).expect("a parent");
    for (pid, _) in family.members() {
        group.add(pid);
    }
    let restart = v1::RestartSessionRequest { force: true };
    soon("a restart", client.restart_session(restart)).await.expect_err("no process can be forked");
    let left: Vec<_> = family.members().into_iter().map(|(pid, _)| pid).collect();
    assert!(left.iter().all(|pid| [coop.pid(), guard].contains(pid)), "{:?}", family.members());
    shut_down(&coop).await;
    coop.ended().await;
    family.is_gone().await;
}

#[tokio::test]
async fn with_a_full_disk_a_shutdown_ends_the_tree() {
    let family = Family::new();
    let mut words: Vec<String> = vec!["--port".into(), "0".into(), "--".into()];
    words.extend(family.command());
    let mut coop = Setup::new(words).full_disk().start().await;
    family.is_up().await;
    shut_down(&coop).await;
    coop.ended().await;
    assert_eq!(family.members(), []);
}

// ---- The start ----

#[tokio::test]
async fn a_signal_at_any_moment_of_the_start_leaves_nothing() {
    let family = Family::new();
    let home = tempfile::tempdir().expect("a directory");
    let script = r#"setsid tail -f "$0" & exec tail -f "$0""#;
    let file = family.path().join("stubborn.sh");
    for step in 0..40 {
        let mut coop = Command::new(env!("CARGO_BIN_EXE_coop"))
            .args(["--port", "0", "--", "sh", "-c", script])
            .arg(&file)
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("coop starts");
        let pid = Pid::from_raw(coop.id().expect("it runs").cast_signed()).expect("a pid");
        // Another moment each time; none of them decides whether the test passes.
        tokio::time::sleep(Duration::from_micros(700) * step).await;
        let signal = if step % 3 == 0 { Signal::KILL } else { Signal::TERM };
        kill_process(pid, signal).expect("signalled");
        if step % 3 == 2 {
            // The second one skips the grace.
            kill_process(pid, signal).expect("signalled");
        }
        soon("coop to end", coop.wait()).await.expect("waited");
        family.is_gone().await;
    }
    until("the end of the directories", async || sessions(home.path()).is_empty().then_some(()))
        .await;
}
