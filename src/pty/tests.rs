//! Real programs on real terminals. Every wait is for an event, and the deadline only says when a test has failed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::process::Process;
use super::*;

/// A stray descendant can belong to any child of the process, so tests that end trees must not run beside others.
pub(crate) static ALONE: Mutex<()> = Mutex::const_new(());

const DEADLINE: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(3600);

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not come"),
    }
}

struct Bench {
    reaper: Reaper,
    _reaping: JoinSet<std::io::Result<std::convert::Infallible>>,
    _alone: MutexGuard<'static, ()>,
}

impl Bench {
    async fn new() -> Self {
        let alone = ALONE.lock().await;
        let reaper = Reaper::install().expect("a subreaper");
        let mut reaping = JoinSet::new();
        reaping.spawn(reaper.run());
        Self { reaper, _reaping: reaping, _alone: alone }
    }

    fn spawn(&self, launch: &Launch) -> Session {
        let spawned = launch.spawn(&self.reaper).expect("a child");
        Session {
            child: spawned.child,
            reader: spawned.reader,
            writer: spawned.writer,
            control: spawned.control,
            seen: Vec::new(),
        }
    }

    fn shell(&self, script: &str) -> Session {
        self.spawn(&launch("sh", &["-c", script]))
    }

    /// Ends a session whose manner of ending does not matter.
    async fn end(&self, session: &Session) {
        let ended = session.child.terminate(LONG, std::future::ready(()));
        let ended = within("the end", ended).await.expect("ended");
        assert_eq!(ended.survivors, []);
    }

    async fn until_gone(&self, pid: i32) {
        self.until(|| Process::read(pid).is_none()).await;
    }

    /// Waits for something that a death or a stop below us brings about.
    async fn until(&self, happened: impl Fn() -> bool) {
        let mut sweeps = self.reaper.sweeps();
        within("the change in the tree", async {
            while !happened() {
                sweeps.changed().await.expect("a static sender");
            }
        })
        .await;
    }
}

fn launch(program: &str, args: &[&str]) -> Launch {
    Launch {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        cwd: PathBuf::from("/"),
        size: WindowSize { cols: 80, rows: 24 },
    }
}

struct Session {
    child: Child,
    reader: Reader,
    writer: Writer,
    control: Control,
    seen: Vec<u8>,
}

impl Session {
    /// Reads until the text has been printed, and answers everything up to its end.
    async fn until(&mut self, text: &str) -> String {
        let found = within(text, async {
            loop {
                let at = self.seen.windows(text.len()).position(|part| part == text.as_bytes());
                if let Some(at) = at {
                    return at + text.len();
                }
                match self.reader.read().await.expect("readable") {
                    Some(bytes) => self.seen.extend_from_slice(&bytes),
                    None => panic!("ended before {text:?}: {:?}", String::from_utf8_lossy(&self.seen)),
                }
            }
        })
        .await;
        String::from_utf8_lossy(&self.seen.drain(..found).collect::<Vec<u8>>()).into_owned()
    }

    /// Reads until all of the texts have been printed, in whatever order, and answers everything so far.
    async fn until_all(&mut self, texts: &[&str]) -> String {
        within("all of the texts", async {
            loop {
                let output = String::from_utf8_lossy(&self.seen).into_owned();
                if texts.iter().all(|text| output.contains(text)) {
                    return output;
                }
                let bytes = self.reader.read().await.expect("readable");
                self.seen.extend_from_slice(&bytes.expect("an open terminal"));
            }
        })
        .await
    }

    /// The number printed as `NAME=NUMBER` on a line.
    async fn number(&mut self, name: &str) -> i32 {
        self.until(&format!("{name}=")).await;
        let line = self.until("\r\n").await;
        line.trim().parse().expect("a number")
    }

    async fn rest(&mut self) -> Vec<u8> {
        within("the end of the output", async {
            while let Some(bytes) = self.reader.read().await.expect("readable") {
                self.seen.extend_from_slice(&bytes);
            }
        })
        .await;
        std::mem::take(&mut self.seen)
    }

