//! Messages, answers and interrupts, told to an actor that minds a toy agent: no runtime, no child, no clock.
//!
//! The toy shows `> draft` for its composer, `busy` while a turn runs, and `? question` with its options below it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::driver::agent::{AgentState, Tier};
use crate::driver::evidence::{Claim, Fact, Finding};
use crate::driver::launch::{Groom, Order, Outfit};
use crate::driver::prompt::{Answer as PromptAnswer, Ask, Prompt, PromptKind};
use crate::driver::sight::{Choice, Composer, Dialog, Page, Role, Sight};
use crate::driver::{Driver, Move};
use crate::error::{Code, Error};
use crate::pty::Exit;
use crate::session::actor::{Actor, Attendance, Effect, Input, Settings};
use crate::session::backend::Backend;
use crate::session::clock::Now;
use crate::session::command::{Command, Typing};
use crate::session::event::{EventSeq, What};
use crate::session::lease::{DEFAULT_TTL, LeaseId};
use crate::session::mind::{HookId, Profile};
use crate::session::outbox::Answer;
use crate::session::recipe::Recipe;
use crate::session::talk::{
    Channel, Interrupted, Message, Mode, NudgeOutcome, Nudged, Refusal, Reply, RespondOutcome, Responded,
};
use crate::term::{Screen, Signal, Size};

struct Toy;

impl Driver for Toy {
    fn outfit(&self, _order: &Order) -> Result<Outfit, String> {
        Ok(Outfit::default())
    }

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

    fn signal(&mut self, signal: &Signal) -> Vec<Finding> {
        let Signal::Title(title) = signal else { return Vec::new() };
        let claim = if title == "works" { Claim::Working } else { Claim::TurnEnded };
        let cause = if title == "works" { "title:works" } else { "title:rests" };
        vec![Finding::new(Tier::Terminal, cause, claim, title)]
    }

    fn log_line(&mut self, line: &Value) -> Vec<Finding> {
        self.hook(line["event"].as_str().unwrap_or_default(), line)
    }

    fn see(&self, screen: &Screen) -> Sight {
        let lines: Vec<String> = screen.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let asked = lines.iter().position(|line| line.starts_with('?'));
        let dialog = asked.map(|at| {
            let choice = |label: &str| Choice {
                label: label.to_owned(),
                digit: None,
                checked: None,
                typed: None,
                role: if label.starts_with("Yes") { Role::Accept } else { Role::Decline },
            };
            let subtype = lines[at].contains("trust").then_some("trust");
            Dialog {
                kind: PromptKind::Permission,
                subtype,
                tool: subtype.is_none().then_some("Tool"),
                message: lines[at].clone(),
                choices: lines[at + 1..].iter().map(|label| choice(label)).collect(),
                highlighted: None,
                page: Page::Only,
                lines: lines.clone(),
            }
        });
        let draft = lines.iter().find_map(|line| line.strip_prefix('>'));
        Sight {
            composer: draft.map(|draft| Composer { draft: draft.trim_start().to_owned() }),
            busy: lines.iter().any(|line| line == "busy"),
            retrying: None,
            failed: None,
            option_list: dialog.is_some(),
            dialog,
        }
    }

    fn compose(&self, message: &str) -> String {
        message.to_owned()
    }

    fn holds(&self, composer: &Composer, pasted: &str) -> bool {
        composer.draft == pasted
    }

    fn interrupt(&self) -> &'static [u8] {
        b"!"
    }

    fn clear(&self) -> &'static [u8] {
        b"~"
    }

    fn hook_answer(&self, _prompt: &Prompt, answer: &PromptAnswer) -> Option<Value> {
        answer.accept.map(|accept| json!({ "accept": accept }))
    }

    fn next_move(&self, _prompt: &Prompt, answer: &PromptAnswer, dialog: &Dialog) -> Move {
        let role = if answer.accept == Some(true) { Role::Accept } else { Role::Decline };
        match dialog.choice_with(role) {
            Some(at) => Move::Press(Bytes::from((at + 1).to_string())),
            None => Move::Refuse("there is no such choice".to_owned()),
        }
    }

    fn groom(&self, prompt: &Prompt, _command: &[String]) -> Option<PromptAnswer> {
        let yes = PromptAnswer { accept: Some(true), ..PromptAnswer::default() };
        prompt.subtype.is_some().then_some(yes)
    }

    fn guard(&self) -> Duration {
        Duration::from_millis(300)
    }

    fn sure_idle_screen(&self) -> bool {
        true
    }
}

