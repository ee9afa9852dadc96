//! Nudges, answers and interrupts, checked on an actor with a toy agent: no runtime, no child, no
//! clock.
//!
//! The toy shows `> draft` for its composer, `+` for each further row of it, `busy` while a turn
//! runs, and `? question` with its options below it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::driver::agent::{AgentState, Tier};
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::launch::{Groom, LaunchPlan, LaunchRequest};
use crate::driver::presence::Presence;
use crate::driver::prompt::{Answer as PromptAnswer, Ask, Prompt, PromptKind};
use crate::driver::screen_reading::{Choice, Composer, Dialog, Page, Role, ScreenReading};
use crate::driver::{Driver, Habits, Launch, NextKey, Observe, Operate};
use crate::error::{Code, Error};
use crate::pty::Exit;
use crate::session::actor::{Actor, AgentSpec, Effect, Input, Settings};
use crate::session::agent::{AgentStart, HookId, Profile};
use crate::session::backend::BackendKind;
use crate::session::by::By;
use crate::session::child_spec::ChildSpec;
use crate::session::clock::Now;
use crate::session::command::{Command, Sent, Typing};
use crate::session::event::{EventKind, EventSeq};
use crate::session::lease::{DEFAULT_TTL, LeaseId};
use crate::session::outcome::{
    Channel, InterruptOutcome, InterruptReply, NudgeOutcome, NudgeReply, Refusal, RespondOutcome,
    RespondReply,
};
use crate::session::replies::ReplySender;
use crate::session::request::{NudgeMode, NudgeRequest, RespondRequest};
use crate::term::{Screen, Signal, Size};

struct Toy;

static HABITS: Habits = Habits {
    interrupt_key: b"!",
    clear_key: b"~",
    dialog_key_delay: Duration::from_millis(300),
    idle_screen_is_certain: true,
    ..Habits::DEFAULT
};

impl Driver for Toy {
    fn habits(&self) -> &'static Habits {
        &HABITS
    }
}

impl Launch for Toy {
    fn plan(&self, _request: &LaunchRequest) -> Result<LaunchPlan, String> {
        Ok(LaunchPlan::default())
    }
}

impl Observe for Toy {
    fn hook(&mut self, event: &str, payload: &Value) -> Vec<Finding> {
        let text = payload["text"].as_str().map(str::to_owned);
        let claim = match event {
            "begin" => Claim::TurnStarted { text },
            "end" => Claim::TurnEnded,
            "ask" => Claim::Asked(Box::new(Ask {
                kind: PromptKind::Permission,
                subtype: None,
                tool: Some("Tool".to_owned()),
                input: Some(json!({ "command": text })),
                questions: Vec::new(),
                plan: None,
                message: text.unwrap_or_default(),
            })),
            _ => return vec![Finding::Fact(Fact::Message(event.to_owned()))],
        };
        vec![Finding::new(Tier::Hooks, "hook", claim, event)]
    }

    fn log_line(&mut self, line: &Value) -> Vec<Finding> {
        self.hook(line["event"].as_str().unwrap_or_default(), line)
    }

    fn signal(&mut self, signal: &Signal) -> Vec<Finding> {
        let Signal::Title(title) = signal else { return Vec::new() };
        let claim = if title == "works" { Claim::Working } else { Claim::TurnEnded };
        let cause = if title == "works" { "title:works" } else { "title:rests" };
        vec![Finding::new(Tier::Terminal, cause, claim, title)]
    }

    fn read_screen(&self, screen: &Screen) -> ScreenReading {
        let lines: Vec<String> =
            screen.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let question = lines.iter().position(|line| line.starts_with('?'));
        let dialog = question.map(|at| {
            let choice = |label: &str| Choice {
                label: label.to_owned(),
                digit: None,
                checked: None,
                typed: None,
                role: if label.starts_with("Yes") { Role::Accept } else { Role::Decline },
                hidden: false,
            };
            let subtype = lines[at].contains("trust").then_some("trust");
            Dialog {
                kind: PromptKind::Permission,
                subtype,
                tool: subtype.is_none().then_some("Tool"),
                message: lines[at].clone(),
                choices: lines[at + 1..].iter().map(|label| choice(label)).collect(),
                highlighted: None,
                more: false,
                page: Page::Only,
                lines: lines.clone(),
            }
        });
        let draft = lines.iter().find_map(|line| line.strip_prefix('>'));
        let rows = 1 + lines.iter().filter(|line| *line == "+").count();
        ScreenReading {
            composer: draft.map(|draft| {
                let cut = draft.starts_with('^');
                let draft = draft.trim_start_matches(['^', ' ']).to_owned();
                Composer { draft, rows, cut }
            }),
            busy: lines.iter().any(|line| line == "busy"),
            retrying: None,
            failed: None,
            option_list: dialog.is_some(),
            dialog,
        }
    }
}

impl Operate for Toy {
    fn compose(&self, message: &str) -> String {
        message.to_owned()
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        composer.draft == pasted || (composer.cut && pasted.ends_with(&composer.draft))
    }

    fn next_key(&self, _prompt: &Prompt, answer: &PromptAnswer, dialog: &Dialog) -> NextKey {
        let role = if answer.accept == Some(true) { Role::Accept } else { Role::Decline };
        match dialog.choice_with(role) {
            Some(at) => NextKey::Confirm(Bytes::from((at + 1).to_string())),
            None => NextKey::Refuse("there is no such choice".to_owned()),
        }
    }

    fn hook_answer(&self, _prompt: &Prompt, answer: &PromptAnswer) -> Option<Value> {
        answer.accept.map(|accept| json!({ "accept": accept }))
    }

    fn groom(&self, prompt: &Prompt, _command: &[String]) -> Option<PromptAnswer> {
        let yes = PromptAnswer { accept: Some(true), ..PromptAnswer::default() };
        prompt.subtype.is_some().then_some(yes)
    }
}

type Waiting<T> = oneshot::Receiver<Result<T, Error>>;

struct TestSession {
    actor: Actor,
    now: Now,
    /// Everything that was typed, as the child received it.
    typed: String,
    effects: Vec<String>,
}