    async fn type_all(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = within("room for input", self.writer.write(bytes)).await.expect("writable");
            bytes = &bytes[count..];
        }
    }

    async fn exit(&self) -> Exit {
        within("the exit", self.child.wait()).await
    }
}

mod typing {
    use super::*;

    /// Numbered lines of about `size` bytes, so that a missing piece can be told from a moved one.
    fn lines(size: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(size + 64);
        for number in 0.. {
            if text.len() >= size {
                break;
            }
            text.extend_from_slice(format!("line {number} of a long paste\n").as_bytes());
        }
        text
    }

    fn as_printed(text: &[u8]) -> Vec<u8> {
        String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes()
    }

    /// Types everything while another task reads `expected` bytes.
    async fn exchange(session: Session, text: Vec<u8>, expected: usize) -> (Session, Vec<u8>) {
        let Session { child, mut reader, mut writer, control, seen } = session;
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let mut output = Vec::with_capacity(expected);
            while output.len() < expected {
                let Some(bytes) = reader.read().await.expect("readable") else { break };
                output.extend_from_slice(&bytes);
            }
            (reader, output)
        });
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let count = within("room for input", writer.write(rest)).await.expect("writable");
            rest = &rest[count..];
        }
        let read = within("the whole output", reading.join_next()).await;
        let (reader, output) = read.expect("one task").expect("no panic");
        (Session { child, reader, writer, control, seen }, output)
    }

    async fn ready(bench: &Bench, script: &str) -> Session {
        let mut session = bench.shell(script);
        session.until("ready").await;
        session.until("\n").await;
        session
    }

    /// Both copies of the text are in the output, though in pieces among each other: every byte value occurs twice as often.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn ten_megabytes_pasted_into_an_echoing_cat_come_back_whole() {
        let bench = Bench::new().await;
        let session = ready(&bench, "echo ready; exec cat").await;
        let text = lines(10_000_000);
        let printed = as_printed(&text);
        let (session, output) = exchange(session, text, 2 * printed.len()).await;
        let count = |bytes: &[u8]| {
            let mut counts = [0u64; 256];
            for &byte in bytes {
                counts[usize::from(byte)] += 1;
            }
            counts
        };
        assert_eq!(count(&output), count(&printed).map(|count| 2 * count));
        bench.end(&session).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_echo_alone_is_exact() {
        let bench = Bench::new().await;
        let session = ready(&bench, "echo ready; exec cat >/dev/null").await;
        let text = lines(500_000);
        let printed = as_printed(&text);
        let (session, output) = exchange(session, text, printed.len()).await;
        assert!(output == printed, "the echo differs from what was typed");
        bench.end(&session).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_raw_child_gets_and_returns_every_byte() {
        let bench = Bench::new().await;
        let session = ready(&bench, "stty raw -echo; echo ready; exec cat").await;
        let mut text = lines(4_000_000);
        text.extend((0..=255u8).cycle().take(100_000));
        let (session, output) = exchange(session, text.clone(), text.len()).await;
        assert!(output == text, "the output differs from what was typed");
        bench.end(&session).await;
    }

    /// A byte-wise reader leaves the kernel's buffers full almost all the time, so a lost wake-up would show.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_slow_reader_gets_every_byte() {
        let bench = Bench::new().await;
        let session = ready(&bench, "stty raw -echo; echo ready; exec dd bs=1 2>/dev/null").await;
        let text = lines(100_000);
        let (session, output) = exchange(session, text.clone(), text.len()).await;
        assert!(output == text, "the output differs from what was typed");
        bench.end(&session).await;
    }

    #[tokio::test]
    async fn a_child_that_never_reads_blocks_only_the_writer() {
        let bench = Bench::new().await;
        let mut session = bench.shell(
            "stty raw -echo; trap 'echo alive' USR1; echo ready; while :; do sleep 1000 & wait $!; done",
        );
        session.until("ready").await;
        let text = vec![b'x'; 1 << 20];
        let mut typed = 0;
        let stuck = async {
            while typed < text.len() {
                typed += session.writer.write(&text[typed..]).await.expect("writable");
            }
        };
        // Nothing tells that a write will never return; that it has not by now is all that can be seen from here.
        assert!(timeout(Duration::from_millis(300), stuck).await.is_err(), "a megabyte vanished");
        assert!((1..65_536).contains(&typed), "{typed} bytes were taken");
        session.child.signal("USR1".parse().expect("a signal")).expect("sent");
        session.until("alive").await;
        session.control.resize(WindowSize { cols: 90, rows: 30 }).expect("resized");
        bench.end(&session).await;
    }

    /// Whoever selects between writing and reading cancels the write at every read, and a child that never stops printing
    /// must not keep such a writer waiting for ever.
    #[tokio::test]
    async fn a_flood_does_not_starve_a_writer_that_is_cancelled_by_it() {
        let bench = Bench::new().await;
        let mut session = ready(&bench, "yes & echo ready; exec cat >/dev/null").await;
        let text = lines(20_000);
        let mut rest = text.as_slice();
        within("room for input", async {
            while !rest.is_empty() {
                tokio::select! {
                    count = session.writer.write(rest) => rest = &rest[count.expect("writable")..],
                    bytes = session.reader.read() => assert!(bytes.expect("readable").is_some()),
                }
            }
        })
        .await;
        bench.end(&session).await;
    }
}

