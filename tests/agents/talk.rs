//! An agent on coop's terminal, with nothing but keys and the screen: what the other tests stand on. Whoever types here
//! must not know which agent it is.

use std::fmt::Write as _;

use crate::fake::Fate;
use crate::world::{Setup, World};

/// What a person must know of an agent to work with it.
pub struct Face {
    pub setup: fn() -> Setup,
    /// So that it plans, once it may also ask.
    pub planning: fn() -> Setup,
    /// On the screen once it takes a message.
    pub ready: &'static str,
    pub permission: Dialog,
    pub question: Dialog,
    pub plan: Dialog,
    /// What the model says once its plan is approved.
    pub approved: &'static str,
    /// How much it shows of a reply that stops after the third line.
    pub streamed: &'static str,
    pub interrupted: &'static str,
}

/// A dialog by its words, and the key of the answer that these tests give.
pub struct Dialog {
    pub words: &'static str,
    pub key: &'static str,
}

impl Face {
    async fn ready(&self) -> Option<World> {
        self.started(self.setup).await
    }

    async fn started(&self, setup: fn() -> Setup) -> Option<World> {
        let mut world = setup().start().await?;
        world.see(self.ready).await;
        Some(world)
    }
}

pub async fn a_message_is_answered(face: &Face) {
    let Some(mut world) = face.ready().await else { return };
    world.type_in("good morning to everybody").await;
    world.hear("echo: good morning to everybody").await;
    assert_eq!(world.api.user_messages(), ["good morning to everybody"]);
}

/// Each of the text's lines ends like this.
pub async fn a_long_text_arrives_whole(face: &Face, end: &str) {
    let Some(mut world) = face.ready().await else { return };
    let mut text = String::new();
    for number in 0..200 {
        writeln!(text, "line {number}: grüße, 世界, \"quotes\" and{end}").expect("written");
    }
    text.push_str("the end");
    world.type_in(&text).await;
    world.hear("echo: line 0").await;
    assert_eq!(world.api.user_messages(), [text]);
}

pub async fn a_tool_is_asked_about(face: &Face) {
    let Some(mut world) = face.ready().await else { return };
    world.type_in(&format!("{} #say all is made", world.shell_call("touch made"))).await;
    world.see(face.permission.words).await;
    assert!(!world.workspace().join("made").exists());
    world.answer(face.permission.key, face.permission.words).await;
    world.hear("all is made").await;
    assert!(world.workspace().join("made").exists());
    assert_eq!(world.api.user_messages().len(), 1, "an answered dialog is no message");
}

pub async fn a_question_is_answered(face: &Face) {
    let Some(mut world) = face.ready().await else { return };
    world.let_it_ask().await;
    world.type_in("#ask Which color? / Red / Blue").await;
    world.see(face.question.words).await;
    world.answer(face.question.key, face.question.words).await;
    world.hear("done").await;
    let told = world.api.last_result();
    assert!(told.contains("Blue") && !told.contains("Red"), "{told}");
}

pub async fn a_plan_is_shown(face: &Face) {
    let Some(mut world) = face.started(face.planning).await else { return };
    world.let_it_ask().await;
    world.type_in("#plan # The plan\n\n1. Think of a word").await;
    world.see(face.plan.words).await;
    world.answer(face.plan.key, face.plan.words).await;
    world.hear(face.approved).await;
}

pub async fn an_interrupted_reply_is_hung_up_on(face: &Face) {
    let Some(mut world) = face.ready().await else { return };
    let endless = "#stream 3x0 #hold forever #say never";
    world.type_in(endless).await;
    world.api.wait_held("forever").await;
    world.hear(face.streamed).await;
    world.press("\x1b").await;
    world.see(face.interrupted).await;
    world
        .api
        .wait_for("the agent to hang up", |requests| {
            let last = requests.iter().rfind(|request| request.is_turn())?;
            (last.fate == Fate::HungUp).then_some(())
        })
        .await;
    world.type_in("and again").await;
    world.hear("echo: and again").await;
    assert_eq!(world.api.user_messages(), [endless, "and again"]);
}

/// With this status.
pub async fn an_error_is_tried_again(face: &Face, status: u16) {
    let Some(mut world) = face.ready().await else { return };
    world.type_in(&format!("#status {status} #think hm #say it works again")).await;
    world.hear("it works again").await;
    let requests = world.api.requests();
    let fates: Vec<_> = requests.iter().filter(|request| request.is_turn()).map(|turn| turn.fate).collect();
    assert_eq!(fates[0], Fate::Failed);
    assert_eq!(world.api.user_messages().len(), 1, "a retry is no message: {fates:?}");
}

pub async fn a_cut_connection_is_survived(face: &Face) {
    let Some(mut world) = face.ready().await else { return };
    world.type_in("#say half #drop #say whole").await;
    world.hear("whole").await;
    assert_eq!(world.api.user_messages().len(), 1);
}