impl TestSession {
    fn with(groom: Groom) -> Self {
        let profile = Profile {
            groom,
            grace: Duration::from_secs(60),
            retry_after: Duration::from_secs(4),
            ignored_tiers: &[],
        };
        let settings = Settings {
            epoch_ms: 17,
            backend: BackendKind::Native,
            conversation: None,
            child_spec: ChildSpec {
                program: "toy".into(),
                args: vec![],
                cwd: "/".into(),
                env: BTreeMap::new(),
            },
            size: Size::new(80, 24).unwrap(),
            ring_bytes: 1 << 16,
            scrollback_lines: 100,
            linger: None,
            idle_timeout: None,
            agent: Some(AgentSpec { driver: Arc::new(|| Box::new(Toy)), profile }),
        };
        let now = Now::read();
        let (typed, effects) = (String::new(), Vec::new());
        let mut test = Self { actor: Actor::new(now, settings), now, typed, effects };
        let agent = AgentStart { only_here: true, ..AgentStart::default() };
        test.send(Input::Started { pid: 7, agent });
        test.output("\x1b[?2004h");
        test
    }

    fn idle() -> Self {
        let mut test = Self::with(Groom::Manual);
        test.end_turn(">");
        assert_eq!(test.state(), AgentState::Idle);
        test.pass(5000);
        test
    }

    fn working() -> Self {
        let mut test = Self::idle();
        test.hook("begin", "work").show("busy\r\n>");
        assert_eq!(test.state(), AgentState::Working);
        test.pass(5000);
        test
    }

    fn at_prompt() -> Self {
        let mut test = Self::working();
        test.hook("ask", "rm").show("? rm\r\nYes\r\nNo").pass(400);
        assert_eq!(test.state(), AgentState::Prompt);
        test
    }

    fn send(&mut self, input: Input) -> &mut Self {
        let effects = self.actor.handle(self.now, input);
        self.effects.extend(effects.iter().filter_map(|effect| match effect {
            Effect::AnswerHook { hook, output } => Some(format!("answer {} {output}", hook.0)),
            Effect::ReleaseHook(hook) => Some(format!("release {}", hook.0)),
            Effect::FindAgent => Some("find".to_owned()),
            _ => None,
        }));
        while let Some(bytes) = self.actor.next_write().map(<[u8]>::to_vec) {
            self.typed.push_str(&String::from_utf8_lossy(&bytes));
            self.actor.handle(self.now, Input::Wrote(bytes.len()));
        }
        self
    }

    fn output(&mut self, text: &str) -> &mut Self {
        self.send(Input::Output(Bytes::copy_from_slice(text.as_bytes())))
    }

    /// The toy redraws its whole screen.
    fn show(&mut self, text: &str) -> &mut Self {
        self.output(&format!("\x1b[H\x1b[2J{text}")).pass(30)
    }

    fn hook(&mut self, event: &str, text: &str) -> &mut Self {
        let (event, payload) = (event.to_owned(), json!({ "text": text }));
        self.send(Input::Hook { event, payload, waiting: None, by_agent: true })
    }

    /// The turn ends, and the screen shows this after it.
    fn end_turn(&mut self, screen: &str) -> &mut Self {
        self.hook("end", "").show(screen).pass(300)
    }

    fn waiting_hook(&mut self, text: &str, id: u64) -> &mut Self {
        let (event, payload) = ("ask".to_owned(), json!({ "text": text }));
        self.send(Input::Hook { event, payload, waiting: Some(HookId(id)), by_agent: true })
    }

    /// Lets time pass, with a tick at every deadline of the actor.
    fn pass(&mut self, ms: u64) -> &mut Self {
        let end = self.now.after(Duration::from_millis(ms));
        while let Some(due) = self.actor.deadline().filter(|due| *due <= end.steady) {
            let step = due.saturating_duration_since(self.now.steady).max(Duration::from_millis(1));
            self.now = self.now.after(step);
            self.send(Input::Tick);
        }
        self.now = end;
        self.send(Input::Tick)
    }

    fn call<T>(&mut self, command: impl FnOnce(ReplySender<T>) -> Command) -> Waiting<T> {
        self.call_by(By::Uid(7), command)
    }

    fn call_by<T>(
        &mut self,
        by: By,
        command: impl FnOnce(ReplySender<T>) -> Command,
    ) -> Waiting<T> {
        let (reply, waiting) = oneshot::channel();
        self.send(Input::Command(Sent { by, command: command(reply) }));
        waiting
    }

    fn nudge_as(
        &mut self,
        text: &str,
        mode: NudgeMode,
        key: Option<&str>,
        confirm_ms: u64,
    ) -> Waiting<NudgeReply> {
        let confirm = Duration::from_millis(confirm_ms);
        let (text, idempotency_key) = (text.to_owned(), key.map(str::to_owned));
        let request = NudgeRequest { text, mode, idempotency_key, confirm };
        self.call(|reply| Command::Nudge { request, lease: None, reply })
    }

    fn nudge(&mut self, text: &str) -> Waiting<NudgeReply> {
        self.nudge_as(text, NudgeMode::RejectIfBusy, None, 5000)
    }

    fn respond(&mut self, accept: bool, prompt_id: Option<&str>) -> Waiting<RespondReply> {
        let answer = PromptAnswer { accept: Some(accept), ..PromptAnswer::default() };
        let request = RespondRequest { prompt_id: prompt_id.map(str::to_owned), answer };
        self.call(|reply| Command::Respond { request, lease: None, reply })
    }

    /// A client types.
    fn type_raw(&mut self, keys: &'static str) {
        let typing = Typing::Raw(Bytes::from_static(keys.as_bytes()));
        drop(self.call(|reply| Command::Type { typing, lease: None, reply }));
    }

    fn interrupt(&mut self) -> Waiting<InterruptReply> {
        self.call(|reply| Command::Interrupt { lease: None, reply })
    }

    fn state(&self) -> AgentState {
        self.actor.published().snapshot.load().agent.state()
    }

    fn cause(&self) -> &'static str {
        self.actor.published().snapshot.load().agent.cause
    }

    fn prompt_id(&self) -> String {
        let snapshot = self.actor.published().snapshot.load_full();
        snapshot.agent.situation.prompt().expect("a prompt is open").id.0.clone()
    }

    fn prompt_input(&self) -> Option<String> {
        let snapshot = self.actor.published().snapshot.load_full();
        snapshot.agent.situation.prompt().expect("a prompt is open").input_full.clone()
    }

    fn take_typed(&mut self) -> String {
        std::mem::take(&mut self.typed)
    }

    fn outcomes(&self) -> Vec<(String, &'static str)> {
        let batch = self.actor.published().events.read_after(EventSeq(0), 1000);
        let outcome = |what: &EventKind| match what {
            EventKind::Nudge(nudge) => Some((nudge.id.clone(), nudge.outcome.as_str())),
            _ => None,
        };
        batch.events.iter().filter_map(|event| outcome(&event.kind)).collect()
    }
}

fn granted<T: std::fmt::Debug>(waiting: &mut Waiting<T>) -> T {
    waiting.try_recv().expect("a reply").expect("success")
}

