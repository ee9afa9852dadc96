//! The words that classify events: the `type` of an event of the log, and the `kind` of a message
//! of the state stream. The only place where they are written in Rust.

use crate::v1::event::Payload;

macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $variant:ident $word:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Reads the word; None if it is unknown, for example because the server is newer.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// The `type` of an [`Event`](crate::v1::Event).
    EventType {
        State "state",
        Prompt "prompt",
        Nudge "nudge",
        Respond "respond",
        Stop "stop",
        Start "start",
        Transcript "transcript",
        Usage "usage",
        Exit "exit",
        Restart "restart",
        Resize "resize",
        Shutdown "shutdown",
        Interrupt "interrupt",
        Lease "lease",
        Signal "signal",
        Env "env",
        Gap "gap",
        /// The only type without a payload.
        Heartbeat "heartbeat",
    }
}

words! {
    /// The `kind` of an [`AgentStateEvent`](crate::v1::AgentStateEvent).
    StateEventKind {
        /// The state when the stream was opened.
        Snapshot "snapshot",
        Transition "transition",
        Heartbeat "heartbeat",
        Gap "gap",
    }
}

impl Payload {
    /// The type of an event with this payload.
    pub fn event_type(&self) -> EventType {
        match self {
            Self::Gap(_) => EventType::Gap,
            Self::State(_) => EventType::State,
            Self::Prompt(_) => EventType::Prompt,
            Self::Nudge(_) => EventType::Nudge,
            Self::Respond(_) => EventType::Respond,
            Self::Stop(_) => EventType::Stop,
            Self::Start(_) => EventType::Start,
            Self::Transcript(_) => EventType::Transcript,
            Self::Usage(_) => EventType::Usage,
            Self::Exit(_) => EventType::Exit,
            Self::Restart(_) => EventType::Restart,
            Self::Resize(_) => EventType::Resize,
            Self::Shutdown(_) => EventType::Shutdown,
            Self::Interrupt(_) => EventType::Interrupt,
            Self::Lease(_) => EventType::Lease,
            Self::Signal(_) => EventType::Signal,
            Self::Env(_) => EventType::Env,
        }
    }
}

#[cfg(test)]
mod tests {
    use prost_reflect::DescriptorPool;

    use super::*;

    #[test]
    fn every_word_is_read_back() {
        for &kind in EventType::ALL {
            assert_eq!(EventType::parse(kind.as_str()), Some(kind));
        }
        for &kind in StateEventKind::ALL {
            assert_eq!(StateEventKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(EventType::parse("nothing"), None);
    }

    #[test]
    fn a_type_is_named_like_its_payload_in_the_proto() {
        let pool = DescriptorPool::decode(crate::DESCRIPTOR).expect("descriptors");
        let event = pool.get_message_by_name("coop.v1.Event").expect("an event");
        let payload = event.oneofs().find(|oneof| oneof.name() == "payload").expect("a payload");
        let mut payloads: Vec<_> = payload.fields().map(|field| field.name().to_owned()).collect();
        payloads.push(EventType::Heartbeat.as_str().to_owned());
        payloads.sort();
        let mut types: Vec<_> = EventType::ALL.iter().map(|kind| kind.as_str()).collect();
        types.sort_unstable();
        assert_eq!(types, payloads);
    }
}
