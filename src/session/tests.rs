//! The rules of a session's life, told to the actor without a runtime, a child or a clock.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::actor::{Actor, Effect, Input, Settings};
use super::backend::Backend;
use super::clock::Now;
use super::command::{Command, Typing};
use super::event::{EventSeq, RestartReason, ShutdownReason, What};
use super::lease::LeaseId;
use super::outbox::Answer;
use super::page::{PageRequest, PageStart};
use super::recipe::{Change, Recipe};
use super::snapshot::{Process, Snapshot};
use crate::driver::agent::{AgentState, Situation};
use crate::error::{Code, Error};
use crate::pty::attach::Host;
use crate::pty::{Exit, Signal};
use crate::term::{Head, Key, LineNumber, Offset, Size};

/// An actor, and the time it is told.
struct Stage {
    actor: Actor,
    now: Now,
    effects: Vec<Effect>,
}

type Waiting<T> = oneshot::Receiver<Result<T, Error>>;

impl Stage {
    /// A session whose first child runs.
    fn running() -> Self {
        Self::with(|_| {})
    }

    fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            epoch_ms: 17,
            backend: Backend::Native,
            recipe: Recipe {
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
            attendance: None,
        };
        adjust(&mut settings);
        let now = Now::read();
        let mut stage = Self { actor: Actor::new(now, settings), now, effects: Vec::new() };
        stage.tell(Input::Started { pid: 7, prints_json: false, unheard: None });
        stage
    }

    fn tell(&mut self, input: Input) {
        self.effects = self.actor.handle(self.now, input);
    }

    fn later(&mut self, duration: Duration) {
        self.now = self.now.after(duration);
        self.tell(Input::Tick);
    }

    fn ask<T>(&mut self, command: impl FnOnce(Answer<T>) -> Command) -> Waiting<T> {
        let (answer, waiting) = oneshot::channel();
        self.tell(Input::Command(command(answer)));
        waiting
    }

    fn type_text(&mut self, text: &str, lease: Option<LeaseId>) -> Waiting<usize> {
        let typing = Typing::Text { text: text.to_owned(), enter: false };
        self.ask(|answer| Command::Type { typing, lease, answer })
    }

    fn output(&mut self, text: &'static str) {
        self.tell(Input::Output(Bytes::from_static(text.as_bytes())));
    }

    fn restart(&mut self) -> Waiting<super::command::Replaced> {
        let (change, reason, grace) = (Change::default(), RestartReason::Restart, Duration::from_secs(10));
        self.ask(|answer| Command::Replace { change, reason, grace, answer })
    }

    fn shut_down(&mut self) -> Waiting<()> {
        let (reason, grace) = (ShutdownReason::Api, Duration::from_secs(10));
        self.ask(|answer| Command::Shutdown { reason, grace, answer })
    }

    fn snapshot(&self) -> std::sync::Arc<Snapshot> {
        self.actor.shared().snapshot.load_full()
    }

    fn events(&self) -> Vec<What> {
        let batch = self.actor.shared().events.read_after(EventSeq(0), 1000);
        batch.events.iter().map(|event| event.what.clone()).collect()
    }

    fn head(&self) -> Head {
        self.actor.shared().output.head()
    }

    fn finished(&self) -> Option<Exit> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Finish(exit) => Some(*exit),
            _ => None,
        })
    }

    fn starts(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Start { .. }))
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
    let stage = Stage::running();
    assert_eq!(stage.snapshot().process, Process::Running { pid: 7 });
    assert!(stage.snapshot().ready());
    assert!(matches!(&stage.events()[..], [What::State(change)] if change.next == Situation::Unknown));
}

#[test]
fn an_answer_comes_after_what_it_speaks_of_can_be_seen() {
    let mut stage = Stage::running();
    let size = Size::new(100, 30).unwrap();
    let mut done = stage.ask(|answer| Command::Resize { size, lease: None, answer });
    done.try_recv().unwrap().unwrap();
    assert_eq!(stage.snapshot().size, size);
    assert!(matches!(stage.effects[..], [Effect::Resize(resized)] if resized == size));
    assert!(matches!(stage.events().last(), Some(What::Resize(resized)) if *resized == size));
}

