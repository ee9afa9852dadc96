//! One conversation with every agent: a nudge, a permission, a question, the end. Whoever plays the user here
//! must not know which agent it is.

use coop_client::v1;
use coop_client::v1::event::Payload;

use crate::world::{DEADLINE, Setup, World, soon, until};

#[tokio::test]
async fn with_claude() {
    scenario(Setup::claude()).await;
}

#[tokio::test]
async fn with_codex() {
    scenario(Setup::codex()).await;
}

#[tokio::test]
async fn with_gemini() {
    scenario(Setup::gemini()).await;
}

async fn scenario(setup: Setup) {
    let Some(mut world) = setup.start().await else { return };
    let ready = world.wait_state("idle").await;

    let nudged = world.nudge("#hold gate #say good morning").await.expect("an idle agent takes a message");
    assert_eq!((nudged.outcome.as_str(), nudged.state_before.as_str()), ("accepted", "idle"));
    assert!(nudged.seq > ready.since_seq);
    let idle = works_on(&mut world, "gate", ready.since_seq).await;
    assert!(idle.last_message.is_some_and(|said| said.contains("good morning")));

    let idle = permission(&mut world).await;
    world.let_it_ask().await;
    let idle = question(&mut world, idle).await;
    exit(&mut world, idle).await;

    let wanted = [
        "idle", "working", "idle", "working", "prompt", "working", "idle", "working", "prompt", "working",
        "idle", "exited",
    ];
    let states = world.states();
    let first = states.iter().position(|state| state == "idle").expect("it was idle");
    assert_eq!(states[first..], wanted, "{states:?}");
    let [.., command, ask] = &world.api.user_messages()[..] else { panic!("the model was told too little") };
    assert!(command.contains("touch made") && ask.contains("Which color?"));
    assert_eq!(world.api.user_messages().len(), 3, "an answer is no message");
}

/// The turn goes on, stands at this gate of the model's, and ends once it may.
async fn works_on(world: &mut World, gate: &str, before: u64) -> v1::GetAgentStateResponse {
    world.api.wait_held(gate).await;
    let working = world.wait_state_after(before, "working").await;
    world.api.release(gate);
    world.wait_state_after(working.since_seq, "idle").await
}

/// The model wants to make a file; the user lets it. Answers the event of the idle after it.
async fn permission(world: &mut World) -> u64 {
    let nudged = world
        .nudge(&format!("{} #hold made #say all made", world.shell_call("touch made")))
        .await
        .expect("taken");
    let asked = world.wait_state_after(nudged.seq, "prompt").await;
    let prompt = world.wait_prompt().await;
    assert_eq!(Some(&prompt.id), asked.prompt.as_ref().map(|prompt| &prompt.id));
    assert_eq!(prompt.r#type, "permission");
    assert!(prompt.tool.is_some_and(|tool| !tool.is_empty()));
    let input = prompt.input_full.expect("the tool's input");
    let input: serde_json::Value = serde_json::from_str(&input).expect("it is JSON");
    assert_eq!(input["command"], "touch made");
    assert!(prompt.options.len() >= 2, "{:?}", prompt.options);
    assert!(!world.workspace().join("made").exists(), "nobody has allowed it yet");

    let yes = v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() };
    let answered = world.respond(yes).await.expect("a yes is taken");
    assert_eq!((answered.outcome.as_str(), answered.prompt_type.as_str()), ("answered", "permission"));
    let idle = works_on(world, "made", asked.since_seq).await;
    assert!(world.workspace().join("made").exists());
    assert!(idle.last_message.is_some_and(|said| said.contains("all made")));
    idle.since_seq
}

/// The model asks the user for a color. Answers the event of the idle after it.
async fn question(world: &mut World, before: u64) -> u64 {
    let nudged = world.nudge("#ask Which color? / Red / Blue #hold told #say noted").await.expect("taken");
    assert!(nudged.seq > before);
    let asked = world.wait_state_after(nudged.seq, "prompt").await;
    let prompt = world.wait_prompt().await;
    assert_eq!(prompt.r#type, "question");
    assert_eq!(prompt.question.as_deref(), Some("Which color?"));
    assert_eq!(prompt.questions.len(), 1);
    assert_eq!(prompt.questions[0].question, "Which color?");
    assert_eq!(prompt.questions[0].options, ["Red", "Blue"]);

    let blue = v1::RespondRequest { option: Some(2), prompt_id: Some(prompt.id), ..Default::default() };
    let answered = world.respond(blue).await.expect("an option is taken");
    assert_eq!((answered.outcome.as_str(), answered.prompt_type.as_str()), ("answered", "question"));
    let idle = works_on(world, "told", asked.since_seq).await;
    let told = world.api.last_result();
    assert!(told.contains("Blue") && !told.contains("Red"), "the model was told {told}");
    idle.since_seq
}

/// Coop is told to end, and takes the agent with it.
async fn exit(world: &mut World, before: u64) {
    let (mut waiting, mut ending) = (world.client(), world.client());
    let exited = v1::WaitForStateRequest {
        state: vec!["exited".to_owned()],
        timeout_ms: Some(i32::try_from(DEADLINE.as_millis()).expect("it is short")),
        after_seq: Some(before),
        ..Default::default()
    };
    let (exited, shutdown) = soon("the end", async {
        tokio::join!(waiting.wait_for_state(exited), ending.shutdown(v1::ShutdownRequest::default()))
    })
    .await;
    assert!(shutdown.expect("coop takes its leave").into_inner().accepted);
    let exited = exited.expect("who waits is told before coop ends").into_inner();
    assert!(exited.matched && exited.state == "exited", "{exited:?}");
    let exits = until("the exit in the events", async || {
        let events = world.events();
        let exits: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.payload {
                Some(Payload::Exit(exit)) => Some((event.seq, *exit)),
                _ => None,
            })
            .collect();
        let told = events.iter().any(|event| matches!(event.payload, Some(Payload::Shutdown(_))));
        (told && !exits.is_empty()).then_some(exits)
    })
    .await;
    let [(seq, exit)] = exits[..] else { panic!("it exits once: {exits:?}") };
    assert!(seq > before && exit.generation == 1, "{exit:?}");
    assert!(exit.code.is_some() != exit.signal.is_some(), "{exit:?}");
}
