use std::time::{Duration, Instant};

use super::*;
use crate::driver::agent::{ApiError, ErrorCategory};
use crate::driver::prompt::Prompt;
use crate::driver::screen_reading::{Choice, Composer, Dialog, Page, Role};

const HABITS: Habits = Habits {
    dialog_key_delay: Duration::from_millis(300),
    idle_screen_is_certain: true,
    ..Habits::DEFAULT
};
const GRACE: Duration = Duration::from_secs(60);

/// A tracker and its current time.
struct Harness {
    tracker: Tracker,
    start: Instant,
    now: Instant,
}

impl Harness {
    fn new() -> Self {
        let start = Instant::now();
        Self { tracker: Tracker::new(start, HABITS, GRACE, "7-1".to_owned()), start, now: start }
    }

    fn after(&mut self, ms: u64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self
    }

    fn evidence(&mut self, tier: Tier, claim: Claim) -> &mut Self {
        self.evidence_at(self.now, tier, claim)
    }

    fn evidence_at(&mut self, at: Instant, tier: Tier, claim: Claim) -> &mut Self {
        let evidence =
            Evidence { tier, claim, cause: "test", detail: String::new(), at_epoch_ms: None };
        self.tracker.add_evidence(self.now, at, evidence);
        self
    }

    fn screen(&mut self, reading: &ScreenReading) -> &mut Self {
        self.tracker.update_screen(self.now, reading.clone());
        self
    }

    /// Shows this screen for so long, and updates it at each deadline of the tracker.
    fn pass(&mut self, ms: u64, reading: &ScreenReading) -> &mut Self {
        let end = self.now + Duration::from_millis(ms);
        self.screen(reading);
        while let Some(due) = self.tracker.deadline(self.now).filter(|due| *due <= end) {
            assert!(due >= self.start);
            self.now = due.max(self.now + Duration::from_millis(1));
            self.screen(reading);
        }
        self.now = end;
        self.screen(reading)
    }

    fn state(&self) -> AgentState {
        self.tracker.verdict().situation.state()
    }

    fn prompt(&self) -> &Prompt {
        self.tracker.verdict().situation.prompt().expect("a prompt")
    }

    fn idle() -> Self {
        let mut harness = Self::new();
        harness.evidence(Tier::Hooks, Claim::TurnEnded).screen(&composer());
        assert_eq!(harness.state(), AgentState::Idle);
        harness.after(5000);
        harness
    }

    fn working() -> Self {
        let mut harness = Self::idle();
        harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).screen(&busy());
        assert_eq!(harness.state(), AgentState::Working);
        harness.after(5000);
        harness
    }
}

fn composer() -> ScreenReading {
    ScreenReading {
        composer: Some(Composer { draft: String::new(), rows: 1, cut: false }),
        ..ScreenReading::default()
    }
}

fn busy() -> ScreenReading {
    ScreenReading { busy: true, ..composer() }
}

fn choice(label: &str, role: Role) -> Choice {
    Choice { label: label.to_owned(), digit: None, checked: None, typed: None, role, hidden: false }
}

fn dialog(kind: PromptKind, subtype: Option<&'static str>, message: &str) -> ScreenReading {
    let lines = vec![message.to_owned(), "Yes".to_owned(), "No".to_owned()];
    let choices = vec![choice("Yes", Role::Accept), choice("No", Role::Decline)];
    let message = message.to_owned();
    let tool = None;
    let dialog = Dialog {
        kind,
        subtype,
        tool,
        message,
        choices,
        highlighted: Some(0),
        more: false,
        page: Page::Only,
        lines,
    };
    ScreenReading { dialog: Some(dialog), option_list: true, ..ScreenReading::default() }
}

