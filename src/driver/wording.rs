//! What agents want, said to people on one line. It knows of an agent what it is called, and nothing else.

use super::prompt::Question;

/// How long a line for people may be.
const LINE: usize = 160;

/// The beginning of a text, as one line that fits into a list.
pub fn one_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(LINE).and_then(|(end, _)| line.get(..end)) {
        Some(beginning) => format!("{beginning}…"),
        None => line.to_owned(),
    }
}

/// A tool wants to be allowed; the subject is what a person wants to know of its input first.
pub fn permission(agent: &str, tool: &str, subject: Option<&str>) -> String {
    match subject {
        Some(subject) => format!("{agent} wants to use {tool}: {}", one_line(subject)),
        None => format!("{agent} wants to use {tool}."),
    }
}

pub fn question(agent: &str, questions: &[Question]) -> String {
    match questions {
        [] => format!("{agent} asks a question."),
        [only] => one_line(&only.question),
        [first, others @ ..] => format!("{} (and {} more)", one_line(&first.question), others.len()),
    }
}

pub fn plan(agent: &str, plan: &str) -> String {
    format!("{agent} has a plan: {}", one_line(plan.trim_start_matches(['#', ' ', '\n'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_text_fits_on_a_line() {
        assert_eq!(one_line("\n first \nsecond"), "first");
        assert_eq!(one_line(&"é".repeat(LINE)), "é".repeat(LINE));
        assert_eq!(one_line(&"é".repeat(LINE + 1)), format!("{}…", "é".repeat(LINE)));
        assert_eq!(plan("An agent", "\n# Do it\n\n1. Go"), "An agent has a plan: Do it");
    }
}
