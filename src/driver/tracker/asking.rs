//! Which dialog stands: what sources announced, what the screen shows, and the one prompt made of both.
//!
//! | seen | what becomes of it |
//! |---|---|
//! | announced, not on screen yet | a prompt that is not ready |
//! | on screen, and announced | that prompt, with its options; ready once the dialog takes keys |
//! | on screen for 300 ms, and nobody announced it | a prompt of the screen's own |
//! | announced after the screen raised it | the same prompt, with more to it |
//! | was on screen, and is gone for a moment | over |
//! | announced, and the screen shows something else for two seconds | never was |

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Habits;
use crate::driver::agent::Tier;
use crate::driver::prompt::{Ask, Prompt, PromptId, PromptKind, Question, QuestionOption};
use crate::driver::sight::{Choice, Dialog, Page, Role, Sight};

/// How long a dialog may wait for the source that should announce it.
const UNCLAIMED: Duration = Duration::from_millis(300);
/// How long a dialog must be missing before it is gone: a look can fall into the middle of a redraw.
const GONE: Duration = Duration::from_millis(150);
/// The same, while the agent itself says that a dialog stands.
const GONE_UNTOLD: Duration = Duration::from_secs(1);
/// How long an announced dialog may take to appear, while the screen shows something else.
const UNSEEN: Duration = Duration::from_secs(2);
/// How many dialogs may be announced ahead of the screen.
const AHEAD: usize = 64;
/// How many uses of tools are remembered.
const TOOLS: usize = 8;
/// How long a preview of a tool's input may be.
const PREVIEW: usize = 200;

/// A dialog that a source announced.
#[derive(Debug)]
struct Announced {
    id: PromptId,
    ask: Ask,
    tier: Tier,
    cause: &'static str,
    at: Instant,
}

/// A dialog that is on screen.
#[derive(Debug)]
struct Shown {
    dialog: Dialog,
    since: Instant,
    /// Since when it is missing, if it is.
    missing: Option<Instant>,
    prompt: Option<Known>,
    /// The agent has said that the turn around it is over: it is about to go.
    outlived: bool,
}

/// The prompt of a dialog on screen.
#[derive(Debug)]
struct Known {
    id: PromptId,
    announced: Option<Announced>,
}

/// A prompt and who says so.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) prompt: Arc<Prompt>,
    pub(super) tier: Tier,
    pub(super) cause: &'static str,
}

#[derive(Debug)]
pub(super) struct Asking {
    /// What ids begin with: no other child of any coop has it.
    prefix: String,
    count: u64,
    habits: Habits,
    announced: VecDeque<Announced>,
    shown: Option<Shown>,
    /// How long a dialog must be missing now before it is gone.
    patience: Duration,
    /// What the tools that were used last would ask, as a source told beside any dialog.
    tools: VecDeque<Ask>,
}

impl Asking {
    pub(super) fn new(prefix: String, habits: Habits) -> Self {
        Self {
            prefix,
            count: 0,
            habits,
            announced: VecDeque::new(),
            shown: None,
            patience: GONE,
            tools: VecDeque::new(),
        }
    }

    /// A source says that a dialog opens. Answers the prompt that it belongs to.
    pub(super) fn announce(
        &mut self,
        now: Instant,
        ask: Ask,
        tier: Tier,
        cause: &'static str,
        at: Instant,
    ) -> PromptId {
        let id = self.place(ask, tier, cause, at);
        self.bind(now);
        id
    }

