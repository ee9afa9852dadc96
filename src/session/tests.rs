//! The rules of a session, checked on the actor without a runtime, a child or a clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use tokio::sync::{mpsc, oneshot};

use super::actor::{Actor, Effect, Input, Settings};
use super::agent::AgentStart;
use super::backend::BackendKind;
use super::by::By;
use super::child_spec::{ChildSpec, SpecChange};
use super::clock::Now;
use super::command::{Command, Sent, Typing};
use super::event::{EventKind, EventSeq, LeaseAction, LeaseEvent, RestartReason, ShutdownReason};
use super::handle::Session;
use super::lease::LeaseId;
use super::replies::ReplySender;
use super::scrollback_page::{ScrollbackRequest, ScrollbackStart};
use super::snapshot::{Process, Snapshot};
use crate::driver::agent::{AgentState, Situation};
use crate::error::{Code, Error};
use crate::mux::Multiplexer;
use crate::pty::{Exit, LaunchError, Signal};
use crate::term::{Head, Key, LineNumber, Offset, Screen, Size};

/// The caller of the tests' commands.
const ADA: By = By::Uid(7);

/// An actor, and the time it is given.
struct TestSession {
    actor: Actor,
    now: Now,
    effects: Vec<Effect>,
}

type Waiting<T> = oneshot::Receiver<Result<T, Error>>;

impl TestSession {
    /// A session whose first child runs.
    fn running() -> Self {
        Self::with(|_| {})
    }

    fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let mut test = Self::starting(adjust);
        test.send(Input::Started { pid: 7, agent: AgentStart::default() });
        test
    }

    /// A session whose first child is being started.
    fn starting(adjust: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            epoch_ms: 17,
            backend: BackendKind::Native,
            conversation: None,
            child_spec: ChildSpec {
                program: "/bin/sh".into(),
                args: vec![],
                cwd: "/".into(),
                env: BTreeMap::from([("A".into(), "1".into())]),
            },
            size: Size::new(80, 24).unwrap(),
            ring_bytes: 1 << 16,
            scrollback_lines: 100,
            linger: None,
            idle_timeout: None,
            agent: None,
        };
        adjust(&mut settings);
        let now = Now::read();
        let mut test = Self { actor: Actor::new(now, settings), now, effects: Vec::new() };
        test.effects = test.actor.start_first(None);
        test
    }

    fn send(&mut self, input: Input) {
        self.effects = self.actor.handle(self.now, input);
    }

    fn later(&mut self, duration: Duration) {
        self.now = self.now.after(duration);
        self.send(Input::Tick);
    }

    fn call<T>(&mut self, command: impl FnOnce(ReplySender<T>) -> Command) -> Waiting<T> {
        let (reply, waiting) = oneshot::channel();
        self.send(Input::Command(Sent { by: ADA, command: command(reply) }));
        waiting
    }

    fn type_text(&mut self, text: &str, lease: Option<LeaseId>) -> Waiting<usize> {
        let typing = Typing::Text { text: text.to_owned(), enter: false };
        self.call(|reply| Command::Type { typing, lease, reply })
    }

    fn output(&mut self, text: &'static str) {
        self.send(Input::Output(Bytes::from_static(text.as_bytes())));
    }

    fn restart(&mut self) -> Waiting<super::command::Replaced> {
        let (change, reason, grace) =
            (SpecChange::default(), RestartReason::Restart, Duration::from_secs(10));
        self.call(|reply| Command::Replace { change, reason, grace, reply })
    }

    fn shut_down(&mut self) -> Waiting<()> {
        let (reason, grace) = (ShutdownReason::Api, Duration::from_secs(10));
        self.call(|reply| Command::Shutdown { reason, grace, reply })
    }

    fn snapshot(&self) -> std::sync::Arc<Snapshot> {
        self.actor.published().snapshot.load_full()
    }

    fn events(&self) -> Vec<EventKind> {
        let batch = self.actor.published().events.read_after(EventSeq(0), 1000);
        batch.events.iter().map(|event| event.kind.clone()).collect()
    }

    fn head(&self) -> Head {
        self.actor.published().output.head()
    }

    fn finished(&self) -> Option<Exit> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Finish(Ok(exit)) => Some(*exit),
            _ => None,
        })
    }

    fn starts(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Start { .. }))
    }

    fn stop(&mut self) {
        let (reason, grace) = (ShutdownReason::Api, Duration::from_secs(10));
        let _replied = self.call(|reply| Command::Shutdown { reason, grace, reply });
    }

    fn terminates(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Terminate { .. }))
    }
}

