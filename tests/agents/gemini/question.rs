//! Questions and plans of the real gemini.

use coop_client::v1;
use serde_json::{Value, json};

use crate::harness::{Setup, TestSession};
use crate::question::{self, answers, option_answer, text_answer};

fn text(text: &str) -> v1::RespondRequest {
    v1::RespondRequest { text: Some(text.to_owned()), ..Default::default() }
}

fn choice(question: &str, header: &str, labels: &[&str], several: bool) -> Value {
    let mut choice = question::choice(question, header, labels, several);
    choice["type"] = "choice".into();
    choice
}

/// Asks and answers, and returns the tool result that the model gets.
async fn tool_result(
    session: &mut TestSession,
    ask: &Value,
    request: v1::RespondRequest,
) -> String {
    let nudged = session.nudge(&format!("#ask {ask} #say thanks")).await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.tool.as_deref()), ("question", Some("ask_user")));
    assert_eq!(session.respond(request).await.expect("answered").outcome, "answered", "{ask}");
    session.wait_state_after(nudged.seq, "idle").await;
    session.api.last_result()
}

#[tokio::test]
async fn questions_of_every_kind_are_answered() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let colors = json!([choice("Which color?", "Color", &["Red", "Green", "Blue"], false)]);
    let second = v1::RespondRequest { option: Some(2), ..Default::default() };
    assert!(tool_result(&mut session, &colors, second).await.contains("Green"));
    assert!(
        tool_result(&mut session, &colors, text("Mauve 7")).await.contains("Mauve 7"),
        "text, though its option is not on screen"
    );
    let go = json!([{ "question": "Go?", "header": "Go", "type": "yesno" }]);
    let first = v1::RespondRequest { option: Some(1), ..Default::default() };
    assert!(tool_result(&mut session, &go, first).await.contains("Yes"));
    let no = v1::RespondRequest { accept: Some(false), ..Default::default() };
    assert!(tool_result(&mut session, &go, no).await.contains("No"));
    let name = json!([
        { "question": "Your name?", "header": "Name", "type": "text", "placeholder": "none" },
    ]);
    assert!(tool_result(&mut session, &name, text("Another Name")).await.contains("Another Name"));
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let asked = json!([
        choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true),
        { "question": "Your name?", "header": "Name", "type": "text" },
        { "question": "Go?", "header": "Go", "type": "yesno" },
    ]);
    let all = answers(vec![option_answer(&[1, 3]), text_answer("a name"), option_answer(&[2])]);
    let result = tool_result(&mut session, &asked, all).await;
    assert!(
        result.contains("Salt, Oil") && result.contains("a name") && result.contains("No"),
        "{result}"
    );
}

#[tokio::test]
async fn ticked_options_and_text_are_combined() {
    let Some(mut session) = Setup::gemini().idle().await else { return };
    let extras = json!([choice("Which extras?", "Extras", &["Salt", "Pepper", "Oil"], true)]);
    let both =
        v1::Answer { options: vec![2], text: Some("more love".to_owned()), ..Default::default() };
    let result = tool_result(&mut session, &extras, answers(vec![both])).await;
    assert!(result.contains("Pepper, more love"), "{result}");
}

#[tokio::test]
async fn text_typed_into_a_plan_by_a_user_is_not_sent() {
    let Some(mut session) = Setup::gemini().args(&["--approval-mode", "plan"]).idle().await else {
        return;
    };
    let nudged = session.nudge("#plan # The plan\n\nthink\n#say planned").await.expect("taken");
    session.wait_prompt().await;
    session.press("\x1b[200~half a thought\x1b[201~").await;
    session
        .wait_row("the pointer at the text", |row| {
            row.contains("● 3.") && row.contains("half a thought")
        })
        .await;
    session.respond(text("think of two words")).await.expect("sent back");
    session.wait_state_after(nudged.seq, "idle").await;
    let result = session.api.last_turn().body.to_string();
    assert!(result.contains("think of two words") && !result.contains("half"), "{result}");
}

#[tokio::test]
async fn a_plan_is_returned_with_text_and_then_approved() {
    let Some(mut session) = Setup::gemini().args(&["--approval-mode", "plan"]).idle().await else {
        return;
    };
    let nudged =
        session.nudge("#plan # The plan\n\nthink of a word\n#say planned").await.expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!((prompt.r#type.as_str(), prompt.summary.as_deref()), ("plan", Some("The plan")));
    session.respond(text("think of two words")).await.expect("sent back");
    session.wait_state_after(nudged.seq, "idle").await;
    assert!(session.api.last_turn().body.to_string().contains("think of two words"));
    let nudged = session
        .nudge("#plan # Another plan\n\nthink of two words\n#say planned")
        .await
        .expect("taken");
    let prompt = session.wait_prompt().await;
    assert_eq!(prompt.summary.as_deref(), Some("Another plan"));
    session.accept().await;
    session.wait_state_after(nudged.seq, "idle").await;
    assert!(session.api.last_turn().body.to_string().contains("Plan approved"));
}