fn permission(command: &str) -> ScreenReading {
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

fn overloaded() -> ApiError {
    ApiError { category: ErrorCategory::ServerError, detail: "529".to_owned() }
}

/// An agent can start its servers behind the trust dialog, and its title comes to rest there.
#[test]
fn a_title_that_comes_to_rest_behind_a_setup_dialog_counts() {
    let mut harness = Harness::new();
    let habits = Habits { idle_screen_is_certain: false, ..HABITS };
    harness.tracker = Tracker::new(harness.now, habits, GRACE, "7-1".to_owned());
    let trust = dialog(PromptKind::Permission, Some("trust"), "Trust?");
    harness.evidence(Tier::Terminal, Claim::Working).pass(1000, &trust);
    harness.evidence(Tier::Terminal, Claim::NotWorking).pass(50, &trust);
    harness.pass(1000, &composer());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::working();
    harness.after(1000).evidence(Tier::Terminal, Claim::Working).pass(1000, &permission("rm"));
    harness.evidence(Tier::Terminal, Claim::NotWorking).pass(1000, &permission("rm"));
    harness.pass(200, &busy());
    assert_eq!(harness.state(), AgentState::Working, "a tool's dialog is in the middle of a turn");
}

#[test]
fn a_turn_drawn_after_its_end_does_not_start_another() {
    let mut harness = Harness::idle();
    harness
        .evidence(Tier::Terminal, Claim::Working)
        .after(20)
        .evidence(Tier::Terminal, Claim::TurnEnded);
    harness.pass(40, &busy()).pass(100, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn the_first_idle_state_is_published_after_its_hold() {
    let mut harness = Harness::new();
    let habits = Habits { first_idle_hold: Duration::from_millis(300), ..HABITS };
    harness.tracker = Tracker::new(harness.now, habits, GRACE, "7-1".to_owned());
    harness.evidence(Tier::Terminal, Claim::TurnEnded).pass(50, &composer());
    assert_eq!(harness.state(), AgentState::Starting);
    harness
        .evidence(Tier::Terminal, Claim::Working)
        .after(20)
        .evidence(Tier::Terminal, Claim::TurnEnded);
    harness.pass(250, &composer());
    assert_ne!(harness.state(), AgentState::Idle);
    harness.pass(100, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
    harness
        .after(500)
        .evidence(Tier::Terminal, Claim::Working)
        .after(20)
        .evidence(Tier::Terminal, Claim::TurnEnded);
    assert_eq!(harness.state(), AgentState::Idle, "later it is published at once");
}

#[test]
fn idle_needs_the_composer_on_screen() {
    let mut harness = Harness::new();
    harness.evidence(Tier::Terminal, Claim::NotWorking).screen(&ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Starting);
    harness.after(20).screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn idle_is_published_after_a_second_of_an_unrecognised_screen() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, Claim::TurnEnded).pass(900, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
    harness.pass(200, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::working();
    harness
        .evidence(Tier::Hooks, Claim::TurnEnded)
        .pass(5000, &ScreenReading { option_list: true, ..ScreenReading::default() });
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn a_stop_hook_counts_once_the_screen_shows_no_turn() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, Claim::TurnEnded).pass(4000, &busy());
    assert_eq!(harness.state(), AgentState::Working);
    harness.screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn a_stop_hook_counts_after_the_turn_end_delay_or_with_another_source() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, Claim::TurnEnded).pass(100, &composer());
    assert_eq!(harness.state(), AgentState::Working, "what is typed now would be part of the turn");
    harness.evidence(Tier::Terminal, Claim::NotWorking).screen(&composer());
    let verdict = harness.tracker.verdict();
    assert_eq!((verdict.situation.state(), verdict.tier), (AgentState::Idle, Tier::Hooks));

    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, Claim::TurnEnded).pass(300, &composer());
    assert_eq!(harness.state(), AgentState::Idle, "no other source has to confirm it");

    let mut harness = Harness::working();
    harness
        .evidence(Tier::Hooks, Claim::Failed(overloaded()))
        .evidence(Tier::Registry, Claim::TurnEnded)
        .screen(&composer());
    assert_eq!(harness.state(), AgentState::Error, "the hook has the failure");

    let mut harness = Harness::working();
    harness
        .evidence(Tier::Hooks, Claim::TurnEnded)
        .after(50)
        .evidence(Tier::Hooks, Claim::TurnStarted { text: None });
    harness.pass(900, &composer());
    assert_eq!(harness.state(), AgentState::Working, "another turn has begun");
}

#[test]
fn an_announced_dialog_is_a_prompt_at_once_and_ready_once_it_takes_keys() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("ls"));
    assert!(!harness.prompt().ready);
    let id = harness.prompt().id.clone();
    harness.after(100).screen(&permission("ls"));
    assert_eq!(harness.prompt().options, ["Yes", "No"]);
    assert!(!harness.prompt().ready);
    harness.pass(300, &permission("ls"));
    assert!(harness.prompt().ready);
    assert_eq!((harness.prompt().id.clone(), harness.prompt().input.as_deref()), (id, Some("ls")));
    harness.screen(&busy()).pass(200, &busy());
    assert_eq!(harness.state(), AgentState::Working, "the turn goes on after the dialog");
}