#[test]
fn a_resize_to_the_same_size_is_no_event() {
    let mut stage = Stage::running();
    let before = stage.events().len();
    let size = Size::new(80, 24).unwrap();
    stage.ask(|answer| Command::Resize { size, lease: None, answer }).try_recv().unwrap().unwrap();
    assert!(stage.effects.is_empty());
    assert_eq!(stage.events().len(), before);
}

#[test]
fn typing_honours_the_modes_of_the_program() {
    let mut stage = Stage::running();
    let keys = || vec![Key::parse("Up").unwrap()];
    let type_key = |stage: &mut Stage| {
        let typing = Typing::Keys(keys());
        let _waiting = stage.ask(|answer| Command::Type { typing, lease: None, answer });
        let bytes = stage.actor.next_write().unwrap().to_vec();
        stage.tell(Input::Wrote(bytes.len()));
        bytes
    };
    assert_eq!(type_key(&mut stage), b"\x1b[A");
    stage.output("\x1b[?1h");
    assert_eq!(type_key(&mut stage), b"\x1bOA");
    stage.output("\x1b[?2004h");
    let _waiting = stage.type_text("one\ntwo", None);
    assert_eq!(stage.actor.next_write().unwrap(), b"\x1b[200~one\rtwo\x1b[201~");
}

#[test]
fn a_query_gets_one_answer_between_writes() {
    let mut stage = Stage::running();
    stage.output("\x1b[6n");
    assert_eq!(stage.actor.next_write(), Some(&b"\x1b[1;1R"[..]));
    stage.tell(Input::Wrote(6));
    assert_eq!(stage.actor.next_write(), None);
}

#[test]
fn the_lease_keeps_others_out_of_everything_but_signals() {
    let mut stage = Stage::running();
    let fresh = LeaseId("mine".into());
    let ttl = Duration::from_secs(30);
    let mut granted =
        stage.ask(|answer| Command::AcquireLease { shown: None, fresh, holder: "ada".into(), ttl, answer });
    let lease = granted.try_recv().unwrap().unwrap().id;
    assert_eq!(code(&mut stage.type_text("x", None)), Code::WriterBusy);
    let size = Size::new(10, 10).unwrap();
    assert_eq!(
        code(&mut stage.ask(|answer| Command::Resize { size, lease: None, answer })),
        Code::WriterBusy
    );
    assert_eq!(stage.actor.next_write(), None);
    let _signal = stage.ask(|answer| Command::Signal { signal: Signal::INT, answer });
    assert!(matches!(stage.effects[..], [Effect::Signal { signal: Signal::INT, .. }]));
    let _typed = stage.type_text("x", Some(lease));
    assert_eq!(stage.actor.next_write(), Some(&b"x"[..]));
}

#[test]
fn after_the_exit_reads_go_on_and_writes_are_refused() {
    let mut stage = Stage::running();
    stage.output("bye");
    let mut waiting = stage.type_text("never read", None);
    stage.tell(Input::ChildExited(Exit::Code(3)));
    assert_eq!(code(&mut waiting), Code::Exited);
    assert_eq!(code(&mut stage.type_text("x", None)), Code::Exited);
    stage.tell(Input::OutputEnded);
    assert_eq!(stage.snapshot().process, Process::Exited(Exit::Code(3)));
    assert_eq!(stage.head(), Head::Ended(Offset(3)));
    assert!(matches!(stage.events().last(), Some(What::Exit { exit: Exit::Code(3), .. })));
    let mut view = stage.ask(|answer| Command::View { answer });
    assert_eq!(view.try_recv().unwrap().unwrap().screen.line(0), Some("bye"));
    assert_eq!(stage.actor.next_write(), None, "nothing is kept for a later child");
    assert_eq!(stage.finished(), None, "coop lingers");
}

