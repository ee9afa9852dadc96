//! The topics that a client subscribes to in the query of its upgrade.

use serde_json::Value;

use super::super::params;
use super::super::route::{Param, ParamKind};
use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Output,
    Screen,
    State,
    Hooks,
    Messages,
    Transcripts,
    Usage,
}

/// The topics of one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Topics(Vec<Topic>);

const ALL: &[Topic] = &[
    Topic::Output,
    Topic::Screen,
    Topic::State,
    Topic::Hooks,
    Topic::Messages,
    Topic::Transcripts,
    Topic::Usage,
];

/// The values of `?mode=`, which takes one.
const MODES: &[(&str, &[Topic])] = &[
    ("raw", &[Topic::Output]),
    ("screen", &[Topic::Screen]),
    ("state", &[Topic::State]),
    ("all", ALL),
];

/// The values of `?subscribe=`, which takes several.
const SUBSCRIPTIONS: &[(&str, &[Topic])] = &[
    ("pty", &[Topic::Output]),
    ("output", &[Topic::Output]),
    ("screen", &[Topic::Screen]),
    ("state", &[Topic::State]),
    ("hooks", &[Topic::Hooks]),
    ("messages", &[Topic::Messages]),
    ("transcripts", &[Topic::Transcripts]),
    ("usage", &[Topic::Usage]),
];

const QUERY: &[Param] =
    &[Param::one("mode", ParamKind::Text), Param::list("subscribe", ParamKind::Text)];

impl Topics {
    /// Reads the topics; the default is all, and `subscribe` overrides `mode`.
    pub(super) fn from_query(query: &str) -> Result<Self, Error> {
        let mut topics = ALL.to_vec();
        let mut fields = params::from_query(QUERY, query)?;
        // Sorted by name, so that the order in the query does not matter.
        fields.sort_by_key(|(name, _)| *name);
        for (name, value) in fields {
            let known = if name == "mode" { MODES } else { SUBSCRIPTIONS };
            let values = if let Value::Array(list) = value { list } else { vec![value] };
            topics = values
                .iter()
                .map(|value| find(name, known, value))
                .collect::<Result<Vec<_>, _>>()?
                .concat();
        }
        Ok(Self(topics))
    }

    pub(super) fn contains(&self, topic: Topic) -> bool {
        self.0.contains(&topic)
    }
}

fn find(
    name: &str,
    known: &[(&str, &'static [Topic])],
    value: &Value,
) -> Result<&'static [Topic], Error> {
    known.iter().find(|(word, _)| value == word).map(|(_, topics)| *topics).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        Error::bad_request(format!("parameter {name}: {value} is none of {}", words.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Vec<Topic>, String> {
        Topics::from_query(query).map(|topics| topics.0).map_err(|error| error.message)
    }

    #[test]
    fn a_mode_or_a_list_of_subscriptions_selects_the_topics() {
        assert_eq!(read(""), Ok(ALL.to_vec()));
        assert_eq!(read("mode=all&token=x"), Ok(ALL.to_vec()));
        assert_eq!(read("mode=raw"), Ok(vec![Topic::Output]));
        assert_eq!(read("mode=screen"), Ok(vec![Topic::Screen]));
        assert_eq!(read("mode=state"), Ok(vec![Topic::State]));
        assert_eq!(read("subscribe=state,messages"), Ok(vec![Topic::State, Topic::Messages]));
        assert_eq!(
            read("subscribe=pty&subscribe=hooks,usage"),
            Ok(vec![Topic::Output, Topic::Hooks, Topic::Usage])
        );
        assert_eq!(read("subscribe=output,screen,transcripts").map(|topics| topics.len()), Ok(3));
        assert_eq!(read("subscribe="), Ok(vec![]));
    }

    #[test]
    fn a_subscription_overrides_a_mode_in_either_order() {
        for query in ["mode=raw&subscribe=state", "subscribe=state&mode=raw"] {
            assert_eq!(read(query), Ok(vec![Topic::State]), "{query}");
        }
    }

    #[test]
    fn an_unknown_value_is_refused_by_name() {
        assert_eq!(
            read("mode=ram"),
            Err("parameter mode: \"ram\" is none of raw, screen, state, all".to_owned())
        );
        assert!(
            read("subscribe=state,nothing").is_err_and(|message| message.contains("\"nothing\""))
        );
        assert!(read("mode=raw&mode=all").is_err());
        assert!(read("mode=pty&subscribe=state").is_err());
    }
}