fn code<T: std::fmt::Debug>(waiting: &mut Waiting<T>) -> Code {
    waiting.try_recv().expect("answered").expect_err("refused").code
}

#[test]
fn a_started_child_is_running_and_ready() {
    let test = TestSession::running();
    assert_eq!(test.snapshot().process, Process::Running { pid: 7 });
    assert!(test.snapshot().ready());
    assert!(matches!(
        &test.events()[..],
        [EventKind::State(change)] if change.next == Situation::Unknown
    ));
}

#[test]
fn a_reply_comes_after_the_new_state_is_published() {
    let mut test = TestSession::running();
    let size = Size::new(100, 30).unwrap();
    let mut done = test.call(|reply| Command::Resize { size, lease: None, reply });
    done.try_recv().unwrap().unwrap();
    assert_eq!(test.snapshot().size, size);
    assert!(matches!(test.effects[..], [Effect::Resize(resized)] if resized == size));
    assert!(matches!(test.events().last(), Some(EventKind::Resize(resized)) if *resized == size));
}

#[test]
fn a_resize_to_the_same_size_is_not_an_event() {
    let mut test = TestSession::running();
    let before = test.events().len();
    let size = Size::new(80, 24).unwrap();
    test.call(|reply| Command::Resize { size, lease: None, reply }).try_recv().unwrap().unwrap();
    assert!(test.effects.is_empty());
    assert_eq!(test.events().len(), before);
}

#[test]
fn typing_honours_the_modes_of_the_program() {
    let mut test = TestSession::running();
    let keys = || vec![Key::parse("Up").unwrap()];
    let type_key = |test: &mut TestSession| {
        let typing = Typing::Keys(keys());
        let _waiting = test.call(|reply| Command::Type { typing, lease: None, reply });
        let bytes = test.actor.next_write().unwrap().to_vec();
        test.send(Input::Wrote(bytes.len()));
        bytes
    };
    assert_eq!(type_key(&mut test), b"\x1b[A");
    test.output("\x1b[?1h");
    assert_eq!(type_key(&mut test), b"\x1bOA");
    test.output("\x1b[?2004h");
    let _waiting = test.type_text("one\ntwo", None);
    assert_eq!(test.actor.next_write().unwrap(), b"\x1b[200~one\rtwo\x1b[201~");
}

#[test]
fn a_query_gets_one_reply_between_writes() {
    let mut test = TestSession::running();
    test.output("\x1b[6n");
    assert_eq!(test.actor.next_write(), Some(&b"\x1b[1;1R"[..]));
    test.send(Input::Wrote(6));
    assert_eq!(test.actor.next_write(), None);
}

#[test]
fn without_the_lease_only_signals_are_allowed() {
    let mut test = TestSession::running();
    let fresh = LeaseId("mine".into());
    let ttl = Duration::from_secs(30);
    let mut granted = test.call(|reply| Command::AcquireLease {
        shown: None,
        fresh,
        holder: Some("ada".into()),
        ttl,
        reply,
    });
    let lease = granted.try_recv().unwrap().unwrap().id;
    assert_eq!(code(&mut test.type_text("x", None)), Code::WriterBusy);
    let size = Size::new(10, 10).unwrap();
    assert_eq!(
        code(&mut test.call(|reply| Command::Resize { size, lease: None, reply })),
        Code::WriterBusy
    );
    assert_eq!(test.actor.next_write(), None);
    let _signal = test.call(|reply| Command::Signal { signal: Signal::INT, reply });
    assert!(matches!(test.effects[..], [Effect::Signal { signal: Signal::INT, .. }]));
    let _typed = test.type_text("x", Some(lease));
    assert_eq!(test.actor.next_write(), Some(&b"x"[..]));
}

