//! Exit statuses, orphans, and the end of a whole tree.

use super::*;

#[tokio::test]
async fn exit_codes_and_signals_are_distinguished() {
    let fixture = Fixture::new().await;
    for (script, exit, shell_code) in [
        ("exit 0", Exit::Code(0), 0),
        ("exit 7", Exit::Code(7), 7),
        ("exit 255", Exit::Code(255), 255),
        ("kill -TERM $$", Exit::Signal(15), 143),
        ("kill -KILL $$", Exit::Signal(9), 137),
    ] {
        let session = fixture.shell(script);
        assert_eq!(session.exit().await, exit, "{script}");
        assert_eq!(session.exit().await, exit, "{script}, asked again");
        assert_eq!(session.child.exit(), Some(exit));
        assert_eq!(exit.shell_code(), shell_code);
        assert!(matches!(session.child.signal(Signal::TERM).await, Err(SignalError::Exited)));
        assert!(matches!(
            session.child.signal_foreground(&session.control, Signal::TERM).await,
            Err(SignalError::Exited)
        ));
    }
}

#[tokio::test]
async fn many_children_at_once_each_have_their_own_status() {
    let fixture = Fixture::new().await;
    let sessions: Vec<Session> =
        (0..40).map(|code| fixture.shell(&format!("exit {code}"))).collect();
    for (code, session) in (0..).zip(&sessions) {
        assert_eq!(session.exit().await, Exit::Code(code));
    }
}

#[tokio::test]
async fn output_written_before_the_exit_can_be_read_after_it() {
    let fixture = Fixture::new().await;
    let mut session =
        fixture.shell("i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done; exit 3");
    assert_eq!(session.exit().await, Exit::Code(3));
    let expected: String = (0..500).map(|number| format!("{number}\r\n")).collect();
    assert_eq!(String::from_utf8_lossy(&session.rest().await), expected);
    assert_eq!(session.rest().await, b"", "the end stays the end");
}

#[tokio::test]
async fn a_background_job_that_keeps_the_terminal_does_not_hide_the_exit() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell("trap '' HUP; (read go <&0; sleep 1000) & echo job=$!; exit 5");
    let job = session.number("job").await;
    assert_eq!(session.exit().await, Exit::Code(5));
    assert!(Process::read(job).is_some(), "the job has exited");
    let ended = session.child.terminate(Duration::from_millis(50), std::future::pending());
    let ended = within("the end", ended).await.expect("ended");
    assert_eq!(ended, Termination { killed: true, survivors: vec![] });
    assert!(Process::read(job).is_none_or(|job| job.is_zombie()));
    session.rest().await;
}

#[tokio::test]
async fn orphans_are_reaped_and_do_not_change_the_childs_status() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "(sleep 1000 & echo orphan=$!); (setsid sleep 1001 & echo stray=$!); read line; exit 7",
    );
    let orphan = session.number("orphan").await;
    let stray = session.number("stray").await;
    for pid in [orphan, stray] {
        // It becomes an orphan when the shell that started it exits.
        let coop = fixture.reaper.parent_pid().await.expect("a parent");
        fixture.until(|| Process::read(pid).is_some_and(|orphan| orphan.parent == coop)).await;
        Process::read(pid).expect("alive").send(Signal::KILL.kernel()).expect("sent");
        fixture.until_gone(pid).await;
    }
    assert_eq!(session.child.exit(), None);
    session.type_all(b"\n").await;
    assert_eq!(session.exit().await, Exit::Code(7));
}

/// The code that starts a helper waits for it, and the reaper leaves it alone in every sweep.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_reaper_leaves_helpers_of_coop_alone() {
    let fixture = Fixture::new().await;
    let session = fixture.shell("sleep 1000");
    let mut helper =
        std::process::Command::new("sh").args(["-c", "exit 9"]).spawn().expect("a helper");
    let pid = i32::try_from(helper.id()).expect("a pid");
    fixture.until(|| Process::read(pid).is_some_and(|helper| helper.is_zombie())).await;
    for _ in 0..20 {
        assert_eq!(fixture.shell("exit 1").exit().await, Exit::Code(1));
    }
    let mut living = std::process::Command::new("sleep").arg("1000").spawn().expect("a helper");
    fixture.end(&session).await;
    assert_eq!(helper.wait().expect("its status").code(), Some(9));
    assert_eq!(
        living.try_wait().expect("its status"),
        None,
        "ending the tree does not end the helper"
    );
    living.kill().expect("killed");
    living.wait().expect("its status");
}

#[tokio::test]
async fn an_interactive_shell_exits_at_the_hangup() {
    let fixture = Fixture::new().await;
    let mut interactive = launch("bash", &["--norc", "--noprofile", "-i"]);
    interactive.env.push(("PS1".into(), "prompt> ".into()));
    let mut session = fixture.spawn(&interactive);
    session.until("prompt> ").await;
    let ended = within("the end", session.child.terminate(LONG, std::future::pending()))
        .await
        .expect("ended");
    assert_eq!(ended, Termination { killed: false, survivors: vec![] });
    assert_eq!(session.child.exit(), Some(Exit::Signal(1)));
}