mod starting {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;

    use rustix::io::FdFlags;

    /// A directory of this test's own, removed at the end.
    struct Dir(PathBuf);

    impl Dir {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test needs some directory, and the system's is as good as any"
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
    async fn what_cannot_be_started_says_why() {
        let bench = Bench::new().await;
        let dir = Dir::new("refused");
        let plain = dir.file("plain", 0o644, "#!/bin/sh\n");
        let orphan = dir.file("orphan", 0o755, "#!/nonexistent/interpreter\n");
        let code = |launch: &Launch| match launch.spawn(&bench.reaper) {
            Ok(_) => panic!("{:?} started", launch.program),
            Err(error) => (error.shell_code(), error.to_string()),
        };
        let of = |path: &std::path::Path| launch(path.to_str().expect("UTF-8"), &[]);

        for program in ["no-such-command", "/no/such/command", "./no-such-command", "/etc/passwd/x", ""] {
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
            let error = elsewhere.spawn(&bench.reaper).err().expect("refused");
            assert!(matches!(error, LaunchError::WorkingDirectory { .. }), "{error}");
            assert!(error.to_string().contains(cwd), "{error}");
        }

        let nul = launch("true", &["a\0b"]).spawn(&bench.reaper).err().expect("refused");
        assert!(matches!(nul, LaunchError::Start(_)), "{nul}");
    }

    #[tokio::test]
    async fn the_program_is_found_by_the_childs_path_and_directory() {
        let bench = Bench::new().await;
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
            let mut session = bench.spawn(&launch);
            session.until("tool of the child").await;
            assert_eq!(session.exit().await, Exit::Code(0));
        }
    }

    #[tokio::test]
    async fn arguments_arrive_as_they_are() {
        let bench = Bench::new().await;
        let mut session = bench.spawn(&launch("printf", &["<%s>", "a b", "", "$HOME", "*", "'\"\\"]));
        let output = session.rest().await;
        assert_eq!(String::from_utf8_lossy(&output), "<a b><><$HOME><*><'\"\\>");
    }

    #[tokio::test]
    async fn the_environment_is_exactly_the_given_one() {
        let bench = Bench::new().await;
        let mut launch = launch("/usr/bin/env", &[]);
        launch.env =
            vec![("ONE".into(), "1".into()), ("EMPTY".into(), "".into()), ("ONE".into(), "2".into())];
        let output = bench.spawn(&launch).rest().await;
        let text = String::from_utf8_lossy(&output).into_owned();
        let mut variables: Vec<&str> = text.lines().collect();
        variables.sort_unstable();
        assert_eq!(variables, ["EMPTY=", "ONE=2"]);
    }