#[test]
fn after_the_exit_reads_work_and_writes_are_refused() {
    let mut test = TestSession::running();
    test.output("bye");
    let mut waiting = test.type_text("never read", None);
    test.send(Input::ChildExited(Exit::Code(3)));
    assert_eq!(code(&mut waiting), Code::Exited);
    assert_eq!(code(&mut test.type_text("x", None)), Code::Exited);
    test.send(Input::OutputEnded);
    assert_eq!(test.snapshot().process, Process::Exited(Exit::Code(3)));
    assert_eq!(test.head(), Head::Ended(Offset(3)));
    assert!(matches!(test.events().last(), Some(EventKind::Exit { exit: Exit::Code(3), .. })));
    let mut view = test.call(|reply| Command::Screen { reply });
    assert_eq!(view.try_recv().unwrap().unwrap().screen.line(0), Some("bye"));
    assert_eq!(test.actor.next_write(), None, "nothing is kept for a later child");
    assert_eq!(test.finished(), None, "coop lingers");
}

#[test]
fn output_after_the_exit_is_awaited_for_a_limited_time() {
    let mut test = TestSession::running();
    test.send(Input::ChildExited(Exit::Code(0)));
    assert_eq!(test.snapshot().process, Process::Running { pid: 7 }, "more output may come");
    test.later(Duration::from_millis(150));
    test.output("last words");
    test.later(Duration::from_millis(150));
    assert_eq!(test.head(), Head::Live(Offset(10)), "it spoke 150 ms ago");
    test.later(Duration::from_millis(50));
    assert_eq!(test.head(), Head::Ended(Offset(10)));
    assert!(test.effects.iter().any(|effect| matches!(effect, Effect::CloseTerminal)));
}

#[test]
fn a_background_job_does_not_delay_the_exit() {
    let mut test = TestSession::running();
    test.send(Input::ChildExited(Exit::Code(0)));
    for _ in 0..20 {
        test.later(Duration::from_millis(100));
        test.output("noise");
    }
    assert_eq!(test.snapshot().process, Process::Exited(Exit::Code(0)));
}

#[test]
fn without_linger_coop_ends_with_its_child() {
    let mut test = TestSession::with(|settings| settings.linger = Some(Duration::ZERO));
    test.send(Input::ChildExited(Exit::Signal(9)));
    test.send(Input::OutputEnded);
    assert!(test.terminates(), "the remaining processes of the child are terminated too");
    assert!(matches!(test.events().last(), Some(EventKind::Shutdown(ShutdownReason::ChildExit))));
    test.send(Input::Terminated { survivor: None });
    assert_eq!(test.finished(), Some(Exit::Signal(9)));
}

#[test]
fn linger_ends_after_its_time() {
    let mut test = TestSession::with(|settings| settings.linger = Some(Duration::from_secs(5)));
    test.send(Input::ChildExited(Exit::Code(0)));
    test.send(Input::OutputEnded);
    assert!(!test.terminates());
    assert_eq!(test.actor.deadline(), Some(test.now.after(Duration::from_secs(5)).steady));
    test.later(Duration::from_secs(5));
    assert!(test.terminates());
}

#[test]
fn a_shutdown_refuses_writes_and_ends_when_the_process_tree_is_gone() {
    let mut test = TestSession::running();
    let mut waiting = test.type_text("unread", None);
    test.shut_down().try_recv().unwrap().unwrap();
    assert!(test.terminates());
    assert!(matches!(test.events().last(), Some(EventKind::Shutdown(ShutdownReason::Api))));
    assert_eq!(code(&mut waiting), Code::NotReady);
    assert_eq!(code(&mut test.type_text("x", None)), Code::NotReady);
    assert_eq!(code(&mut test.restart()), Code::NotReady);
    test.send(Input::ChildExited(Exit::Signal(1)));
    test.send(Input::Terminated { survivor: None });
    assert_eq!(test.finished(), None, "its output is not in yet");
    test.send(Input::OutputEnded);
    assert_eq!(test.finished(), Some(Exit::Signal(1)));
}

