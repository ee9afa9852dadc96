//! One conversation with every agent: a nudge, a permission, a question, the exit. The test is the
//! same for every agent.

use coop_client::v1;
use coop_client::v1::event::Payload;

use crate::harness::{DEADLINE, Setup, TestSession, poll_until, within_deadline};

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
    let Some(mut session) = setup.start().await else { return };
    let ready = session.wait_state("idle").await;

    let nudged =
        session.nudge("#hold gate #say good morning").await.expect("an idle agent takes a message");
    assert_eq!((nudged.outcome.as_str(), nudged.state_before.as_str()), ("accepted", "idle"));
    assert!(nudged.seq > ready.since_seq);
    let idle = finish_turn(&mut session, "gate", ready.since_seq).await;
    assert!(idle.last_message.is_some_and(|said| said.contains("good morning")));

    let idle = permission(&mut session).await;
    session.allow_questions().await;
    let idle = question(&mut session, idle).await;
    exit(&mut session, idle).await;

    let wanted = [
        "idle", "working", "idle", "working", "prompt", "working", "idle", "working", "prompt",
        "working", "idle", "exited",
    ];
    let states = session.states();
    let first = states.iter().position(|state| state == "idle").expect("it was idle");
    assert_eq!(states[first..], wanted, "{states:?}");
    let [.., command, ask] = &session.api.user_messages()[..] else {
        panic!("messages are missing")
    };
    assert!(command.contains("touch made") && ask.contains("Which color?"));
    assert_eq!(session.api.user_messages().len(), 3, "an answer is not a message");
}

/// Waits until the turn is at this hold, releases it, and waits until the agent is idle.
async fn finish_turn(
    session: &mut TestSession,
    gate: &str,
    before: u64,
) -> v1::GetAgentStateResponse {
    session.api.wait_held(gate).await;
    let working = session.wait_state_after(before, "working").await;
    session.api.release(gate);
    session.wait_state_after(working.since_seq, "idle").await
}

/// The model creates a file, and the user allows it. Returns the event of the idle state after it.
async fn permission(session: &mut TestSession) -> u64 {
    let nudged = session
        .nudge(&format!("{} #hold made #say all made", session.shell_call("touch made")))
        .await
        .expect("taken");
    let asked = session.wait_state_after(nudged.seq, "prompt").await;
    let prompt = session.wait_prompt().await;
    assert_eq!(Some(&prompt.id), asked.prompt.as_ref().map(|prompt| &prompt.id));
    assert_eq!(prompt.r#type, "permission");
    assert!(prompt.tool.is_some_and(|tool| !tool.is_empty()));
    let input = prompt.input_full.expect("the tool's input");
    let input: serde_json::Value = serde_json::from_str(&input).expect("it is JSON");
    assert_eq!(input["command"], "touch made");
    assert!(prompt.options.len() >= 2, "{:?}", prompt.options);
    assert!(!session.workspace().join("made").exists(), "it is not allowed yet");

    let yes =
        v1::RespondRequest { accept: Some(true), prompt_id: Some(prompt.id), ..Default::default() };
    let answered = session.respond(yes).await.expect("a yes is taken");
    assert_eq!(
        (answered.outcome.as_str(), answered.prompt_type.as_str()),
        ("answered", "permission")
    );
    let idle = finish_turn(session, "made", asked.since_seq).await;
    assert!(session.workspace().join("made").exists());
    assert!(idle.last_message.is_some_and(|said| said.contains("all made")));
    idle.since_seq
}

/// The model asks the user for a color. Returns the event of the idle state after it.
async fn question(session: &mut TestSession, before: u64) -> u64 {
    let nudged = session
        .nudge("#ask Which color? / Red / Blue #hold answered #say noted")
        .await
        .expect("taken");
    assert!(nudged.seq > before);
    let asked = session.wait_state_after(nudged.seq, "prompt").await;
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.r#type, "question");
    assert_eq!(prompt.question.as_deref(), Some("Which color?"));
    assert_eq!(prompt.questions.len(), 1);
    assert_eq!(prompt.questions[0].question, "Which color?");
    assert_eq!(prompt.questions[0].options, ["Red", "Blue"]);

    let blue =
        v1::RespondRequest { option: Some(2), prompt_id: Some(prompt.id), ..Default::default() };
    let answered = session.respond(blue).await.expect("an option is taken");
    assert_eq!(
        (answered.outcome.as_str(), answered.prompt_type.as_str()),
        ("answered", "question")
    );
    let idle = finish_turn(session, "answered", asked.since_seq).await;
    let result = session.api.last_result();
    assert!(result.contains("Blue") && !result.contains("Red"), "the tool result is {result}");
    idle.since_seq
}

/// coop shuts down and ends the agent.
async fn exit(session: &mut TestSession, before: u64) {
    let (mut waiting, mut ending) = (session.client(), session.client());
    let exited = v1::WaitForStateRequest {
        state: vec!["exited".to_owned()],
        timeout_ms: Some(i32::try_from(DEADLINE.as_millis()).expect("it is short")),
        after_seq: Some(before),
        ..Default::default()
    };
    let (exited, shutdown) = within_deadline("the end", async {
        tokio::join!(
            waiting.wait_for_state(exited),
            ending.shutdown(v1::ShutdownRequest::default())
        )
    })
    .await;
    assert!(shutdown.expect("coop shuts down").into_inner().accepted);
    let exited = exited.expect("a waiting call is answered before coop ends").into_inner();
    assert!(exited.matched && exited.state == "exited", "{exited:?}");
    let exits = poll_until("the exit in the events", async || {
        let events = session.events();
        let exits: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.payload {
                Some(Payload::Exit(exit)) => Some((event.seq, *exit)),
                _ => None,
            })
            .collect();
        let ended = events.iter().any(|event| matches!(event.payload, Some(Payload::Shutdown(_))));
        (ended && !exits.is_empty()).then_some(exits)
    })
    .await;
    let [(seq, exit)] = exits[..] else { panic!("it exits once: {exits:?}") };
    assert!(seq > before && exit.generation == 1, "{exit:?}");
    assert!(exit.code.is_some() != exit.signal.is_some(), "{exit:?}");
}