    #[tokio::test]
    async fn no_descriptor_leaks_into_the_child() {
        let bench = Bench::new().await;
        let file = std::fs::File::open("/dev/null").expect("/dev/null");
        // Unlike everything that Rust opens, a plain dup survives exec, as a descriptor that coop inherited would.
        let leaky = rustix::io::dup(&file).expect("a descriptor");
        assert!(leaky.as_raw_fd() > 3, "it would be taken for the directory that ls opens");
        let output = bench.spawn(&launch("ls", &["-1", "/proc/self/fd"])).rest().await;
        drop(leaky);
        let text = String::from_utf8_lossy(&output).into_owned();
        // The fourth is the directory that ls itself reads.
        assert_eq!(text.lines().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    }

    #[tokio::test]
    async fn descriptors_are_marked_one_by_one_where_the_kernel_cannot_mark_a_range() {
        let _bench = Bench::new().await;
        let file = std::fs::File::open("/dev/null").expect("/dev/null");
        let leaky = rustix::io::dup(&file).expect("a descriptor");
        assert_eq!(rustix::io::fcntl_getfd(&leaky), Ok(FdFlags::empty()));
        crate::pty::spawn::mark_each(leaky.as_raw_fd() + 1);
        assert_eq!(rustix::io::fcntl_getfd(&leaky), Ok(FdFlags::CLOEXEC));
        assert_eq!(rustix::io::fcntl_getfd(rustix::stdio::stdout()), Ok(FdFlags::empty()));
    }

    #[tokio::test]
    async fn ignored_signals_are_not_inherited() {
        let bench = Bench::new().await;
        // SAFETY: ignoring SIGWINCH, which this process has no use for, runs no code.
        unsafe { libc::signal(libc::SIGWINCH, libc::SIG_IGN) };
        let output = bench.spawn(&launch("cat", &["/proc/self/status"])).rest().await;
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
        let bench = Bench::new().await;
        let mut session = bench.shell("stty size; tty; echo controlled >/dev/tty; echo ready; read line");
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
        let bench = Bench::new().await;
        let mut session =
            bench.shell("trap 'stty size' WINCH; echo ready; while :; do sleep 1000 & wait $!; done");
        session.until("ready").await;
        session.control.resize(WindowSize { cols: 123, rows: 45 }).expect("resized");
        session.until("45 123").await;
        bench.end(&session).await;
    }
}

mod ending {
    use super::*;

    #[tokio::test]
    async fn exit_codes_and_signals_are_told_apart() {
        let bench = Bench::new().await;
        for (script, exit, shell_code) in [
            ("exit 0", Exit::Code(0), 0),
            ("exit 7", Exit::Code(7), 7),
            ("exit 255", Exit::Code(255), 255),
            ("kill -TERM $$", Exit::Signal(15), 143),
            ("kill -KILL $$", Exit::Signal(9), 137),
        ] {
            let session = bench.shell(script);
            assert_eq!(session.exit().await, exit, "{script}");
            assert_eq!(session.exit().await, exit, "{script}, asked again");
            assert_eq!(session.child.exit(), Some(exit));
            assert_eq!(exit.shell_code(), shell_code);
            assert!(matches!(session.child.signal(Signal::TERM), Err(SignalError::Exited)));
            assert!(matches!(
                session.child.signal_foreground(&session.control, Signal::TERM),
                Err(SignalError::Exited)
            ));
        }
    }

    #[tokio::test]
    async fn many_at_once_each_get_their_own_status() {
        let bench = Bench::new().await;
        let sessions: Vec<Session> = (0..40).map(|code| bench.shell(&format!("exit {code}"))).collect();
        for (code, session) in (0..).zip(&sessions) {
            assert_eq!(session.exit().await, Exit::Code(code));
        }
    }

