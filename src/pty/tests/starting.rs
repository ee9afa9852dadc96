//! Starting a program: which file, with which environment, descriptors and terminal.

use super::*;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;

/// A directory of this test's own, removed at the end.
struct Dir(PathBuf);

impl Dir {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test needs a directory, and reads no other variable"
    )]
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coop-pty-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn file(&self, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn the_error_says_why_a_program_cannot_be_started() {
    let fixture = Fixture::new().await;
    let dir = Dir::new("refused");
    let plain = dir.file("plain", 0o644, "#!/bin/sh\n");
    let orphan = dir.file("orphan", 0o755, "#!/nonexistent/interpreter\n");
    let code = |launch: &Launch| match launch.spawn(&fixture.reaper) {
        Ok(_) => panic!("{:?} started", launch.program),
        Err(error) => (error.shell_code(), error.to_string()),
    };
    let of = |path: &std::path::Path| launch(path.to_str().expect("UTF-8"), &[]);

    for program in ["no-such-command", "/no/such/command", "./no-such-command", "/etc/passwd/x", ""]
    {
        let (code, message) = code(&launch(program, &[]));
        assert_eq!(code, 127, "{program}: {message}");
        assert!(message.contains(program), "{message}");
    }
    for path in [&plain, &orphan, &dir.0] {
        assert_eq!(code(&of(path)).0, 126, "{path:?}");
    }

    let mut only_plain = launch("plain", &[]);
    only_plain.env = vec![("PATH".into(), dir.0.clone().into())];
    assert_eq!(code(&only_plain).0, 126);

    for cwd in ["/no/such/directory", "/etc/passwd"] {
        let mut elsewhere = launch("true", &[]);
        elsewhere.cwd = cwd.into();
        let error = elsewhere.spawn(&fixture.reaper).err().expect("refused");
        assert!(matches!(error, LaunchError::WorkingDirectory { .. }), "{error}");
        assert!(error.to_string().contains(cwd), "{error}");
    }

    let nul = launch("true", &["a\0b"]).spawn(&fixture.reaper).err().expect("refused");
    assert!(matches!(nul, LaunchError::Start(_)), "{nul}");
}

#[tokio::test]
async fn the_program_is_found_by_the_childs_path_and_directory() {
    let fixture = Fixture::new().await;
    let dir = Dir::new("found");
    dir.file("tool", 0o755, "#!/bin/sh\necho \"$0 of the child\"\n");
    let mut by_name = launch("tool", &[]);
    assert!(matches!(by_name.resolve(), Err(LaunchError::NotFound(_))));
    by_name.env = vec![("PATH".into(), "/ignored".into()), ("PATH".into(), dir.0.clone().into())];
    assert_eq!(by_name.resolve().expect("found"), dir.0.join("tool"));
    let mut by_path = launch("./tool", &[]);
    by_path.cwd.clone_from(&dir.0);
    let mut by_relative_entry = by_path.clone();
    by_relative_entry.program = "tool".into();
    by_relative_entry.env = vec![("PATH".into(), "bin:".into())];
    for launch in [by_name, by_path, by_relative_entry] {
        let mut session = fixture.spawn(&launch);
        session.until("tool of the child").await;
        assert_eq!(session.exit().await, Exit::Code(0));
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let fixture = Fixture::new().await;
    let mut session = fixture.spawn(&launch("printf", &["<%s>", "a b", "", "$HOME", "*", "'\"\\"]));
    let output = session.rest().await;
    assert_eq!(String::from_utf8_lossy(&output), "<a b><><$HOME><*><'\"\\>");
}

#[tokio::test]
async fn the_environment_is_exactly_the_given_one() {
    let fixture = Fixture::new().await;
    let mut launch = launch("/usr/bin/env", &[]);
    launch.env =
        vec![("ONE".into(), "1".into()), ("EMPTY".into(), "".into()), ("ONE".into(), "2".into())];
    let output = fixture.spawn(&launch).rest().await;
    let text = String::from_utf8_lossy(&output).into_owned();
    let mut variables: Vec<&str> = text.lines().collect();
    variables.sort_unstable();
    assert_eq!(variables, ["EMPTY=", "ONE=2"]);
}

#[tokio::test]
async fn no_descriptor_leaks_into_the_child() {
    let fixture = Fixture::new().await;
    let file = std::fs::File::open("/dev/null").expect("/dev/null");
    // Unlike everything that Rust opens, a plain dup survives exec, as an inherited descriptor
    // would.
    let leaky = rustix::io::dup(&file).expect("a descriptor");
    assert!(leaky.as_raw_fd() > 3, "3 is the directory that ls opens");
    let output = fixture.spawn(&launch("ls", &["-1", "/proc/self/fd"])).rest().await;
    drop(leaky);
    let text = String::from_utf8_lossy(&output).into_owned();
    // The fourth is the directory that ls reads.
    assert_eq!(text.lines().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

#[tokio::test]
async fn ignored_signals_are_not_inherited() {
    let fixture = Fixture::new().await;
    // SAFETY: ignoring SIGWINCH, which this process has no use for, runs no code.
    unsafe { libc::signal(libc::SIGWINCH, libc::SIG_IGN) };
    let output = fixture.spawn(&launch("cat", &["/proc/self/status"])).rest().await;
    // SAFETY: as above, back to the default.
    unsafe { libc::signal(libc::SIGWINCH, libc::SIG_DFL) };
    let text = String::from_utf8_lossy(&output).into_owned();
    for mask in ["SigBlk", "SigIgn", "SigCgt"] {
        let line = text.lines().find(|line| line.starts_with(mask)).expect("a mask");
        assert_eq!(line.split_whitespace().nth(1), Some("0000000000000000"), "{line}");
    }
}

#[tokio::test]
async fn the_child_leads_a_session_on_a_terminal_of_the_given_size() {
    let fixture = Fixture::new().await;
    let mut session =
        fixture.shell("stty size; tty; echo controlled >/dev/tty; echo ready; read line");
    session.until("24 80\r\n/dev/pts/").await;
    session.until("controlled").await;
    session.until("ready").await;
    let pid = session.child.pid();
    let process = Process::read(pid.as_raw_pid()).expect("alive");
    assert_eq!((process.session, process.group), (pid.as_raw_pid(), pid.as_raw_pid()));
    assert_eq!(session.control.foreground_group(), Some(pid));
    session.type_all(b"\n").await;
    assert_eq!(session.exit().await, Exit::Code(0));
    assert_eq!(session.control.foreground_group(), None);
}

#[tokio::test]
async fn a_resize_reaches_the_child() {
    let fixture = Fixture::new().await;
    let mut session =
        fixture.shell("trap 'stty size' WINCH; echo ready; while :; do sleep 1000 & wait $!; done");
    session.until("ready").await;
    session.control.resize(WindowSize { cols: 123, rows: 45 }).expect("resized");
    session.until("45 123").await;
    fixture.end(&session).await;
}