#[test]
fn a_second_shutdown_skips_the_grace() {
    let mut test = TestSession::running();
    test.shut_down();
    test.shut_down();
    assert!(matches!(test.effects[..], [Effect::SkipGrace]));
}

#[test]
fn a_restart_keeps_readers_offsets_and_numbers() {
    let mut test = TestSession::running();
    test.output("first");
    let seq = test.snapshot().event_seq;
    let mut restarted = test.restart();
    assert!(test.terminates());
    assert_eq!(test.snapshot().process, Process::Starting);
    assert_eq!(test.snapshot().agent.state(), AgentState::Restarting);
    assert_eq!(code(&mut test.type_text("x", None)), Code::NotReady);
    assert_eq!(code(&mut test.restart()), Code::SwitchInProgress);
    test.send(Input::ChildExited(Exit::Signal(1)));
    test.send(Input::OutputEnded);
    assert_eq!(test.head(), Head::Live(Offset(5)), "a restart does not end the output");
    test.send(Input::Terminated { survivor: None });
    assert!(test.starts());
    test.send(Input::Started { pid: 8, agent: AgentStart::default() });
    let replaced = restarted.try_recv().unwrap().unwrap();
    assert_eq!((replaced.pid, replaced.offset, replaced.generation.0), (8, Offset(5), 2));
    assert_eq!(test.snapshot().generation.0, 2);
    assert!(test.snapshot().event_seq > seq);
    assert!(
        !test.events().iter().any(|what| matches!(what, EventKind::Exit { .. })),
        "the exit of a replaced child is not an event"
    );
    test.output("second");
    assert_eq!(test.head(), Head::Live(Offset(11)));
    let mut view = test.call(|reply| Command::Screen { reply });
    assert_eq!(view.try_recv().unwrap().unwrap().screen.line(0), Some("second"), "a fresh screen");
}

#[test]
fn a_session_can_be_restarted_after_the_exit() {
    let mut test = TestSession::running();
    test.send(Input::ChildExited(Exit::Code(0)));
    test.send(Input::OutputEnded);
    let mut restarted = test.restart();
    test.send(Input::Terminated { survivor: None });
    assert!(test.starts());
    test.send(Input::Started { pid: 9, agent: AgentStart::default() });
    assert!(restarted.try_recv().unwrap().is_ok());
    assert_eq!(test.head(), Head::Live(Offset(0)), "readers go on");
}

#[test]
fn a_switch_that_fails_to_start_restarts_the_old_command() {
    let mut test = TestSession::running();
    let change = SpecChange { command: vec!["/no/interpreter".into()], ..SpecChange::default() };
    let (reason, grace) = (RestartReason::Switch, Duration::ZERO);
    let mut refused = test.call(|reply| Command::Replace { change, reason, grace, reply });
    test.send(Input::ChildExited(Exit::Code(0)));
    test.send(Input::OutputEnded);
    test.send(Input::Terminated { survivor: None });
    assert!(test.starts());
    test.send(Input::StartFailed(crate::pty::LaunchError::NotFound("interpreter".into())));
    assert_eq!(code(&mut refused), Code::Internal, "the child was replaced");
    assert!(
        matches!(&test.effects[..], [Effect::Start { launch, .. }] if launch.program == "/bin/sh")
    );
    test.send(Input::Started { pid: 9, agent: AgentStart::default() });
    assert_eq!(test.snapshot().process, Process::Running { pid: 9 });
    assert!(
        test.events()
            .iter()
            .any(|what| matches!(what, EventKind::Restart(restart) if restart.pid == 9))
    );
}

#[test]
fn a_child_that_ignores_every_signal_does_not_prevent_the_end() {
    let mut test = TestSession::running();
    test.shut_down();
    test.send(Input::Terminated { survivor: Some(7) });
    assert!(test.effects.iter().any(|effect| matches!(effect, Effect::CloseTerminal)));
    assert_eq!(test.finished(), Some(Exit::Unknown));
}