    #[tokio::test]
    async fn output_written_before_the_exit_can_be_read_after_it() {
        let bench = Bench::new().await;
        let mut session = bench.shell("i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done; exit 3");
        assert_eq!(session.exit().await, Exit::Code(3));
        let expected: String = (0..500).map(|number| format!("{number}\r\n")).collect();
        assert_eq!(String::from_utf8_lossy(&session.rest().await), expected);
        assert_eq!(session.rest().await, b"", "the end stays the end");
    }

    #[tokio::test]
    async fn a_background_job_that_keeps_the_terminal_does_not_hide_the_exit() {
        let bench = Bench::new().await;
        let mut session = bench.shell("trap '' HUP; (read go <&0; sleep 1000) & echo job=$!; exit 5");
        let job = session.number("job").await;
        assert_eq!(session.exit().await, Exit::Code(5));
        assert!(Process::read(job).is_some(), "the job should be there still");
        let ended = session.child.terminate(Duration::from_millis(50), std::future::pending());
        let ended = within("the end", ended).await.expect("ended");
        assert_eq!(ended, Terminated { killed: true, survivors: vec![] });
        assert!(Process::read(job).is_none_or(|job| job.is_zombie()));
        session.rest().await;
    }

    #[tokio::test]
    async fn orphans_are_reaped_and_take_nobodys_status() {
        let bench = Bench::new().await;
        let mut session = bench
            .shell("(sleep 1000 & echo orphan=$!); (setsid sleep 1001 & echo stray=$!); read line; exit 7");
        let orphan = session.number("orphan").await;
        let stray = session.number("stray").await;
        for pid in [orphan, stray] {
            // It is one from the moment on at which the shell that started it has gone.
            let home = bench.reaper.home().pid;
            bench.until(|| Process::read(pid).is_some_and(|orphan| orphan.parent == home)).await;
            Process::read(pid).expect("alive").send(Signal::KILL).expect("sent");
            bench.until_gone(pid).await;
        }
        assert_eq!(session.child.exit(), None);
        session.type_all(b"\n").await;
        assert_eq!(session.exit().await, Exit::Code(7));
    }

    /// What coop starts for itself is waited for by whoever started it, however often the reaper sweeps meanwhile.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn helpers_of_our_own_are_left_to_their_owner() {
        let bench = Bench::new().await;
        let session = bench.shell("sleep 1000");
        let mut helper = std::process::Command::new("sh").args(["-c", "exit 9"]).spawn().expect("a helper");
        let pid = i32::try_from(helper.id()).expect("a pid");
        bench.until(|| Process::read(pid).is_some_and(|helper| helper.is_zombie())).await;
        for _ in 0..20 {
            assert_eq!(bench.shell("exit 1").exit().await, Exit::Code(1));
        }
        let mut living = std::process::Command::new("sleep").arg("1000").spawn().expect("a helper");
        bench.end(&session).await;
        assert_eq!(helper.wait().expect("its status").code(), Some(9));
        assert_eq!(living.try_wait().expect("its status"), None, "the tree's end is not the helper's");
        living.kill().expect("killed");
        living.wait().expect("its status");
    }

    #[tokio::test]
    async fn an_interactive_shell_goes_at_the_hangup() {
        let bench = Bench::new().await;
        let mut interactive = launch("bash", &["--norc", "--noprofile", "-i"]);
        interactive.env.push(("PS1".into(), "prompt> ".into()));
        let mut session = bench.spawn(&interactive);
        session.until("prompt> ").await;
        let ended =
            within("the end", session.child.terminate(LONG, std::future::pending())).await.expect("ended");
        assert_eq!(ended, Terminated { killed: false, survivors: vec![] });
        assert_eq!(session.child.exit(), Some(Exit::Signal(1)));
    }

    #[tokio::test]
    async fn who_ignores_the_hangup_is_killed_after_the_grace() {
        let bench = Bench::new().await;
        let mut session = bench.shell("trap '' HUP; echo ready; while :; do sleep 1000; done");
        session.until("ready").await;
        let ended = session.child.terminate(Duration::from_millis(100), std::future::pending());
        let ended = within("the end", ended).await.expect("ended");
        assert_eq!(ended, Terminated { killed: true, survivors: vec![] });
        assert_eq!(session.child.exit(), Some(Exit::Signal(9)));
    }

