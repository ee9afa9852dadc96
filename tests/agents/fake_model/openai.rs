//! The Responses API of OpenAI, as codex uses it.

use serde_json::{Value, json};

use super::dialect::{ParsedRequest, ReplyWriter, event};

/// Texts that codex itself adds to the user's messages.
const AGENT_TEXTS: [&str; 5] = [
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "# AGENTS.md instructions",
    "<skill",
];

/// The start of codex's request for a title of the conversation.
const TITLE: &str = "Generate a concise, single-line task title";

pub fn read(body: &Value) -> ParsedRequest {
    let mut parsed = ParsedRequest::default();
    // A reply consists of several items: reasoning, text and calls.
    let mut in_reply = false;
    for item in body["input"].as_array().into_iter().flatten() {
        let of_model = match item["type"].as_str() {
            Some("message") | None => item["role"] == "assistant",
            Some(kind) => matches!(kind, "reasoning" | "function_call" | "custom_tool_call"),
        };
        if of_model && !in_reply {
            parsed.rounds += 1;
        }
        in_reply = of_model;
        if item["output"].is_string() || item["output"].is_array() {
            parsed.result = Some(item["output"].clone());
        }
        if item["role"] == "user" {
            for part in item["content"].as_array().into_iter().flatten() {
                parsed.add_user_text(&part["text"], &AGENT_TEXTS);
            }
        }
    }
    if parsed.messages.last().is_some_and(|text| text.starts_with(TITLE)) {
        parsed.side = Some("title");
    }
    parsed
}

pub fn error(code: u16, message: &str) -> Value {
    let kind = match code {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        503 => "server_is_overloaded",
        _ => "server_error",
    };
    json!({ "error": { "type": kind, "code": kind, "message": message } })
}

pub fn complete_response(number: usize, text: &str) -> Value {
    let mut response = response(number);
    response["output"] = json!([text_item(number, 0, text)]);
    response
}

fn response(number: usize) -> Value {
    json!({
        "id": format!("resp_fake{number:04}"), "object": "response",
        "status": "completed", "output": [],
        "usage": {
            "input_tokens": 20,
            "input_tokens_details": { "cached_tokens": 7, "cache_write_tokens": 3 },
            "output_tokens": 5, "output_tokens_details": { "reasoning_tokens": 2 },
            "total_tokens": 25,
        },
    })
}

fn text_item(number: usize, index: usize, text: &str) -> Value {
    json!({
        "type": "message", "id": format!("msg_fake{number:04}{index:02}"), "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

pub struct Responses {
    number: usize,
    items: usize,
    /// The text item that is not complete yet.
    text: Option<String>,
}

impl Responses {
    pub fn new(number: usize) -> Self {
        Self { number, items: 0, text: None }
    }

    fn end_text(&mut self) -> String {
        let Some(text) = self.text.take() else { return String::new() };
        let item = text_item(self.number, self.items, &text);
        self.done(&item)
    }

    fn done(&mut self, item: &Value) -> String {
        self.items += 1;
        frame(&json!({
            "type": "response.output_item.done", "output_index": self.items - 1, "item": item,
        }))
    }
}

impl ReplyWriter for Responses {
    fn open(&mut self) -> String {
        frame(&json!({ "type": "response.created", "response": response(self.number) }))
    }

    fn say(&mut self, text: &str) -> String {
        let mut frames = String::new();
        let item = text_item(self.number, self.items, "");
        if self.text.is_none() {
            let added = json!({
                "type": "response.output_item.added", "output_index": self.items, "item": item,
            });
            frames += &frame(&added);
        }
        self.text.get_or_insert_default().push_str(text);
        let delta = json!({
            "type": "response.output_text.delta", "item_id": item["id"],
            "output_index": self.items, "content_index": 0, "delta": text,
        });
        frames + &frame(&delta)
    }

    fn think(&mut self, text: &str) -> String {
        let frames = self.end_text();
        let item = json!({
            "type": "reasoning", "id": format!("rs_fake{:04}{:02}", self.number, self.items),
            "summary": [{ "type": "summary_text", "text": text }],
        });
        frames + &self.done(&item)
    }

    /// A JSON string calls a tool that takes plain text; a name with `__` calls a tool of an MCP
    /// server.
    fn call(&mut self, name: &str, input: &Value) -> String {
        let frames = self.end_text();
        let id = format!("call_fake{:04}{:02}", self.number, self.items);
        let item = match input.as_str() {
            Some(text) => {
                json!({ "type": "custom_tool_call", "call_id": id, "name": name, "input": text })
            }
            None => {
                let (namespace, name) = match name.rsplit_once("__") {
                    Some((server, tool)) => (Some(server), tool),
                    None => (None, name),
                };
                json!({
                    "type": "function_call", "call_id": id, "namespace": namespace, "name": name,
                    "arguments": input.to_string(),
                })
            }
        };
        frames + &self.done(&item)
    }

    fn ask(&mut self, questions: &Value) -> String {
        let mut questions = questions.clone();
        for (number, question) in questions.as_array_mut().into_iter().flatten().enumerate() {
            question["id"] = json!(format!("q{}", number + 1));
        }
        self.call("request_user_input", &json!({ "questions": questions }))
    }

    fn write_plan(&mut self, _plan: &str) -> String {
        String::new()
    }

    fn show_plan(&mut self, plan: &str) -> String {
        self.say(&format!("<proposed_plan>\n{plan}\n</proposed_plan>\n"))
    }

    fn close(&mut self) -> String {
        self.end_text()
            + &frame(&json!({ "type": "response.completed", "response": response(self.number) }))
    }
}

fn frame(data: &Value) -> String {
    event(data["type"].as_str(), data)
}