#[test]
fn a_child_that_cannot_be_ended_is_not_replaced() {
    let mut test = TestSession::running();
    let mut restarted = test.restart();
    test.send(Input::Terminated { survivor: Some(7) });
    assert!(test.effects.iter().any(|effect| matches!(effect, Effect::CloseTerminal)));
    test.later(Duration::from_millis(1999));
    assert_eq!(test.snapshot().process, Process::Starting, "its terminal was closed");
    test.later(Duration::from_millis(1));
    assert_eq!(code(&mut restarted), Code::Internal);
    assert_eq!(test.snapshot().process, Process::Running { pid: 7 }, "no exit is made up");
    assert!(!test.starts());
    test.send(Input::ChildExited(Exit::Code(0)));
    assert_eq!(test.snapshot().process, Process::Exited(Exit::Code(0)));

    // The exit that the closed terminal causes lets the restart go on.
    let mut test = TestSession::running();
    let _restarted = test.restart();
    test.send(Input::Terminated { survivor: Some(7) });
    test.send(Input::ChildExited(Exit::Signal(1)));
    assert!(test.starts());
}

#[test]
fn a_restart_that_fails_is_published_as_an_exit() {
    let mut test = TestSession::running();
    let mut restarted = test.restart();
    test.send(Input::ChildExited(Exit::Code(0)));
    test.send(Input::OutputEnded);
    test.send(Input::Terminated { survivor: None });
    test.send(Input::StartFailed(crate::pty::LaunchError::NotFound("gone".into())));
    assert_eq!(code(&mut restarted), Code::Internal, "the child was ended");
    assert_eq!(test.snapshot().process, Process::Exited(Exit::Code(127)));
    assert_eq!(test.head(), Head::Ended(Offset(0)));
}

#[test]
fn a_survived_sigterm_is_followed_by_a_hangup_once() {
    let mut test = TestSession::running();
    let _sent = test.call(|reply| Command::Signal { signal: Signal::TERM, reply });
    test.later(Duration::from_millis(999));
    assert!(test.effects.is_empty());
    test.later(Duration::from_millis(1));
    assert!(matches!(test.effects[..], [Effect::Signal { signal: Signal::HUP, .. }]));
    test.later(Duration::from_secs(5));
    assert!(test.effects.is_empty());
}

#[test]
fn without_a_driver_idle_means_no_input_and_no_output() {
    let mut test =
        TestSession::with(|settings| settings.idle_timeout = Some(Duration::from_secs(10)));
    test.later(Duration::from_secs(9));
    test.output("still here");
    test.later(Duration::from_secs(9));
    let _typed = test.type_text("me too", None);
    test.later(Duration::from_secs(9));
    assert!(!test.terminates());
    test.later(Duration::from_secs(1));
    assert!(test.terminates());
    assert!(matches!(test.events().last(), Some(EventKind::Shutdown(ShutdownReason::IdleTimeout))));
}

#[test]
fn a_variable_is_set_for_the_next_child() {
    let mut test = TestSession::running();
    let put = |key: &str| {
        let (key, value) = (key.to_owned(), "2".to_owned());
        move |reply| Command::PutEnv { key, value, reply }
    };
    test.call(put("B")).try_recv().unwrap().unwrap();
    test.call(|reply| Command::DeleteEnv { key: "A".into(), reply }).try_recv().unwrap().unwrap();
    let mut missing = test.call(|reply| Command::DeleteEnv { key: "A".into(), reply });
    assert_eq!(code(&mut missing), Code::NotFound);
    let env = test.call(|reply| Command::GetEnv { reply }).try_recv().unwrap().unwrap();
    assert_eq!(*env, BTreeMap::from([("B".to_owned(), "2".to_owned())]));
    test.restart();
    test.send(Input::ChildExited(Exit::Code(0)));
    test.send(Input::OutputEnded);
    test.send(Input::Terminated { survivor: None });
    let started = test.effects.iter().find_map(|effect| match effect {
        Effect::Start { launch, .. } => Some(launch.env.clone()),
        _ => None,
    });
    assert_eq!(started, Some(vec![("B".into(), "2".into())]));
}