    #[tokio::test]
    async fn force_cuts_the_grace_short() {
        let bench = Bench::new().await;
        let mut session =
            bench.shell("trap 'echo hangup' HUP; echo ready; while :; do sleep 1000 & wait $!; done");
        session.until("ready").await;
        let (force, forced) = tokio::sync::oneshot::channel::<()>();
        let child = session.child.clone();
        let mut ending = JoinSet::new();
        ending.spawn(async move { child.terminate(LONG, async { forced.await.expect("forced") }).await });
        session.until("hangup").await;
        assert_eq!(session.child.exit(), None);
        force.send(()).expect("somebody waits");
        let ended = within("the end", ending.join_next()).await.expect("a task").expect("no panic");
        assert_eq!(ended.expect("ended"), Terminated { killed: true, survivors: vec![] });
        assert_eq!(session.child.exit(), Some(Exit::Signal(9)));
    }

    #[tokio::test]
    async fn who_left_the_session_or_lost_its_parent_goes_too() {
        let bench = Bench::new().await;
        let mut session = bench.shell(
            "echo; setsid sh -c 'trap \"\" HUP; echo away=$$; sleep 1000' &
             (setsid sh -c '(sleep 1001 & echo twice=$!)' &)
             (trap '' HUP; sleep 1002 & echo deaf=$!)
             read line; echo all; sleep 1003",
        );
        let mut pids = Vec::new();
        session.until_all(&["away=", "twice=", "deaf="]).await;
        // Whole lines, not only their beginnings, are there once something later is.
        session.type_all(b"\n").await;
        let text = session.until_all(&["all\r\n"]).await;
        for name in ["away", "twice", "deaf"] {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
            pids.push(line.expect(name).trim().parse::<i32>().expect("a pid"));
        }
        for &pid in &pids {
            assert!(Process::read(pid).is_some_and(|process| !process.is_zombie()), "{pid} in {text}");
        }
        let ended = session.child.terminate(Duration::from_millis(200), std::future::pending());
        let ended = within("the end", ended).await.expect("ended");
        assert_eq!(ended, Terminated { killed: true, survivors: vec![] });
        for pid in pids {
            bench.until_gone(pid).await;
        }
    }

    #[tokio::test]
    async fn a_stopped_child_hears_the_hangup() {
        let bench = Bench::new().await;
        let mut session = bench
            .shell("trap 'echo woken; exit 4' HUP; echo ready; kill -STOP $$; while :; do sleep 1000; done");
        session.until("ready").await;
        let pid = session.child.pid().as_raw_pid();
        bench.until(|| Process::read(pid).is_some_and(|child| child.is_stopped())).await;
        let ended =
            within("the end", session.child.terminate(LONG, std::future::pending())).await.expect("ended");
        assert!(!ended.killed);
        session.until("woken").await;
        assert_eq!(session.child.exit(), Some(Exit::Code(4)));
    }

    /// A process that cleans up because of the hangup may start others for it, and these must not be hung up on themselves.
    #[tokio::test]
    async fn cleaning_up_is_not_disturbed() {
        let bench = Bench::new().await;
        let mut session = bench.shell(
            "trap 'sh -c \"trap \\\"echo disturbed\\\" HUP; i=0; while [ \\$i -lt 20 ]; do sleep 0.01; i=\\$((i+1)); done; echo cleaned\"; exit 6' HUP
             echo ready; while :; do sleep 1000 & wait $!; done",
        );
        session.until("ready").await;
        let ended =
            within("the end", session.child.terminate(LONG, std::future::pending())).await.expect("ended");
        assert!(!ended.killed);
        let output = String::from_utf8_lossy(&session.rest().await).into_owned();
        assert!(output.contains("cleaned") && !output.contains("disturbed"), "{output}");
        assert_eq!(session.child.exit(), Some(Exit::Code(6)));
    }

