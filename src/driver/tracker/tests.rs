use std::time::{Duration, Instant};

use super::*;
use crate::driver::agent::{ErrorCategory, Trouble};
use crate::driver::prompt::Ask;
use crate::driver::sight::{Choice, Composer, Dialog, Page, Role};

const HABITS: Habits = Habits {
    sure_idle_screen: true,
    guard: Duration::from_millis(300),
    grace: Duration::from_secs(60),
    plans_after_turn: false,
    settling: Duration::ZERO,
    done: Duration::from_millis(300),
};

/// A tracker, and the time as it tells it.
struct Bench {
    tracker: Tracker,
    start: Instant,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        let start = Instant::now();
        Self { tracker: Tracker::new(start, HABITS, "7-1".to_owned()), start, now: start }
    }

    fn after(&mut self, ms: u64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self
    }

    fn hear(&mut self, tier: Tier, claim: Claim) -> &mut Self {
        self.hear_of(self.now, tier, claim)
    }

    fn hear_of(&mut self, at: Instant, tier: Tier, claim: Claim) -> &mut Self {
        let evidence = Evidence { tier, claim, cause: "test", seen: String::new(), at_epoch_ms: None };
        self.tracker.hear(self.now, at, evidence);
        self
    }

    fn look(&mut self, sight: &Sight) -> &mut Self {
        self.tracker.look(self.now, sight.clone());
        self
    }

    /// Looks again whenever the tracker wants to, for so long.
    fn pass(&mut self, ms: u64, sight: &Sight) -> &mut Self {
        let end = self.now + Duration::from_millis(ms);
        self.look(sight);
        while let Some(due) = self.tracker.deadline(self.now).filter(|due| *due <= end) {
            assert!(due >= self.start);
            self.now = due.max(self.now + Duration::from_millis(1));
            self.look(sight);
        }
        self.now = end;
        self.look(sight)
    }

    fn state(&self) -> AgentState {
        self.tracker.verdict().situation.state()
    }

    fn prompt(&self) -> &Prompt {
        self.tracker.verdict().situation.prompt().expect("a prompt stands")
    }

    fn idle() -> Self {
        let mut bench = Self::new();
        bench.hear(Tier::Hooks, Claim::TurnEnded).look(&composer());
        assert_eq!(bench.state(), AgentState::Idle);
        bench.after(5000);
        bench
    }

    fn working() -> Self {
        let mut bench = Self::idle();
        bench.hear(Tier::Hooks, Claim::TurnStarted { text: None }).look(&busy());
        assert_eq!(bench.state(), AgentState::Working);
        bench.after(5000);
        bench
    }
}

fn composer() -> Sight {
    Sight { composer: Some(Composer { draft: String::new() }), ..Sight::default() }
}

fn busy() -> Sight {
    Sight { busy: true, ..composer() }
}

fn choice(label: &str, role: Role) -> Choice {
    Choice { label: label.to_owned(), digit: None, checked: None, typed: None, role }
}

fn dialog(kind: PromptKind, subtype: Option<&'static str>, message: &str) -> Sight {
    let lines = vec![message.to_owned(), "Yes".to_owned(), "No".to_owned()];
    let choices = vec![choice("Yes", Role::Accept), choice("No", Role::Decline)];
    let message = message.to_owned();
    let tool = None;
    let dialog =
        Dialog { kind, subtype, tool, message, choices, highlighted: Some(0), page: Page::Only, lines };
    Sight { dialog: Some(dialog), option_list: true, ..Sight::default() }
}

fn permission(command: &str) -> Sight {
    dialog(PromptKind::Permission, None, command)
}

fn ask(command: &str) -> Claim {
    Claim::Asked(Box::new(Ask {
        kind: PromptKind::Permission,
        subtype: None,
        tool: Some("Bash".to_owned()),
        input: Some(serde_json::json!({ "command": command })),
        questions: Vec::new(),
        plan: None,
        message: format!("Run {command}?"),
    }))
}

fn overloaded() -> Trouble {
    Trouble { category: ErrorCategory::ServerError, detail: "529".to_owned() }
}