type Waiting<T> = oneshot::Receiver<Result<T, Error>>;

struct Stage {
    actor: Actor,
    now: Now,
    /// Everything that was typed, as the child got it.
    typed: String,
    effects: Vec<String>,
}

impl Stage {
    fn with(groom: Groom) -> Self {
        let profile =
            Profile { groom, grace: Duration::from_secs(60), retry_after: Duration::from_secs(4), deaf: &[] };
        let settings = Settings {
            epoch_ms: 17,
            backend: Backend::Native,
            recipe: Recipe { program: "toy".into(), args: vec![], cwd: "/".into(), env: BTreeMap::new() },
            size: Size::new(80, 24).unwrap(),
            ring_bytes: 1 << 16,
            scrollback_lines: 100,
            linger: None,
            idle_timeout: None,
            attendance: Some(Attendance { driver: Arc::new(|| Box::new(Toy)), profile }),
        };
        let now = Now::read();
        let (typed, effects) = (String::new(), Vec::new());
        let mut stage = Self { actor: Actor::new(now, settings), now, typed, effects };
        stage.tell(Input::Started { pid: 7, prints_json: false, unheard: None });
        stage.output("\x1b[?2004h");
        stage
    }

    fn idle() -> Self {
        let mut stage = Self::with(Groom::Manual);
        stage.end_turn(">");
        assert_eq!(stage.state(), AgentState::Idle);
        stage.pass(5000);
        stage
    }

    fn working() -> Self {
        let mut stage = Self::idle();
        stage.hook("begin", "work").show("busy\r\n>");
        assert_eq!(stage.state(), AgentState::Working);
        stage.pass(5000);
        stage
    }

    fn at_prompt() -> Self {
        let mut stage = Self::working();
        stage.hook("ask", "rm").show("? rm\r\nYes\r\nNo").pass(400);
        assert_eq!(stage.state(), AgentState::Prompt);
        stage
    }

    fn tell(&mut self, input: Input) -> &mut Self {
        let effects = self.actor.handle(self.now, input);
        self.effects.extend(effects.iter().filter_map(|effect| match effect {
            Effect::AnswerHook { hook, output } => Some(format!("answer {} {output}", hook.0)),
            Effect::ReleaseHook(hook) => Some(format!("release {}", hook.0)),
            _ => None,
        }));
        while let Some(bytes) = self.actor.next_write().map(<[u8]>::to_vec) {
            self.typed.push_str(&String::from_utf8_lossy(&bytes));
            self.actor.handle(self.now, Input::Wrote(bytes.len()));
        }
        self
    }

    fn output(&mut self, text: &str) -> &mut Self {
        self.tell(Input::Output(Bytes::copy_from_slice(text.as_bytes())))
    }

    /// The toy draws its whole screen anew.
    fn show(&mut self, text: &str) -> &mut Self {
        self.output(&format!("\x1b[H\x1b[2J{text}")).pass(30)
    }

    fn hook(&mut self, event: &str, text: &str) -> &mut Self {
        let (event, payload) = (event.to_owned(), json!({ "text": text }));
        self.tell(Input::Hook { event, payload, waits: None })
    }

    /// The turn ends, and the screen shows this after it.
    fn end_turn(&mut self, screen: &str) -> &mut Self {
        self.hook("end", "").show(screen).pass(300)
    }

    fn waiting_hook(&mut self, text: &str, id: u64) -> &mut Self {
        let (event, payload) = ("ask".to_owned(), json!({ "text": text }));
        self.tell(Input::Hook { event, payload, waits: Some(HookId(id)) })
    }

    /// Lets time go by, with a tick whenever the actor wants one.
    fn pass(&mut self, ms: u64) -> &mut Self {
        let end = self.now.after(Duration::from_millis(ms));
        while let Some(due) = self.actor.deadline().filter(|due| *due <= end.steady) {
            let step = due.saturating_duration_since(self.now.steady).max(Duration::from_millis(1));
            self.now = self.now.after(step);
            self.tell(Input::Tick);
        }
        self.now = end;
        self.tell(Input::Tick)
    }