#[test]
fn a_dialog_without_announcement_is_a_prompt_after_300_ms() {
    let mut harness = Harness::new();
    let trust = dialog(PromptKind::Permission, Some("trust"), "Quick safety check");
    harness.pass(250, &trust);
    assert_eq!(harness.state(), AgentState::Starting);
    harness.pass(100, &trust);
    assert_eq!((harness.state(), harness.prompt().subtype), (AgentState::Prompt, Some("trust")));
    harness.pass(200, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Starting, "trusting a folder starts no turn");
}

#[test]
fn the_agent_is_still_starting_after_a_startup_dialog() {
    let mut harness = Harness::new();
    let trust = dialog(PromptKind::Permission, Some("trust"), "Quick safety check");
    harness
        .pass(400, &trust)
        .evidence(Tier::Hooks, Claim::NotWorking)
        .pass(200, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Starting);
    harness.screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn a_late_announcement_adds_details_to_the_open_prompt() {
    let mut harness = Harness::working();
    harness.pass(400, &permission("ls"));
    let id = harness.prompt().id.clone();
    assert_eq!(harness.prompt().input, None);
    harness.evidence(Tier::Hooks, ask("ls"));
    assert_eq!((harness.prompt().id.clone(), harness.prompt().input.as_deref()), (id, Some("ls")));
}

/// What the agent's status says about the dialog of a command.
fn report(command: &str) -> Claim {
    match ask(command) {
        Claim::Asked(ask) => Claim::AskedInPart(ask),
        other => other,
    }
}

#[test]
fn a_report_and_a_hook_about_one_dialog_are_one_prompt() {
    for report_first in [true, false] {
        let mut harness = Harness::working();
        let claims = [(Tier::ProgramStatus, report("a b")), (Tier::Hooks, ask("a\nb"))];
        let order = if report_first { [0, 1] } else { [1, 0] };
        for at in order {
            let (tier, claim) = claims[at].clone();
            harness.evidence(tier, claim).after(20);
        }
        let id = harness.prompt().id.clone();
        assert_eq!(harness.prompt().input.as_deref(), Some("a\nb"), "the hook has the whole input");
        harness.pass(500, &permission("a\nb"));
        assert_eq!((harness.prompt().id.clone(), harness.prompt().ready), (id, true));
        harness.evidence(Tier::ProgramStatus, Claim::Working).pass(200, &busy());
        assert_eq!(harness.state(), AgentState::Working, "there is no second dialog");
    }
}

#[test]
fn a_report_has_no_complete_input_until_the_log_has_it() {
    let mut harness = Harness::working();
    harness.evidence(Tier::ProgramStatus, report("ls -l")).screen(&permission("ls -l"));
    let prompt = harness.prompt();
    assert_eq!((prompt.tool.as_deref(), prompt.input.as_deref()), (Some("Bash"), Some("ls -l")));
    assert_eq!(prompt.input_full, None);
    let id = prompt.id.clone();
    let Claim::Asked(used) = ask("ls -l") else { panic!("an ask") };
    harness.tracker.tool_use(*used);
    harness.pass(30, &permission("ls -l"));
    assert_eq!(harness.prompt().id, id);
    assert!(harness.prompt().input_full.is_some());
}

#[test]
fn the_next_report_takes_back_a_dialog_that_did_not_appear() {
    let mut harness = Harness::working();
    harness.evidence(Tier::ProgramStatus, report("ls"));
    assert_eq!(harness.state(), AgentState::Prompt);
    harness.after(50).evidence(Tier::ProgramStatus, Claim::Working).screen(&busy());
    assert_eq!(harness.state(), AgentState::Working);
    harness.evidence(Tier::ProgramStatus, report("ls")).after(400);
    harness.evidence(Tier::ProgramStatus, Claim::TurnEnded).screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn a_report_may_trail_behind_a_hook_and_not_behind_a_title() {
    let mut harness = Harness::idle();
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).after(50);
    // The report is about the turn before.
    harness.evidence(Tier::ProgramStatus, Claim::TurnEnded).screen(&composer());
    assert_eq!(harness.state(), AgentState::Working);
    harness.after(100).evidence(Tier::ProgramStatus, Claim::Working).pass(900, &busy());
    assert_eq!(harness.state(), AgentState::Working);
    harness.evidence(Tier::Terminal, Claim::Working).after(10);
    harness.evidence(Tier::ProgramStatus, Claim::TurnEnded).screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle, "both come in one stream");
}

