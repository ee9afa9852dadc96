//! The Messages API of Anthropic, as claude uses it.

use serde_json::{Value, json};

use super::dialect::{ParsedRequest, ReplyWriter, event};

/// Texts that claude itself adds to the user's messages.
const AGENT_TEXTS: [&str; 8] = [
    "<system-reminder>",
    "<command-",
    "<local-command-",
    "<bash-",
    "[Request interrupted by user",
    "Stop hook feedback:",
    "This session is being continued from a previous conversation",
    COMPACT,
];

/// The start of claude's request for a summary of the conversation.
const COMPACT: &str = "CRITICAL: Respond with TEXT ONLY";

pub fn read(body: &Value) -> ParsedRequest {
    let mut parsed = ParsedRequest::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("assistant") => parsed.rounds += 1,
            Some("user") if message["content"].is_string() => {
                parsed.add_user_text(&message["content"], &AGENT_TEXTS);
            }
            Some("user") => {
                for block in message["content"].as_array().into_iter().flatten() {
                    parsed.add_user_text(&block["text"], &AGENT_TEXTS);
                    if block["type"] == "tool_result" {
                        parsed.result = Some(block["content"].clone());
                    }
                }
            }
            // Claude adds its own notes as system messages.
            _ => {}
        }
    }
    parsed.side = side(body);
    parsed
}

/// Requests that are not part of the conversation.
fn side(body: &Value) -> Option<&'static str> {
    let tools = body["tools"].as_array().map_or(0, Vec::len);
    let content = body["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .map(|last| last["content"].to_string());
    if body["max_tokens"] == 1 {
        Some("warm-up")
    } else if content.is_some_and(|content| content.contains(COMPACT)) {
        Some("compact")
    } else if tools == 0 {
        Some("helper")
    } else {
        None
    }
}

pub fn error(code: u16, message: &str) -> Value {
    let kind = match code {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// A complete response, for a request without streaming.
pub fn complete_response(number: usize, text: &str) -> Value {
    let mut message = message(number);
    message["content"] = json!([{ "type": "text", "text": text }]);
    message["stop_reason"] = "end_turn".into();
    message
}

fn message(number: usize) -> Value {
    json!({
        "id": format!("msg_fake{number:04}"), "type": "message", "role": "assistant",
        "model": "claude-fake",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": 10, "output_tokens": 1,
            "cache_creation_input_tokens": 3, "cache_read_input_tokens": 7,
        },
    })
}

pub struct Messages {
    number: usize,
    /// The file that claude wants its plan in.
    plan_file: String,
    blocks: usize,
    in_text: bool,
    called: bool,
}

impl Messages {
    pub fn new(number: usize, body: &Value) -> Self {
        Self {
            number,
            plan_file: plan_file(&body.to_string()),
            blocks: 0,
            in_text: false,
            called: false,
        }
    }

    fn end_text(&mut self) -> String {
        if !std::mem::take(&mut self.in_text) {
            return String::new();
        }
        self.blocks += 1;
        frame(&json!({ "type": "content_block_stop", "index": self.blocks - 1 }))
    }

    fn block(&mut self, start: &Value, deltas: &[Value]) -> String {
        let mut frames = self.end_text();
        frames += &frame(
            &json!({ "type": "content_block_start", "index": self.blocks, "content_block": start }),
        );
        for delta in deltas {
            frames += &frame(
                &json!({ "type": "content_block_delta", "index": self.blocks, "delta": delta }),
            );
        }
        frames += &frame(&json!({ "type": "content_block_stop", "index": self.blocks }));
        self.blocks += 1;
        frames
    }
}

impl ReplyWriter for Messages {
    fn open(&mut self) -> String {
        frame(&json!({ "type": "message_start", "message": message(self.number) }))
    }

    fn say(&mut self, text: &str) -> String {
        let mut frames = String::new();
        if !std::mem::replace(&mut self.in_text, true) {
            let block = json!({ "type": "text", "text": "" });
            frames += &frame(&json!({
                "type": "content_block_start", "index": self.blocks, "content_block": block,
            }));
        }
        let delta = json!({ "type": "text_delta", "text": text });
        frames
            + &frame(
                &json!({ "type": "content_block_delta", "index": self.blocks, "delta": delta }),
            )
    }

    fn think(&mut self, text: &str) -> String {
        let thought = json!({ "type": "thinking_delta", "thinking": text });
        let signature = json!({ "type": "signature_delta", "signature": "c2lnbmVk" });
        self.block(
            &json!({ "type": "thinking", "thinking": "", "signature": "" }),
            &[thought, signature],
        )
    }

    fn call(&mut self, name: &str, input: &Value) -> String {
        self.called = true;
        let id = format!("toolu_fake{:04}{:02}", self.number, self.blocks);
        let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
        self.block(&json!({ "type": "tool_use", "id": id, "name": name, "input": {} }), &[delta])
    }

    fn ask(&mut self, questions: &Value) -> String {
        self.call("AskUserQuestion", &json!({ "questions": questions }))
    }

    fn write_plan(&mut self, plan: &str) -> String {
        let file = self.plan_file.clone();
        self.call("Write", &json!({ "file_path": file, "content": plan }))
    }

    fn show_plan(&mut self, _plan: &str) -> String {
        self.call("ExitPlanMode", &json!({}))
    }

    fn close(&mut self) -> String {
        let why = if self.called { "tool_use" } else { "end_turn" };
        let end = json!({ "stop_reason": why, "stop_sequence": null });
        let delta =
            json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 5 } });
        self.end_text() + &frame(&delta) + &frame(&json!({ "type": "message_stop" }))
    }
}

fn frame(data: &Value) -> String {
    event(data["type"].as_str(), data)
}

/// The file that claude told its model to write the plan to: the last one that it named.
fn plan_file(body: &str) -> String {
    let Some(at) = body.rfind("/plans/") else { return String::new() };
    let outside = |letter: char| letter.is_whitespace() || "\"'`\\()".contains(letter);
    let start = body[..at].rfind(outside).map_or(0, |before| before + 1);
    let end = body[at..].find(outside).map_or(body.len(), |after| at + after);
    body[start..end].trim_end_matches('.').to_owned()
}