    fn ask<T>(&mut self, command: impl FnOnce(Answer<T>) -> Command) -> Waiting<T> {
        let (answer, waiting) = oneshot::channel();
        self.tell(Input::Command(command(answer)));
        waiting
    }

    fn nudge_as(&mut self, text: &str, mode: Mode, key: Option<&str>, confirm_ms: u64) -> Waiting<Nudged> {
        let confirm = Duration::from_millis(confirm_ms);
        let message = Message { text: text.to_owned(), mode, key: key.map(str::to_owned), confirm };
        self.ask(|answer| Command::Nudge { message, lease: None, answer })
    }

    fn nudge(&mut self, text: &str) -> Waiting<Nudged> {
        self.nudge_as(text, Mode::RejectIfBusy, None, 5000)
    }

    fn respond(&mut self, accept: bool, prompt_id: Option<&str>) -> Waiting<Responded> {
        let answer = PromptAnswer { accept: Some(accept), ..PromptAnswer::default() };
        let reply = Reply { prompt_id: prompt_id.map(str::to_owned), answer };
        self.ask(|answer| Command::Respond { reply, lease: None, answer })
    }

    fn interrupt(&mut self) -> Waiting<Interrupted> {
        self.ask(|answer| Command::Interrupt { lease: None, answer })
    }

    fn state(&self) -> AgentState {
        self.actor.shared().snapshot.load().agent.state()
    }

    fn prompt_id(&self) -> String {
        let snapshot = self.actor.shared().snapshot.load_full();
        snapshot.agent.situation.prompt().expect("a prompt stands").id.0.clone()
    }

    fn take_typed(&mut self) -> String {
        std::mem::take(&mut self.typed)
    }

    fn outcomes(&self) -> Vec<(String, &'static str)> {
        let batch = self.actor.shared().events.read_after(EventSeq(0), 1000);
        let outcome = |what: &What| match what {
            What::Nudge(nudge) => Some((nudge.id.clone(), nudge.outcome.as_str())),
            _ => None,
        };
        batch.events.iter().filter_map(|event| outcome(&event.what)).collect()
    }
}

fn answer<T: std::fmt::Debug>(waiting: &mut Waiting<T>) -> T {
    waiting.try_recv().expect("answered").expect("granted")
}

fn refusal<T: std::fmt::Debug>(waiting: &mut Waiting<T>) -> Error {
    waiting.try_recv().expect("answered").expect_err("refused")
}

fn pasted(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

#[test]
fn a_message_is_pasted_seen_and_only_then_submitted() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("go on");
    assert_eq!(stage.take_typed(), pasted("go on"));
    stage.pass(500);
    assert_eq!(stage.take_typed(), "", "it is not in the composer yet");
    stage.show("> go on");
    assert_eq!(stage.take_typed(), "\r");
    assert!(nudge.try_recv().is_err(), "nobody has witnessed it");
    stage.hook("begin", "go on");
    let nudged = answer(&mut nudge);
    assert_eq!((nudged.outcome, nudged.before), (NudgeOutcome::Accepted, AgentState::Idle));
    assert_eq!(nudged.after, AgentState::Working);
    assert_eq!(nudged.id, "17-1-n1");
    assert_eq!(stage.outcomes(), [(nudged.id.clone(), "submitted"), (nudged.id, "accepted")]);
}

#[test]
fn a_turn_within_one_frame_is_a_witness() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("quick");
    stage.show("> quick");
    assert_eq!(stage.take_typed(), "\u{1b}[200~quick\u{1b}[201~\r");
    stage.output("\x1b[H\x1b[2J>\x1b]0;works\x07").output("\x1b]0;rests\x07");
    assert_eq!(stage.state(), AgentState::Idle);
    stage.pass(100);
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Accepted);
}

#[test]
fn a_turn_with_another_text_is_no_witness() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("mine");
    stage.show("> mine").hook("begin", "a background task's own");
    assert!(nudge.try_recv().is_err(), "the composer still holds it");
    stage.show("busy\r\n>");
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Accepted, "it left the composer, and a turn runs");
}

