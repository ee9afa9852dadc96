//! Real files in real directories: what happens to logs and status files, and what is made of it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

/// Nothing here takes this long unless it never comes.
const DEADLINE: Duration = Duration::from_secs(20);

struct Scene {
    dir: TempDir,
    sources: Sources,
    observations: mpsc::Receiver<Observation>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (sender, observations) = mpsc::channel(4);
        let plan = Plan { dir: dir.path().to_owned(), nonce: "n".to_owned() };
        let sources = Sources::start(plan, sender).expect("a pipe");
        Self { dir, sources, observations }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn follow(&mut self, name: &str, from: From) {
        let path = self.path(name);
        self.sources.follow(LogPlace::File(path), from);
    }

    async fn next(&mut self) -> Observation {
        timeout(DEADLINE, self.observations.recv()).await.expect("in time").expect("sources live")
    }

    /// The next line of the log; that it grew meanwhile is no line.
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
            Observation::Registry(value) => value,
            other => panic!("{other:?}"),
        }
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("a file");
    file.write_all(bytes).expect("written");
}

#[tokio::test]
async fn a_log_is_read_from_where_it_was_asked_to() {
    for (from, first) in [(From::Start, json!(1)), (From::End, json!(2))] {
        let mut scene = Scene::new();
        append(&scene.path("log"), b"1\n");
        scene.follow("log", from);
        append(&scene.path("log"), b"2\r\n3\n");
        assert_eq!(scene.line().await, first);
        if from == From::Start {
            assert_eq!(scene.line().await, json!(2));
        }
        assert_eq!(scene.line().await, json!(3));
        append(&scene.path("log"), b"4\n");
        assert_eq!(scene.line().await, json!(4));
    }
}

#[tokio::test]
async fn a_log_may_come_later_than_its_directories() {
    let mut scene = Scene::new();
    scene.follow("a/b/c/log", From::End);
    let dir = scene.path("a/b/c");
    for made in ["a", "a/b", "a/b/c"] {
        fs::create_dir(scene.path(made)).expect("a directory");
        // Lets the watch come along step by step, or not: both must do.
        tokio::task::yield_now().await;
    }
    append(&dir.join("log"), b"1\n");
    assert_eq!(scene.line().await, json!(1));
    fs::remove_dir_all(scene.path("a")).expect("removed");
    fs::create_dir_all(&dir).expect("made anew");
    append(&dir.join("log"), b"2\n");
    assert_eq!(scene.line().await, json!(2));
}

#[tokio::test]
async fn half_a_line_waits_for_its_other_half() {
    let mut scene = Scene::new();
    scene.follow("log", From::Start);
    append(&scene.path("log"), b"{\"a\":");
    assert!(matches!(scene.next().await, Observation::LogGrew));
    append(&scene.path("log"), b"1}\n");
    assert_eq!(scene.line().await, json!({"a": 1}));
    assert_eq!(scene.sources.counters(), Counters::default());
}

#[tokio::test]
async fn a_rotated_log_is_read_to_its_end_and_then_the_next() {
    let mut scene = Scene::new();
    scene.follow("log", From::Start);
    append(&scene.path("log"), b"1\n");
    assert_eq!(scene.line().await, json!(1));
    append(&scene.path("log"), b"2\n\"half");
    fs::rename(scene.path("log"), scene.path("log.1")).expect("moved");
    append(&scene.path("log"), b"3\n");
    assert_eq!(scene.line().await, json!(2));
    assert_eq!(scene.line().await, json!(3));
    append(&scene.path("log.1"), b"4\n");
    append(&scene.path("log"), b"5\n");
    assert_eq!(scene.line().await, json!(5));
}

#[tokio::test]
async fn a_log_that_was_cut_short_is_read_anew() {
    let mut scene = Scene::new();
    append(&scene.path("log"), b"\"a long line\"\n\"hal");
    scene.follow("log", From::Start);
    assert_eq!(scene.line().await, json!("a long line"));
    fs::write(scene.path("log"), b"2\n").expect("written");
    assert_eq!(scene.line().await, json!(2));
    assert!(scene.sources.counters().log.malformed <= 1, "the half line, if it was read");
}

#[tokio::test]
async fn what_is_no_json_in_a_log_is_counted() {
    let mut scene = Scene::new();
    let mut text = b"\xff\xfe\n{\"a\":\"\xff\"}\nwords\n".to_vec();
    text.extend(std::iter::repeat_n(b'x', (8 << 20) + 1));
    text.extend(b"\n1\n");
    fs::write(scene.path("log"), text).expect("written");
    scene.follow("log", From::Start);
    assert_eq!(scene.line().await, json!({"a": "\u{fffd}"}));
    assert_eq!(scene.line().await, json!(1));
    let log = scene.sources.counters().log;
    assert_eq!((log.malformed, log.too_long), (2, 1));
}