fn refusal<T: std::fmt::Debug>(waiting: &mut Waiting<T>) -> Error {
    waiting.try_recv().expect("a reply").expect_err("an error")
}

fn pasted(text: &str) -> String {
    crate::term::bracket(text)
}

#[test]
fn an_agent_whose_process_has_ended_gets_no_keys() {
    let mut test = TestSession::idle();
    test.send(Input::Presence(Presence::Foreground));
    assert_eq!(test.state(), AgentState::Idle);
    let mut queued = {
        let mut test = TestSession::working();
        test.send(Input::Presence(Presence::Foreground));
        let queued = granted(&mut test.nudge_as("later", NudgeMode::Queue, None, 5000));
        test.send(Input::Presence(Presence::Gone)).pass(5000);
        assert_eq!(test.take_typed(), "");
        (queued.outcome, test.outcomes())
    };
    assert_eq!(queued.0, NudgeOutcome::Queued);
    assert_eq!(queued.1.pop().map(|(_, outcome)| outcome), Some("rejected"));

    test.send(Input::Presence(Presence::Gone));
    assert_eq!(test.state(), AgentState::Unknown);
    assert_eq!(test.cause(), "agent process gone");
    // The old composer is still on screen, and a title of the old agent arrives late.
    test.show(">").output("\x1b]0;rests\x07").pass(20_000);
    assert_eq!(test.state(), AgentState::Unknown);
    let mut nudge = test.nudge("into the shell");
    test.pass(20_000);
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::AgentBusy));
    assert!(!granted(&mut test.interrupt()).delivered);
    assert_eq!(test.take_typed(), "");

    test.send(Input::Presence(Presence::Foreground));
    assert_eq!(test.state(), AgentState::Starting, "another agent");
    test.end_turn(">");
    assert_eq!(test.state(), AgentState::Idle);
    let _nudge = test.nudge("hello");
    assert_eq!(test.take_typed(), pasted("hello"));
}

#[test]
fn an_agent_in_the_background_gets_no_keys_and_returns_as_it_was() {
    let mut test = TestSession::idle();
    test.send(Input::Presence(Presence::Foreground)).send(Input::Presence(Presence::Background));
    assert_eq!((test.state(), test.cause()), (AgentState::Unknown, "agent process in background"));
    test.show("$ ").pass(20_000);
    let mut nudge = test.nudge("into the shell");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::AgentBusy));
    test.send(Input::Presence(Presence::Foreground)).show(">");
    assert_eq!(test.state(), AgentState::Idle);
    assert_eq!(test.take_typed(), "");

    // At a prompt: its hook goes on waiting, and the prompt is the same one afterwards.
    let mut test = TestSession::working();
    test.send(Input::Presence(Presence::Foreground));
    test.waiting_hook("rm", 3).show("? rm\r\nYes\r\nNo").pass(400);
    let id = test.prompt_id();
    test.send(Input::Presence(Presence::Background)).show("$ ").pass(5000);
    assert_eq!((test.state(), &test.effects[..]), (AgentState::Unknown, &[][..]));
    test.send(Input::Presence(Presence::Foreground)).show("? rm\r\nYes\r\nNo").pass(400);
    assert_eq!((test.state(), test.prompt_id()), (AgentState::Prompt, id));
}

#[test]
fn a_nudge_reports_that_the_agent_ended_under_it() {
    let mut test = TestSession::idle();
    test.send(Input::Presence(Presence::Foreground));
    let mut nudge = test.nudge("half way");
    assert_eq!(test.take_typed(), pasted("half way"));
    test.send(Input::Presence(Presence::Gone)).show("$ half way").pass(20_000);
    assert_eq!(test.take_typed(), "", "neither Enter nor anything else");
    let error = refusal(&mut nudge);
    assert_eq!(error.code, Code::AgentBusy);
    assert!(error.message.contains("another program may have got"), "{}", error.message);
    assert_eq!(test.outcomes().pop().map(|(_, outcome)| outcome), Some("rejected"));
}

#[test]
fn a_sign_in_the_terminal_makes_coop_search_the_agents_process() {
    let mut test = TestSession::idle();
    test.output("\x1b]0;works\x07").output("\x1b]0;rests\x07");
    let searches = |test: &TestSession| test.effects.iter().filter(|e| *e == "find").count();
    assert_eq!(searches(&test), 1, "at most one a second");
    test.pass(2000);
    assert_eq!(searches(&test), 2, "the second sign is not forgotten");
    test.send(Input::Presence(Presence::Foreground)).output("\x1b]0;works\x07");
    test.output("\x1b]0;rests\x07").pass(2000);
    assert_eq!(searches(&test), 2, "its process is known");
    // The next agent is found by its title, which counts from the start.
    test.send(Input::Presence(Presence::Gone)).pass(5000).output("\x1b]0;works\x07");
    assert_eq!((searches(&test), test.state()), (3, AgentState::Unknown));
    test.send(Input::Presence(Presence::Foreground));
    assert_eq!(test.state(), AgentState::Working);
}

#[test]
fn a_message_is_pasted_seen_and_only_then_submitted() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("go on");
    assert_eq!(test.take_typed(), pasted("go on"));
    test.pass(500);
    assert_eq!(test.take_typed(), "", "it is not in the composer yet");
    test.show("> go on");
    assert_eq!(test.take_typed(), "\r");
    assert!(nudge.try_recv().is_err(), "there is no witness yet");
    test.hook("begin", "go on");
    let nudged = granted(&mut nudge);
    assert_eq!((nudged.outcome, nudged.before), (NudgeOutcome::Accepted, AgentState::Idle));
    assert_eq!(nudged.after, AgentState::Working);
    assert_eq!(nudged.id, "17-1-n1");
    assert_eq!(test.outcomes(), [(nudged.id.clone(), "submitted"), (nudged.id, "accepted")]);
}

#[test]
fn a_turn_within_one_frame_is_a_witness() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("quick");
    test.show("> quick");
    assert_eq!(test.take_typed(), "\u{1b}[200~quick\u{1b}[201~\r");
    test.output("\x1b[H\x1b[2J>\x1b]0;works\x07").output("\x1b]0;rests\x07");
    assert_eq!(test.state(), AgentState::Idle);
    test.pass(100);
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Accepted);
}

#[test]
fn a_turn_with_another_text_is_not_a_witness() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("mine");
    test.show("> mine").hook("begin", "a background task's own");
    assert!(nudge.try_recv().is_err(), "the composer still holds it");
    test.show("busy\r\n>");
    assert_eq!(
        granted(&mut nudge).outcome,
        NudgeOutcome::Accepted,
        "it left the composer, and a turn runs"
    );
}

