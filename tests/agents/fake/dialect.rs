//! What the three model APIs have in common: a conversation that can be read, and a reply that is
//! written in server-sent events. It must not know what the reply is.

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Anthropic,
}

/// What a request asks, as far as the script goes.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Everything that the user typed in this conversation, word for word.
    pub messages: Vec<String>,
    /// How many replies there have been since the last of them.
    pub rounds: usize,
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