    fn place(&mut self, ask: Ask, tier: Tier, cause: &'static str, at: Instant) -> PromptId {
        // The same dialog announced twice, by two sources or by a hook that came twice, is one dialog.
        if let Some(known) =
            self.announced.iter_mut().find(|known| known.tier != tier && same_ask(&known.ask, &ask))
        {
            return known.id.clone();
        }
        let shown = self.shown.as_mut().filter(|shown| shown.missing.is_none() && fits(&ask, &shown.dialog));
        match shown.and_then(|shown| shown.prompt.as_mut()) {
            Some(known) if known.announced.is_none() => {
                let id = known.id.clone();
                known.announced = Some(Announced { id: id.clone(), ask, tier, cause, at });
                id
            }
            Some(Known { id, announced: Some(before) })
                if before.tier != tier && same_ask(&before.ask, &ask) =>
            {
                id.clone()
            }
            Some(_) | None => {
                let id = self.next_id();
                if self.announced.len() == AHEAD {
                    self.announced.pop_front();
                }
                self.announced.push_back(Announced { id: id.clone(), ask, tier, cause, at });
                id
            }
        }
    }

    pub(super) fn expects(&self, id: &PromptId) -> bool {
        self.announced.iter().any(|announced| announced.id == *id)
    }

    pub(super) fn tool_use(&mut self, ask: Ask) {
        if self.tools.len() == TOOLS {
            self.tools.pop_front();
        }
        self.tools.push_back(ask);
    }

    /// The turn in which something was announced is over: what was not seen will not be.
    pub(super) fn forget_before(&mut self, at: Instant) {
        self.announced.retain(|announced| announced.at > at);
    }

    /// The agent itself says that the turn is over: a dialog of it that is still drawn does not prove otherwise.
    pub(super) fn outlive(&mut self, at: Instant) {
        if let Some(shown) = self.shown.as_mut().filter(|shown| shown.since <= at) {
            shown.outlived = true;
        }
    }

    /// Takes in what the screen shows now. `told` is whether the agent says that some dialog stands.
    pub(super) fn look(&mut self, now: Instant, sight: &Sight, told: bool) {
        self.patience = if told { GONE_UNTOLD } else { GONE };
        match (&sight.dialog, self.shown.take()) {
            (Some(dialog), Some(shown))
                if shown.dialog.same_as(dialog) && !self.another_was_announced(&shown) =>
            {
                self.shown = Some(Shown { dialog: dialog.clone(), missing: None, ..shown });
            }
            (Some(dialog), before) => {
                let prompt = before.and_then(|shown| self.half_drawn(now, shown, dialog));
                let (dialog, outlived) = (dialog.clone(), false);
                self.shown = Some(Shown { dialog, since: now, missing: None, prompt, outlived });
            }
            (None, Some(shown)) => {
                let missing = *shown.missing.as_ref().unwrap_or(&now);
                if now.duration_since(missing) < self.patience {
                    self.shown = Some(Shown { missing: Some(missing), ..shown });
                }
            }
            (None, None) => {}
        }
        self.bind(now);
        let elsewhere = sight.dialog.is_none() && (sight.composer.is_some() || sight.busy);
        if elsewhere {
            self.announced.retain(|announced| now.duration_since(announced.at) < UNSEEN);
        }
    }

    /// The prompt of a dialog that was only half drawn when it was first seen: nobody can have answered it, and nothing
    /// else was announced.
    fn half_drawn(&self, now: Instant, shown: Shown, dialog: &Dialog) -> Option<Known> {
        let known = shown.prompt.filter(|_| now.duration_since(shown.since) < self.habits.guard)?;
        let claimed = known.announced.as_ref().filter(|announced| fits(&announced.ask, dialog))?;
        let newer =
            self.announced.iter().any(|announced| announced.at > claimed.at && fits(&announced.ask, dialog));
        (!newer).then_some(known)
    }

    /// The same words can be asked twice; the second time they were announced anew.
    fn another_was_announced(&self, shown: &Shown) -> bool {
        let claimed_at =
            shown.prompt.as_ref().and_then(|known| known.announced.as_ref()).map(|known| known.at);
        shown.missing.is_some()
            && claimed_at.is_some_and(|at| {
                self.announced
                    .iter()
                    .any(|announced| announced.at > at && fits(&announced.ask, &shown.dialog))
            })
    }