#[test]
fn a_repeated_report_is_nothing_new() {
    let mut harness = Harness::idle();
    harness.evidence(Tier::ProgramStatus, Claim::TurnEnded).after(1000);
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).after(1000);
    harness.evidence(Tier::ProgramStatus, Claim::TurnEnded).screen(&composer());
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn a_dialog_missing_for_a_moment_stays_open() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("ls")).pass(400, &permission("ls"));
    let id = harness.prompt().id.clone();
    harness.screen(&ScreenReading::default()).after(50).screen(&permission("ls"));
    assert_eq!(harness.prompt().id, id);
}

#[test]
fn a_dialog_that_is_drawn_in_two_steps_is_one_prompt() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("ls")).after(100).screen(&permission("l"));
    let id = harness.prompt().id.clone();
    harness.after(20).screen(&permission("ls")).pass(1000, &permission("ls"));
    assert_eq!((harness.prompt().id.clone(), harness.prompt().ready), (id, true));
    assert_eq!(harness.tracker.verdict().tier, Tier::Hooks);
}

#[test]
fn two_dialogs_in_a_row_are_two_prompts() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("one")).pass(400, &permission("one"));
    let first = harness.prompt().id.clone();
    harness.evidence(Tier::Hooks, ask("two")).after(10).screen(&permission("two"));
    assert_ne!(harness.prompt().id, first);
    assert_eq!(harness.prompt().input.as_deref(), Some("two"));
}

#[test]
fn the_same_question_asked_again_is_another_prompt() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("ls")).pass(400, &permission("ls"));
    let first = harness.prompt().id.clone();
    harness
        .screen(&busy())
        .after(60)
        .evidence(Tier::Hooks, ask("ls"))
        .after(10)
        .screen(&permission("ls"));
    assert_ne!(harness.prompt().id, first);
}

