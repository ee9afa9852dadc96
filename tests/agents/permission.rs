//! Permissions that an agent asks for, whichever it is: seen with everything they are about, and answered by meaning.

use std::path::Path;

use coop_client::v1;

use crate::world::{Setup, World, refusal};

fn yes_to(prompt: v1::PromptContext) -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() }
}

pub fn deny_with(text: &str) -> v1::RespondRequest {
    v1::RespondRequest { accept: Some(false), text: Some(text.to_owned()), ..Default::default() }
}

/// It is over: an answer to it comes too late, and reaches no other.
async fn is_over(world: &mut World, prompt: v1::PromptContext) {
    assert_eq!(refusal(&world.respond(yes_to(prompt)).await.expect_err("it is over")), "STALE_PROMPT");
}

/// How an agent asks before it runs a command.
pub struct Manner {
    pub tool: &'static str,
    /// Its first option.
    pub yes: &'static str,
    /// How an answer goes in.
    pub via: &'static str,
}

pub async fn a_command_is_shown_whole_and_allowed(setup: Setup, manner: Manner) {
    let Some(mut world) = setup.idle().await else { return };
    let command = format!("touch made # {}end", "a long comment ".repeat(40));
    world.nudge(&format!("{} #say all done", world.shell_call(&command))).await.expect("taken");
    let early = world.wait_state("prompt").await.prompt.expect("a prompt");
    let prompt = world.wait_prompt().await;
    assert_eq!(early.id, prompt.id, "it is the same while it becomes visible");
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(manner.tool)));
    assert!(is_about(&prompt, &command), "{:?}", prompt.input_full);
    assert!(prompt.input.as_deref().is_some_and(|input| input.chars().count() <= 201), "{:?}", prompt.input);
    assert!(prompt.options.len() >= 2 && prompt.options[0] == manner.yes, "{:?}", prompt.options);
    assert!(!world.workspace().join("made").exists());
    let answered = world.accept().await;
    assert_eq!((answered.outcome.as_str(), answered.prompt_type.as_str()), ("answered", "permission"));
    assert_eq!(answered.via, manner.via);
    world.hear("all done").await;
    world.wait_state("idle").await;
    assert!(world.workspace().join("made").exists());
    is_over(&mut world, prompt).await;
}

/// A denial that takes no words.
pub async fn a_denied_command_never_runs_and_ends_the_turn(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    let call = format!("{} #say never", world.shell_call("touch never"));
    let nudged = world.nudge(&call).await.expect("taken");
    world.wait_prompt().await;
    let refused = world.respond(deny_with("use another way")).await.expect_err("it takes no words");
    assert_eq!(refusal(&refused), "BAD_REQUEST");
    assert_eq!(world.decline().await.outcome, "answered");
    world.wait_state_after(nudged.seq, "idle").await;
    world.echoes("after the denial").await;
    assert!(!world.workspace().join("never").exists());
}

/// The first of these calls of a tool is allowed with the option that starts like this; the second needs no asking then.
pub async fn allowed_for_good(world: &mut World, tool: &str, calls: [String; 2], option: &str) {
    let asked = |world: &World| world.states().iter().filter(|state| *state == "prompt").count();
    let before = asked(world);
    let [first, second] = calls;
    let nudged = world.nudge(&format!("{first} #say one of two")).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(tool)));
    let at = prompt.options.iter().position(|label| label.starts_with(option));
    let at = at.unwrap_or_else(|| panic!("{option:?} is none of {:?}", prompt.options));
    world.choose(i32::try_from(at + 1).expect("small")).await.expect("chosen");
    world.hear("one of two").await;
    world.wait_state_after(nudged.seq, "idle").await;
    let nudged = world.nudge(&format!("{second} #say both of two")).await.expect("taken");
    world.hear("both of two").await;
    world.wait_state_after(nudged.seq, "idle").await;
    assert_eq!(asked(world), before + 1, "{:?}", world.states());
}

/// The model wants to change a file: this call of this tool writes `new` for `old`.
pub async fn an_edit_is_asked_about(world: &mut World, tool: &str, call: impl Fn(&Path) -> String) {
    let file = world.workspace().join("text");
    std::fs::write(&file, "old words\n").expect("written");
    world.nudge(&format!("{} #say edited", call(&file))).await.expect("taken");
    let prompt = world.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("permission", Some(tool)));
    assert!(prompt.input_full.is_some_and(|input| input.contains("new_string")));
    world.accept().await;
    world.hear("edited").await;
    world.wait_state("idle").await;
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "new words\n");
}

/// Two commands, with this between them in the model's script. Which of those in one reply comes first is up to the agent.
pub async fn two_are_two_prompts_and_a_late_answer_reaches_neither(setup: Setup, between: &str) {
    let Some(mut world) = setup.idle().await else { return };
    let [one, two] = ["touch one", "touch two"].map(|command| world.shell_call(command));
    world.nudge(&format!("{one} {between} {two} #say both")).await.expect("taken");
    let first = world.wait_prompt().await;
    let file = if is_about(&first, "touch one") { "two" } else { "one" };
    world.accept().await;
    let second = world.wait_prompt_after(&first.id).await;
    assert!(is_about(&second, &format!("touch {file}")) && !is_about(&first, &format!("touch {file}")));
    is_over(&mut world, first).await;
    assert!(!world.workspace().join(file).exists());
    world.respond(yes_to(second)).await.expect("answered");
    world.hear("both").await;
    world.wait_file("one").await;
    world.wait_file("two").await;
}

fn is_about(prompt: &v1::PromptContext, command: &str) -> bool {
    let input = prompt.input_full.as_deref().expect("the tool's input");
    let input: serde_json::Value = serde_json::from_str(input).expect("it is JSON");
    input["command"] == command
}

pub async fn a_message_at_a_dialog_is_refused_and_approves_nothing(setup: Setup) {
    let Some(mut world) = setup.idle().await else { return };
    world.nudge(&world.shell_call("touch never")).await.expect("taken");
    world.wait_prompt().await;
    let refused = world.nudge("1").await.expect_err("a dialog has the keyboard");
    assert_eq!(refusal(&refused), "AGENT_BUSY");
    let told: v1::NudgeResponse = coop_client::response(&refused, "NudgeResponse").expect("a response");
    assert_eq!((told.delivered, told.reason.as_deref()), (false, Some("dialog_open")));
    assert_eq!(world.state().await.state, "prompt");
    world.decline().await;
    world.wait_state("idle").await;
    assert!(!world.workspace().join("never").exists());
}