#[test]
fn a_turn_that_is_drawn_only_when_it_is_over_begins_no_other() {
    let mut bench = Bench::idle();
    bench.hear(Tier::Terminal, Claim::Working).after(20).hear(Tier::Terminal, Claim::TurnEnded);
    bench.pass(40, &busy()).pass(100, &composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn an_agent_that_must_settle_is_idle_once_it_stays_so() {
    let mut bench = Bench::new();
    let habits = Habits { settling: Duration::from_millis(300), ..HABITS };
    bench.tracker = Tracker::new(bench.now, habits, "7-1".to_owned());
    bench.hear(Tier::Terminal, Claim::TurnEnded).pass(50, &composer());
    assert_eq!(bench.state(), AgentState::Starting);
    bench.hear(Tier::Terminal, Claim::Working).after(20).hear(Tier::Terminal, Claim::TurnEnded);
    bench.pass(250, &composer());
    assert_ne!(bench.state(), AgentState::Idle);
    bench.pass(100, &composer());
    assert_eq!(bench.state(), AgentState::Idle);
    bench.after(500).hear(Tier::Terminal, Claim::Working).after(20).hear(Tier::Terminal, Claim::TurnEnded);
    assert_eq!(bench.state(), AgentState::Idle, "later it is believed at once");
}

#[test]
fn idle_needs_the_composer_on_screen() {
    let mut bench = Bench::new();
    bench.hear(Tier::Terminal, Claim::NotWorking).look(&Sight::default());
    assert_eq!(bench.state(), AgentState::Starting);
    bench.after(20).look(&composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn idle_is_published_after_a_second_if_nothing_on_screen_speaks_against_it() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::TurnEnded).pass(900, &Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
    bench.pass(200, &Sight::default());
    assert_eq!(bench.state(), AgentState::Idle);

    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::TurnEnded).pass(5000, &Sight { option_list: true, ..Sight::default() });
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn a_stop_that_the_screen_does_not_show_yet_is_still_working() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::TurnEnded).pass(4000, &busy());
    assert_eq!(bench.state(), AgentState::Working);
    bench.look(&composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn a_hook_that_ends_a_turn_is_believed_when_the_agent_is_done_with_it() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::TurnEnded).pass(100, &composer());
    assert_eq!(bench.state(), AgentState::Working, "what is typed now would be part of the turn");
    bench.hear(Tier::Terminal, Claim::NotWorking).look(&composer());
    let verdict = bench.tracker.verdict();
    assert_eq!((verdict.situation.state(), verdict.tier), (AgentState::Idle, Tier::Hooks));

    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::TurnEnded).pass(300, &composer());
    assert_eq!(bench.state(), AgentState::Idle, "nobody else has to say so");

    let mut bench = Bench::working();
    bench
        .hear(Tier::Hooks, Claim::Failed(overloaded()))
        .hear(Tier::Registry, Claim::TurnEnded)
        .look(&composer());
    assert_eq!(bench.state(), AgentState::Error, "the hook knows how it ended");

    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::TurnEnded).after(50).hear(Tier::Hooks, Claim::TurnStarted { text: None });
    bench.pass(900, &composer());
    assert_eq!(bench.state(), AgentState::Working, "another turn has begun");
}

#[test]
fn an_announced_dialog_is_a_prompt_at_once_and_ready_once_it_takes_keys() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls"));
    assert!(!bench.prompt().ready);
    let id = bench.prompt().id.clone();
    bench.after(100).look(&permission("ls"));
    assert_eq!(bench.prompt().options, ["Yes", "No"]);
    assert!(!bench.prompt().ready);
    bench.pass(300, &permission("ls"));
    assert!(bench.prompt().ready);
    assert_eq!((bench.prompt().id.clone(), bench.prompt().input.as_deref()), (id, Some("ls")));
    bench.look(&busy()).pass(200, &busy());
    assert_eq!(bench.state(), AgentState::Working, "the turn goes on after the dialog");
}

#[test]
fn a_dialog_that_nobody_announced_is_a_prompt_after_a_moment() {
    let mut bench = Bench::new();
    let trust = dialog(PromptKind::Permission, Some("trust"), "Quick safety check");
    bench.pass(250, &trust);
    assert_eq!(bench.state(), AgentState::Starting);
    bench.pass(100, &trust);
    assert_eq!((bench.state(), bench.prompt().subtype), (AgentState::Prompt, Some("trust")));
    bench.pass(200, &Sight::default());
    assert_eq!(bench.state(), AgentState::Starting, "trusting a folder starts no turn");
}