#[test]
fn an_announced_dialog_that_does_not_appear_is_dropped() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("ls")).pass(1900, &busy());
    assert_eq!(harness.state(), AgentState::Prompt);
    harness.pass(200, &busy());
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn a_rejected_dialog_leads_to_idle_without_a_hook() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, ask("ls")).pass(2000, &permission("ls"));
    harness.pass(200, &composer());
    assert_eq!(harness.state(), AgentState::Working, "never straight to idle");
    harness.pass(800, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn a_title_ends_the_turn_while_its_dialog_is_still_drawn() {
    let mut harness = Harness::working();
    let denied = permission("ls");
    harness.evidence(Tier::Hooks, ask("ls")).pass(1000, &denied);
    assert_eq!(harness.state(), AgentState::Prompt);
    harness
        .evidence(Tier::Terminal, Claim::TurnEnded)
        .screen(&denied)
        .after(20)
        .pass(1000, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn a_dialog_that_the_agent_reports_stays_open_while_it_is_redrawn() {
    let mut harness = Harness::working();
    let shown = permission("ls");
    harness
        .evidence(Tier::Hooks, ask("ls"))
        .evidence(Tier::Terminal, Claim::AtDialog)
        .pass(1000, &shown);
    let id = harness.prompt().id.clone();
    harness.pass(500, &ScreenReading::default()).pass(100, &shown);
    assert_eq!(harness.prompt().id, id);
    harness.evidence(Tier::Terminal, Claim::Working).pass(500, &busy());
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn a_title_that_stops_spinning_at_a_dialog_does_not_end_the_turn() {
    let mut harness = Harness::working();
    harness
        .evidence(Tier::Hooks, ask("ls"))
        .evidence(Tier::Terminal, Claim::NotWorking)
        .pass(2000, &permission("ls"));
    harness.pass(200, &composer());
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn an_explicit_end_of_the_turn_counts_while_its_dialog_is_still_drawn() {
    for tier in [Tier::Terminal, Tier::Hooks] {
        let mut harness = Harness::working();
        harness.evidence(Tier::Hooks, ask("ls")).pass(2000, &permission("ls"));
        harness.evidence(tier, Claim::TurnEnded).pass(20, &permission("ls")).pass(500, &composer());
        assert_eq!(harness.state(), AgentState::Idle);
    }
    let mut harness = Harness::working();
    let before = harness.now;
    harness.after(100).evidence(Tier::Hooks, ask("ls")).pass(2000, &permission("ls"));
    harness
        .evidence_at(before, Tier::SessionLog, Claim::TurnEnded)
        .pass(2000, &permission("ls"))
        .pass(200, &composer());
    assert_eq!(harness.state(), AgentState::Working, "that was about the turn before the dialog");
}

#[test]
fn a_plan_proposed_after_the_turn_does_not_start_another() {
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
        let mut harness = Harness::working();
        harness.tracker = Tracker::new(harness.now, habits, GRACE, "7-1".to_owned());
        harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).pass(1000, &busy());
        harness.evidence(Tier::Terminal, Claim::TurnEnded);
        if announced {
            harness.evidence(Tier::Terminal, plan());
            assert_eq!(harness.prompt().summary.as_deref(), Some("The plan"));
        }
        harness.pass(1000, &dialog(PromptKind::Plan, None, "Implement?"));
        assert!(harness.prompt().ready);
        harness.pass(1000, &composer());
        assert_eq!(harness.state(), AgentState::Idle, "no turn ran while the plan was open");
    }
}

#[test]
fn a_repeated_spinner_starts_no_turn_and_confirms_a_running_one() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Terminal, Claim::Working);
    for _ in 0..5 {
        harness.pass(900, &composer()).evidence(Tier::Terminal, Claim::Working);
    }
    assert_eq!(
        harness.state(),
        AgentState::Working,
        "the screen does not count while the spinner turns"
    );
    harness
        .evidence(Tier::Hooks, Claim::TurnEnded)
        .after(500)
        .evidence(Tier::Terminal, Claim::Working);
    harness.pass(2000, &composer());
    assert_eq!(harness.state(), AgentState::Idle, "a late frame starts no turn");
}

#[test]
fn a_status_file_may_trail_behind_a_hook() {
    let mut harness = Harness::working();
    harness
        .evidence(Tier::Hooks, Claim::TurnEnded)
        .after(50)
        .evidence(Tier::Registry, Claim::Working)
        .screen(&composer());
    harness.after(100).evidence(Tier::Registry, Claim::TurnEnded).screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle, "its first claim was about the turn before");
    harness.pass(1000, &composer());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::working();
    harness
        .evidence(Tier::Hooks, Claim::TurnEnded)
        .after(50)
        .evidence(Tier::Registry, Claim::Working)
        .screen(&composer());
    harness.pass(300, &busy());
    assert_eq!(harness.state(), AgentState::Working, "its claim was not taken back");
}

