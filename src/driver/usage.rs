//! Adds up the tokens and costs that an agent reports: message by message, often more than once.

use std::collections::VecDeque;
use std::ops::{AddAssign, SubAssign};

/// How many messages are remembered, so that a repeated report is not counted twice. Repetitions
/// follow soon or never.
const REMEMBERED: usize = 256;

/// Numbers of tokens; each token counts in one field only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// One report of usage by the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum UsageReport {
    /// The tokens of one message of the model. The latest report of a message counts.
    Message { id: String, tokens: Tokens },
    /// The total cost in dollars since the agent was started.
    Cost(f64),
}

/// The total usage of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub tokens: Tokens,
    pub requests: u64,
    pub cost_usd: Option<f64>,
}

/// The reports of one child so far.
#[derive(Debug, Default)]
pub(crate) struct UsageLedger {
    messages: VecDeque<(String, Tokens)>,
    cost_usd: f64,
}

impl UsageLedger {
    /// Adds to `total` what the report adds to the earlier ones.
    pub(crate) fn record(&mut self, report: UsageReport, total: &mut Usage) {
        match report {
            UsageReport::Message { id, tokens } => {
                match self.messages.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, before)) => total.tokens -= std::mem::replace(before, tokens),
                    None => {
                        if self.messages.len() == REMEMBERED {
                            self.messages.pop_front();
                        }
                        self.messages.push_back((id, tokens));
                        total.requests += 1;
                    }
                }
                total.tokens += tokens;
            }
            UsageReport::Cost(usd) => {
                let before = std::mem::replace(&mut self.cost_usd, usd);
                total.cost_usd = Some(total.cost_usd.unwrap_or_default() + usd - before);
            }
        }
    }
}

impl Tokens {
    fn each(&mut self, other: Self, join: fn(u64, u64) -> u64) {
        self.input = join(self.input, other.input);
        self.output = join(self.output, other.output);
        self.cache_read = join(self.cache_read, other.cache_read);
        self.cache_write = join(self.cache_write, other.cache_write);
    }
}

/// Saturates, because the numbers come from outside.
impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.each(other, u64::saturating_add);
    }
}

impl SubAssign for Tokens {
    fn sub_assign(&mut self, other: Self) {
        self.each(other, u64::saturating_sub);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, input: u64, output: u64) -> UsageReport {
        UsageReport::Message {
            id: id.to_owned(),
            tokens: Tokens { input, output, ..Tokens::default() },
        }
    }

    #[test]
    fn the_latest_report_of_a_message_counts_once() {
        let (mut ledger, mut total) = (UsageLedger::default(), Usage::default());
        for report in
            [message("a", 10, 1), message("b", 20, 2), message("a", 10, 5), message("b", 20, 2)]
        {
            ledger.record(report, &mut total);
        }
        assert_eq!((total.tokens.input, total.tokens.output, total.requests), (30, 7, 2));
        assert_eq!(total.cost_usd, None);
    }

    #[test]
    fn the_costs_of_several_children_add_up() {
        let mut total = Usage::default();
        let mut first = UsageLedger::default();
        first.record(UsageReport::Cost(0.25), &mut total);
        first.record(UsageReport::Cost(0.5), &mut total);
        UsageLedger::default().record(UsageReport::Cost(1.0), &mut total);
        assert_eq!(total.cost_usd, Some(1.5));
    }

    #[test]
    fn memory_is_bounded_for_any_number_of_messages() {
        let (mut ledger, mut total) = (UsageLedger::default(), Usage::default());
        for number in 0..3 * REMEMBERED {
            ledger.record(message(&number.to_string(), u64::MAX / 2, 1), &mut total);
        }
        assert_eq!(ledger.messages.len(), REMEMBERED);
        assert_eq!((total.requests, total.tokens.input), (3 * REMEMBERED as u64, u64::MAX));
    }
}