#[test]
fn after_a_dialog_of_its_start_the_agent_is_still_starting() {
    let mut bench = Bench::new();
    let trust = dialog(PromptKind::Permission, Some("trust"), "Quick safety check");
    bench.pass(400, &trust).hear(Tier::Hooks, Claim::NotWorking).pass(200, &Sight::default());
    assert_eq!(bench.state(), AgentState::Starting);
    bench.look(&composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn a_late_announcement_adds_to_the_prompt_that_stands() {
    let mut bench = Bench::working();
    bench.pass(400, &permission("ls"));
    let id = bench.prompt().id.clone();
    assert_eq!(bench.prompt().input, None);
    bench.hear(Tier::Hooks, ask("ls"));
    assert_eq!((bench.prompt().id.clone(), bench.prompt().input.as_deref()), (id, Some("ls")));
}

#[test]
fn a_blink_of_the_dialog_is_no_end_of_it() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls")).pass(400, &permission("ls"));
    let id = bench.prompt().id.clone();
    bench.look(&Sight::default()).after(50).look(&permission("ls"));
    assert_eq!(bench.prompt().id, id);
}

#[test]
fn a_dialog_that_is_drawn_in_two_steps_is_one_prompt() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls")).after(100).look(&permission("l"));
    let id = bench.prompt().id.clone();
    bench.after(20).look(&permission("ls")).pass(1000, &permission("ls"));
    assert_eq!((bench.prompt().id.clone(), bench.prompt().ready), (id, true));
    assert_eq!(bench.tracker.verdict().tier, Tier::Hooks);
}

#[test]
fn two_dialogs_in_a_row_are_two_prompts() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("one")).pass(400, &permission("one"));
    let first = bench.prompt().id.clone();
    bench.hear(Tier::Hooks, ask("two")).after(10).look(&permission("two"));
    assert_ne!(bench.prompt().id, first);
    assert_eq!(bench.prompt().input.as_deref(), Some("two"));
}

#[test]
fn the_same_question_asked_again_is_another_prompt() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls")).pass(400, &permission("ls"));
    let first = bench.prompt().id.clone();
    bench.look(&busy()).after(60).hear(Tier::Hooks, ask("ls")).after(10).look(&permission("ls"));
    assert_ne!(bench.prompt().id, first);
}