#[tokio::test]
async fn nobody_who_is_slow_loses_a_line() {
    let mut scene = Scene::new();
    let text: String = (0..20_000).map(|n| format!("{n}\n")).collect();
    fs::write(scene.path("log"), text).expect("written");
    scene.follow("log", From::Start);
    for n in 0..20_000 {
        assert_eq!(scene.line().await, json!(n));
    }
}

#[tokio::test]
async fn another_log_takes_the_place_of_the_first() {
    let mut scene = Scene::new();
    append(&scene.path("one"), b"1\n");
    append(&scene.path("two"), b"2\n");
    scene.follow("one", From::Start);
    assert_eq!(scene.line().await, json!(1));
    scene.follow("one", From::Start);
    scene.follow("two", From::Start);
    assert_eq!(scene.line().await, json!(2), "and not the first one's first line again");
    append(&scene.path("one"), b"3\n");
    append(&scene.path("two"), b"4\n");
    assert_eq!(scene.line().await, json!(4));
}

#[tokio::test]
async fn a_new_log_is_told_from_those_that_were_there() {
    for (name, written) in [("new.jsonl", &b"1\n"[..]), ("old.jsonl", b"1\n")] {
        let mut scene = Scene::new();
        append(&scene.path("old.jsonl"), b"\"old\"\n");
        append(&scene.path("older.jsonl"), b"\"old\"\n");
        let place = LogPlace::NewIn { dir: scene.dir.path().to_owned(), ending: ".jsonl" };
        scene.sources.follow(place, From::Start);
        append(&scene.path("other.txt"), b"2\n");
        append(&scene.path(name), written);
        assert_eq!(scene.line().await, json!(1), "{name}");
        append(&scene.path("older.jsonl"), b"2\n");
        append(&scene.path(name), b"3\n");
        assert_eq!(scene.line().await, json!(3), "{name}");
        let place = LogPlace::NewIn { dir: scene.dir.path().to_owned(), ending: ".jsonl" };
        scene.sources.follow(place, From::Start);
        append(&scene.path("newest.jsonl"), b"4\n");
        assert_eq!(scene.line().await, json!(4), "the next child's log");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_kernel_does_not_report_is_polled_for() {
    let mut scene = Scene::new();
    let elsewhere = tempfile::tempdir().expect("a directory");
    append(&elsewhere.path().join("real"), b"1\n");
    // Other tests stir the directory above ours.
    fs::create_dir(scene.path("quiet")).expect("a directory");
    std::os::unix::fs::symlink(elsewhere.path().join("real"), scene.path("quiet/log")).expect("linked");
    scene.follow("quiet/log", From::Start);
    assert_eq!(scene.line().await, json!(1));
    let quiet = timeout(DEADLINE, scene.observations.recv()).await;
    assert!(quiet.is_err(), "everything was read: {quiet:?}");
    append(&elsewhere.path().join("real"), b"2\n");
    let unasked = timeout(DEADLINE, scene.observations.recv()).await;
    assert!(unasked.is_err(), "an idle agent's log is left alone: {unasked:?}");
    scene.sources.set_poll(true);
    assert_eq!(scene.line().await, json!(2));
}

#[tokio::test]
async fn status_files_of_our_processes_are_read_when_they_change() {
    let mut scene = Scene::new();
    let own = rustix::process::getpid().as_raw_pid();
    let mut below =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
    let registry = scene.path("state/sessions");
    scene.sources.watch_registry(registry.clone(), own);
    fs::create_dir_all(&registry).expect("made");
    let file = |pid: i32| registry.join(format!("{pid}.json"));
    fs::write(file(1), r#"{"status":"of init"}"#).expect("written");
    fs::write(registry.join(format!("{own}.key")), r#"{"status":"secret"}"#).expect("written");
    fs::write(file(own), json!({"pid": own, "status": "idle"}).to_string()).expect("written");
    assert_eq!(scene.registry().await["status"], "idle");
    // The same once more, half of another, another process's name, and then something new.
    fs::write(file(own), json!({"pid": own, "status": "idle"}).to_string()).expect("written");
    fs::write(file(own), r#"{"status":"#).expect("written");
    fs::write(file(own), r#"{"pid":1,"status":"x"}"#).expect("written");
    fs::write(file(own), json!({"pid": own, "status": "busy"}).to_string()).expect("written");
    assert_eq!(scene.registry().await["status"], "busy");
    let child = i32::try_from(below.id()).expect("a pid");
    fs::write(file(child), r#"{"status":"waiting"}"#).expect("written");
    assert_eq!(scene.registry().await["status"], "waiting");
    fs::remove_file(file(own)).expect("removed");
    fs::write(file(child), r#"{"status":"idle"}"#).expect("written");
    assert_eq!(scene.registry().await["status"], "idle");
    drop(below.stdin.take());
    below.wait().expect("the end of cat");
}

#[tokio::test]
async fn nothing_is_left_behind() {
    let scene = Scene::new();
    let Scene { dir, sources, .. } = scene;
    assert!(sources.hook_pipe().exists());
    drop(sources);
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);
}