#[test]
fn an_older_claim_changes_nothing() {
    let mut harness = Harness::idle();
    let before = harness.now - Duration::from_secs(10);
    harness.evidence_at(before, Tier::Registry, Claim::Working).screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn the_log_alone_needs_a_second_to_end_a_turn_and_none_to_begin_one() {
    let mut harness = Harness::working();
    harness.evidence(Tier::SessionLog, Claim::TurnEnded).pass(900, &busy());
    harness.screen(&ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
    harness.pass(200, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
    harness.after(100).evidence(Tier::SessionLog, Claim::Working);
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn an_end_printed_by_the_agent_counts_at_once() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Stdout, Claim::Failed(overloaded())).screen(&ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Error);
}

#[test]
fn an_unreported_interrupt_is_recognised_on_the_screen() {
    let mut harness = Harness::working();
    harness.pass(400, &composer());
    assert_eq!(harness.state(), AgentState::Working);
    harness.pass(400, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
    assert_eq!(harness.tracker.verdict().tier, Tier::Screen);
}

#[test]
fn a_title_that_says_working_outweighs_an_idle_screen_for_five_seconds() {
    let mut harness = Harness::idle();
    harness.evidence(Tier::Terminal, Claim::Working).pass(4500, &composer());
    assert_eq!(harness.state(), AgentState::Working, "the turn may not be drawn yet");
    harness.pass(1500, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn a_new_claim_is_not_cancelled_by_a_screen_that_is_not_redrawn_yet() {
    let mut harness = Harness::idle();
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).pass(900, &composer());
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn an_unreported_turn_is_recognised_on_the_screen() {
    let mut harness = Harness::idle();
    harness.screen(&busy());
    assert_eq!(
        (harness.state(), harness.tracker.verdict().tier),
        (AgentState::Working, Tier::Screen)
    );
}

#[test]
fn only_a_new_turn_ends_an_error() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, Claim::Failed(overloaded())).pass(300, &composer());
    assert_eq!(harness.state(), AgentState::Error);
    harness
        .after(100)
        .evidence(Tier::Registry, Claim::TurnEnded)
        .evidence(Tier::Terminal, Claim::NotWorking);
    harness.pass(5000, &composer());
    assert_eq!(harness.state(), AgentState::Error);
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None });
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn a_failure_may_be_reported_after_the_end_of_its_turn() {
    let mut harness = Harness::working();
    let failed_at = harness.now;
    harness.after(200).evidence(Tier::Registry, Claim::TurnEnded).screen(&composer());
    harness.after(200).evidence_at(failed_at, Tier::SessionLog, Claim::Failed(overloaded()));
    assert_eq!(harness.state(), AgentState::Error);

    let mut harness = Harness::working();
    harness.evidence(Tier::SessionLog, Claim::Failed(overloaded())).screen(&busy());
    assert_eq!(harness.state(), AgentState::Working, "the log alone needs a second");
    harness.after(200).evidence(Tier::Terminal, Claim::Working).screen(&busy());
    harness.after(20).evidence(Tier::Terminal, Claim::TurnEnded).screen(&composer());
    assert_eq!(harness.state(), AgentState::Error);

    let mut harness = Harness::working();
    let before_the_turn = harness.now - Duration::from_secs(20);
    harness.evidence(Tier::Registry, Claim::TurnEnded).screen(&composer());
    harness.evidence_at(before_the_turn, Tier::SessionLog, Claim::Failed(overloaded()));
    assert_eq!(harness.state(), AgentState::Idle, "that was another turn");

    let mut harness = Harness::working();
    let failed_at = harness.now;
    let unspecified = ApiError { category: ErrorCategory::Other, detail: String::new() };
    harness.after(20).evidence(Tier::Terminal, Claim::Failed(unspecified)).screen(&composer());
    harness.after(20).evidence_at(failed_at, Tier::SessionLog, Claim::Failed(overloaded()));
    let Situation::Error(api_error) = &harness.tracker.verdict().situation else {
        panic!("an error")
    };
    assert_eq!(*api_error, overloaded(), "the log has the details of the failure");

    let mut harness = Harness::working();
    let unspecified = ApiError { category: ErrorCategory::Other, detail: String::new() };
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None });
    let failed_at = harness.now + Duration::from_millis(40);
    harness.after(50).evidence(Tier::Terminal, Claim::Failed(unspecified)).screen(&composer());
    harness
        .after(10)
        .evidence_at(failed_at, Tier::SessionLog, Claim::Failed(overloaded()))
        .pass(400, &composer());
    let Situation::Error(api_error) = &harness.tracker.verdict().situation else {
        panic!("an error")
    };
    assert_eq!(*api_error, overloaded(), "a pending failure takes over the details");
}

#[test]
fn a_title_that_trails_behind_a_failure_does_not_cancel_it() {
    let mut harness = Harness::idle();
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).screen(&composer());
    harness
        .after(30)
        .evidence(Tier::SessionLog, Claim::Failed(overloaded()))
        .evidence(Tier::Hooks, Claim::TurnEnded);
    assert_eq!(harness.state(), AgentState::Error);
    harness.after(100).evidence(Tier::Terminal, Claim::Working).screen(&composer());
    harness.after(50).evidence(Tier::Terminal, Claim::TurnEnded).pass(2000, &composer());
    assert_eq!(harness.state(), AgentState::Error);
}

#[test]
fn a_title_drawn_after_a_failure_delays_it_and_does_not_cancel_it() {
    let mut harness = Harness::idle();
    harness.tracker.habits.idle_screen_is_certain = false;
    harness.evidence(Tier::Hooks, Claim::TurnStarted { text: None }).screen(&composer());
    harness.after(30).evidence(Tier::SessionLog, Claim::Failed(overloaded()));
    harness.after(300).evidence(Tier::Terminal, Claim::Working).pass(3000, &busy());
    assert_eq!(harness.state(), AgentState::Working);
    harness.evidence(Tier::Terminal, Claim::TurnEnded).pass(2000, &composer());
    assert_eq!(harness.state(), AgentState::Error);
}