    /// Gives the dialog on screen its prompt.
    fn bind(&mut self, now: Instant) {
        let Some(shown) = &mut self.shown else { return };
        if shown.prompt.is_some() {
            return;
        }
        let mut fitting =
            self.announced.iter().enumerate().filter(|(_, known)| fits(&known.ask, &shown.dialog));
        let first = fitting.clone().next();
        let best = fitting.find(|(_, known)| shows(&known.ask, &shown.dialog)).or(first).map(|(at, _)| at);
        if let Some(at) = best {
            // What was announced earlier and is not on screen has been answered without being seen.
            let announced = self.announced.drain(..=at).next_back();
            let id = announced.as_ref().map(|announced| announced.id.clone());
            shown.prompt = id.map(|id| Known { id, announced });
        } else if now.duration_since(shown.since) >= UNCLAIMED {
            let id = self.next_id();
            if let Some(shown) = &mut self.shown {
                shown.prompt = Some(Known { id, announced: None });
            }
        }
    }

    /// A dialog is on screen, whether it has a prompt yet or not.
    pub(super) fn on_screen(&self) -> bool {
        self.shown.is_some()
    }

    /// Since when a turn of the agent's must be running, because one of its tools asks.
    pub(super) fn inside_a_turn(&self) -> Option<Instant> {
        let shown = self.shown.as_ref().filter(|shown| shown.prompt.is_some() && !shown.outlived)?;
        let inside = match shown.dialog.kind {
            PromptKind::Permission => shown.dialog.subtype.is_none(),
            PromptKind::Plan => !self.habits.plans_after_turn,
            PromptKind::Question => true,
            PromptKind::Setup => false,
        };
        inside.then_some(shown.since)
    }

    pub(super) fn standing(&self, now: Instant) -> Option<Standing> {
        if let Some(Shown { dialog, since, missing, prompt: Some(known), .. }) = &self.shown {
            let ready = missing.is_none() && now.duration_since(*since) >= self.habits.guard;
            let (tier, cause) = match &known.announced {
                Some(announced) => (announced.tier, announced.cause),
                None => (Tier::Screen, "screen:dialog"),
            };
            // A dialog that nobody announced is most likely that of the tool that is being used.
            let told = self.tools.iter().rfind(|ask| fits(ask, dialog) && shows(ask, dialog));
            let ask = known.announced.as_ref().map(|announced| &announced.ask).or(told);
            let prompt = compose(&known.id, ask, Some(dialog), ready);
            return Some(Standing { prompt: Arc::new(prompt), tier, cause });
        }
        let next = self.announced.front().filter(|_| self.shown.is_none())?;
        let prompt = Arc::new(compose(&next.id, Some(&next.ask), None, false));
        Some(Standing { prompt, tier: next.tier, cause: next.cause })
    }

    /// When the next look is due, whether the screen changes or not.
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let shown = self.shown.as_ref().and_then(|shown| {
            let gone = shown.missing.map(|missing| missing + self.patience);
            let raised = shown.prompt.is_none().then_some(shown.since + UNCLAIMED);
            let ready = Some(shown.since + self.habits.guard).filter(|at| *at > now);
            [gone, raised, ready].into_iter().flatten().min()
        });
        let unseen = self.announced.front().map(|announced| announced.at + UNSEEN).filter(|at| *at > now);
        [shown, unseen].into_iter().flatten().min()
    }

    /// An id that no prompt has had.
    pub(super) fn next_id(&mut self) -> PromptId {
        self.count += 1;
        PromptId(format!("{}-{}", self.prefix, self.count))
    }
}