#[test]
fn enter_is_pressed_once_more_and_only_while_the_message_stands_there() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("again");
    stage.show("> again").take_typed();
    stage.pass(3900);
    assert_eq!(stage.take_typed(), "");
    stage.pass(200);
    assert_eq!(stage.take_typed(), "\r", "four seconds without a witness");
    stage.pass(10_000);
    assert_eq!(stage.take_typed(), "", "never a third time");
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Unconfirmed);

    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("gone");
    stage.show("> gone").show(">").take_typed();
    stage.pass(20_000);
    assert_eq!(stage.take_typed(), "", "the composer holds it no longer");
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Submitted);
}

#[test]
fn a_message_that_never_shows_is_never_submitted() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("lost");
    stage.take_typed();
    stage.pass(10_000);
    assert_eq!(stage.take_typed(), "");
    assert_eq!(refusal(&mut nudge).code, Code::Timeout);
}

#[test]
fn nothing_is_typed_into_a_dialog_a_turn_or_a_draft() {
    for (mut stage, reason) in
        [(Stage::at_prompt(), Refusal::DialogOpen), (Stage::working(), Refusal::AgentBusy), {
            let mut drafted = Stage::idle();
            drafted.show("> somebody's words");
            (drafted, Refusal::DraftInComposer)
        }]
    {
        stage.take_typed();
        let mut nudge = stage.nudge("no");
        stage.pass(1000);
        assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Rejected(reason));
        assert_eq!(stage.take_typed(), "", "{reason:?}");
    }
}

#[test]
fn a_composer_that_is_being_drawn_anew_is_waited_for_and_not_for_long() {
    let mut stage = Stage::idle();
    stage.show("").take_typed();
    assert_eq!(stage.state(), AgentState::Idle);
    let _nudge = stage.nudge("hi");
    stage.pass(500);
    assert_eq!(stage.take_typed(), "");
    stage.show(">");
    assert_eq!(stage.take_typed(), pasted("hi"));

    let mut stage = Stage::idle();
    stage.show("").take_typed();
    let mut nudge = stage.nudge("no");
    stage.pass(4500);
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::AgentBusy));
    assert_eq!(stage.take_typed(), "");
}

#[test]
fn a_dialog_that_opens_under_a_paste_gets_no_enter() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("hm");
    stage.show("? rm\r\nYes\r\nNo").take_typed();
    stage.pass(2000);
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::DialogOpen));
    assert_eq!(stage.take_typed(), "");
}

#[test]
fn without_paste_mode_nothing_is_typed() {
    let mut stage = Stage::idle();
    stage.output("\x1b[?2004l").pass(100).take_typed();
    let mut nudge = stage.nudge("no");
    assert_eq!(refusal(&mut nudge).code, Code::AgentBusy);
    assert_eq!(stage.take_typed(), "");
}

#[test]
fn keys_of_a_person_wait_for_the_message_and_the_message_for_their_echo() {
    let mut stage = Stage::idle();
    let _first = stage.ask(|answer| Command::Type {
        typing: Typing::Raw(Bytes::from_static(b"x")),
        lease: None,
        answer,
    });
    assert_eq!(stage.take_typed(), "x");
    let mut nudge = stage.nudge("hi");
    assert_eq!(stage.take_typed(), "", "the echo of the key is still to come");
    stage.show("> x").pass(1100);
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Rejected(Refusal::DraftInComposer));

    let mut stage = Stage::idle();
    let _nudge = stage.nudge("hi");
    let _key = stage.ask(|answer| Command::Type {
        typing: Typing::Raw(Bytes::from_static(b"x")),
        lease: None,
        answer,
    });
    assert_eq!(stage.take_typed(), pasted("hi"));
    stage.show("> hi");
    assert_eq!(stage.take_typed(), "\r");
    stage.hook("begin", "hi").show("busy\r\n>");
    assert_eq!(stage.take_typed(), "x", "after the verdict");
}

#[test]
fn what_an_escape_gave_back_is_ours_to_clear() {
    let mut stage = Stage::idle();
    let _first = stage.nudge("one");
    stage.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000);
    stage.end_turn("> one").take_typed();
    let _second = stage.nudge("two");
    assert_eq!(stage.take_typed(), "~");
    stage.show(">");
    assert_eq!(stage.take_typed(), pasted("two"));
}

