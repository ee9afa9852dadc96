//! Directives in the prompt, words that start with `#`, script the model's replies. It does not
//! know how an API encodes them.
//!
//! | directive | |
//! |---|---|
//! | `#say TEXT` | says this text |
//! | `#think TEXT` | thinks this text |
//! | `#stream 20x100` | says 20 lines, 100 ms apart |
//! | `#tool NAME JSON` | calls this tool; `#and` between two calls puts both into one reply |
//! | `#ask JSON` | calls the agent's question tool; also `#ask Which one? / Red / Blue` |
//! | `#plan TEXT` | presents a plan for approval, in the way of this agent |
//! | `#hold NAME` | waits until the test releases this name |
//! | `#slow 3000` | waits for this many milliseconds |
//! | `#status 429 5` | responds with an error, optionally with `retry-after` |
//! | `#refuse 400 TEXT` | responds with an error with this message |
//! | `#drop` | drops the connection |
//!
//! A reply ends with a tool call, an error, a dropped connection, or the end of the text; the rest
//! is the next reply of the same turn. A text without directives is echoed.

use std::time::Duration;

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Say(String),
    Think(String),
    Stream {
        lines: u32,
        gap: Duration,
    },
    Tool {
        name: String,
        input: Value,
    },
    Ask(Value),
    /// Writes the plan to the file from which the agent reads it.
    WritePlan(String),
    ShowPlan(String),
    Hold(String),
    Slow(Duration),
    Status {
        code: u16,
        retry_after: Option<String>,
        message: Option<String>,
    },
    Drop,
}

impl Step {
    pub fn is_call(&self) -> bool {
        matches!(self, Self::Tool { .. } | Self::Ask(_) | Self::WritePlan(_) | Self::ShowPlan(_))
    }

    fn is_failure(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::Drop)
    }
}

/// The model's reply to one request.
pub type Reply = Vec<Step>;

/// Whether this reply ends in an error, after which an agent retries.
pub fn fails(reply: &[Step]) -> bool {
    reply.last().is_some_and(Step::is_failure)
}

const NAMES: [&str; 12] = [
    "say", "think", "stream", "tool", "and", "ask", "plan", "hold", "slow", "status", "refuse",
    "drop",
];

/// The replies that a prompt asks for. `plan_in_file` says whether the agent reads plans from a
/// file.
pub fn replies(prompt: &str, plan_in_file: bool) -> Vec<Reply> {
    let directives = directives(prompt);
    if directives.is_empty() {
        let start: String = prompt.chars().take(200).collect();
        return vec![vec![Step::Say(format!("echo: {start}"))]];
    }
    let mut replies = vec![Reply::new()];
    let mut joined = false;
    for (name, rest) in directives {
        if name == "and" {
            joined = true;
            continue;
        }
        let over = replies
            .last()
            .and_then(|reply| reply.last())
            .is_some_and(|step| step.is_call() || step.is_failure());
        if over && !joined {
            replies.push(Reply::new());
        }
        joined = false;
        if name == "plan" && plan_in_file {
            replies.last_mut().expect("there is one").push(Step::WritePlan(rest.to_owned()));
            replies.push(Reply::new());
        }
        replies.last_mut().expect("there is one").push(step(name, rest));
    }
    replies
}