#[test]
fn output_that_comes_after_the_exit_is_waited_for_but_not_for_ever() {
    let mut stage = Stage::running();
    stage.tell(Input::ChildExited(Exit::Code(0)));
    assert_eq!(stage.snapshot().process, Process::Running { pid: 7 }, "its last words may still come");
    stage.later(Duration::from_millis(150));
    stage.output("last words");
    stage.later(Duration::from_millis(150));
    assert_eq!(stage.head(), Head::Live(Offset(10)), "it spoke 150 ms ago");
    stage.later(Duration::from_millis(50));
    assert_eq!(stage.head(), Head::Ended(Offset(10)));
    assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::CloseTerminal)));
}

#[test]
fn a_background_job_cannot_hold_the_exit_back() {
    let mut stage = Stage::running();
    stage.tell(Input::ChildExited(Exit::Code(0)));
    for _ in 0..20 {
        stage.later(Duration::from_millis(100));
        stage.output("noise");
    }
    assert_eq!(stage.snapshot().process, Process::Exited(Exit::Code(0)));
}

#[test]
fn with_no_linger_coop_goes_with_its_child() {
    let mut stage = Stage::with(|settings| settings.linger = Some(Duration::ZERO));
    stage.tell(Input::ChildExited(Exit::Signal(9)));
    stage.tell(Input::OutputEnded);
    assert!(stage.terminates(), "what the child left behind goes too");
    assert!(matches!(stage.events().last(), Some(What::Shutdown(ShutdownReason::ChildExit))));
    stage.tell(Input::Terminated { child_survives: false });
    assert_eq!(stage.finished(), Some(Exit::Signal(9)));
}

#[test]
fn lingering_ends_in_time() {
    let mut stage = Stage::with(|settings| settings.linger = Some(Duration::from_secs(5)));
    stage.tell(Input::ChildExited(Exit::Code(0)));
    stage.tell(Input::OutputEnded);
    assert!(!stage.terminates());
    assert_eq!(stage.actor.deadline(), Some(stage.now.after(Duration::from_secs(5)).steady));
    stage.later(Duration::from_secs(5));
    assert!(stage.terminates());
}

#[test]
fn a_shutdown_refuses_writes_tells_everybody_and_ends_with_the_tree() {
    let mut stage = Stage::running();
    let mut waiting = stage.type_text("unread", None);
    stage.shut_down().try_recv().unwrap().unwrap();
    assert!(stage.terminates());
    assert!(matches!(stage.events().last(), Some(What::Shutdown(ShutdownReason::Api))));
    assert_eq!(code(&mut waiting), Code::NotReady);
    assert_eq!(code(&mut stage.type_text("x", None)), Code::NotReady);
    assert_eq!(code(&mut stage.restart()), Code::NotReady);
    stage.tell(Input::ChildExited(Exit::Signal(1)));
    stage.tell(Input::Terminated { child_survives: false });
    assert_eq!(stage.finished(), None, "its output is not in yet");
    stage.tell(Input::OutputEnded);
    assert_eq!(stage.finished(), Some(Exit::Signal(1)));
}

#[test]
fn asked_twice_to_go_nobody_waits_any_longer() {
    let mut stage = Stage::running();
    stage.shut_down();
    stage.shut_down();
    assert!(matches!(stage.effects[..], [Effect::Hurry]));
}