#[test]
fn a_hook_after_a_failure_cancels_it() {
    let mut harness = Harness::working();
    harness.evidence(Tier::SessionLog, Claim::Failed(overloaded()));
    harness.after(300).evidence(Tier::Hooks, Claim::Working).pass(3000, &busy());
    assert_eq!(harness.state(), AgentState::Working);
    harness.evidence(Tier::Terminal, Claim::TurnEnded).pass(2000, &composer());
    assert_eq!(harness.state(), AgentState::Idle);
}

#[test]
fn retrying_is_working_with_its_reason() {
    let mut harness = Harness::working();
    harness.screen(&ScreenReading { retrying: Some(overloaded()), ..busy() });
    let verdict = harness.tracker.verdict();
    assert_eq!((verdict.situation.api_error(), verdict.cause), (Some(&overloaded()), "retrying"));
    harness.screen(&busy());
    assert_eq!(harness.tracker.verdict().situation, Situation::Working { retrying: None });
}

#[test]
fn an_error_only_on_screen_lasts_while_it_is_shown() {
    let failed = ScreenReading { failed: Some(overloaded()), ..composer() };
    let mut harness = Harness::new();
    harness.pass(2000, &busy()).pass(3000, &failed);
    let verdict = harness.tracker.verdict();
    assert_eq!(
        (&verdict.situation, verdict.cause),
        (&Situation::Error(overloaded()), "screen:error")
    );
    harness.pass(2000, &busy());
    assert_eq!(harness.state(), AgentState::Working, "the next turn runs");
    harness.pass(3000, &failed);
    assert_eq!(harness.state(), AgentState::Error);
    harness.pass(3000, &composer());
    assert_eq!(harness.state(), AgentState::Idle, "it is gone from the screen");
}

