//! The flags and help of the verbs about the agent. It does not know what they do.

use clap::{ArgGroup, Args};

use super::verbs::{At, Target};

pub(super) const STATE_HELP: &str = "\
States: starting working idle prompt error parked restarting exited unknown.

Examples:
  coop state                               its state, since when, and from which source
  coop state --json | jq -r .state
  coop state --wait idle,prompt            until it is done or needs an answer
  coop state --wait idle --stable 2000 --timeout 600
  coop state --watch                       a line for each change, until the session ends

Exit codes:
  0    done; with --wait: it is in one of the states
  1    coop refused; stderr says CODE: why (EXITED: the agent is gone, and cannot get there)
  124  the time ran out before it was in one of the states
  64, 69, 77 as for the other verbs (coop screen --help)";

pub(super) const NUDGE_HELP: &str = "\
Options come before the text; everything from its first word on is the text. It is never typed into
a dialog, over a draft in the composer, or in part. Stdout says the outcome: accepted (the agent
has it), submitted (it left the composer), queued, or unconfirmed.

Examples:
  coop nudge 'run the tests again'
  coop nudge --queue -t /tmp/coop.sock 'and then commit'    once the agent is idle
  coop nudge --key build-17 'build 17 failed'               typed once, however often this is run
  seq=$(coop nudge --json 'fix it' | jq .seq) && coop state --wait idle --after $seq

Exit codes:
  0   accepted, submitted or queued
  1   coop refused, and nothing was submitted; stderr says CODE: why (AGENT_BUSY: the agent works,
      is at a dialog, or has a draft in its composer)
  75  unconfirmed: Enter was pressed, and the composer may still hold the message
  64, 69, 77 as for the other verbs (coop screen --help)";

pub(super) const RESPOND_HELP: &str = "\
Without an answer it prints the prompt and its options, and types nothing.

Examples:
  coop respond                                    show the prompt
  coop respond --accept
  coop respond --deny --text 'use the other file'
  coop respond --option 2                         as the dialog numbers them
  coop respond --answer 2 --answer 1,3 --answer 'text:neither'
  coop respond --accept --prompt-id $(coop respond --json | jq -r .id)

Exit codes:
  0   answered; without an answer: there is a prompt
  1   coop refused; stderr says CODE: why (NO_PROMPT: there is none, STALE_PROMPT: there is another
      one, SUPERSEDED: another client or the user answered first)
  75  unconfirmed: the answer was given, and the dialog is still open
  64, 69, 77 as for the other verbs (coop screen --help)";

pub(super) const INTERRUPT_HELP: &str = "\
Examples:
  coop interrupt
  coop interrupt http://127.0.0.1:8080 && coop nudge -t http://127.0.0.1:8080 'try another way'

Exit codes:
  0   no turn runs any more, or none did
  1   coop refused; stderr says CODE: why
  75  unconfirmed: the key was pressed, and the turn goes on
  64, 69, 77 as for the other verbs (coop screen --help)";

pub(super) const EXPLAIN_HELP: &str = "\
Examples:
  coop explain
  coop explain --json | jq '.votes[] | select(.tier == \"hooks\")'

Exit codes: as for the other verbs (coop screen --help).";

#[derive(Debug, Args)]
pub struct State {
    #[command(flatten)]
    pub target: Target,
    /// Print a line for each change, until the session ends
    #[arg(long, conflicts_with = "wait")]
    pub watch: bool,
    /// Wait until it is in one of these states, for example idle,prompt
    #[arg(long, value_delimiter = ',', value_name = "STATES")]
    pub wait: Vec<String>,
    /// The state must have held this long
    #[arg(long, requires = "wait", value_name = "MS")]
    pub stable: Option<u32>,
    /// Wait no longer than this [default: as long as it takes]
    #[arg(long, requires = "wait", value_name = "SECS")]
    pub timeout: Option<u64>,
    /// Only a state that began after this event counts, for example after a nudge's seq
    #[arg(long, requires = "wait", value_name = "SEQ")]
    pub after: Option<u64>,
    /// Print the response as JSON, with --watch one object a line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Nudge {
    #[command(flatten)]
    pub at: At,
    /// If the agent cannot take it now, keep it until it can
    #[arg(long, conflicts_with = "interrupt")]
    pub queue: bool,
    /// Stop the agent's turn first
    #[arg(long)]
    pub interrupt: bool,
    /// Type the message only once for this key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Do not wait until the agent has taken it
    #[arg(long)]
    pub no_confirm: bool,
    /// The text; several words are joined by spaces
    #[arg(required = true, trailing_var_arg = true)]
    pub text: Vec<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("given").multiple(true)))]
pub struct Respond {
    #[command(flatten)]
    pub at: At,
    /// Choose the option that means yes
    #[arg(long, group = "given", conflicts_with = "deny")]
    pub accept: bool,
    /// Choose the option that means no
    #[arg(long, group = "given")]
    pub deny: bool,
    /// The option with this number
    #[arg(long, group = "given", value_name = "N")]
    pub option: Option<i32>,
    /// An answer in words, alone or with one of the above
    #[arg(long, group = "given")]
    pub text: Option<String>,
    /// The answer to one question: a number, several (1,3), or text:WORDS; once for each question
    #[arg(long, group = "given", value_name = "ANSWER", value_parser = QuestionAnswer::parse)]
    pub answer: Vec<QuestionAnswer>,
    /// Only if this prompt is still open
    #[arg(long, value_name = "ID", requires = "given")]
    pub prompt_id: Option<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
}

/// The answer to one question: the chosen options and a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionAnswer {
    pub options: Vec<i32>,
    pub text: Option<String>,
}

impl QuestionAnswer {
    /// Reads `2`, `1,3`, `text:anything`, or numbers and then a text: `1,text:anything`.
    fn parse(words: &str) -> Result<Self, String> {
        let (numbers, text) = match words.split_once("text:") {
            Some((numbers, text)) if numbers.is_empty() || numbers.ends_with(',') => {
                (numbers.trim_end_matches(','), Some(text.to_owned()))
            }
            Some(_) | None => (words, None),
        };
        let numbers = numbers.split(',').filter(|number| !(number.is_empty() && text.is_some()));
        let number = |number: &str| number.trim().parse::<i32>();
        let options = numbers.map(number).collect::<Result<_, _>>();
        let options = options
            .map_err(|_| "an answer is a number, several as in 1,3, or text:WORDS".to_owned())?;
        Ok(Self { options, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_numbers_or_a_text() {
        let answer = |options: &[i32], text: Option<&str>| {
            Ok(QuestionAnswer { options: options.to_vec(), text: text.map(str::to_owned) })
        };
        for (words, wanted) in [
            ("2", answer(&[2], None)),
            ("1,3", answer(&[1, 3], None)),
            ("1, 3", answer(&[1, 3], None)),
            ("text:", answer(&[], Some(""))),
            ("text:1,3 text:x", answer(&[], Some("1,3 text:x"))),
            ("1,3,text:and more", answer(&[1, 3], Some("and more"))),
        ] {
            assert_eq!(QuestionAnswer::parse(words), wanted, "{words}");
        }
        for words in ["", "foo", "1,", "1,,3", "1.5", "1 text:x", "99999999999"] {
            assert!(QuestionAnswer::parse(words).is_err(), "{words}");
        }
    }
}