#[test]
fn a_restart_keeps_readers_offsets_and_numbers() {
    let mut stage = Stage::running();
    stage.output("first");
    let seq = stage.snapshot().event_seq;
    let mut restarted = stage.restart();
    assert!(stage.terminates());
    assert_eq!(stage.snapshot().process, Process::Starting);
    assert_eq!(stage.snapshot().agent.state(), AgentState::Restarting);
    assert_eq!(code(&mut stage.type_text("x", None)), Code::NotReady);
    assert_eq!(code(&mut stage.restart()), Code::SwitchInProgress);
    stage.tell(Input::ChildExited(Exit::Signal(1)));
    stage.tell(Input::OutputEnded);
    assert_eq!(stage.head(), Head::Live(Offset(5)), "a restart is no end");
    stage.tell(Input::Terminated { child_survives: false });
    assert!(stage.starts());
    stage.tell(Input::Started { pid: 8, prints_json: false, unheard: None });
    let replaced = restarted.try_recv().unwrap().unwrap();
    assert_eq!((replaced.pid, replaced.offset, replaced.generation.0), (8, Offset(5), 2));
    assert_eq!(stage.snapshot().generation.0, 2);
    assert!(stage.snapshot().event_seq > seq);
    assert!(
        !stage.events().iter().any(|what| matches!(what, What::Exit { .. })),
        "nobody is told of an exit"
    );
    stage.output("second");
    assert_eq!(stage.head(), Head::Live(Offset(11)));
    let mut view = stage.ask(|answer| Command::View { answer });
    assert_eq!(view.try_recv().unwrap().unwrap().screen.line(0), Some("second"), "a fresh screen");
}

#[test]
fn an_exited_child_can_be_started_again() {
    let mut stage = Stage::running();
    stage.tell(Input::ChildExited(Exit::Code(0)));
    stage.tell(Input::OutputEnded);
    let mut restarted = stage.restart();
    stage.tell(Input::Terminated { child_survives: false });
    assert!(stage.starts());
    stage.tell(Input::Started { pid: 9, prints_json: false, unheard: None });
    assert!(restarted.try_recv().unwrap().is_ok());
    assert_eq!(stage.head(), Head::Live(Offset(0)), "readers go on");
}

#[test]
fn a_switch_that_cannot_be_started_brings_the_old_command_back() {
    let mut stage = Stage::running();
    let change = Change { command: vec!["/no/interpreter".into()], ..Change::default() };
    let (reason, grace) = (RestartReason::Switch, Duration::ZERO);
    let mut refused = stage.ask(|answer| Command::Replace { change, reason, grace, answer });
    stage.tell(Input::ChildExited(Exit::Code(0)));
    stage.tell(Input::OutputEnded);
    stage.tell(Input::Terminated { child_survives: false });
    assert!(stage.starts());
    stage.tell(Input::StartFailed(crate::pty::LaunchError::NotFound("interpreter".into())));
    assert_eq!(code(&mut refused), Code::BadRequest);
    assert!(matches!(&stage.effects[..], [Effect::Start { launch, .. }] if launch.program == "/bin/sh"));
    stage.tell(Input::Started { pid: 9, prints_json: false, unheard: None });
    assert_eq!(stage.snapshot().process, Process::Running { pid: 9 });
    assert!(stage.events().iter().any(|what| matches!(what, What::Restart(restart) if restart.pid == 9)));
}

#[test]
fn a_child_that_obeys_no_signal_cannot_hold_the_end_back() {
    let mut stage = Stage::running();
    stage.shut_down();
    stage.tell(Input::Terminated { child_survives: true });
    assert!(stage.effects.iter().any(|effect| matches!(effect, Effect::CloseTerminal)));
    assert_eq!(stage.finished(), Some(Exit::Unknown));
}

#[test]
fn a_child_that_could_not_be_started_again_is_an_exit() {
    let mut stage = Stage::running();
    let mut restarted = stage.restart();
    stage.tell(Input::ChildExited(Exit::Code(0)));
    stage.tell(Input::OutputEnded);
    stage.tell(Input::Terminated { child_survives: false });
    stage.tell(Input::StartFailed(crate::pty::LaunchError::NotFound("gone".into())));
    assert_eq!(code(&mut restarted), Code::BadRequest);
    assert_eq!(stage.snapshot().process, Process::Exited(Exit::Code(127)));
    assert_eq!(stage.head(), Head::Ended(Offset(0)));
}

#[test]
fn a_survived_sigterm_is_followed_by_a_hangup_once() {
    let mut stage = Stage::running();
    let _sent = stage.ask(|answer| Command::Signal { signal: Signal::TERM, answer });
    stage.later(Duration::from_millis(999));
    assert!(stage.effects.is_empty());
    stage.later(Duration::from_millis(1));
    assert!(matches!(stage.effects[..], [Effect::Signal { signal: Signal::HUP, .. }]));
    stage.later(Duration::from_secs(5));
    assert!(stage.effects.is_empty());
}