#[test]
fn enter_is_pressed_a_second_time_only_while_the_composer_holds_the_message() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("again");
    test.show("> again").take_typed();
    test.pass(3900);
    assert_eq!(test.take_typed(), "");
    test.pass(200);
    assert_eq!(test.take_typed(), "\r", "four seconds without a witness");
    test.pass(10_000);
    assert!(!test.take_typed().contains('\r'), "never a third time");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Unconfirmed);

    let mut test = TestSession::idle();
    let mut nudge = test.nudge("gone");
    test.show("> gone").show(">").take_typed();
    test.pass(20_000);
    assert_eq!(test.take_typed(), "", "the composer holds it no longer");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Submitted);
}

#[test]
fn an_enter_that_became_a_line_break_is_followed_by_another() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("starved");
    test.show("> starved").pass(50).take_typed();
    test.show("> starved\r\n+");
    assert_eq!(test.take_typed(), "\r", "the first Enter submitted nothing");
    test.show("> starved\r\n+").pass(1000);
    assert_eq!(test.take_typed(), "", "one for each line break");
    test.show("> starved\r\n+\r\n+");
    assert_eq!(test.take_typed(), "\r");
    test.show("? rm\r\nYes\r\nNo\r\n> starved\r\n+\r\n+\r\n+");
    assert_eq!(test.take_typed(), "", "a dialog would take it");
    test.hook("begin", "starved").show("busy\r\n>");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Accepted);
}

#[test]
fn a_message_that_never_shows_is_never_submitted() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("lost");
    test.take_typed();
    test.pass(10_000);
    assert_eq!(test.take_typed(), "");
    assert_eq!(refusal(&mut nudge).code, Code::Timeout);
}

#[test]
fn nothing_is_typed_into_a_dialog_a_turn_or_a_draft() {
    for (mut test, reason) in [
        (TestSession::at_prompt(), Refusal::DialogOpen),
        (TestSession::working(), Refusal::AgentBusy),
        {
            let mut drafted = TestSession::idle();
            drafted.show("> a client's draft");
            (drafted, Refusal::DraftInComposer)
        },
    ] {
        test.take_typed();
        let mut nudge = test.nudge("no");
        test.pass(1000);
        assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Rejected(reason));
        assert_eq!(test.take_typed(), "", "{reason:?}");
    }
}

#[test]
fn a_composer_that_is_being_redrawn_is_awaited_for_a_limited_time() {
    let mut test = TestSession::idle();
    test.show("").take_typed();
    assert_eq!(test.state(), AgentState::Idle);
    let _nudge = test.nudge("hi");
    test.pass(500);
    assert_eq!(test.take_typed(), "");
    test.show(">");
    assert_eq!(test.take_typed(), pasted("hi"));

    let mut test = TestSession::idle();
    test.show("").take_typed();
    let mut nudge = test.nudge("no");
    test.pass(4500);
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::AgentBusy));
    assert_eq!(test.take_typed(), "");
}

#[test]
fn a_dialog_that_opens_under_a_paste_gets_no_enter() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("hm");
    test.show("? rm\r\nYes\r\nNo").take_typed();
    test.pass(2000);
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::DialogOpen));
    assert_eq!(test.take_typed(), "");
}

#[test]
fn without_bracketed_paste_nothing_is_typed() {
    let mut test = TestSession::idle();
    test.output("\x1b[?2004l").pass(100).take_typed();
    let mut nudge = test.nudge("no");
    assert_eq!(refusal(&mut nudge).code, Code::AgentBusy);
    assert_eq!(test.take_typed(), "");
}

#[test]
fn client_keys_wait_for_the_nudge_and_the_nudge_waits_for_their_echo() {
    let mut test = TestSession::idle();
    let _first = test.call(|reply| Command::Type {
        typing: Typing::Raw(Bytes::from_static(b"x")),
        lease: None,
        reply,
    });
    assert_eq!(test.take_typed(), "x");
    let mut nudge = test.nudge("hi");
    assert_eq!(test.take_typed(), "", "the echo of the key is still to come");
    test.show("> x").pass(1100);
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::DraftInComposer));

    let mut test = TestSession::idle();
    let _nudge = test.nudge("hi");
    let _key = test.call(|reply| Command::Type {
        typing: Typing::Raw(Bytes::from_static(b"x")),
        lease: None,
        reply,
    });
    assert_eq!(test.take_typed(), pasted("hi"));
    test.show("> hi");
    assert_eq!(test.take_typed(), "\r");
    test.hook("begin", "hi").show("busy\r\n>");
    assert_eq!(test.take_typed(), "x", "after the verdict");
}

#[test]
fn a_message_that_an_interrupt_brought_back_is_cleared() {
    let mut test = TestSession::idle();
    let _first = test.nudge("one");
    test.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000);
    test.end_turn("> one").take_typed();
    let _second = test.nudge("two");
    assert_eq!(test.take_typed(), "~");
    test.show(">");
    assert_eq!(test.take_typed(), pasted("two"));
}

#[test]
fn a_message_that_comes_back_before_the_paste_is_cleared_with_it() {
    let mut test = TestSession::idle();
    let _first = test.nudge("one");
    test.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000);
    test.end_turn(">").take_typed();
    let mut second = test.nudge("two");
    test.pass(400);
    assert_eq!(test.take_typed(), pasted("two"));
    test.show("> onetwo");
    assert_eq!(test.take_typed(), "~");
    test.show(">");
    assert_eq!(test.take_typed(), pasted("two"));
    test.show("> two");
    assert_eq!(test.take_typed(), "\r");
    test.hook("begin", "two");
    assert_eq!(granted(&mut second).outcome, NudgeOutcome::Accepted);
}

#[test]
fn a_message_that_is_not_recognised_is_taken_back() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("strange");
    test.show("> s t r a n g e").pass(3000);
    assert_eq!(test.take_typed(), pasted("strange"));
    test.pass(1100);
    assert_eq!(test.take_typed(), "~");
    assert!(nudge.try_recv().is_err(), "it is not empty yet");
    test.show(">").pass(200);
    let error = refusal(&mut nudge);
    assert_eq!((error.code, error.metadata.len()), (Code::Timeout, 0));
    test.pass(60_000);
    assert_eq!(test.take_typed(), "");
    let _next = test.nudge("next");
    assert_eq!(test.take_typed(), pasted("next"));
}

