//! Describes a prompt: in one line, or in full with the numbers of its options. It does not know
//! how a prompt is answered.

use coop_client::v1;

use super::print::one_line;

/// Its type, id and message.
pub(super) fn summary(prompt: &v1::PromptContext) -> String {
    let kind = match &prompt.subtype {
        Some(subtype) => format!("{}/{subtype}", prompt.r#type),
        None => prompt.r#type.clone(),
    };
    format!("{kind} {} {}", prompt.id, prompt.message)
}

/// Everything that is needed to answer it.
pub(super) fn details(prompt: &v1::PromptContext) -> String {
    let mut lines = vec![summary(prompt)];
    lines.extend(prompt.tool.iter().map(|tool| format!("tool     {tool}")));
    lines.extend(prompt.input.iter().map(|input| format!("input    {input}")));
    lines.extend(prompt.summary.iter().map(|summary| format!("plan     {summary}")));
    if prompt.questions.is_empty() {
        lines.extend(numbered(&prompt.options, &[]));
    }
    let current = usize::try_from(prompt.question_current).unwrap_or(usize::MAX);
    for (index, question) in prompt.questions.iter().enumerate() {
        let mark = if index == current { "> " } else { "  " };
        let several = if question.multi_select { " (one or several)" } else { "" };
        lines.push(format!("{mark}{}: {}{several}", question.header, question.question));
        lines.extend(numbered(&question.options, &question.option_descriptions));
    }
    if prompt.options_fallback {
        lines.push(
            "the dialog could not be read; these are the usual options of such dialogs".to_owned(),
        );
    }
    if !prompt.ready {
        lines.push("the dialog does not take keys yet".to_owned());
    }
    lines.iter().map(|line| one_line(line) + "\n").collect()
}

fn numbered<'a>(
    options: &'a [String],
    descriptions: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    options.iter().enumerate().map(|(index, option)| {
        let described = descriptions.get(index).filter(|text| !text.is_empty());
        let described = described.map(|text| format!("  ({text})")).unwrap_or_default();
        format!("  {:>2}. {option}{described}", index + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_permission_shows_its_options_by_number() {
        let prompt = v1::PromptContext {
            id: "7-1".into(),
            r#type: "permission".into(),
            tool: Some("Bash".into()),
            input: Some("{\"command\":\"ls\"}".into()),
            options: words(&["Yes", "No\x1b[2J"]),
            message: "Do you want to proceed?".into(),
            ready: true,
            ..Default::default()
        };
        let wanted = "permission 7-1 Do you want to proceed?\n\
                      tool     Bash\n\
                      input    {\"command\":\"ls\"}\n   1. Yes\n   2. No [2J\n";
        assert_eq!(details(&prompt), wanted);
    }

    #[test]
    fn the_options_of_each_question_are_numbered_from_one() {
        let question = |header: &str, multi_select, options: &[&str], descriptions: &[&str]| {
            v1::QuestionContext {
                question: format!("{header}?"),
                header: header.into(),
                multi_select,
                options: words(options),
                option_descriptions: words(descriptions),
            }
        };
        let prompt = v1::PromptContext {
            id: "7-2".into(),
            r#type: "question".into(),
            message: "Colour?".into(),
            options: words(&["what is up now"]),
            questions: vec![
                question("Colour", false, &["Red", "Blue"], &["warm", ""]),
                question("Fruit", true, &["Apple"], &[]),
            ],
            question_current: 1,
            ..Default::default()
        };
        let wanted = "question 7-2 Colour?\n  Colour: Colour?\n   1. Red  (warm)\n   2. Blue\n\
                      > Fruit: Fruit? (one or several)\n   1. Apple\n\
                      the dialog does not take keys yet\n";
        assert_eq!(details(&prompt), wanted);
    }
}