#[test]
fn a_variable_that_is_set_during_a_restart_reaches_the_new_child() {
    let mut test = TestSession::running();
    let _restarted = test.restart();
    test.call(|reply| Command::PutEnv { key: "LATE".into(), value: "yes".into(), reply });
    test.call(|reply| Command::DeleteEnv { key: "A".into(), reply });
    test.send(Input::ChildExited(Exit::Signal(1)));
    test.send(Input::OutputEnded);
    test.send(Input::Terminated { survivor: None });
    let launch = test.effects.iter().find_map(|effect| match effect {
        Effect::Start { launch, .. } => Some(launch.env.clone()),
        _ => None,
    });
    assert_eq!(launch, Some(vec![("LATE".into(), "yes".into())]));
    test.send(Input::Started { pid: 8, agent: AgentStart::default() });
    let mut env = test.call(|reply| Command::GetEnv { reply });
    assert_eq!(env.try_recv().unwrap().unwrap().keys().collect::<Vec<_>>(), ["LATE"]);
}

#[test]
fn a_shutdown_during_a_restart_uses_its_own_grace() {
    let mut test = TestSession::running();
    let mut restarted = test.restart();
    let (reason, grace) = (ShutdownReason::Api, Duration::from_millis(5));
    test.call(|reply| Command::Shutdown { reason, grace, reply });
    assert_eq!(code(&mut restarted), Code::NotReady);
    assert!(matches!(test.effects[..], [Effect::Terminate { grace: given }] if given == grace));
    test.send(Input::ChildExited(Exit::Signal(9)));
    test.send(Input::OutputEnded);
    test.send(Input::Terminated { survivor: None });
    assert_eq!(test.finished(), Some(Exit::Signal(9)));
}

#[test]
fn scrollback_pages_by_line_and_never_reuses_a_number() {
    let mut test = TestSession::with(|settings| settings.scrollback_lines = 10);
    for n in 0..40 {
        test.send(Input::Output(format!("line {n}\r\n").into()));
    }
    // 40 lines and the cursor's own row on 24 rows: 17 have scrolled off, 10 are kept.
    let mut page = |start, limit_bytes| {
        let page = ScrollbackRequest { start, ansi: false, limit_bytes };
        test.call(|reply| Command::Scrollback { request: page, reply }).try_recv().unwrap().unwrap()
    };
    let all = page(ScrollbackStart::Oldest, usize::MAX);
    assert_eq!((all.first, all.next, all.total), (LineNumber(7), LineNumber(17), LineNumber(17)));
    assert_eq!(all.lines.first().map(String::as_str), Some("line 7"));
    let some = page(ScrollbackStart::Line(LineNumber(9)), 20);
    assert_eq!(some.lines, ["line 9", "line 10"]);
    assert_eq!(some.next, LineNumber(11));
    assert_eq!(page(ScrollbackStart::Last(2), usize::MAX).lines, ["line 15", "line 16"]);
    assert_eq!(
        page(ScrollbackStart::Line(LineNumber(3)), usize::MAX).first,
        LineNumber(7),
        "dropped lines are skipped"
    );
    assert!(page(ScrollbackStart::Line(LineNumber(99)), usize::MAX).lines.is_empty());
    assert_eq!(page(ScrollbackStart::Oldest, 1).lines.len(), 1, "one line always fits");
}

/// A session that is attached to a tmux pane.
fn attached() -> TestSession {
    TestSession::with(|settings| settings.backend = BackendKind::Attached(Multiplexer::Tmux))
}

#[test]
fn an_attached_session_requests_a_size_and_takes_the_one_it_gets() {
    let mut test = attached();
    let size = Size::new(100, 30).unwrap();
    let mut done = test.call(|reply| Command::Resize { size, lease: None, reply });
    assert_eq!(test.snapshot().size, Size::new(80, 24).unwrap());
    let [Effect::RequestResize { size: requested, reply }] =
        <[Effect; 1]>::try_from(std::mem::take(&mut test.effects)).expect("one effect")
    else {
        panic!("no size was requested")
    };
    assert_eq!(requested, size);
    let seen = Size::new(90, 30).unwrap();
    test.send(Input::Captured { size: seen, paint: Bytes::from_static(b"\x1b[H\x1b[2Jhello") });
    assert_eq!(test.snapshot().size, seen);
    assert!(matches!(test.events().last(), Some(EventKind::Resize(resized)) if *resized == seen));
    let refused = Error::new(Code::Unsupported, "it stays");
    test.send(Input::Resized { result: Err(refused), reply: Some(reply) });
    assert_eq!(code(&mut done), Code::Unsupported);
}