#[test]
fn a_message_that_cannot_be_taken_back_now_is_taken_back_later() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("hm");
    test.show("? trust\r\nYes\r\nNo").pass(100);
    let refused = granted(&mut nudge);
    assert_eq!(refused.outcome, NudgeOutcome::Rejected(Refusal::DialogOpen));
    assert!(refused.left_in_composer);
    test.take_typed();
    test.show("> hm").pass(600);
    assert_eq!((test.state(), test.take_typed()), (AgentState::Idle, "~~".to_owned()));
    test.show(">").pass(60_000);
    assert_eq!(test.take_typed(), "");

    // The next message comes first.
    let mut test = TestSession::idle();
    drop(test.nudge("hm"));
    test.show("? trust\r\nYes\r\nNo").pass(100).take_typed();
    let mut next = test.nudge("next");
    assert_eq!(granted(&mut next).outcome, NudgeOutcome::Rejected(Refusal::DialogOpen));
    let mut queued = test.nudge_as("queued", NudgeMode::Queue, None, 5000);
    assert_eq!(granted(&mut queued).outcome, NudgeOutcome::Queued);
    test.show("> hm").pass(200);
    assert_eq!(test.take_typed(), "~", "a queued message does not wait for it");
    test.show(">");
    assert_eq!(test.take_typed(), pasted("queued"));
}

#[test]
fn a_message_that_enter_does_not_submit_is_taken_back() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge_as("stuck", NudgeMode::RejectIfBusy, None, 30_000);
    test.show("> stuck").pass(7600);
    assert_eq!(test.take_typed(), format!("{}\r\r~", pasted("stuck")));
    test.show(">").pass(200);
    let unconfirmed = granted(&mut nudge);
    assert_eq!(
        (unconfirmed.outcome, unconfirmed.left_in_composer),
        (NudgeOutcome::Unconfirmed, false)
    );

    // The Enter works at last.
    let mut test = TestSession::idle();
    let mut nudge = test.nudge_as("late", NudgeMode::RejectIfBusy, None, 30_000);
    test.show("> late").pass(7600).take_typed();
    test.hook("begin", "late").show("busy\r\n>");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Accepted);
    test.pass(2000);
    assert_eq!(test.take_typed(), "");
}

#[test]
fn what_a_cancelled_nudge_typed_is_taken_back() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("cancelled");
    drop(test.interrupt());
    let error = refusal(&mut nudge);
    assert!(error.metadata.contains(&("left_in_composer".into(), "true".into())), "{error:?}");
    assert_eq!(test.take_typed(), pasted("cancelled"));
    test.show("> cancelled").pass(100);
    assert_eq!(test.take_typed(), "~");
    test.show("> cance").pass(30);
    assert_eq!(test.take_typed(), "~", "a key may delete only a part");
    test.show(">").pass(60_000);
    assert_eq!(test.take_typed(), "");
}

#[test]
fn a_deletion_ends_where_a_key_has_no_effect() {
    let mut test = TestSession::idle();
    drop(test.nudge("fixed"));
    drop(test.interrupt());
    test.show("> fixed").pass(60_000);
    assert_eq!(test.take_typed(), format!("{}~~~~~", pasted("fixed")));
    let mut next = test.nudge("next");
    test.pass(3000);
    let refused = granted(&mut next);
    assert_eq!(refused.outcome, NudgeOutcome::Rejected(Refusal::DraftInComposer));
    assert!(refused.left_in_composer);
    assert_eq!(test.take_typed(), "~~~~~", "another message tries it again");
}

#[test]
fn a_draft_of_a_client_is_never_deleted() {
    // The client adds to what coop left.
    let mut test = TestSession::idle();
    drop(test.nudge("ours"));
    drop(test.interrupt());
    test.take_typed();
    test.type_raw("x");
    test.show("> oursx").pass(60_000);
    assert_eq!(test.take_typed(), "x");
    let mut next = test.nudge("next");
    test.pass(1000);
    assert_eq!(granted(&mut next).outcome, NudgeOutcome::Rejected(Refusal::DraftInComposer));
    assert_eq!(test.take_typed(), "");

    // What coop typed was submitted, and what follows it is of the client.
    let mut test = TestSession::idle();
    let _first = test.nudge("one two");
    test.show("> one two").hook("begin", "one two").show("busy\r\n>").pass(2000);
    test.end_turn(">").take_typed();
    test.show("> one").pass(60_000);
    let mut next = test.nudge("next");
    test.pass(1000);
    assert_eq!(granted(&mut next).outcome, NudgeOutcome::Rejected(Refusal::DraftInComposer));
    assert_eq!(test.take_typed(), "");
}

/// A turn that coop stops can bring back what a client has sent, next to coop's own text.
#[test]
fn what_a_stopped_turn_brings_back_is_not_deleted() {
    let mut test = TestSession::working();
    let mut nudge = test.nudge_as("instead", NudgeMode::Interrupt, None, 5000);
    test.show(">").pass(1500);
    assert_eq!(test.take_typed(), format!("!{}", pasted("instead")));
    test.show("> the client's words, instead").pass(60_000);
    assert_eq!(refusal(&mut nudge).code, Code::Timeout);
    assert_eq!(test.take_typed(), "");
}

#[test]
fn the_end_of_a_message_in_a_composer_that_is_too_low_is_enough() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("many words and their end");
    test.take_typed();
    test.show(">^another end");
    assert_eq!(test.take_typed(), "");
    test.show(">^their end");
    assert_eq!(test.take_typed(), "\r");
    test.hook("begin", "many words and their end");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Accepted);
}

#[test]
fn a_draft_of_which_only_the_end_is_seen_is_not_cleared_after_a_clients_keys() {
    for keys in [false, true] {
        let mut test = TestSession::idle();
        let _first = test.nudge("one two");
        test.show(">^two").hook("begin", "one two").show("busy\r\n>").pass(2000);
        test.end_turn(">").take_typed();
        if keys {
            test.type_raw("x");
        }
        test.show(">^two").pass(2000).take_typed();
        let mut second = test.nudge("three");
        if keys {
            assert_eq!(
                granted(&mut second).outcome,
                NudgeOutcome::Rejected(Refusal::DraftInComposer)
            );
        }
        assert_eq!(test.take_typed(), if keys { "" } else { "~" });
    }
}

#[test]
fn a_message_that_may_follow_a_hidden_one_is_pasted_again() {
    let mut test = TestSession::idle();
    let _first = test.nudge("one");
    test.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000).take_typed();
    let _second = test.nudge_as("two three", NudgeMode::Interrupt, None, 5000);
    assert_eq!(test.take_typed(), "!");
    test.end_turn(">");
    assert_eq!(test.take_typed(), pasted("two three"));
    test.show(">^three");
    assert_eq!(test.take_typed(), "~", "the interrupt may have brought the first one back");
    test.show(">");
    assert_eq!(test.take_typed(), pasted("two three"));
    test.show(">^three");
    assert_eq!(test.take_typed(), "\r");
}