/// The prompt that is made of what was announced and what is shown.
fn compose(id: &PromptId, ask: Option<&Ask>, dialog: Option<&Dialog>, ready: bool) -> Prompt {
    let kind = ask.map_or_else(|| dialog.map_or(PromptKind::Setup, |dialog| dialog.kind), |ask| ask.kind);
    let tool = ask
        .and_then(|ask| ask.tool.clone())
        .or_else(|| dialog.and_then(|dialog| dialog.tool).map(str::to_owned));
    let input = ask.and_then(|ask| ask.input.as_ref());
    let questions = match (ask, dialog) {
        (Some(ask), _) if !ask.questions.is_empty() => ask.questions.clone(),
        (_, Some(dialog)) if kind == PromptKind::Question => vec![question_on(dialog)],
        (Some(_) | None, Some(_) | None) => Vec::new(),
    };
    let question_current = dialog.map_or(0, |dialog| match &dialog.page {
        Page::Only => 0,
        Page::Question { current, .. } => *current,
        Page::Review { .. } => questions.len(),
    });
    let options = match dialog {
        Some(dialog) => dialog.choices.iter().map(|choice| choice.label.clone()).collect(),
        None => {
            let first = questions.first().map(|question| &question.options[..]).unwrap_or_default();
            first.iter().map(|option| option.label.clone()).collect()
        }
    };
    let plan = ask.and_then(|ask| ask.plan.as_deref());
    Prompt {
        id: id.clone(),
        kind,
        subtype: ask.and_then(|ask| ask.subtype).or_else(|| dialog.and_then(|dialog| dialog.subtype)),
        input: plan.map(preview).or_else(|| input.map(preview_of)),
        input_full: input.map(serde_json::Value::to_string),
        tool,
        options,
        options_fallback: false,
        question_current,
        summary: plan.and_then(heading),
        message: match (ask, dialog) {
            (Some(ask), _) => ask.message.clone(),
            (None, Some(dialog)) => dialog.message.clone(),
            (None, None) => String::new(),
        },
        questions,
        screen_lines: dialog.map(|dialog| dialog.lines.clone()).unwrap_or_default(),
        ready,
    }
}

/// Whether an announced dialog can be the one on screen.
fn fits(ask: &Ask, dialog: &Dialog) -> bool {
    let tool = match (&ask.tool, dialog.tool) {
        (Some(announced), Some(shown)) => announced == shown,
        (Some(_) | None, Some(_) | None) => true,
    };
    ask.kind == dialog.kind && ask.subtype == dialog.subtype && tool
}

/// Two dialogs of one tool are told apart by what they ask for, as far as the screen shows it.
fn shows(ask: &Ask, dialog: &Dialog) -> bool {
    let shown: String =
        dialog.lines.iter().flat_map(|line| line.chars()).filter(|c| !c.is_whitespace()).collect();
    let input = ask.input.as_ref().and_then(serde_json::Value::as_object);
    let inputs = input.into_iter().flat_map(serde_json::Map::values).filter_map(serde_json::Value::as_str);
    let questions = ask.questions.iter().map(|question| question.question.as_str());
    let mut marks = inputs.chain(questions).map(mark).filter(|mark| !mark.is_empty()).peekable();
    marks.peek().is_none() || marks.any(|mark| shown.contains(&mark))
}

/// The beginning of a text, as it would stand on one row.
fn mark(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).take(24).collect()
}

fn same_ask(one: &Ask, other: &Ask) -> bool {
    one.kind == other.kind && one.tool == other.tool && one.input == other.input
}

fn question_on(dialog: &Dialog) -> Question {
    let answers = |choice: &&Choice| matches!(choice.role, Role::Plain | Role::Accept | Role::Decline);
    let option = |choice: &Choice| QuestionOption { label: choice.label.clone(), description: String::new() };
    Question {
        question: dialog.message.clone(),
        header: String::new(),
        multi_select: dialog.choices.iter().any(|choice| choice.checked.is_some()),
        options: dialog.choices.iter().filter(answers).map(option).collect(),
    }
}

/// The one thing in a tool's input that a person would want to see first, else all of it.
fn preview_of(input: &serde_json::Value) -> String {
    let telling = ["command", "file_path", "url", "path", "pattern", "query", "plan"];
    let text = telling.iter().find_map(|key| input.get(key).and_then(serde_json::Value::as_str));
    text.map_or_else(|| preview(&input.to_string()), preview)
}

fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// The first heading, or the first line with something on it.
fn heading(plan: &str) -> Option<String> {
    let line = plan.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.trim_start_matches('#').trim().to_owned())
}