#[test]
fn what_comes_back_before_the_paste_is_cleared_with_it() {
    let mut stage = Stage::idle();
    let _first = stage.nudge("one");
    stage.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000);
    stage.end_turn(">").take_typed();
    let mut second = stage.nudge("two");
    stage.pass(400);
    assert_eq!(stage.take_typed(), pasted("two"));
    stage.show("> onetwo");
    assert_eq!(stage.take_typed(), "~");
    stage.show(">");
    assert_eq!(stage.take_typed(), pasted("two"));
    stage.show("> two");
    assert_eq!(stage.take_typed(), "\r");
    stage.hook("begin", "two");
    assert_eq!(answer(&mut second).outcome, NudgeOutcome::Accepted);
}

#[test]
fn the_same_key_never_types_twice() {
    let mut stage = Stage::idle();
    let mut first = stage.nudge_as("go", Mode::RejectIfBusy, Some("k"), 5000);
    let mut meanwhile = stage.nudge_as("go", Mode::RejectIfBusy, Some("k"), 5000);
    stage.show("> go").hook("begin", "go").show("busy\r\n>");
    let reply = answer(&mut first);
    assert_eq!(answer(&mut meanwhile), reply);
    stage.take_typed();
    let mut later = stage.nudge_as("go", Mode::RejectIfBusy, Some("k"), 5000);
    assert_eq!(answer(&mut later), reply);
    assert_eq!(stage.take_typed(), "");
    let mut other = stage.nudge_as("stop", Mode::RejectIfBusy, Some("k"), 5000);
    assert_eq!(refusal(&mut other).code, Code::BadRequest);
}

#[test]
fn a_key_whose_message_was_not_typed_is_still_free() {
    let mut stage = Stage::working();
    let mut busy = stage.nudge_as("go", Mode::RejectIfBusy, Some("k"), 5000);
    assert!(!answer(&mut busy).outcome.delivered());
    stage.end_turn(">").take_typed();
    let _again = stage.nudge_as("go", Mode::RejectIfBusy, Some("k"), 5000);
    assert_eq!(stage.take_typed(), pasted("go"));
}

#[test]
fn queued_messages_go_in_one_by_one_when_the_agent_is_idle() {
    let mut stage = Stage::working();
    let mut one = stage.nudge_as("one", Mode::Queue, None, 5000);
    let mut two = stage.nudge_as("two", Mode::Queue, None, 5000);
    assert_eq!(answer(&mut one).outcome, NudgeOutcome::Queued);
    assert_eq!(answer(&mut two).outcome, NudgeOutcome::Queued);
    assert_eq!(stage.take_typed(), "");
    stage.end_turn(">");
    assert_eq!(stage.take_typed(), pasted("one"));
    stage.show("> one").hook("begin", "one").show("busy\r\n>").pass(2000);
    assert_eq!(stage.take_typed(), "\r");
    stage.end_turn(">");
    assert_eq!(stage.take_typed(), pasted("two"));
}

#[test]
fn the_queue_is_bounded_and_dropped_with_the_child() {
    let mut stage = Stage::working();
    for _ in 0..64 {
        assert_eq!(answer(&mut stage.nudge_as("m", Mode::Queue, None, 0)).outcome, NudgeOutcome::Queued);
    }
    assert_eq!(refusal(&mut stage.nudge_as("m", Mode::Queue, None, 0)).code, Code::WriterBusy);
    stage.tell(Input::ChildExited(Exit::Code(0)));
    let dropped = stage.outcomes().iter().filter(|(_, outcome)| *outcome == "rejected").count();
    assert_eq!(dropped, 64);
}

#[test]
fn an_interrupting_message_stops_the_turn_first() {
    let mut stage = Stage::working();
    let _nudge = stage.nudge_as("instead", Mode::Interrupt, None, 5000);
    assert_eq!(stage.take_typed(), "!");
    stage.show(">");
    assert_eq!(stage.take_typed(), pasted("instead"));
}