#[test]
fn idle_without_a_driver_is_silence_both_ways() {
    let mut stage = Stage::with(|settings| settings.idle_timeout = Some(Duration::from_secs(10)));
    stage.later(Duration::from_secs(9));
    stage.output("still here");
    stage.later(Duration::from_secs(9));
    let _typed = stage.type_text("me too", None);
    stage.later(Duration::from_secs(9));
    assert!(!stage.terminates());
    stage.later(Duration::from_secs(1));
    assert!(stage.terminates());
    assert!(matches!(stage.events().last(), Some(What::Shutdown(ShutdownReason::IdleTimeout))));
}

#[test]
fn the_environment_is_for_the_next_child() {
    let mut stage = Stage::running();
    let put = |key: &str| {
        let (key, value) = (key.to_owned(), "2".to_owned());
        move |answer| Command::PutEnv { key, value, answer }
    };
    stage.ask(put("B")).try_recv().unwrap().unwrap();
    stage.ask(|answer| Command::DeleteEnv { key: "A".into(), answer }).try_recv().unwrap().unwrap();
    let mut missing = stage.ask(|answer| Command::DeleteEnv { key: "A".into(), answer });
    assert_eq!(code(&mut missing), Code::NotFound);
    let env = stage.ask(|answer| Command::GetEnv { answer }).try_recv().unwrap().unwrap();
    assert_eq!(*env, BTreeMap::from([("B".to_owned(), "2".to_owned())]));
    stage.restart();
    stage.tell(Input::ChildExited(Exit::Code(0)));
    stage.tell(Input::OutputEnded);
    stage.tell(Input::Terminated { child_survives: false });
    let started = stage.effects.iter().find_map(|effect| match effect {
        Effect::Start { launch, .. } => Some(launch.env.clone()),
        _ => None,
    });
    assert_eq!(started, Some(vec![("B".into(), "2".into())]));
}

#[test]
fn a_variable_that_is_set_during_a_restart_is_for_the_child_that_comes() {
    let mut stage = Stage::running();
    let _restarted = stage.restart();
    stage.ask(|answer| Command::PutEnv { key: "LATE".into(), value: "yes".into(), answer });
    stage.ask(|answer| Command::DeleteEnv { key: "A".into(), answer });
    stage.tell(Input::ChildExited(Exit::Signal(1)));
    stage.tell(Input::OutputEnded);
    stage.tell(Input::Terminated { child_survives: false });
    let launch = stage.effects.iter().find_map(|effect| match effect {
        Effect::Start { launch, .. } => Some(launch.env.clone()),
        _ => None,
    });
    assert_eq!(launch, Some(vec![("LATE".into(), "yes".into())]));
    stage.tell(Input::Started { pid: 8, prints_json: false, unheard: None });
    let mut env = stage.ask(|answer| Command::GetEnv { answer });
    assert_eq!(env.try_recv().unwrap().unwrap().keys().collect::<Vec<_>>(), ["LATE"]);
}

#[test]
fn a_shutdown_during_a_restart_brings_its_own_grace() {
    let mut stage = Stage::running();
    let mut restarted = stage.restart();
    let (reason, grace) = (ShutdownReason::Api, Duration::from_millis(5));
    stage.ask(|answer| Command::Shutdown { reason, grace, answer });
    assert_eq!(code(&mut restarted), Code::NotReady);
    assert!(matches!(stage.effects[..], [Effect::Terminate { grace: given }] if given == grace));
    stage.tell(Input::ChildExited(Exit::Signal(9)));
    stage.tell(Input::OutputEnded);
    stage.tell(Input::Terminated { child_survives: false });
    assert_eq!(stage.finished(), Some(Exit::Signal(9)));
}