#[test]
fn an_unrecognised_dialog_is_a_prompt_without_options() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Registry, Claim::AtDialog).pass(900, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
    harness.pass(200, &ScreenReading::default());
    assert!(harness.prompt().options_fallback);
    harness.evidence(Tier::Registry, Claim::Working);
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn inferred_idle_waits_for_the_grace() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Stdout, Claim::SeemsIdle).pass(59_000, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
    assert!(harness.tracker.grace_ends().is_some());
    harness.pass(3000, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::working();
    harness
        .evidence(Tier::Stdout, Claim::SeemsIdle)
        .after(1000)
        .evidence(Tier::Stdout, Claim::Working);
    assert_eq!(harness.tracker.grace_ends(), None, "activity cancels it");
    harness.evidence(Tier::Stdout, Claim::SeemsIdle);
    harness.tracker.log_grew();
    assert_eq!(harness.tracker.grace_ends(), None, "a log that grows cancels it");
}

#[test]
fn an_uncertain_idle_screen_does_not_end_a_turn() {
    let mut harness = Harness::working();
    harness.tracker.habits.idle_screen_is_certain = false;
    harness.pass(10_000, &composer());
    assert_eq!(harness.state(), AgentState::Working);
}

#[test]
fn a_turn_reported_after_its_end_is_published_for_a_moment() {
    let mut harness = Harness::idle();
    harness.evidence(Tier::Registry, Claim::TurnEnded);
    harness.evidence_at(
        harness.now - Duration::from_millis(300),
        Tier::SessionLog,
        Claim::TurnStarted { text: None },
    );
    harness.screen(&composer());
    assert_eq!(
        harness.state(),
        AgentState::Working,
        "a client that waits for start and end must see both"
    );
    harness.pass(200, &composer());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::working();
    harness.evidence(Tier::Registry, Claim::TurnEnded).screen(&composer()).pass(1000, &composer());
    harness.evidence(Tier::Registry, Claim::TurnEnded);
    harness.evidence_at(
        harness.now - Duration::from_secs(4),
        Tier::SessionLog,
        Claim::TurnStarted { text: None },
    );
    harness.screen(&composer());
    assert_eq!(harness.state(), AgentState::Idle, "that turn was published before");
}

#[test]
fn a_partly_drawn_screen_proves_nothing() {
    let hidden = ScreenReading { option_list: true, ..ScreenReading::default() };
    let mut harness = Harness::new();
    harness
        .evidence(Tier::Terminal, Claim::TurnEnded)
        .pass(20_000, &hidden)
        .pass(9900, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Starting, "it may be the top half of its first dialog");
    harness.pass(200, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::idle();
    harness
        .pass(5000, &hidden)
        .screen(&busy())
        .evidence(Tier::Terminal, Claim::TurnStarted { text: None });
    harness
        .after(1000)
        .evidence(Tier::Terminal, Claim::TurnEnded)
        .pass(5000, &hidden)
        .pass(900, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
    harness.pass(200, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Idle);

    let mut harness = Harness::working();
    harness
        .evidence(Tier::Registry, Claim::AtDialog)
        .pass(5000, &busy())
        .pass(900, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
    harness.pass(200, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Prompt);
}

/// A deterministic generator of small pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn claim(&mut self) -> Claim {
        match self.below(10) {
            0 => Claim::TurnStarted { text: None },
            1 => Claim::Working,
            2 => Claim::Retrying(overloaded()),
            3 => Claim::TurnEnded,
            4 => Claim::NotWorking,
            5 => Claim::SeemsIdle,
            6 => ask("ls"),
            7 => Claim::AtDialog,
            8 => Claim::Failed(overloaded()),
            _ => ask("rm"),
        }
    }

    fn reading(&mut self) -> ScreenReading {
        match self.below(5) {
            0 => composer(),
            1 => busy(),
            2 => permission("ls"),
            3 => permission("rm"),
            _ => ScreenReading::default(),
        }
    }

    fn tier(&mut self) -> Tier {
        Tier::ALL[usize::try_from(self.below(7)).unwrap()]
    }

    /// Gives the tracker claims and screens in any order, late, early or twice. Returns the verdict
    /// after each step.
    fn play(&mut self, harness: &mut Harness, steps: u64) -> Vec<Verdict> {
        (0..steps)
            .map(|_| {
                let pause = self.below(700);
                harness.after(pause);
                if self.below(2) == 0 {
                    let (tier, claim, age) =
                        (self.tier(), self.claim(), Duration::from_millis(self.below(400)));
                    harness.evidence_at(
                        harness.now - age.min(harness.now - harness.start),
                        tier,
                        claim,
                    );
                } else {
                    let reading = self.reading();
                    harness.screen(&reading);
                }
                harness.tracker.verdict().clone()
            })
            .collect()
    }
}

#[test]
fn exited_is_final() {
    for seed in 1..200 {
        let (mut random, mut harness) = (Random(seed), Harness::new());
        random.play(&mut harness, 20);
        harness.tracker.exited(harness.now);
        let after = random.play(&mut harness, 40);
        assert!(after.iter().all(|verdict| verdict.situation == Situation::Exited), "seed {seed}");
        assert_eq!(harness.tracker.deadline(harness.now), None);
    }
}

#[test]
fn equal_inputs_give_equal_verdicts() {
    for seed in 1..100 {
        let (mut one, mut other) = (Harness::new(), Harness::new());
        assert_eq!(
            Random(seed).play(&mut one, 60),
            Random(seed).play(&mut other, 60),
            "seed {seed}"
        );
    }
}

#[test]
fn the_screen_corrects_the_state_after_any_lost_hooks() {
    for seed in 1..400 {
        let (mut random, mut harness) = (Random(seed), Harness::new());
        random.play(&mut harness, 40);
        harness.pass(5000, &busy());
        assert_eq!(
            harness.state(),
            AgentState::Working,
            "busy, seed {seed}: {:?}",
            harness.tracker
        );
        harness.pass(5000, &permission("ls"));
        assert_eq!(harness.state(), AgentState::Prompt, "dialog, seed {seed}");
        harness.pass(5000, &composer());
        assert_eq!(harness.state(), AgentState::Idle, "idle, seed {seed}: {:?}", harness.tracker);
    }
}

#[test]
fn a_hook_adds_no_dialog_to_that_of_the_status_file_and_can_take_back_its_own() {
    let mut harness = Harness::working();
    harness.evidence(Tier::Registry, Claim::AtDialog).pass(1500, &ScreenReading::default());
    let id = harness.prompt().id.clone();
    harness.evidence(Tier::Hooks, Claim::AtDialog).screen(&ScreenReading::default());
    assert_eq!(harness.prompt().id, id);
    harness.evidence(Tier::Registry, Claim::Working).screen(&ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);

    let mut harness = Harness::working();
    harness.evidence(Tier::Hooks, Claim::AtDialog).pass(1500, &ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Prompt);
    harness.evidence(Tier::Hooks, Claim::Working).screen(&ScreenReading::default());
    assert_eq!(harness.state(), AgentState::Working);
}
