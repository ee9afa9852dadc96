//! What the three model APIs have in common: reading a conversation, and writing a reply as
//! server-sent events. It does not know what the reply says.

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
    /// The API of this address.
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

    pub fn read(self, body: &Value) -> ParsedRequest {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::OpenAi => openai::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    /// Whether the request asks for a stream.
    pub fn streams(self, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::Anthropic | Self::OpenAi => body["stream"] == true,
            Self::Gemini => uri.path().ends_with(":streamGenerateContent"),
        }
    }

    /// Whether the agent reads its plans from a file.
    pub fn plan_in_file(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini => true,
            Self::OpenAi => false,
        }
    }

    pub fn writer(self, number: usize, body: &Value) -> Box<dyn ReplyWriter> {
        match self {
            Self::Anthropic => Box::new(anthropic::Messages::new(number, body)),
            Self::OpenAi => Box::new(openai::Responses::new(number)),
            Self::Gemini => Box::new(gemini::Content::new(number, body)),
        }
    }

    /// A complete response, without streaming.
    pub fn complete_response(self, number: usize, text: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::complete_response(number, text),
            Self::OpenAi => openai::complete_response(number, text),
            Self::Gemini => gemini::complete_response(text),
        }
    }

    pub fn error(self, code: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error(code, message),
            Self::OpenAi => openai::error(code, message),
            Self::Gemini => gemini::error(code, message),
        }
    }
}

/// A request, as far as the script needs it.
#[derive(Debug, Clone, Default)]
pub struct ParsedRequest {
    /// All messages that the user typed in this conversation, unchanged.
    pub messages: Vec<String>,
    /// How many replies followed the last message.
    pub rounds: usize,
    /// The result of the last tool call, as this API encodes it.
    pub result: Option<Value>,
    /// What the request is for, if it is not part of the conversation.
    pub side: Option<&'static str>,
}

impl ParsedRequest {
    /// Adds a text of the user, unless it starts like one that the agent adds itself.
    pub fn add_user_text(&mut self, text: &Value, agent_texts: &[&str]) {
        let Some(text) = text.as_str() else { return };
        if !text.is_empty() && !agent_texts.iter().any(|start| text.trim_start().starts_with(start))
        {
            self.messages.push(text.to_owned());
            self.rounds = 0;
        }
    }
}

/// Encodes one reply, piece by piece.
pub trait ReplyWriter: Send {
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