/// The name of each directive, and the text up to the next one.
fn directives(prompt: &str) -> Vec<(&str, &str)> {
    let mut starts: Vec<(usize, &str)> = Vec::new();
    for (at, _) in prompt.match_indices('#') {
        let before = prompt[..at].chars().next_back();
        let word = prompt[at + 1..].split(char::is_whitespace).next().unwrap_or_default();
        if before.is_none_or(char::is_whitespace) && NAMES.contains(&word) {
            starts.push((at, word));
        }
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([prompt.len()]);
    let texts = starts
        .iter()
        .zip(ends)
        .map(|((at, word), end)| (*word, prompt[at + 1 + word.len()..end].trim()));
    texts.collect()
}

fn step(name: &str, rest: &str) -> Step {
    let (first, more) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match name {
        "say" => Step::Say(rest.to_owned()),
        "think" => Step::Think(rest.to_owned()),
        "stream" => {
            let (lines, gap) = first.split_once('x').unwrap_or((first, "0"));
            Step::Stream { lines: lines.parse().expect("#stream LINESxMS"), gap: milliseconds(gap) }
        }
        "tool" => {
            let input = if more.trim().is_empty() { "{}" } else { more };
            let input =
                serde_json::from_str(input).unwrap_or_else(|error| panic!("#tool {rest}: {error}"));
            Step::Tool { name: first.to_owned(), input }
        }
        "ask" => Step::Ask(questions(rest)),
        "plan" => Step::ShowPlan(rest.to_owned()),
        "hold" => Step::Hold(first.to_owned()),
        "slow" => Step::Slow(milliseconds(first)),
        "status" => {
            let retry_after = Some(more.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
            Step::Status { code: first.parse().expect("#status CODE"), retry_after, message: None }
        }
        "refuse" => Step::Status {
            code: first.parse().expect("#refuse CODE TEXT"),
            retry_after: None,
            message: Some(more.trim().to_owned()),
        },
        "drop" => Step::Drop,
        other => panic!("#{other} is not one of {NAMES:?}"),
    }
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("milliseconds"))
}

/// Questions as JSON, or one question and its options, separated by slashes.
fn questions(text: &str) -> Value {
    if text.starts_with(['[', '{']) {
        let value: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("#ask {text}: {error}"));
        return if value.is_array() { value } else { json!([value]) };
    }
    let mut parts = text.split(" / ").map(str::trim);
    let question = parts.next().unwrap_or_default();
    let options =
        parts.map(|label| json!({ "label": label, "description": format!("It is {label}") }));
    json!([{
        "question": question,
        "header": question.split(' ').next().unwrap_or_default().trim_end_matches('?'),
        "options": options.collect::<Vec<_>>(),
        "multiSelect": false,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> Step {
        Step::Say(text.to_owned())
    }

    fn tool(name: &str, input: Value) -> Step {
        Step::Tool { name: name.to_owned(), input }
    }

    #[test]
    fn a_text_without_directives_is_echoed() {
        assert_eq!(
            replies("see issue #12, a#say and #sayings", true),
            [[say("echo: see issue #12, a#say and #sayings")]]
        );
    }

    #[test]
    fn a_reply_ends_with_a_tool_call() {
        let wanted = [
            vec![say("first"), tool("Bash", json!({ "command": "echo '# x'" }))],
            vec![Step::Hold("gate".to_owned()), say("last\nline")],
        ];
        assert_eq!(
            replies(
                "please #say first\n#tool Bash {\"command\":\"echo '# x'\"}\n\
                 #hold gate #say last\nline",
                true
            ),
            wanted
        );
    }

    #[test]
    fn calls_can_share_a_reply() {
        let wanted = [[tool("A", json!({})), tool("B", json!({}))]];
        assert_eq!(replies("#tool A #and #tool B {}", true), wanted);
    }

    #[test]
    fn an_error_is_a_reply() {
        let failed = Step::Status { code: 429, retry_after: Some("1".to_owned()), message: None };
        assert_eq!(replies("#status 429 1 #say ok", true), [[failed.clone()], [say("ok")]]);
        assert!(fails(&[failed]) && fails(&[say("half"), Step::Drop]) && !fails(&[say("all")]));
    }

    #[test]
    fn a_plan_is_written_before_it_is_shown() {
        let (write, show) = (Step::WritePlan("# P".to_owned()), Step::ShowPlan("# P".to_owned()));
        assert_eq!(replies("#plan # P", true), [[write], [show.clone()]]);
        assert_eq!(replies("#plan # P", false), [[show]]);
    }

    #[test]
    fn a_question_can_be_written_short() {
        let asked = questions("Which one? / Red / Blue");
        assert_eq!(asked[0]["question"], "Which one?");
        assert_eq!(asked[0]["options"][1]["label"], "Blue");
    }
}
