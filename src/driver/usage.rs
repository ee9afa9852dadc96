//! What the model was given and gave, as agents tell of it: message by message, often several times over.

use std::collections::VecDeque;
use std::ops::{AddAssign, SubAssign};

/// How many messages are remembered, so that one which is told of again is not counted again. They come again soon or
/// never.
const REMEMBERED: usize = 256;

/// Every token is in one of these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// Something that the agent says was used.
#[derive(Debug, Clone, PartialEq)]
pub enum Spent {
    /// For one message of the model's. What is said of it last counts.
    Message { id: String, tokens: Tokens },
    /// For everything since the agent was started, in dollars.
    Cost(f64),
}

/// What was used altogether.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub tokens: Tokens,
    pub requests: u64,
    pub cost_usd: Option<f64>,
}

/// The account of one child.
#[derive(Debug, Default)]
pub struct Ledger {
    messages: VecDeque<(String, Tokens)>,
    cost_usd: f64,
}

impl Ledger {
    /// Adds what is new about it to `total`.
    pub fn enter(&mut self, spent: Spent, total: &mut Usage) {
        match spent {
            Spent::Message { id, tokens } => {
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
            Spent::Cost(usd) => {
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

/// Numbers come from outside and may be anything.
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

    fn message(id: &str, input: u64, output: u64) -> Spent {
        Spent::Message { id: id.to_owned(), tokens: Tokens { input, output, ..Tokens::default() } }
    }

    #[test]
    fn a_message_counts_once_and_as_it_was_told_of_last() {
        let (mut ledger, mut total) = (Ledger::default(), Usage::default());
        for spent in [message("a", 10, 1), message("b", 20, 2), message("a", 10, 5), message("b", 20, 2)] {
            ledger.enter(spent, &mut total);
        }
        assert_eq!((total.tokens.input, total.tokens.output, total.requests), (30, 7, 2));
        assert_eq!(total.cost_usd, None);
    }

    #[test]
    fn what_a_child_has_cost_is_its_own_sum() {
        let mut total = Usage::default();
        let mut first = Ledger::default();
        first.enter(Spent::Cost(0.25), &mut total);
        first.enter(Spent::Cost(0.5), &mut total);
        Ledger::default().enter(Spent::Cost(1.0), &mut total);
        assert_eq!(total.cost_usd, Some(1.5));
    }

    #[test]
    fn any_number_of_messages_takes_bounded_memory() {
        let (mut ledger, mut total) = (Ledger::default(), Usage::default());
        for number in 0..3 * REMEMBERED {
            ledger.enter(message(&number.to_string(), u64::MAX / 2, 1), &mut total);
        }
        assert_eq!(ledger.messages.len(), REMEMBERED);
        assert_eq!((total.requests, total.tokens.input), (3 * REMEMBERED as u64, u64::MAX));
    }
}