#[tokio::test]
async fn a_process_that_ignores_the_hangup_is_killed_after_the_grace_period() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell("trap '' HUP; echo ready; while :; do sleep 1000; done");
    session.until("ready").await;
    let ended = session.child.terminate(Duration::from_millis(100), std::future::pending());
    let ended = within("the end", ended).await.expect("ended");
    assert_eq!(ended, Termination { killed: true, survivors: vec![] });
    assert_eq!(session.child.exit(), Some(Exit::Signal(9)));
}

#[tokio::test]
async fn force_ends_the_grace_period() {
    let fixture = Fixture::new().await;
    let mut session =
        fixture.shell("trap 'echo hangup' HUP; echo ready; while :; do sleep 1000 & wait $!; done");
    session.until("ready").await;
    let (force, forced) = tokio::sync::oneshot::channel::<()>();
    let child = session.child.clone();
    let mut ending = JoinSet::new();
    ending
        .spawn(async move { child.terminate(LONG, async { forced.await.expect("forced") }).await });
    session.until("hangup").await;
    assert_eq!(session.child.exit(), None);
    force.send(()).expect("a receiver");
    let ended = within("the end", ending.join_next()).await.expect("a task").expect("no panic");
    assert_eq!(ended.expect("ended"), Termination { killed: true, survivors: vec![] });
    assert_eq!(session.child.exit(), Some(Exit::Signal(9)));
}

#[tokio::test]
async fn processes_that_left_the_session_or_lost_their_parent_are_ended_too() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "echo; setsid sh -c 'trap \"\" HUP; echo away=$$; sleep 1000' &
         (setsid sh -c '(sleep 1001 & echo twice=$!)' &)
         (trap '' HUP; sleep 1002 & echo deaf=$!)
         read line; echo all; sleep 1003",
    );
    let mut pids = Vec::new();
    session.until_all(&["away=", "twice=", "deaf="]).await;
    // Whole lines, not only their starts, have arrived once a later line has.
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
    assert_eq!(ended, Termination { killed: true, survivors: vec![] });
    for pid in pids {
        fixture.until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_stopped_child_gets_the_hangup() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "trap 'echo woken; exit 4' HUP; echo ready; kill -STOP $$; while :; do sleep 1000; done",
    );
    session.until("ready").await;
    let pid = session.child.pid().as_raw_pid();
    fixture
        .until(|| Process::read(pid).is_some_and(|child| child.state == ProcessState::Stopped))
        .await;
    let ended = within("the end", session.child.terminate(LONG, std::future::pending()))
        .await
        .expect("ended");
    assert!(!ended.killed);
    session.until("woken").await;
    assert_eq!(session.child.exit(), Some(Exit::Code(4)));
}

/// A process that cleans up because of the hangup may start processes for it, and these must get no
/// hangup.
#[tokio::test]
async fn a_cleanup_gets_no_hangup() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "trap 'sh -c \"trap \\\"echo disturbed\\\" HUP; i=0; while [ \\$i -lt 20 ]; do sleep 0.01; \
         i=\\$((i+1)); done; echo cleaned\"; exit 6' HUP
         echo ready; while :; do sleep 1000 & wait $!; done",
    );
    session.until("ready").await;
    let ended = within("the end", session.child.terminate(LONG, std::future::pending()))
        .await
        .expect("ended");
    assert!(!ended.killed);
    let output = String::from_utf8_lossy(&session.rest().await).into_owned();
    assert!(output.contains("cleaned") && !output.contains("disturbed"), "{output}");
    assert_eq!(session.child.exit(), Some(Exit::Code(6)));
}

/// The tree grows faster than it can be scanned, until every process in it is dead.
#[tokio::test]
async fn a_tree_that_keeps_forking_is_killed_completely() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell(
        "trap '' HUP; echo ready; f() { while :; do (setsid sleep 5 &) ; done; }; f & f & wait",
    );
    session.until("ready").await;
    let ended = session.child.terminate(Duration::from_millis(50), std::future::pending());
    let ended = within("the end", ended).await.expect("ended");
    assert_eq!(ended, Termination { killed: true, survivors: vec![] });
    assert_eq!(session.child.signal_tree(Signal::CONT).await.expect("a scan"), 0);
}

#[tokio::test]
async fn another_child_is_not_ended() {
    let fixture = Fixture::new().await;
    let mut sibling = fixture.shell("(sleep 1000 & echo orphan=$!); read line; exit 8");
    let orphan = sibling.number("orphan").await;
    let session = fixture.shell("sleep 1000");
    fixture.end(&session).await;
    assert_eq!(sibling.child.exit(), None);
    assert!(Process::read(orphan).is_some_and(|orphan| !orphan.is_zombie()));
    sibling.type_all(b"\n").await;
    assert_eq!(sibling.exit().await, Exit::Code(8));
    fixture.end(&sibling).await;
    fixture.until_gone(orphan).await;
}

#[tokio::test]
async fn dropping_the_terminal_hangs_up() {
    let fixture = Fixture::new().await;
    let mut session = fixture.shell("echo ready; while :; do sleep 1000; done");
    session.until("ready").await;
    let Session { child, reader, writer, control, .. } = session;
    drop((reader, writer, control));
    assert_eq!(within("the exit", child.wait()).await, Exit::Signal(1));
}