#[test]
fn who_does_not_wait_for_a_witness_is_answered_at_the_submission() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge_as("quick", Mode::RejectIfBusy, None, 0);
    assert!(nudge.try_recv().is_err());
    stage.show("> quick");
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Submitted);

    let mut stage = Stage::idle();
    let mut nudge = stage.nudge_as("short", Mode::RejectIfBusy, None, 100);
    stage.show("> short").show(">").pass(200);
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Submitted);
    stage.hook("begin", "short");
    assert_eq!(
        stage.outcomes().last().map(|(_, outcome)| *outcome),
        Some("accepted"),
        "the log knows better"
    );
}

#[test]
fn an_answer_is_a_key_that_the_dialog_was_seen_to_need() {
    let mut stage = Stage::working();
    stage.hook("ask", "rm").show("? rm\r\nNo\r\nYes").take_typed();
    let mut reply = stage.respond(true, None);
    assert_eq!(stage.take_typed(), "", "the dialog does not take keys yet");
    stage.pass(400);
    assert_eq!(stage.take_typed(), "2", "by its meaning, not by its place");
    stage.show("busy\r\n>").pass(300);
    let Responded::Given { outcome, via, kind, after, .. } = answer(&mut reply) else { panic!("no prompt") };
    assert_eq!((outcome, via, kind), (RespondOutcome::Answered, Channel::Keys, PromptKind::Permission));
    assert_eq!(after, AgentState::Working);
}

#[test]
fn a_key_that_had_no_effect_is_pressed_again_but_not_for_ever() {
    let mut stage = Stage::at_prompt();
    let mut reply = stage.respond(true, None);
    stage.take_typed();
    stage.pass(1900);
    assert_eq!(stage.take_typed(), "", "it may only be slow");
    stage.pass(20_000);
    assert_eq!(stage.take_typed(), "1", "twice in all");
    let Responded::Given { outcome, .. } = answer(&mut reply) else { panic!("no prompt") };
    assert_eq!(outcome, RespondOutcome::Unconfirmed);
}

#[test]
fn a_waiting_hook_carries_the_answer_and_no_key_is_pressed() {
    let mut stage = Stage::working();
    stage.waiting_hook("rm", 9).show("? rm\r\nYes\r\nNo").pass(400).take_typed();
    let mut reply = stage.respond(false, None);
    assert_eq!(stage.effects, ["answer 9 {\"accept\":false}"]);
    assert_eq!(stage.take_typed(), "");
    stage.show("busy\r\n>").pass(300);
    let Responded::Given { outcome, via, .. } = answer(&mut reply) else { panic!("no prompt") };
    assert_eq!((outcome, via), (RespondOutcome::Answered, Channel::Hook));
}

#[test]
fn a_hook_that_does_not_work_is_followed_by_keys() {
    let mut stage = Stage::working();
    stage.waiting_hook("rm", 9).show("? rm\r\nYes\r\nNo").pass(400).take_typed();
    let _reply = stage.respond(true, None);
    stage.pass(1900);
    assert_eq!(stage.take_typed(), "");
    stage.pass(200);
    assert_eq!(stage.take_typed(), "1");
}

#[test]
fn a_person_who_is_faster_lets_the_hook_go() {
    let mut stage = Stage::working();
    stage.waiting_hook("rm", 9).show("? rm\r\nYes\r\nNo").pass(400);
    assert!(stage.effects.is_empty(), "it waits as long as the dialog stands");
    stage.show("busy\r\n>").pass(300);
    assert_eq!(stage.effects, ["release 9"]);
}

#[test]
fn an_answer_to_another_prompt_is_stale_and_types_nothing() {
    let mut stage = Stage::at_prompt();
    let first = stage.prompt_id();
    stage.hook("ask", "mv").show("? mv\r\nYes\r\nNo").pass(400).take_typed();
    assert_ne!(stage.prompt_id(), first);
    let mut stale = stage.respond(true, Some(&first));
    assert_eq!(refusal(&mut stale).code, Code::StalePrompt);
    assert_eq!(stage.take_typed(), "");
    let mut none = Stage::idle();
    assert_eq!(refusal(&mut none.respond(true, Some(&first))).code, Code::StalePrompt);
    assert!(matches!(answer(&mut none.respond(true, None)), Responded::NoPrompt { .. }));
}