#[test]
fn the_same_idempotency_key_never_types_twice() {
    let mut test = TestSession::idle();
    let mut first = test.nudge_as("go", NudgeMode::RejectIfBusy, Some("k"), 5000);
    let mut meanwhile = test.nudge_as("go", NudgeMode::RejectIfBusy, Some("k"), 5000);
    test.show("> go").hook("begin", "go").show("busy\r\n>");
    let reply = granted(&mut first);
    assert_eq!(granted(&mut meanwhile), reply);
    test.take_typed();
    let mut later = test.nudge_as("go", NudgeMode::RejectIfBusy, Some("k"), 5000);
    assert_eq!(granted(&mut later), reply);
    assert_eq!(test.take_typed(), "");
    let mut other = test.nudge_as("stop", NudgeMode::RejectIfBusy, Some("k"), 5000);
    assert_eq!(refusal(&mut other).code, Code::BadRequest);
}

#[test]
fn the_key_of_a_message_that_was_not_typed_is_free_again() {
    let mut test = TestSession::working();
    let mut busy = test.nudge_as("go", NudgeMode::RejectIfBusy, Some("k"), 5000);
    assert!(!granted(&mut busy).outcome.delivered());
    test.end_turn(">").take_typed();
    let _again = test.nudge_as("go", NudgeMode::RejectIfBusy, Some("k"), 5000);
    assert_eq!(test.take_typed(), pasted("go"));
}

#[test]
fn queued_messages_are_typed_one_by_one_when_the_agent_is_idle() {
    let mut test = TestSession::working();
    let mut one = test.nudge_as("one", NudgeMode::Queue, None, 5000);
    let mut two = test.nudge_as("two", NudgeMode::Queue, None, 5000);
    assert_eq!(granted(&mut one).outcome, NudgeOutcome::Queued);
    assert_eq!(granted(&mut two).outcome, NudgeOutcome::Queued);
    assert_eq!(test.take_typed(), "");
    test.end_turn(">");
    assert_eq!(test.take_typed(), pasted("one"));
    test.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000);
    assert_eq!(test.take_typed(), "\r");
    test.end_turn(">");
    assert_eq!(test.take_typed(), pasted("two"));
}

#[test]
fn the_message_queue_is_bounded_and_dropped_with_the_child() {
    let mut test = TestSession::working();
    for _ in 0..64 {
        assert_eq!(
            granted(&mut test.nudge_as("m", NudgeMode::Queue, None, 0)).outcome,
            NudgeOutcome::Queued
        );
    }
    assert_eq!(refusal(&mut test.nudge_as("m", NudgeMode::Queue, None, 0)).code, Code::WriterBusy);
    test.send(Input::ChildExited(Exit::Code(0)));
    let dropped = test.outcomes().iter().filter(|(_, outcome)| *outcome == "rejected").count();
    assert_eq!(dropped, 64);
}

#[test]
fn an_interrupting_message_stops_the_turn_first() {
    let mut test = TestSession::working();
    let _nudge = test.nudge_as("instead", NudgeMode::Interrupt, None, 5000);
    assert_eq!(test.take_typed(), "!");
    test.show(">");
    assert_eq!(test.take_typed(), "", "one look at the screen proves no end");
    test.pass(1500);
    assert_eq!(test.take_typed(), pasted("instead"));
}

#[test]
fn a_caller_that_waits_for_no_witness_gets_its_reply_at_the_submission() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge_as("quick", NudgeMode::RejectIfBusy, None, 0);
    assert!(nudge.try_recv().is_err());
    test.show("> quick");
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Submitted);

    let mut test = TestSession::idle();
    let mut nudge = test.nudge_as("short", NudgeMode::RejectIfBusy, None, 100);
    test.show("> short").show(">").pass(200);
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Submitted);
    test.hook("begin", "short");
    assert_eq!(
        test.outcomes().last().map(|(_, outcome)| *outcome),
        Some("accepted"),
        "the log knows better"
    );
}

#[test]
fn an_answer_is_typed_as_the_key_that_the_dialog_shows() {
    let mut test = TestSession::working();
    test.hook("ask", "rm").show("? rm\r\nNo\r\nYes").take_typed();
    let mut reply = test.respond(true, None);
    assert_eq!(test.take_typed(), "", "the dialog does not take keys yet");
    test.pass(400);
    assert_eq!(test.take_typed(), "2", "by its meaning, not by its position");
    test.show("busy\r\n>").pass(300);
    let RespondReply::Given { outcome, via, kind, after, .. } = granted(&mut reply) else {
        panic!("no prompt")
    };
    assert_eq!(
        (outcome, via, kind),
        (RespondOutcome::Answered, Channel::Keys, PromptKind::Permission)
    );
    assert_eq!(after, AgentState::Working);
}

#[test]
fn a_key_without_effect_is_pressed_twice_at_most() {
    let mut test = TestSession::at_prompt();
    let mut reply = test.respond(true, None);
    test.take_typed();
    test.pass(1900);
    assert_eq!(test.take_typed(), "", "it may only be slow");
    test.pass(20_000);
    assert_eq!(test.take_typed(), "1", "twice in all");
    let RespondReply::Given { outcome, .. } = granted(&mut reply) else { panic!("no prompt") };
    assert_eq!(outcome, RespondOutcome::Unconfirmed);
}

/// Two dialogs wait, and look the same: the second press could answer the next one.
#[test]
fn a_key_is_not_pressed_again_where_the_next_dialog_may_be_open() {
    let mut test = TestSession::working();
    test.hook("ask", "rm").hook("ask", "mv").show("? a tool\r\nYes\r\nNo").pass(400);
    let first = test.prompt_id();
    let mut reply = test.respond(true, Some(&first));
    assert_eq!(test.take_typed(), "1");
    test.pass(20_000);
    assert_eq!(test.take_typed(), "", "the next dialog may be open");
    let error = refusal(&mut reply);
    assert_eq!(error.code, Code::Timeout);
    assert!(error.message.contains("may be another one by now"), "{}", error.message);
    assert_ne!(test.prompt_id(), first, "a caller that repeats its answer must look again");
    assert_eq!(refusal(&mut test.respond(true, Some(&first))).code, Code::StalePrompt);

    // No source announced it, so the next one would not be announced, either.
    let mut test = TestSession::working();
    test.show("? rm\r\nYes\r\nNo").pass(1000).take_typed();
    let mut reply = test.respond(true, None);
    assert_eq!(test.take_typed(), "1");
    test.pass(20_000);
    assert_eq!((test.take_typed(), refusal(&mut reply).code), (String::new(), Code::Timeout));

    // The agent has gone on since the key.
    let mut test = TestSession::at_prompt();
    let mut reply = test.respond(true, None);
    assert_eq!(test.take_typed(), "1");
    test.pass(100).hook("begin", "").pass(20_000);
    assert_eq!((test.take_typed(), refusal(&mut reply).code), (String::new(), Code::Timeout));
}

