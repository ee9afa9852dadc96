//! The drivers under a fuzzer: what they read from a screen that any bytes have drawn, and what
//! they would type there. It knows no agent.

use std::sync::Arc;

use serde_json::json;

use super::prompt::{Answer, PromptId, QuestionAnswer};
use super::screen_reading::{Dialog, ScreenReading};
use super::status_records::{MAX_RECORDS, StatusRecords};
use super::status_report::{self, StatusMessage};
use super::testing::screens::describe;
use super::tracker::prompt;
use super::unknown::{Patterns, Unknown};
use super::{Driver, NextKey, maker, names};
use crate::term::fuzzing::Stream;
use crate::term::{PASTE_END, Signal, Terminal};

/// A new driver of each agent, and one with patterns.
pub(crate) fn drivers() -> Vec<Box<dyn Driver>> {
    let patterns = json!({
        "composer": "^> ?(.*)$",
        "working": ["^busy", "^tool: .* runs$"],
        "prompt": [r"\(y/n\)$", r"\?$"],
        "error": ["^Error: "],
        "lines": 10,
    });
    let patterns = patterns.as_object().and_then(|patterns| Patterns::read(patterns).ok());
    let unknown = Unknown::new(Arc::new(patterns.expect("these patterns are correct")));
    let mut drivers: Vec<Box<dyn Driver>> = vec![Box::new(unknown)];
    drivers.extend(names().filter_map(maker).map(|maker| maker()));
    drivers
}

/// The screens that any output leads to, at any size.
pub fn screens(data: &[u8]) {
    let Some(stream) = Stream::read(data) else { return };
    let mut terminal = Terminal::new(stream.size, 0, "");
    let fed = terminal.feed(stream.bytes);
    let screen = terminal.screen();
    status(&fed.signals);
    for mut driver in drivers() {
        for signal in &fed.signals {
            driver.signal(signal);
        }
        let reading = driver.read_screen(&screen);
        assert_eq!(reading, driver.read_screen(&screen), "reading a screen has an effect");
        assert!(!describe(&reading).is_empty());
        compose(&*driver, &reading, &String::from_utf8_lossy(stream.bytes));
        if let Some(dialog) = &reading.dialog {
            answer(&*driver, dialog, usize::from(stream.size.rows()));
        }
    }
}

/// What programs report about themselves stays within its bounds, and is one line.
fn status(signals: &[Signal]) {
    let mut records = StatusRecords::default();
    for signal in signals {
        let Signal::ProgramStatus(text) = signal else { continue };
        let Ok(message) = status_report::parse(text) else { continue };
        if let StatusMessage::Report(report) = &message {
            assert!(!report.to_string().contains(char::is_control), "{report:?}");
        }
        records.apply(message);
        assert!(records.iter().count() <= MAX_RECORDS);
        assert_eq!(records.overall().is_none(), records.iter().count() == 0);
    }
}

/// A message without control characters is pasted without any, so that it presses no key.
fn compose(driver: &dyn Driver, reading: &ScreenReading, message: &str) {
    let message: String = message.chars().filter(|c| !c.is_control()).collect();
    let pasted = driver.compose(&message);
    assert!(!pasted.chars().any(char::is_control), "{pasted:?}");
    if let Some(composer) = &reading.composer {
        driver.holds(composer, &pasted);
        driver.holds(composer, &composer.draft);
    }
}

/// Each answer that the prompt can take has a next key, or a reason why not.
fn answer(driver: &dyn Driver, dialog: &Dialog, rows: usize) {
    assert!(dialog.highlighted.is_none_or(|at| at < dialog.choices.len()), "{dialog:?}");
    assert!(dialog.lines.len() <= rows, "{dialog:?}");
    assert!(dialog.same_as(dialog));
    let prompt = prompt::build(&PromptId("p-1".to_owned()), None, Some(dialog), true);
    driver.groom(&prompt, &[]);
    for answer in answers(dialog.choices.len()) {
        if answer.check(&prompt).is_err() {
            continue;
        }
        driver.hook_answer(&prompt, &answer);
        match driver.next_key(&prompt, &answer, dialog) {
            NextKey::Press(keys) | NextKey::Confirm(keys) | NextKey::Reveal { key: keys, .. } => {
                assert!(!keys.is_empty(), "{answer:?}");
                let ends = String::from_utf8_lossy(&keys).matches(PASTE_END).count();
                assert!(ends <= 1, "the text ends its own paste: {keys:?}");
            }
            NextKey::Unseen(reason) | NextKey::Refuse(reason) => {
                assert!(!reason.is_empty(), "{answer:?}");
            }
        }
    }
}

fn answers(choices: usize) -> Vec<Answer> {
    let mut all = vec![
        Answer { accept: Some(true), ..Answer::default() },
        Answer { accept: Some(false), ..Answer::default() },
        Answer { text: Some("own\x1b[201~words\nof two lines".to_owned()), ..Answer::default() },
        Answer { accept: Some(false), text: Some("not so".to_owned()), ..Answer::default() },
    ];
    for option in 1..=choices.min(12) {
        all.push(Answer { option: Some(option), ..Answer::default() });
        let text = option.is_multiple_of(2).then(|| "more".to_owned());
        let answers = vec![QuestionAnswer { options: vec![option], text }];
        all.push(Answer { answers, ..Answer::default() });
    }
    all
}