#[test]
fn scrollback_pages_by_line_and_never_reuses_a_number() {
    let mut stage = Stage::with(|settings| settings.scrollback_lines = 10);
    for n in 0..40 {
        stage.tell(Input::Output(format!("line {n}\r\n").into()));
    }
    // 40 lines and the cursor's own row on 24 rows: 17 have scrolled off, 10 are kept.
    let mut page = |start, limit_bytes| {
        let page = PageRequest { start, ansi: false, limit_bytes };
        stage.ask(|answer| Command::Scrollback { page, answer }).try_recv().unwrap().unwrap()
    };
    let all = page(PageStart::Oldest, usize::MAX);
    assert_eq!((all.first, all.next, all.total), (LineNumber(7), LineNumber(17), LineNumber(17)));
    assert_eq!(all.lines.first().map(String::as_str), Some("line 7"));
    let some = page(PageStart::Line(LineNumber(9)), 20);
    assert_eq!(some.lines, ["line 9", "line 10"]);
    assert_eq!(some.next, LineNumber(11));
    assert_eq!(page(PageStart::Last(2), usize::MAX).lines, ["line 15", "line 16"]);
    assert_eq!(
        page(PageStart::Line(LineNumber(3)), usize::MAX).first,
        LineNumber(7),
        "what is gone is skipped"
    );
    assert!(page(PageStart::Line(LineNumber(99)), usize::MAX).lines.is_empty());
    assert_eq!(page(PageStart::Oldest, 1).lines.len(), 1, "one line always fits");
}

/// A session at a terminal that tmux keeps.
fn attached() -> Stage {
    Stage::with(|settings| settings.backend = Backend::Attached(Host::Tmux))
}

#[test]
fn the_size_of_a_foreign_terminal_is_asked_for_and_taken_as_it_comes() {
    let mut stage = attached();
    let size = Size::new(100, 30).unwrap();
    let mut done = stage.ask(|answer| Command::Resize { size, lease: None, answer });
    assert_eq!(stage.snapshot().size, Size::new(80, 24).unwrap());
    let [Effect::AskResize { size: asked, answer }] =
        <[Effect; 1]>::try_from(std::mem::take(&mut stage.effects)).expect("one effect")
    else {
        panic!("nobody was asked")
    };
    assert_eq!(asked, size);
    let seen = Size::new(90, 30).unwrap();
    stage.tell(Input::Looked { size: seen, paint: Bytes::from_static(b"\x1b[H\x1b[2Jhello") });
    assert_eq!(stage.snapshot().size, seen);
    assert!(matches!(stage.events().last(), Some(What::Resize(resized)) if *resized == seen));
    let refused = Error::new(Code::Unsupported, "it stays");
    stage.tell(Input::Resized { result: Err(refused), answer: Some(answer) });
    assert_eq!(code(&mut done), Code::Unsupported);
}

#[test]
fn what_coop_did_not_start_is_neither_hung_up_on_nor_ended() {
    let mut stage = attached();
    let _sent = stage.ask(|answer| Command::Signal { signal: Signal::TERM, answer });
    stage.later(Duration::from_secs(5));
    assert!(stage.effects.is_empty());
    let mut typed = stage.type_text("late", None);
    stage.shut_down().try_recv().unwrap().unwrap();
    assert_eq!(stage.finished(), Some(Exit::Code(0)));
    assert!(!stage.terminates());
    assert_eq!(code(&mut typed), Code::NotReady);
    assert!(matches!(stage.events().last(), Some(What::Shutdown(ShutdownReason::Api))));
    assert!(!stage.events().iter().any(|what| matches!(what, What::Exit { .. })), "it has not exited");
    assert!(matches!(stage.head(), Head::Ended(_)));
}

#[test]
fn a_foreign_exit_is_told_and_lingers_like_any_other() {
    let mut stage = attached();
    stage.tell(Input::ChildExited(Exit::Code(3)));
    stage.tell(Input::OutputEnded);
    assert_eq!(stage.snapshot().process, Process::Exited(Exit::Code(3)));
    stage.shut_down().try_recv().unwrap().unwrap();
    assert_eq!(stage.finished(), Some(Exit::Code(3)));
}