#[test]
fn an_attached_program_is_neither_hung_up_nor_terminated() {
    let mut test = attached();
    let _sent = test.call(|reply| Command::Signal { signal: Signal::TERM, reply });
    test.later(Duration::from_secs(5));
    assert!(test.effects.is_empty());
    let mut typed = test.type_text("late", None);
    test.shut_down().try_recv().unwrap().unwrap();
    assert_eq!(test.finished(), Some(Exit::Code(0)));
    assert!(!test.terminates());
    assert_eq!(code(&mut typed), Code::NotReady);
    assert!(matches!(test.events().last(), Some(EventKind::Shutdown(ShutdownReason::Api))));
    assert!(
        !test.events().iter().any(|what| matches!(what, EventKind::Exit { .. })),
        "it has not exited"
    );
    assert!(matches!(test.head(), Head::Ended(_)));
}

#[test]
fn the_exit_of_an_attached_program_is_published_and_lingers() {
    let mut test = attached();
    test.send(Input::ChildExited(Exit::Code(3)));
    test.send(Input::OutputEnded);
    assert_eq!(test.snapshot().process, Process::Exited(Exit::Code(3)));
    test.shut_down().try_recv().unwrap().unwrap();
    assert_eq!(test.finished(), Some(Exit::Code(3)));
}

/// A handle to the session, and the commands that its callers send.
fn handle(test: &TestSession) -> (Session, mpsc::Receiver<Sent>) {
    let (sender, commands) = mpsc::channel(8);
    (Session::new(sender, test.actor.published(), None, 17), commands)
}

fn take_screen(test: &mut TestSession) -> Arc<Screen> {
    let mut reply = test.call(|reply| Command::Screen { reply });
    reply.try_recv().expect("a reply").expect("a screen").screen
}

#[test]
fn an_unchanged_screen_is_read_without_a_turn_of_the_actor() {
    let mut test = TestSession::running();
    let (session, mut commands) = handle(&test);
    assert!(session.screen().now_or_never().is_none(), "no reader has asked for one yet");
    assert!(matches!(commands.try_recv(), Ok(Sent { command: Command::Screen { .. }, .. })));
    test.output("one");
    let taken = take_screen(&mut test);
    let view = session.screen().now_or_never().expect("no turn").expect("a screen");
    assert!(Arc::ptr_eq(&view.screen, &taken), "all readers share it");
    assert_eq!(view.event_seq, session.snapshot().event_seq);
    assert!(commands.try_recv().is_err(), "the actor was not asked");
    test.output("two");
    assert!(session.screen().now_or_never().is_none(), "it has changed");
    assert!(matches!(commands.try_recv(), Ok(Sent { command: Command::Screen { .. }, .. })));
}

#[test]
fn streams_share_one_screen_for_each_frame() {
    let mut test = TestSession::running();
    let (session, mut commands) = handle(&test);
    let hour = Duration::from_secs(3600);
    test.output("one");
    let taken = take_screen(&mut test);
    test.output("two");
    let view = session.frame(hour, None).now_or_never().expect("no turn").expect("a screen");
    assert!(Arc::ptr_eq(&view.screen, &taken), "it is less than one frame old");
    assert!(commands.try_recv().is_err());
    let shown = Some(taken.seq());
    assert!(session.frame(hour, shown).now_or_never().is_none(), "the stream has shown it");
    assert!(session.frame(Duration::ZERO, None).now_or_never().is_none(), "the frame is over");
}