#[test]
fn a_dialog_that_never_came_is_forgotten() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls")).pass(1900, &busy());
    assert_eq!(bench.state(), AgentState::Prompt);
    bench.pass(200, &busy());
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn a_rejected_dialog_leads_to_idle_though_no_hook_tells() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls")).pass(2000, &permission("ls"));
    bench.pass(200, &composer());
    assert_eq!(bench.state(), AgentState::Working, "never straight to idle");
    bench.pass(800, &composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn a_title_that_says_the_turn_is_over_ends_it_though_its_dialog_is_still_drawn() {
    let mut bench = Bench::working();
    let denied = permission("ls");
    bench.hear(Tier::Hooks, ask("ls")).pass(1000, &denied);
    assert_eq!(bench.state(), AgentState::Prompt);
    bench.hear(Tier::Terminal, Claim::TurnEnded).look(&denied).after(20).pass(1000, &composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn a_dialog_that_the_agent_says_stands_is_not_gone_because_it_is_drawn_anew() {
    let mut bench = Bench::working();
    let shown = permission("ls");
    bench.hear(Tier::Hooks, ask("ls")).hear(Tier::Terminal, Claim::Waiting).pass(1000, &shown);
    let id = bench.prompt().id.clone();
    bench.pass(500, &Sight::default()).pass(100, &shown);
    assert_eq!(bench.prompt().id, id);
    bench.hear(Tier::Terminal, Claim::Working).pass(500, &busy());
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn a_title_that_stops_for_a_dialog_does_not_end_the_turn() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, ask("ls")).hear(Tier::Terminal, Claim::NotWorking).pass(2000, &permission("ls"));
    bench.pass(200, &composer());
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn an_agent_that_says_that_the_turn_is_over_is_believed_though_its_dialog_is_still_drawn() {
    for tier in [Tier::Terminal, Tier::Hooks] {
        let mut bench = Bench::working();
        bench.hear(Tier::Hooks, ask("ls")).pass(2000, &permission("ls"));
        bench.hear(tier, Claim::TurnEnded).pass(20, &permission("ls")).pass(500, &composer());
        assert_eq!(bench.state(), AgentState::Idle);
    }
    let mut bench = Bench::working();
    let before = bench.now;
    bench.after(100).hear(Tier::Hooks, ask("ls")).pass(2000, &permission("ls"));
    bench
        .hear_of(before, Tier::SessionLog, Claim::TurnEnded)
        .pass(2000, &permission("ls"))
        .pass(200, &composer());
    assert_eq!(bench.state(), AgentState::Working, "that was about the turn before the dialog");
}

#[test]
fn a_plan_that_is_proposed_after_the_turn_leaves_it_over() {
    let plan = || {
        Claim::Asked(Box::new(Ask {
            kind: PromptKind::Plan,
            subtype: None,
            tool: None,
            input: None,
            questions: Vec::new(),
            plan: Some("# The plan\n\n1. Go".to_owned()),
            message: String::new(),
        }))
    };
    for announced in [true, false] {
        let habits = Habits { plans_after_turn: true, ..HABITS };
        let mut bench = Bench::working();
        bench.tracker = Tracker::new(bench.now, habits, "7-1".to_owned());
        bench.hear(Tier::Hooks, Claim::TurnStarted { text: None }).pass(1000, &busy());
        bench.hear(Tier::Terminal, Claim::TurnEnded);
        if announced {
            bench.hear(Tier::Terminal, plan());
            assert_eq!(bench.prompt().summary.as_deref(), Some("The plan"));
        }
        bench.pass(1000, &dialog(PromptKind::Plan, None, "Implement?"));
        assert!(bench.prompt().ready);
        bench.pass(1000, &composer());
        assert_eq!(bench.state(), AgentState::Idle, "nothing ran while the plan was being looked at");
    }
}

#[test]
fn a_spinner_that_turns_on_begins_nothing_and_keeps_a_turn_alive() {
    let mut bench = Bench::working();
    bench.hear(Tier::Terminal, Claim::Working);
    for _ in 0..5 {
        bench.pass(900, &composer()).hear(Tier::Terminal, Claim::Working);
    }
    assert_eq!(bench.state(), AgentState::Working, "the screen is not believed while the spinner turns");
    bench.hear(Tier::Hooks, Claim::TurnEnded).after(500).hear(Tier::Terminal, Claim::Working);
    bench.pass(2000, &composer());
    assert_eq!(bench.state(), AgentState::Idle, "a late frame begins no turn");
}

#[test]
fn a_status_file_that_trails_is_waited_for() {
    let mut bench = Bench::working();
    bench
        .hear(Tier::Hooks, Claim::TurnEnded)
        .after(50)
        .hear(Tier::Registry, Claim::Working)
        .look(&composer());
    bench.after(100).hear(Tier::Registry, Claim::TurnEnded).look(&composer());
    assert_eq!(bench.state(), AgentState::Idle, "what it said first was about the turn before");
    bench.pass(1000, &composer());
    assert_eq!(bench.state(), AgentState::Idle);

    let mut bench = Bench::working();
    bench
        .hear(Tier::Hooks, Claim::TurnEnded)
        .after(50)
        .hear(Tier::Registry, Claim::Working)
        .look(&composer());
    bench.pass(300, &busy());
    assert_eq!(bench.state(), AgentState::Working, "it meant it");
}

#[test]
fn what_happened_before_does_not_count() {
    let mut bench = Bench::idle();
    let before = bench.now - Duration::from_secs(10);
    bench.hear_of(before, Tier::Registry, Claim::Working).look(&composer());
    assert_eq!(bench.state(), AgentState::Idle);
}

#[test]
fn the_log_alone_needs_a_second_to_end_a_turn_and_none_to_begin_one() {
    let mut bench = Bench::working();
    bench.hear(Tier::SessionLog, Claim::TurnEnded).pass(900, &busy());
    bench.look(&Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
    bench.pass(200, &composer());
    assert_eq!(bench.state(), AgentState::Idle);
    bench.after(100).hear(Tier::SessionLog, Claim::Working);
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn what_the_agent_prints_of_its_end_needs_no_time() {
    let mut bench = Bench::working();
    bench.hear(Tier::Stdout, Claim::Failed(overloaded())).look(&Sight::default());
    assert_eq!(bench.state(), AgentState::Error);
}

#[test]
fn an_interrupt_that_nobody_reports_is_seen_on_the_screen() {
    let mut bench = Bench::working();
    bench.pass(400, &composer());
    assert_eq!(bench.state(), AgentState::Working);
    bench.pass(400, &composer());
    assert_eq!(bench.state(), AgentState::Idle);
    assert_eq!(bench.tracker.verdict().tier, Tier::Screen);
}

#[test]
fn what_was_just_said_is_not_undone_by_a_screen_that_does_not_show_it_yet() {
    let mut bench = Bench::idle();
    bench.hear(Tier::Hooks, Claim::TurnStarted { text: None }).pass(900, &composer());
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn a_turn_that_begins_by_itself_is_seen_on_the_screen() {
    let mut bench = Bench::idle();
    bench.look(&busy());
    assert_eq!((bench.state(), bench.tracker.verdict().tier), (AgentState::Working, Tier::Screen));
}

#[test]
fn an_error_ends_with_a_new_turn_only() {
    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::Failed(overloaded())).pass(300, &composer());
    assert_eq!(bench.state(), AgentState::Error);
    bench.after(100).hear(Tier::Registry, Claim::TurnEnded).hear(Tier::Terminal, Claim::NotWorking);
    bench.pass(5000, &composer());
    assert_eq!(bench.state(), AgentState::Error);
    bench.hear(Tier::Hooks, Claim::TurnStarted { text: None });
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn how_a_turn_failed_is_learned_after_its_end() {
    let mut bench = Bench::working();
    let failed_at = bench.now;
    bench.after(200).hear(Tier::Registry, Claim::TurnEnded).look(&composer());
    bench.after(200).hear_of(failed_at, Tier::SessionLog, Claim::Failed(overloaded()));
    assert_eq!(bench.state(), AgentState::Error);

    let mut bench = Bench::working();
    bench.hear(Tier::SessionLog, Claim::Failed(overloaded())).look(&busy());
    assert_eq!(bench.state(), AgentState::Working, "the log alone needs a second");
    bench.after(200).hear(Tier::Terminal, Claim::Working).look(&busy());
    bench.after(20).hear(Tier::Terminal, Claim::TurnEnded).look(&composer());
    assert_eq!(bench.state(), AgentState::Error);

    let mut bench = Bench::working();
    let before_the_turn = bench.now - Duration::from_secs(20);
    bench.hear(Tier::Registry, Claim::TurnEnded).look(&composer());
    bench.hear_of(before_the_turn, Tier::SessionLog, Claim::Failed(overloaded()));
    assert_eq!(bench.state(), AgentState::Idle, "that was another turn");

    let mut bench = Bench::working();
    let failed_at = bench.now;
    let unsaid = Trouble { category: ErrorCategory::Other, detail: String::new() };
    bench.after(20).hear(Tier::Terminal, Claim::Failed(unsaid)).look(&composer());
    bench.after(20).hear_of(failed_at, Tier::SessionLog, Claim::Failed(overloaded()));
    let Situation::Error(trouble) = &bench.tracker.verdict().situation else { panic!("an error") };
    assert_eq!(*trouble, overloaded(), "the log says more than that it failed");

    let mut bench = Bench::working();
    let unsaid = Trouble { category: ErrorCategory::Other, detail: String::new() };
    bench.hear(Tier::Hooks, Claim::TurnStarted { text: None });
    let failed_at = bench.now + Duration::from_millis(40);
    bench.after(50).hear(Tier::Terminal, Claim::Failed(unsaid)).look(&composer());
    bench.after(10).hear_of(failed_at, Tier::SessionLog, Claim::Failed(overloaded())).pass(400, &composer());
    let Situation::Error(trouble) = &bench.tracker.verdict().situation else { panic!("an error") };
    assert_eq!(*trouble, overloaded(), "what waits for its time is told in full");
}

#[test]
fn a_title_that_trails_behind_a_failure_does_not_undo_it() {
    let mut bench = Bench::idle();
    bench.hear(Tier::Hooks, Claim::TurnStarted { text: None }).look(&composer());
    bench.after(30).hear(Tier::SessionLog, Claim::Failed(overloaded())).hear(Tier::Hooks, Claim::TurnEnded);
    assert_eq!(bench.state(), AgentState::Error);
    bench.after(100).hear(Tier::Terminal, Claim::Working).look(&composer());
    bench.after(50).hear(Tier::Terminal, Claim::TurnEnded).pass(2000, &composer());
    assert_eq!(bench.state(), AgentState::Error);
}

#[test]
fn retrying_is_working_with_its_reason() {
    let mut bench = Bench::working();
    bench.look(&Sight { retrying: Some(overloaded()), ..busy() });
    let verdict = bench.tracker.verdict();
    assert_eq!((verdict.situation.trouble(), verdict.cause), (Some(&overloaded()), "retrying"));
    bench.look(&busy());
    assert_eq!(bench.tracker.verdict().situation, Situation::Working { retrying: None });
}

#[test]
fn an_error_that_only_the_screen_tells_of_lasts_as_long_as_it_is_shown() {
    let failed = Sight { failed: Some(overloaded()), ..composer() };
    let mut bench = Bench::new();
    bench.pass(2000, &busy()).pass(3000, &failed);
    let verdict = bench.tracker.verdict();
    assert_eq!((&verdict.situation, verdict.cause), (&Situation::Error(overloaded()), "screen:error"));
    bench.pass(2000, &busy());
    assert_eq!(bench.state(), AgentState::Working, "the next turn runs");
    bench.pass(3000, &failed);
    assert_eq!(bench.state(), AgentState::Error);
    bench.pass(3000, &composer());
    assert_eq!(bench.state(), AgentState::Idle, "it is gone from the screen");
}

#[test]
fn a_dialog_that_cannot_be_read_is_a_prompt_all_the_same() {
    let mut bench = Bench::working();
    bench.hear(Tier::Registry, Claim::Waiting).pass(900, &Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
    bench.pass(200, &Sight::default());
    assert!(bench.prompt().options_fallback);
    bench.hear(Tier::Registry, Claim::Working);
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn inferred_idle_waits_for_the_grace() {
    let mut bench = Bench::working();
    bench.hear(Tier::Stdout, Claim::Quiet).pass(59_000, &Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
    assert!(bench.tracker.grace_ends().is_some());
    bench.pass(3000, &Sight::default());
    assert_eq!(bench.state(), AgentState::Idle);

    let mut bench = Bench::working();
    bench.hear(Tier::Stdout, Claim::Quiet).after(1000).hear(Tier::Stdout, Claim::Working);
    assert_eq!(bench.tracker.grace_ends(), None, "activity cancels it");
    bench.hear(Tier::Stdout, Claim::Quiet);
    bench.tracker.log_grew();
    assert_eq!(bench.tracker.grace_ends(), None, "a log that grows cancels it");
}

#[test]
fn an_agent_whose_idle_screen_is_no_proof_is_not_ended_by_it() {
    let mut bench = Bench::working();
    bench.tracker.habits.sure_idle_screen = false;
    bench.pass(10_000, &composer());
    assert_eq!(bench.state(), AgentState::Working);
}

#[test]
fn a_turn_that_is_told_of_after_its_end_is_shown_all_the_same() {
    let mut bench = Bench::idle();
    bench.hear(Tier::Registry, Claim::TurnEnded);
    bench.hear_of(
        bench.now - Duration::from_millis(300),
        Tier::SessionLog,
        Claim::TurnStarted { text: None },
    );
    bench.look(&composer());
    assert_eq!(bench.state(), AgentState::Working, "whoever waits for it to begin and end must see both");
    bench.pass(200, &composer());
    assert_eq!(bench.state(), AgentState::Idle);

    let mut bench = Bench::working();
    bench.hear(Tier::Registry, Claim::TurnEnded).look(&composer()).pass(1000, &composer());
    bench.hear(Tier::Registry, Claim::TurnEnded);
    bench.hear_of(bench.now - Duration::from_secs(4), Tier::SessionLog, Claim::TurnStarted { text: None });
    bench.look(&composer());
    assert_eq!(bench.state(), AgentState::Idle, "that turn was seen");
}

#[test]
fn a_screen_that_is_half_drawn_says_nothing() {
    let hidden = Sight { option_list: true, ..Sight::default() };
    let mut bench = Bench::new();
    bench.hear(Tier::Terminal, Claim::TurnEnded).pass(20_000, &hidden).pass(9900, &Sight::default());
    assert_eq!(bench.state(), AgentState::Starting, "it may be the top half of its first dialog");
    bench.pass(200, &Sight::default());
    assert_eq!(bench.state(), AgentState::Idle);

    let mut bench = Bench::idle();
    bench.pass(5000, &hidden).look(&busy()).hear(Tier::Terminal, Claim::TurnStarted { text: None });
    bench.after(1000).hear(Tier::Terminal, Claim::TurnEnded).pass(5000, &hidden).pass(900, &Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
    bench.pass(200, &Sight::default());
    assert_eq!(bench.state(), AgentState::Idle);

    let mut bench = Bench::working();
    bench.hear(Tier::Registry, Claim::Waiting).pass(5000, &busy()).pass(900, &Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
    bench.pass(200, &Sight::default());
    assert_eq!(bench.state(), AgentState::Prompt);
}

/// Small numbers that look random and come out the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn claim(&mut self) -> Claim {
        match self.roll(10) {
            0 => Claim::TurnStarted { text: None },
            1 => Claim::Working,
            2 => Claim::Retrying(overloaded()),
            3 => Claim::TurnEnded,
            4 => Claim::NotWorking,
            5 => Claim::Quiet,
            6 => ask("ls"),
            7 => Claim::Waiting,
            8 => Claim::Failed(overloaded()),
            _ => ask("rm"),
        }
    }

    fn sight(&mut self) -> Sight {
        match self.roll(5) {
            0 => composer(),
            1 => busy(),
            2 => permission("ls"),
            3 => permission("rm"),
            _ => Sight::default(),
        }
    }

    fn tier(&mut self) -> Tier {
        Tier::ALL[usize::try_from(self.roll(7)).unwrap()]
    }

    /// Anything, in any order, late, early or twice.
    fn story(&mut self, bench: &mut Bench, steps: u64) -> Vec<Verdict> {
        (0..steps)
            .map(|_| {
                let pause = self.roll(700);
                bench.after(pause);
                if self.roll(2) == 0 {
                    let (tier, claim, age) =
                        (self.tier(), self.claim(), Duration::from_millis(self.roll(400)));
                    bench.hear_of(bench.now - age.min(bench.now - bench.start), tier, claim);
                } else {
                    let sight = self.sight();
                    bench.look(&sight);
                }
                bench.tracker.verdict().clone()
            })
            .collect()
    }
}

#[test]
fn nothing_leaves_exited() {
    for seed in 1..200 {
        let (mut dice, mut bench) = (Dice(seed), Bench::new());
        dice.story(&mut bench, 20);
        bench.tracker.exited(bench.now);
        let after = dice.story(&mut bench, 40);
        assert!(after.iter().all(|verdict| verdict.situation == Situation::Exited), "seed {seed}");
        assert_eq!(bench.tracker.deadline(bench.now), None);
    }
}

#[test]
fn equal_stories_have_equal_ends() {
    for seed in 1..100 {
        let (mut one, mut other) = (Bench::new(), Bench::new());
        assert_eq!(Dice(seed).story(&mut one, 60), Dice(seed).story(&mut other, 60), "seed {seed}");
    }
}

#[test]
fn whatever_hooks_were_lost_the_screen_brings_the_truth() {
    for seed in 1..400 {
        let (mut dice, mut bench) = (Dice(seed), Bench::new());
        dice.story(&mut bench, 40);
        bench.pass(5000, &busy());
        assert_eq!(bench.state(), AgentState::Working, "busy, seed {seed}: {:?}", bench.tracker);
        bench.pass(5000, &permission("ls"));
        assert_eq!(bench.state(), AgentState::Prompt, "dialog, seed {seed}");
        bench.pass(5000, &composer());
        assert_eq!(bench.state(), AgentState::Idle, "idle, seed {seed}: {:?}", bench.tracker);
    }
}

#[test]
fn a_hook_that_speaks_of_some_dialog_adds_none_to_the_status_file_and_takes_back_its_own() {
    let mut bench = Bench::working();
    bench.hear(Tier::Registry, Claim::Waiting).pass(1500, &Sight::default());
    let id = bench.prompt().id.clone();
    bench.hear(Tier::Hooks, Claim::Waiting).look(&Sight::default());
    assert_eq!(bench.prompt().id, id);
    bench.hear(Tier::Registry, Claim::Working).look(&Sight::default());
    assert_eq!(bench.state(), AgentState::Working);

    let mut bench = Bench::working();
    bench.hear(Tier::Hooks, Claim::Waiting).pass(1500, &Sight::default());
    assert_eq!(bench.state(), AgentState::Prompt);
    bench.hear(Tier::Hooks, Claim::Working).look(&Sight::default());
    assert_eq!(bench.state(), AgentState::Working);
}
