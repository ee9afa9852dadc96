//! Real files in real directories: which observations come of changes to logs and status files.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

/// How long a test waits for an observation before it fails.
const DEADLINE: Duration = Duration::from_secs(20);

struct Fixture {
    dir: TempDir,
    sources: Sources,
    observations: Observations,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (sender, observations) = super::observations(4);
        let config = SourceConfig { dir: dir.path().to_owned(), nonce: "n".to_owned() };
        let sources = Sources::start(config, sender).expect("a pipe");
        Self { dir, sources, observations }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn follow(&mut self, name: &str, from: ReadFrom) {
        let path = self.path(name);
        self.sources.follow_log(LogTarget::find(LogLocation::File(path), from));
    }

    async fn next(&mut self) -> Observation {
        timeout(DEADLINE, self.observations.recv()).await.expect("in time").expect("sources live")
    }

    /// The next line of the log, without observations that it grew.
    async fn line(&mut self) -> Value {
        loop {
            match self.next().await {
                Observation::LogLine(line) => return line,
                Observation::LogGrew => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn registry(&mut self) -> Value {
        match self.next().await {
            Observation::Registry(file) => file.value,
            other => panic!("{other:?}"),
        }
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("a file");
    file.write_all(bytes).expect("written");
}

#[tokio::test]
async fn a_log_is_read_from_its_start_or_its_end() {
    for (from, first) in [(ReadFrom::Start, json!(1)), (ReadFrom::End, json!(2))] {
        let mut fixture = Fixture::new();
        append(&fixture.path("log"), b"1\n");
        fixture.follow("log", from);
        append(&fixture.path("log"), b"2\r\n3\n");
        assert_eq!(fixture.line().await, first);
        if from == ReadFrom::Start {
            assert_eq!(fixture.line().await, json!(2));
        }
        assert_eq!(fixture.line().await, json!(3));
        append(&fixture.path("log"), b"4\n");
        assert_eq!(fixture.line().await, json!(4));
    }
}

#[tokio::test]
async fn a_status_file_of_very_many_values_is_not_kept() {
    let mut fixture = Fixture::new();
    let pid = rustix::process::getpid().as_raw_pid();
    let path = fixture.path(&format!("{pid}.json"));
    let many = format!("{{\"pid\":{pid},\"many\":[{}]}}", vec!["[]"; 200_000].join(","));
    fs::write(&path, many).expect("written");
    fixture.sources.watch_registry(fixture.dir.path().to_owned(), pid);
    timeout(DEADLINE, async {
        while fixture.sources.counters().read().registry_malformed == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("counted");
    fs::write(&path, format!("{{\"pid\":{pid},\"status\":\"idle\"}}")).expect("written");
    assert_eq!(fixture.registry().await, json!({"pid": pid, "status": "idle"}));
}

#[tokio::test]
async fn a_log_may_appear_after_its_directories() {
    let mut fixture = Fixture::new();
    fixture.follow("a/b/c/log", ReadFrom::End);
    let dir = fixture.path("a/b/c");
    for made in ["a", "a/b", "a/b/c"] {
        fs::create_dir(fixture.path(made)).expect("a directory");
        // The watch may see each directory on its own or all at once: both must work.
        tokio::task::yield_now().await;
    }
    append(&dir.join("log"), b"1\n");
    assert_eq!(fixture.line().await, json!(1));
    fs::remove_dir_all(fixture.path("a")).expect("removed");
    fs::create_dir_all(&dir).expect("made again");
    append(&dir.join("log"), b"2\n");
    assert_eq!(fixture.line().await, json!(2));
}

#[tokio::test]
async fn an_incomplete_line_waits_for_its_rest() {
    let mut fixture = Fixture::new();
    fixture.follow("log", ReadFrom::Start);
    append(&fixture.path("log"), b"{\"a\":");
    assert!(matches!(fixture.next().await, Observation::LogGrew));
    append(&fixture.path("log"), b"1}\n");
    assert_eq!(fixture.line().await, json!({"a": 1}));
    assert_eq!(fixture.sources.counters().read(), SourceCounters::default());
}

#[tokio::test]
async fn a_rotated_log_is_read_to_its_end_before_the_next() {
    let mut fixture = Fixture::new();
    fixture.follow("log", ReadFrom::Start);
    append(&fixture.path("log"), b"1\n");
    assert_eq!(fixture.line().await, json!(1));
    append(&fixture.path("log"), b"2\n\"half");
    fs::rename(fixture.path("log"), fixture.path("log.1")).expect("moved");
    append(&fixture.path("log"), b"3\n");
    assert_eq!(fixture.line().await, json!(2));
    assert_eq!(fixture.line().await, json!(3));
    append(&fixture.path("log.1"), b"4\n");
    append(&fixture.path("log"), b"5\n");
    assert_eq!(fixture.line().await, json!(5));
}

#[tokio::test]
async fn a_truncated_log_is_read_from_its_start() {
    let mut fixture = Fixture::new();
    append(&fixture.path("log"), b"\"a long line\"\n\"hal");
    fixture.follow("log", ReadFrom::Start);
    assert_eq!(fixture.line().await, json!("a long line"));
    fs::write(fixture.path("log"), b"2\n").expect("written");
    assert_eq!(fixture.line().await, json!(2));
    assert!(fixture.sources.counters().read().log.malformed <= 1, "the half line, if it was read");
}

#[tokio::test]
async fn lines_of_a_log_that_are_not_json_are_counted() {
    let mut fixture = Fixture::new();
    let mut text = b"\xff\xfe\n{\"a\":\"\xff\"}\nwords\n".to_vec();
    text.extend(std::iter::repeat_n(b'x', (8 << 20) + 1));
    text.extend(b"\n1\n");
    fs::write(fixture.path("log"), text).expect("written");
    fixture.follow("log", ReadFrom::Start);
    assert_eq!(fixture.line().await, json!({"a": "\u{fffd}"}));
    assert_eq!(fixture.line().await, json!(1));
    let log = fixture.sources.counters().read().log;
    assert_eq!((log.malformed, log.too_long), (2, 1));
}

#[tokio::test]
async fn a_slow_receiver_loses_no_line() {
    let mut fixture = Fixture::new();
    let text: String = (0..20_000).map(|n| format!("{n}\n")).collect();
    fs::write(fixture.path("log"), text).expect("written");
    fixture.follow("log", ReadFrom::Start);
    for n in 0..20_000 {
        assert_eq!(fixture.line().await, json!(n));
    }
}

#[tokio::test]
async fn following_another_log_replaces_the_first() {
    let mut fixture = Fixture::new();
    append(&fixture.path("one"), b"1\n");
    append(&fixture.path("two"), b"2\n");
    fixture.follow("one", ReadFrom::Start);
    assert_eq!(fixture.line().await, json!(1));
    fixture.follow("one", ReadFrom::Start);
    fixture.follow("two", ReadFrom::Start);
    assert_eq!(fixture.line().await, json!(2), "and not the first line of the first log again");
    append(&fixture.path("one"), b"3\n");
    append(&fixture.path("two"), b"4\n");
    assert_eq!(fixture.line().await, json!(4));
}

#[tokio::test]
async fn a_new_log_is_distinguished_from_existing_ones() {
    for (name, written) in [("new.jsonl", &b"1\n"[..]), ("old.jsonl", b"1\n")] {
        let mut fixture = Fixture::new();
        append(&fixture.path("old.jsonl"), b"\"old\"\n");
        append(&fixture.path("older.jsonl"), b"\"old\"\n");
        let location =
            LogLocation::NewFileIn { dir: fixture.dir.path().to_owned(), ending: ".jsonl" };
        fixture.sources.follow_log(LogTarget::find(location, ReadFrom::Start));
        append(&fixture.path("other.txt"), b"2\n");
        append(&fixture.path(name), written);
        assert_eq!(fixture.line().await, json!(1), "{name}");
        append(&fixture.path("older.jsonl"), b"2\n");
        append(&fixture.path(name), b"3\n");
        assert_eq!(fixture.line().await, json!(3), "{name}");
        let location =
            LogLocation::NewFileIn { dir: fixture.dir.path().to_owned(), ending: ".jsonl" };
        fixture.sources.follow_log(LogTarget::find(location, ReadFrom::Start));
        append(&fixture.path("newest.jsonl"), b"4\n");
        assert_eq!(fixture.line().await, json!(4), "the next child's log");
    }
}

#[tokio::test]
async fn the_log_of_a_conversation_is_found_by_its_id() {
    let mut fixture = Fixture::new();
    append(&fixture.path("ours.jsonl"), b"\"old\"\n");
    let location = LogLocation::NewFileIn { dir: fixture.dir.path().to_owned(), ending: ".jsonl" };
    let target = LogTarget::find(location, ReadFrom::Start);
    append(&fixture.path("other.jsonl"), b"1\n");
    append(&fixture.path("ours.jsonl"), b"2\n");
    fixture.sources.follow_log(target.of_conversation("ours").expect("a name"));
    assert_eq!(fixture.line().await, json!(2), "no other log, and no line from before");
    fixture.sources.follow_log(target.of_conversation("next").expect("a name"));
    append(&fixture.path("ours.jsonl"), b"3\n");
    append(&fixture.path("next.jsonl"), b"4\n");
    assert_eq!(fixture.line().await, json!(4));
    for id in ["../ours", "a/b", ""] {
        let found = target.of_conversation(id).map(|log| log.location);
        let outside = found.filter(|found| {
            !matches!(found, LogLocation::File(path)
            if path.parent() == Some(fixture.dir.path()))
        });
        assert_eq!(outside, None, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn changes_that_the_kernel_does_not_report_are_polled_for() {
    let mut fixture = Fixture::new();
    let elsewhere = tempfile::tempdir().expect("a directory");
    append(&elsewhere.path().join("real"), b"1\n");
    // Other tests change the parent of the fixture's directory, which would be reported.
    fs::create_dir(fixture.path("quiet")).expect("a directory");
    std::os::unix::fs::symlink(elsewhere.path().join("real"), fixture.path("quiet/log"))
        .expect("linked");
    fixture.follow("quiet/log", ReadFrom::Start);
    assert_eq!(fixture.line().await, json!(1));
    let quiet = timeout(DEADLINE, fixture.observations.recv()).await;
    assert!(quiet.is_err(), "everything was read: {quiet:?}");
    append(&elsewhere.path().join("real"), b"2\n");
    let unasked = timeout(DEADLINE, fixture.observations.recv()).await;
    assert!(unasked.is_err(), "the log of an idle agent is not polled: {unasked:?}");
    fixture.sources.set_poll(true);
    assert_eq!(fixture.line().await, json!(2));
}

#[tokio::test]
async fn status_files_of_the_childs_processes_are_read_when_they_change() {
    let mut fixture = Fixture::new();
    let own = rustix::process::getpid().as_raw_pid();
    let mut below =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
    let registry = fixture.path("state/sessions");
    fixture.sources.watch_registry(registry.clone(), own);
    fs::create_dir_all(&registry).expect("made");
    let file = |pid: i32| registry.join(format!("{pid}.json"));
    fs::write(file(1), r#"{"status":"of init"}"#).expect("written");
    fs::write(registry.join(format!("{own}.key")), r#"{"status":"secret"}"#).expect("written");
    fs::write(file(own), json!({"pid": own, "status": "idle"}).to_string()).expect("written");
    assert_eq!(fixture.registry().await["status"], "idle");
    // The same status again, an incomplete one, one with another pid, and then a new one.
    fs::write(file(own), json!({"pid": own, "status": "idle"}).to_string()).expect("written");
    fs::write(file(own), r#"{"status":"#).expect("written");
    fs::write(file(own), r#"{"pid":1,"status":"x"}"#).expect("written");
    fs::write(file(own), json!({"pid": own, "status": "busy"}).to_string()).expect("written");
    assert_eq!(fixture.registry().await["status"], "busy");
    // The status of an agent that the agent itself runs does not count.
    let child = i32::try_from(below.id()).expect("a pid");
    fs::write(file(child), r#"{"status":"nested"}"#).expect("written");
    fs::write(file(own), json!({"pid": own, "status": "idle again"}).to_string()).expect("written");
    assert_eq!(fixture.registry().await["status"], "idle again");
    drop(below.stdin.take());
    below.wait().expect("the end of cat");
}

#[tokio::test]
async fn the_agent_may_be_a_descendant_of_the_child() {
    let mut fixture = Fixture::new();
    let own = rustix::process::getpid().as_raw_pid();
    let mut below =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
    let registry = fixture.path("sessions");
    fs::create_dir_all(&registry).expect("made");
    fixture.sources.watch_registry(registry.clone(), own);
    let file = registry.join(format!("{}.json", below.id()));
    fs::write(&file, r#"{"status":"idle"}"#).expect("written");
    assert_eq!(fixture.registry().await["status"], "idle");
    fs::write(&file, r#"{"status":"busy"}"#).expect("written");
    assert_eq!(fixture.registry().await["status"], "busy");
    drop(below.stdin.take());
    below.wait().expect("the end of cat");
}

#[tokio::test]
async fn dropping_the_sources_removes_their_files() {
    let fixture = Fixture::new();
    let Fixture { dir, sources, .. } = fixture;
    assert!(sources.hook_pipe().exists());
    drop(sources);
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);
}
