//! The Gemini API of Google, as the gemini CLI uses it.

use serde_json::{Value, json};

use super::dialect::{ParsedRequest, ReplyWriter, event};

/// Texts that gemini itself adds to the user's messages.
const AGENT_TEXTS: [&str; 2] = ["<session_context>", "This is the Gemini CLI."];

pub fn read(body: &Value) -> ParsedRequest {
    let mut parsed = ParsedRequest::default();
    for content in body["contents"].as_array().into_iter().flatten() {
        if content["role"] == "model" {
            parsed.rounds += 1;
            continue;
        }
        for part in content["parts"].as_array().into_iter().flatten() {
            parsed.add_user_text(&part["text"], &AGENT_TEXTS);
            if let Some(result) = part.get("functionResponse") {
                parsed.result = Some(result["response"].clone());
            }
        }
    }
    if body["generationConfig"]["responseJsonSchema"].is_object()
        || body["generationConfig"]["responseSchema"].is_object()
    {
        parsed.side = Some("classifier");
    }
    parsed
}

pub fn error(code: u16, message: &str) -> Value {
    let status = match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let mut error = json!({ "error": { "code": code, "status": status, "message": message } });
    if message.contains("daily quota") {
        // Gemini recognises a quota that waiting does not lift by this id, not by the message.
        error["error"]["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{ "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }],
        }]);
    }
    error
}

pub fn complete_response(text: &str) -> Value {
    chunk(&json!([{ "text": text }]), Some("STOP"))
}

fn chunk(parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": parts } });
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 17, "cachedContentTokenCount": 7,
            "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 22,
        },
        "modelVersion": "gemini-fake", "responseId": "fake",
    })
}

pub struct Content {
    number: usize,
    calls: usize,
    plan_file: String,
}

impl Content {
    pub fn new(number: usize, body: &Value) -> Self {
        Self { number, calls: 0, plan_file: plan_file(&body.to_string()) }
    }
}

impl ReplyWriter for Content {
    fn open(&mut self) -> String {
        String::new()
    }

    fn say(&mut self, text: &str) -> String {
        event(None, &chunk(&json!([{ "text": text }]), None))
    }

    fn think(&mut self, text: &str) -> String {
        event(None, &chunk(&json!([{ "text": text, "thought": true }]), None))
    }

    fn call(&mut self, name: &str, input: &Value) -> String {
        self.calls += 1;
        let id = format!("fake{:04}{:02}", self.number, self.calls);
        let call = json!({ "id": id, "name": name, "args": input });
        event(None, &chunk(&json!([{ "functionCall": call }]), None))
    }

    fn ask(&mut self, questions: &Value) -> String {
        let mut questions = questions.clone();
        for question in questions.as_array_mut().into_iter().flatten() {
            if question["type"].is_null() {
                question["type"] = "choice".into();
            }
        }
        self.call("ask_user", &json!({ "questions": questions }))
    }

    fn write_plan(&mut self, plan: &str) -> String {
        let file = self.plan_file.clone();
        self.call("write_file", &json!({ "file_path": file, "content": plan }))
    }

    fn show_plan(&mut self, _plan: &str) -> String {
        self.call("exit_plan_mode", &json!({ "plan_filename": "plan.md" }))
    }

    fn close(&mut self) -> String {
        event(None, &chunk(&json!([{ "text": "" }]), Some("STOP")))
    }
}

/// A file in the directory that gemini told its model to put plans in.
fn plan_file(body: &str) -> String {
    let Some(at) = body.rfind("/plans") else { return String::new() };
    let outside = |letter: char| letter.is_whitespace() || "\"'`\\()".contains(letter);
    let start = body[..at].rfind(outside).map_or(0, |before| before + 1);
    format!("{}/plans/plan.md", &body[start..at])
}