    /// The tree grows faster than it can be looked at, until everybody in it is dead.
    #[tokio::test]
    async fn a_tree_that_keeps_forking_is_killed_to_the_last() {
        let bench = Bench::new().await;
        let mut session = bench
            .shell("trap '' HUP; echo ready; f() { while :; do (setsid sleep 5 &) ; done; }; f & f & wait");
        session.until("ready").await;
        let ended = session.child.terminate(Duration::from_millis(50), std::future::pending());
        let ended = within("the end", ended).await.expect("ended");
        assert_eq!(ended, Terminated { killed: true, survivors: vec![] });
        assert_eq!(session.child.signal_tree(Signal::CONT).expect("a look"), 0);
    }

    #[tokio::test]
    async fn a_living_sibling_is_not_touched() {
        let bench = Bench::new().await;
        let mut sibling = bench.shell("(sleep 1000 & echo orphan=$!); read line; exit 8");
        let orphan = sibling.number("orphan").await;
        let session = bench.shell("sleep 1000");
        bench.end(&session).await;
        assert_eq!(sibling.child.exit(), None);
        assert!(Process::read(orphan).is_some_and(|orphan| !orphan.is_zombie()));
        sibling.type_all(b"\n").await;
        assert_eq!(sibling.exit().await, Exit::Code(8));
        bench.end(&sibling).await;
        bench.until_gone(orphan).await;
    }

    #[tokio::test]
    async fn dropping_the_terminal_hangs_up() {
        let bench = Bench::new().await;
        let mut session = bench.shell("echo ready; while :; do sleep 1000; done");
        session.until("ready").await;
        let Session { child, reader, writer, control, .. } = session;
        drop((reader, writer, control));
        assert_eq!(within("the exit", child.wait()).await, Exit::Signal(1));
    }
}

mod signalling {
    use super::*;

    #[tokio::test]
    async fn the_foreground_job_gets_the_signal_and_the_shell_survives() {
        let bench = Bench::new().await;
        let mut interactive = launch("bash", &["--norc", "--noprofile", "-i"]);
        interactive.env.push(("PS1".into(), "prompt> ".into()));
        let mut session = bench.spawn(&interactive);
        session.until("prompt> ").await;
        session
            .type_all(b"sh -c 'trap \"echo inter\"\"rupted; exit 3\" INT; echo run\"\"ning; while :; do sleep 1000 & wait $!; done'\n")
            .await;
        session.until("running").await;
        assert_ne!(session.control.foreground_group(), Some(session.child.pid()));
        session.child.signal_foreground(&session.control, Signal::INT).expect("sent");
        session.until("interrupted").await;
        session.until("prompt> ").await;
        session.type_all(b"echo status=$?\n").await;
        session.until("\nstatus=").await;
        assert_eq!(session.child.exit(), None);
        bench.end(&session).await;
    }

    #[tokio::test]
    async fn a_child_in_the_foreground_gets_the_signal_with_its_group() {
        let bench = Bench::new().await;
        let mut session = bench.shell(
            "trap 'echo outer' INT; sh -c 'trap \"echo inner; exit\" INT; echo ready; while :; do sleep 1000 & wait $!; done'; read line",
        );
        session.until("ready").await;
        session.child.signal_foreground(&session.control, Signal::INT).expect("sent");
        session.until("inner").await;
        session.until("outer").await;
        bench.end(&session).await;
    }

    #[tokio::test]
    async fn the_whole_tree_gets_a_signal() {
        let bench = Bench::new().await;
        let mut session = bench.shell(
            "trap 'echo outer; exit 2' USR1
             setsid sh -c 'trap \"echo inner; exit\" USR1; echo ready; while :; do sleep 1000 & wait $!; done' &
             wait $!; sleep 1000 & wait $!",
        );
        session.until("ready").await;
        let reached = session.child.signal_tree("USR1".parse().expect("a signal")).expect("sent");
        assert!(reached >= 2, "{reached}");
        assert_eq!(session.exit().await, Exit::Code(2));
        session.until_all(&["inner", "outer"]).await;
        bench.end(&session).await;
    }
}
