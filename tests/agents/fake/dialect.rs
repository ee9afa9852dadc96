//! What the three model APIs have in common: a conversation that can be read, and a reply that is
//! written in server-sent events. It must not know what the reply is.

use http::Uri;
use serde_json::Value;

use super::{anthropic, gemini, openai};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Anthropic,
    OpenAi,
    Gemini,
}

impl Dialect {
    /// Whose model is asked at this address.
    pub fn of(uri: &Uri) -> Option<Self> {
        let last = uri.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        match last {
            "messages" => Some(Self::Anthropic),
            "responses" => Some(Self::OpenAi),
            _ if last.ends_with(":streamGenerateContent") || last.ends_with(":generateContent") => {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }

    pub fn read(self, body: &Value) -> Asked {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::OpenAi => openai::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// Whether the answer is to be a stream.
    pub fn streams(self, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::Anthropic | Self::OpenAi => body["stream"] == true,
            Self::Gemini => uri.path().ends_with(":streamGenerateContent"),
        }
    }

    /// Whether a plan must be in a file before it can be shown.
    pub fn plan_in_file(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini => true,
            Self::OpenAi => false,
        }
    }

    pub fn voice(self, number: usize, body: &Value) -> Box<dyn Voice> {
        match self {
            Self::Anthropic => Box::new(anthropic::Messages::new(number, body)),
            Self::OpenAi => Box::new(openai::Responses::new(number)),
            Self::Gemini => Box::new(gemini::Content::new(number, body)),
        }
    }

    /// A whole answer in one piece.
    pub fn whole(self, number: usize, text: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(number, text),
            Self::OpenAi => openai::whole(number, text),
            Self::Gemini => gemini::whole(text),
        }
    }

    pub fn error(self, code: u16, words: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error(code, words),
            Self::OpenAi => openai::error(code, words),
            Self::Gemini => gemini::error(code, words),
        }
    }
}

/// What a request asks, as far as the script goes.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Everything that the user typed in this conversation, word for word.
    pub messages: Vec<String>,
    /// How many replies there have been since the last of them.
    pub rounds: usize,
    /// What the last tool call brought, as this API writes it down.
    pub result: Option<Value>,
    /// The request is none of the conversation: what it is instead.
    pub side: Option<&'static str>,
}

impl Asked {
    /// Notes a text of the user, unless it starts like one that the agent writes by itself.
    pub fn hear(&mut self, text: &Value, not_typed: &[&str]) {
        let Some(text) = text.as_str() else { return };
        if !text.is_empty() && !not_typed.iter().any(|start| text.trim_start().starts_with(start)) {
            self.messages.push(text.to_owned());
            self.rounds = 0;
        }
    }
}

/// One reply, written down piece by piece.
pub trait Voice: Send {
    fn open(&mut self) -> String;
    fn say(&mut self, text: &str) -> String;
    fn think(&mut self, text: &str) -> String;
    fn call(&mut self, name: &str, input: &Value) -> String;
    fn ask(&mut self, questions: &Value) -> String;
    fn write_plan(&mut self, plan: &str) -> String;
    fn show_plan(&mut self, plan: &str) -> String;
    fn close(&mut self) -> String;
}

/// One server-sent event.
pub fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}