#[test]
fn the_prompt_is_the_one_whose_input_is_on_screen() {
    let mut test = TestSession::working();
    test.hook("ask", "rm").hook("ask", "mv").show("? mv\r\nYes\r\nNo").pass(400);
    assert_eq!(test.prompt_input().as_deref(), Some("{\"command\":\"mv\"}"));
    let second = test.prompt_id();
    let mut reply = test.respond(true, Some(&second));
    assert_eq!(test.take_typed(), "1");
    test.show("? rm\r\nYes\r\nNo").pass(400);
    assert_eq!(given(&mut reply).0, RespondOutcome::Answered);
    assert_eq!(test.prompt_input().as_deref(), Some("{\"command\":\"rm\"}"));
    assert_eq!(test.take_typed(), "");

    let mut hidden = TestSession::working();
    hidden.hook("ask", "rm").hook("ask", "mv").show("? a tool\r\nYes\r\nNo").pass(400);
    assert_eq!(hidden.prompt_input(), None, "it can be either");
}

#[test]
fn a_waiting_hook_carries_the_answer_and_no_key_is_pressed() {
    let mut test = TestSession::working();
    test.waiting_hook("rm", 9).show("? rm\r\nYes\r\nNo").pass(400).take_typed();
    let mut reply = test.respond(false, None);
    assert_eq!(test.effects, ["answer 9 {\"accept\":false}"]);
    assert_eq!(test.take_typed(), "");
    test.show("busy\r\n>").pass(300);
    let RespondReply::Given { outcome, via, .. } = granted(&mut reply) else { panic!("no prompt") };
    assert_eq!((outcome, via), (RespondOutcome::Answered, Channel::Hook));
}

#[test]
fn a_hook_that_does_not_work_is_followed_by_keys() {
    let mut test = TestSession::working();
    test.waiting_hook("rm", 9).show("? rm\r\nYes\r\nNo").pass(400).take_typed();
    let _reply = test.respond(true, None);
    test.pass(1900);
    assert_eq!(test.take_typed(), "");
    test.pass(200);
    assert_eq!(test.take_typed(), "1");
}

#[test]
fn an_answer_by_hand_releases_the_hook() {
    let mut test = TestSession::working();
    test.waiting_hook("rm", 9).show("? rm\r\nYes\r\nNo").pass(400);
    assert!(test.effects.is_empty(), "the hook waits while the dialog is open");
    test.show("busy\r\n>").pass(300);
    assert_eq!(test.effects, ["release 9"]);
}

#[test]
fn an_answer_to_another_prompt_is_stale_and_types_nothing() {
    let mut test = TestSession::at_prompt();
    let first = test.prompt_id();
    test.hook("ask", "mv").show("? mv\r\nYes\r\nNo").pass(400).take_typed();
    assert_ne!(test.prompt_id(), first);
    let mut stale = test.respond(true, Some(&first));
    assert_eq!(refusal(&mut stale).code, Code::StalePrompt);
    assert_eq!(test.take_typed(), "");
    let mut none = TestSession::idle();
    assert_eq!(refusal(&mut none.respond(true, Some(&first))).code, Code::StalePrompt);
    assert!(matches!(granted(&mut none.respond(true, None)), RespondReply::NoPrompt { .. }));
}

#[test]
fn one_answer_reaches_one_dialog() {
    let mut test = TestSession::at_prompt();
    let mut reply = test.respond(true, None);
    assert_eq!(test.take_typed(), "1");
    // The next dialog looks the same and was announced.
    test.show("busy").hook("ask", "rm").show("? rm\r\nYes\r\nNo").pass(5000);
    assert_eq!(test.take_typed(), "");
    let RespondReply::Given { outcome, .. } = granted(&mut reply) else { panic!("no prompt") };
    assert_eq!(outcome, RespondOutcome::Answered);
    assert_eq!(test.state(), AgentState::Prompt);
}

#[test]
fn an_interrupt_is_over_once_evidence_shows_the_end_of_the_turn() {
    let mut test = TestSession::working();
    let mut stop = test.interrupt();
    assert_eq!(test.take_typed(), "!");
    test.pass(500);
    assert_eq!(test.state(), AgentState::Working, "a key proves nothing");
    assert!(stop.try_recv().is_err());
    test.end_turn(">");
    let done = granted(&mut stop);
    assert_eq!((done.outcome, done.delivered), (InterruptOutcome::Stopped, true));
    assert_eq!((done.before, done.after), (AgentState::Working, AgentState::Idle));
    let mut nothing = test.interrupt();
    let done = granted(&mut nothing);
    assert_eq!((done.outcome, done.delivered), (InterruptOutcome::NothingToStop, false));
    assert_eq!(test.take_typed(), "");
}

#[test]
fn an_ignored_interrupt_is_pressed_again_while_the_agent_shows_a_turn() {
    let mut test = TestSession::working();
    let mut stop = test.interrupt();
    assert_eq!(test.take_typed(), "!");
    test.pass(700).show("busy").pass(400);
    assert_eq!(test.take_typed(), "");
    test.pass(200);
    assert_eq!(test.take_typed(), "!", "the agent goes on drawing the turn");
    test.end_turn(">");
    assert_eq!(granted(&mut stop).outcome, InterruptOutcome::Stopped);

    let mut test = TestSession::working();
    let mut stop = test.interrupt();
    test.pass(8900);
    assert!(stop.try_recv().is_err());
    test.pass(200);
    let done = granted(&mut stop);
    assert_eq!((done.outcome, done.delivered), (InterruptOutcome::StillWorking, true));
    assert_eq!(test.state(), AgentState::Working);
}

#[test]
fn an_interrupt_is_not_pressed_again_where_no_turn_is_drawn() {
    let mut test = TestSession::working();
    let mut stop = test.interrupt();
    test.pass(8900);
    assert_eq!(test.take_typed(), "!", "the agent has not read the first one");
    assert!(stop.try_recv().is_err());

    let mut test = TestSession::working();
    // Nothing on this screen is recognised.
    test.show("streaming text");
    let mut stop = test.interrupt();
    test.pass(8900);
    assert_eq!(test.take_typed(), "!");
    assert!(stop.try_recv().is_err());
}