#[test]
fn while_the_first_child_starts_only_reads_are_allowed() {
    let mut test = TestSession::starting(|_| {});
    assert!(test.starts());
    assert_eq!(code(&mut test.type_text("x", None)), Code::NotReady);
    let mut restarted = test.call(|reply| Command::Replace {
        change: SpecChange::default(),
        reason: RestartReason::Restart,
        grace: Duration::ZERO,
        reply,
    });
    assert_eq!(code(&mut restarted), Code::NotReady);
    assert_eq!(test.snapshot().process, Process::Starting);
    take_screen(&mut test);
}

#[test]
fn a_first_child_that_cannot_be_started_ends_the_session_with_the_error() {
    let mut test = TestSession::starting(|_| {});
    test.send(Input::StartFailed(LaunchError::NotFound("sh".into())));
    assert!(matches!(test.effects[..], [Effect::Finish(Err(LaunchError::NotFound(_)))]));
}

#[test]
fn a_shutdown_cancels_the_start_and_ends_when_it_is_cancelled() {
    let mut test = TestSession::starting(|_| {});
    test.stop();
    assert!(matches!(test.effects[..], [Effect::CancelStart]));
    test.send(Input::StartFailed(LaunchError::Cancelled));
    assert_eq!(test.finished(), Some(Exit::Code(0)));
}

#[test]
fn a_second_shutdown_does_not_wait_for_the_start() {
    let mut test = TestSession::starting(|_| {});
    test.stop();
    test.stop();
    assert_eq!(test.finished(), Some(Exit::Code(0)));
}

#[test]
fn a_child_that_starts_after_the_shutdown_is_terminated() {
    let mut test = TestSession::starting(|_| {});
    test.stop();
    test.send(Input::Started { pid: 7, agent: AgentStart::default() });
    assert!(test.terminates());
    test.send(Input::ChildExited(Exit::Signal(1)));
    test.send(Input::OutputEnded);
    test.send(Input::Terminated { survivor: None });
    assert_eq!(test.finished(), Some(Exit::Signal(1)));
}

/// Who caused each event of this kind.
fn callers(test: &TestSession, wanted: fn(&EventKind) -> bool) -> Vec<Option<By>> {
    let batch = test.actor.published().events.read_after(EventSeq(0), 1000);
    let events = batch.events.iter().filter(|event| wanted(&event.kind));
    events.map(|event| event.by.clone()).collect()
}

#[test]
fn a_lease_that_runs_out_is_ended_by_coop_and_its_holder_is_named() {
    let mut test = TestSession::running();
    let acquired = |reply| Command::AcquireLease {
        shown: None,
        fresh: LeaseId("l".into()),
        holder: None,
        ttl: Duration::from_secs(5),
        reply,
    };
    let _granted = test.call(acquired);
    assert_eq!(test.actor.deadline(), Some(test.now.after(Duration::from_secs(5)).steady));
    test.later(Duration::from_secs(5));
    let expired = LeaseEvent { action: LeaseAction::Expired, holder: ADA };
    assert_eq!(test.events().last(), Some(&EventKind::Lease(expired)));
    let leases = callers(&test, |kind| matches!(kind, EventKind::Lease(_)));
    assert_eq!(leases, [Some(ADA), Some(By::Coop)]);
    assert_eq!(test.actor.deadline(), None);
}

#[test]
fn an_idle_timeout_is_a_shutdown_by_coop() {
    let mut test =
        TestSession::with(|settings| settings.idle_timeout = Some(Duration::from_secs(5)));
    test.later(Duration::from_secs(5));
    let shutdowns = callers(&test, |kind| matches!(kind, EventKind::Shutdown(_)));
    assert_eq!(shutdowns, [Some(By::Coop)]);
}

#[test]
fn the_size_that_a_multiplexer_gives_is_by_the_caller_that_asked_for_it() {
    let mut test = attached();
    let (asked, own) = (Size::new(70, 20).unwrap(), Size::new(71, 20).unwrap());
    let _waiting = test.call(|reply| Command::Resize { size: asked, lease: None, reply });
    for size in [asked, own] {
        test.send(Input::Captured { size, paint: Bytes::new() });
    }
    let sizes = callers(&test, |kind| matches!(kind, EventKind::Resize(_)));
    assert_eq!(sizes.iter().rev().take(2).collect::<Vec<_>>(), [&None, &Some(ADA)]);
}
