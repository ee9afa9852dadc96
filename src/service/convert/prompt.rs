//! Prompts of the agent, and the answers that clients give to them.

use coop_client::v1;

use crate::driver::prompt::{Answer, Prompt, Question, QuestionAnswer};
use crate::driver::visible::visible;
use crate::error::Error;
use crate::session::request::RespondRequest;

/// The most bytes of a tool's input that an event carries.
pub(super) const EVENT_INPUT: usize = 64 << 10;

/// The prompt. Texts for people show every character; `input_full` is exact.
pub(super) fn prompt_context(prompt: &Prompt, input_limit: usize) -> v1::PromptContext {
    let current = prompt.questions.get(prompt.question_current);
    let truncated = |text: &String| {
        let end = (0..=input_limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        end.and_then(|end| text.get(..end)).unwrap_or_default().to_owned()
    };
    v1::PromptContext {
        r#type: prompt.kind.as_str().to_owned(),
        tool: prompt.tool.as_deref().map(shown),
        input_preview: prompt.input.as_deref().map(shown),
        question: current.map(|question| shown(&question.question)),
        options: prompt.options.iter().map(|text| shown(text)).collect(),
        summary: prompt.summary.as_deref().map(shown),
        screen_lines: prompt.screen_lines.iter().map(|text| shown(text)).collect(),
        id: prompt.id.0.clone(),
        subtype: prompt.subtype.map(str::to_owned),
        input: prompt.input.as_deref().map(shown),
        options_fallback: prompt.options_fallback,
        questions: prompt.questions.iter().map(question_context).collect(),
        question_current: i32::try_from(prompt.question_current).unwrap_or(i32::MAX),
        ready: prompt.ready,
        input_full: prompt.input_full.as_ref().map(truncated),
        message: shown(&prompt.message),
    }
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn question_context(question: &Question) -> v1::QuestionContext {
    v1::QuestionContext {
        question: shown(&question.question),
        header: shown(&question.header),
        multi_select: question.multi_select,
        options: question.options.iter().map(|option| shown(&option.label)).collect(),
        option_descriptions: question
            .options
            .iter()
            .map(|option| shown(&option.description))
            .collect(),
    }
}

/// Reads the answer to a prompt.
pub(in crate::service) fn respond_request(
    request: v1::RespondRequest,
) -> Result<RespondRequest, Error> {
    let option = |number: i32| {
        usize::try_from(number).ok().filter(|number| *number > 0).ok_or_else(|| {
            Error::bad_request(format!("option {number}: options are counted from 1"))
        })
    };
    let answers = request.answers.into_iter().map(|answer| {
        let options = answer
            .option
            .into_iter()
            .chain(answer.options)
            .map(option)
            .collect::<Result<_, _>>()?;
        Ok(QuestionAnswer { options, text: answer.text })
    });
    let answer = Answer {
        accept: request.accept,
        option: request.option.map(option).transpose()?,
        text: request.text,
        answers: answers.collect::<Result<_, Error>>()?,
    };
    Ok(RespondRequest { prompt_id: request.prompt_id, answer })
}