#[test]
fn an_interrupt_cancels_a_nudge_and_stops_the_turn_of_a_submitted_one() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("never agent");
    let mut stop = test.interrupt();
    assert_eq!(refusal(&mut nudge).code, Code::AgentBusy);
    assert!(!granted(&mut stop).delivered);
    test.show("> never agent").pass(5000);
    assert!(!test.take_typed().contains('\r'), "the nudge was cancelled");

    let mut test = TestSession::idle();
    let mut nudge = test.nudge("too late");
    test.show("> too late").show(">");
    assert!(test.take_typed().ends_with('\r'));
    let mut stop = test.interrupt();
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Submitted);
    test.pass(200);
    assert!(stop.try_recv().is_err(), "the turn has not begun yet");
    test.hook("begin", "too late").show("busy");
    assert_eq!(test.take_typed(), "!");
    test.end_turn(">");
    assert_eq!(granted(&mut stop).outcome, InterruptOutcome::Stopped);
}

#[test]
fn grooming_answers_only_what_the_driver_allows() {
    let mut test = TestSession::with(Groom::Auto);
    test.show("? trust this folder\r\nNo\r\nYes").pass(500);
    assert_eq!(test.take_typed(), "2");
    test.end_turn(">").pass(500);
    assert_eq!(test.state(), AgentState::Idle);
    test.hook("ask", "rm").show("? rm\r\nYes\r\nNo").pass(20_000);
    assert_eq!(test.take_typed(), "");

    let mut manual = TestSession::with(Groom::Manual);
    manual.show("? trust this folder\r\nNo\r\nYes").pass(20_000);
    assert_eq!((manual.take_typed(), manual.state()), (String::new(), AgentState::Prompt));
}

#[test]
fn the_lease_covers_messages_answers_interrupts_and_grooming() {
    let mut test = TestSession::with(Groom::Auto);
    let fresh = LeaseId("l".to_owned());
    let taken = |reply| Command::AcquireLease {
        shown: None,
        fresh: fresh.clone(),
        holder: Some("ada".to_owned()),
        ttl: DEFAULT_TTL,
        reply,
    };
    granted(&mut test.call(taken));
    test.show("? trust this folder\r\nNo\r\nYes").pass(20_000);
    assert_eq!(test.take_typed(), "");
    assert_eq!(refusal(&mut test.nudge("x")).code, Code::WriterBusy);
    assert_eq!(refusal(&mut test.respond(true, None)).code, Code::WriterBusy);
    assert_eq!(refusal(&mut test.interrupt()).code, Code::WriterBusy);
    test.pass(11_000);
    assert_eq!(test.take_typed(), "2", "the lease has run out");
}

#[test]
fn the_exit_fails_every_waiting_caller() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("too late");
    let mut reply = TestSession::at_prompt();
    let mut answered = reply.respond(true, None);
    test.send(Input::ChildExited(Exit::Signal(9)));
    reply.send(Input::ChildExited(Exit::Signal(9)));
    assert_eq!(refusal(&mut nudge).code, Code::Exited);
    assert_eq!(refusal(&mut answered).code, Code::Exited);
    assert_eq!(refusal(&mut test.nudge("more")).code, Code::Exited);
}

#[test]
fn a_log_that_names_the_text_is_a_witness() {
    let mut test = TestSession::idle();
    let mut nudge = test.nudge("read me");
    test.show("> read me").show(">");
    test.send(Input::LogLine(json!({ "event": "begin", "text": "read me" })));
    assert_eq!(granted(&mut nudge).outcome, NudgeOutcome::Accepted);
}

fn given(reply: &mut Waiting<RespondReply>) -> (RespondOutcome, Option<By>) {
    match granted(reply) {
        RespondReply::Given { outcome, superseded_by, .. } => (outcome, superseded_by),
        RespondReply::NoPrompt { .. } => panic!("there is a prompt"),
    }
}

#[test]
fn an_answer_that_comes_second_says_whose_was_first() {
    let mut test = TestSession::at_prompt();
    let accept = |reply| {
        let answer = PromptAnswer { accept: Some(true), ..PromptAnswer::default() };
        let request = RespondRequest { prompt_id: None, answer };
        Command::Respond { request, lease: None, reply }
    };
    let mut first = test.call_by(By::Uid(1), accept);
    let mut second = test.call_by(By::Uid(2), accept);
    test.show("busy\r\n>").pass(300);
    assert_eq!(given(&mut first), (RespondOutcome::Answered, None));
    assert_eq!(given(&mut second), (RespondOutcome::Superseded, Some(By::Uid(1))));
    let batch = test.actor.published().events.read_after(EventSeq(0), 1000);
    let answers = batch.events.iter().filter_map(|event| match &event.kind {
        EventKind::Respond(respond) => Some((event.by.clone(), respond.superseded_by.clone())),
        _ => None,
    });
    let (one, two) = (Some(By::Uid(1)), Some(By::Uid(2)));
    assert_eq!(answers.collect::<Vec<_>>(), [(one.clone(), None), (two, one)]);
}

#[test]
fn an_answer_after_a_key_of_an_attached_terminal_is_superseded_by_the_terminal() {
    let mut test = TestSession::at_prompt();
    let typing = Typing::Raw("1".into());
    let _typed = test.call_by(By::Terminal, |reply| Command::Type { typing, lease: None, reply });
    test.show("busy\r\n>");
    let mut late = test.respond(true, None);
    test.pass(300);
    assert_eq!(given(&mut late), (RespondOutcome::Superseded, Some(By::Terminal)));
}

#[test]
fn an_answer_to_a_prompt_that_is_over_says_who_answered_it() {
    let mut test = TestSession::at_prompt();
    let prompt = test.prompt_id();
    let mut first = test.respond(true, Some(&prompt));
    test.show("busy\r\n>").pass(300);
    assert_eq!(given(&mut first).0, RespondOutcome::Answered);
    let late = refusal(&mut test.respond(true, Some(&prompt)));
    assert_eq!(late.code, Code::StalePrompt);
    assert!(late.message.contains("by uid:7"), "{late:?}");
    assert!(late.metadata.contains(&("by".into(), "uid:7".into())), "{late:?}");
}

#[test]
fn a_groomed_dialog_is_answered_by_coop() {
    let mut test = TestSession::with(Groom::Auto);
    test.show("? trust this folder\r\nNo\r\nYes").pass(1000);
    assert_eq!(test.take_typed(), "2");
    test.show("> ").pass(1000);
    let batch = test.actor.published().events.read_after(EventSeq(0), 1000);
    let answer = batch.events.iter().find(|event| matches!(event.kind, EventKind::Respond(_)));
    assert_eq!(answer.map(|event| event.by.clone()), Some(Some(By::Coop)));
}