#[test]
fn one_answer_reaches_one_dialog() {
    let mut stage = Stage::at_prompt();
    let mut reply = stage.respond(true, None);
    assert_eq!(stage.take_typed(), "1");
    // The next dialog looks the same and was announced.
    stage.show("busy").hook("ask", "rm").show("? rm\r\nYes\r\nNo").pass(5000);
    assert_eq!(stage.take_typed(), "");
    let Responded::Given { outcome, .. } = answer(&mut reply) else { panic!("no prompt") };
    assert_eq!(outcome, RespondOutcome::Answered);
    assert_eq!(stage.state(), AgentState::Prompt);
}

#[test]
fn an_interrupt_comes_before_everything_and_says_whether_there_was_anything() {
    let mut stage = Stage::working();
    let mut stop = stage.interrupt();
    assert_eq!(stage.take_typed(), "!");
    stage.show(">").pass(100);
    let done = answer(&mut stop);
    assert_eq!((done.delivered, done.before, done.after), (true, AgentState::Working, AgentState::Idle));
    let mut nothing = stage.interrupt();
    assert!(!answer(&mut nothing).delivered);
    assert_eq!(stage.take_typed(), "");

    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("never mind");
    let mut stop = stage.interrupt();
    assert_eq!(refusal(&mut nudge).code, Code::AgentBusy);
    assert!(!answer(&mut stop).delivered);
    stage.show("> never mind").pass(5000);
    assert!(!stage.take_typed().contains('\r'), "it was called off");
}

#[test]
fn grooming_answers_what_it_may_and_nothing_else() {
    let mut stage = Stage::with(Groom::Auto);
    stage.show("? trust this folder\r\nNo\r\nYes").pass(500);
    assert_eq!(stage.take_typed(), "2");
    stage.end_turn(">").pass(500);
    assert_eq!(stage.state(), AgentState::Idle);
    stage.hook("ask", "rm").show("? rm\r\nYes\r\nNo").pass(20_000);
    assert_eq!(stage.take_typed(), "");

    let mut manual = Stage::with(Groom::Manual);
    manual.show("? trust this folder\r\nNo\r\nYes").pass(20_000);
    assert_eq!((manual.take_typed(), manual.state()), (String::new(), AgentState::Prompt));
}

#[test]
fn the_lease_covers_messages_answers_interrupts_and_grooming() {
    let mut stage = Stage::with(Groom::Auto);
    let fresh = LeaseId("l".to_owned());
    let taken = |answer| Command::AcquireLease {
        shown: None,
        fresh: fresh.clone(),
        holder: "ada".to_owned(),
        ttl: DEFAULT_TTL,
        answer,
    };
    answer(&mut stage.ask(taken));
    stage.show("? trust this folder\r\nNo\r\nYes").pass(20_000);
    assert_eq!(stage.take_typed(), "");
    assert_eq!(refusal(&mut stage.nudge("x")).code, Code::WriterBusy);
    assert_eq!(refusal(&mut stage.respond(true, None)).code, Code::WriterBusy);
    assert_eq!(refusal(&mut stage.interrupt()).code, Code::WriterBusy);
    stage.pass(20_000);
    assert_eq!(stage.take_typed(), "2", "the lease has run out");
}

#[test]
fn the_exit_answers_everybody() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("too late");
    let mut reply = Stage::at_prompt();
    let mut answered = reply.respond(true, None);
    stage.tell(Input::ChildExited(Exit::Signal(9)));
    reply.tell(Input::ChildExited(Exit::Signal(9)));
    assert_eq!(refusal(&mut nudge).code, Code::Exited);
    assert_eq!(refusal(&mut answered).code, Code::Exited);
    assert_eq!(refusal(&mut stage.nudge("more")).code, Code::Exited);
}

#[test]
fn a_log_that_names_the_text_is_a_witness() {
    let mut stage = Stage::idle();
    let mut nudge = stage.nudge("read me");
    stage.show("> read me").show(">");
    stage.tell(Input::LogLine(json!({ "event": "begin", "text": "read me" })));
    assert_eq!(answer(&mut nudge).outcome, NudgeOutcome::Accepted);
}
