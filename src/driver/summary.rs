//! Describes an agent's request to people on one line. Of the agent it knows only the name.

use super::prompt::Question;

/// How many characters a line may have.
const LINE_CHARS: usize = 160;

/// The first line of a text, shortened to fit into a list.
pub(super) fn one_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(LINE_CHARS).and_then(|(end, _)| line.get(..end)) {
        Some(beginning) => format!("{beginning}…"),
        None => line.to_owned(),
    }
}

/// The first line of a text, and how many more lines there are: a person must not take the first
/// line of a command for all of it.
fn first_line(text: &str) -> String {
    let more = text.trim().lines().skip(1).filter(|line| !line.trim().is_empty()).count();
    match more {
        0 => one_line(text),
        1 => format!("{} … (1 more line)", one_line(text)),
        more => format!("{} … ({more} more lines)", one_line(text)),
    }
}

/// A request for permission to use a tool; the subject is the most informative part of its input.
pub(super) fn permission(agent: &str, tool: &str, subject: Option<&str>) -> String {
    match subject {
        Some(subject) => format!("{agent} wants to use {tool}: {}", first_line(subject)),
        None => format!("{agent} wants to use {tool}."),
    }
}

pub(super) fn question(agent: &str, questions: &[Question]) -> String {
    match questions {
        [] => format!("{agent} asks a question."),
        [only] => first_line(&only.question),
        [first, others @ ..] => {
            format!("{} (and {} more)", first_line(&first.question), others.len())
        }
    }
}

pub(super) fn plan(agent: &str, plan: &str) -> String {
    format!("{agent} has a plan: {}", one_line(plan.trim_start_matches(['#', ' ', '\n'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_to_one_line() {
        assert_eq!(one_line("\n first \nsecond"), "first");
        assert_eq!(one_line(&"é".repeat(LINE_CHARS)), "é".repeat(LINE_CHARS));
        assert_eq!(one_line(&"é".repeat(LINE_CHARS + 1)), format!("{}…", "é".repeat(LINE_CHARS)));
        assert_eq!(first_line("one\n\n"), "one");
        assert_eq!(first_line("one\ntwo"), "one … (1 more line)");
        assert_eq!(
            permission("An agent", "Bash", Some("ls\n\nrm -rf /\ntrue\n")),
            "An agent wants to use Bash: ls … (2 more lines)"
        );
        assert_eq!(plan("An agent", "\n# Do it\n\n1. Go"), "An agent has a plan: Do it");
    }
}
