//! The JSON of `coop.v1` in coop's HTTP and WebSocket API: proto field names, 64-bit integers as
//! numbers, bytes as base64, every field printed, `null` read as absent, an unknown field refused.
//!
//! The generated file lists each message's fields with their kinds; this module turns such a
//! list into `Serialize` and `Deserialize`. It does not know individual messages or RPCs.

pub(crate) mod kind;
mod object;
mod scalar;
mod unknown;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;

pub use crate::serde_impls::codec;
pub use unknown::no_such;

/// A message with a generated list of fields.
pub trait Message: prost::Message + Default + 'static {
    /// The names of all fields; members of a oneof count as fields.
    const FIELDS: &'static [&'static str];

    /// Writes every field in the order of declaration.
    fn write<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error>;

    /// Reads the value of one of [`FIELDS`](Self::FIELDS).
    fn read<'de, M: MapAccess<'de>>(
        &mut self,
        field: &'static str,
        value: &mut M,
    ) -> Result<(), M::Error>;
}

/// Implements [`Message`], `Serialize` and `Deserialize` from a list of slots.
///
/// A slot is `one` (a field with a default), `optional` (`null` if unset) or `oneof` (one JSON
/// field for each member, of which only the set one is printed).
macro_rules! message {
    ($message:ident { $(
        $slot:ident: $mode:ident [ $($name:literal $($member:path)?: $kind:ty),+ ],
    )* }) => {
        impl $crate::json::Message for $crate::v1::$message {
            const FIELDS: &'static [&'static str] = &[$($($name),+),*];

            fn write<M: serde::ser::SerializeMap>(&self, out: &mut M) -> Result<(), M::Error> {
                $($crate::json::write_slot!(
                    $mode, self.$slot, out, $($name $($member)?: $kind),+
                );)*
                let _ = out;
                Ok(())
            }

            fn read<'de, M: serde::de::MapAccess<'de>>(
                &mut self,
                field: &'static str,
                value: &mut M,
            ) -> Result<(), M::Error> {
                match field {
                    $($($name => $crate::json::read_slot!(
                        $mode, self.$slot, value, $($member)?: $kind
                    ),)+)*
                    _ => $crate::json::ignore(value)?,
                }
                Ok(())
            }
        }

        impl serde::Serialize for $crate::v1::$message {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                $crate::json::serialize(self, out)
            }
        }

        impl<'de> serde::Deserialize<'de> for $crate::v1::$message {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let mut message = Self::default();
                $crate::json::merge(&mut message, input)?;
                Ok(message)
            }
        }
    };
}

macro_rules! write_slot {
    (one, $slot:expr, $out:ident, $name:literal: $kind:ty) => {
        $crate::json::kind::put::<$kind, _>($out, $name, &$slot)?
    };
    (optional, $slot:expr, $out:ident, $name:literal: $kind:ty) => {
        $crate::json::kind::put_optional::<$kind, _>($out, $name, $slot.as_ref())?
    };
    (oneof, $slot:expr, $out:ident, $($name:literal $member:path: $kind:ty),+) => {
        match &$slot {
            None => {}
            $(Some($member(value)) => $crate::json::kind::put::<$kind, _>($out, $name, value)?,)+
        }
    };
}

macro_rules! read_slot {
    (one, $slot:expr, $value:ident, : $kind:ty) => {
        $slot = $crate::json::kind::get::<$kind, _>($value)?.unwrap_or_default()
    };
    (optional, $slot:expr, $value:ident, : $kind:ty) => {
        $slot = $crate::json::kind::get::<$kind, _>($value)?
    };
    (oneof, $slot:expr, $value:ident, $member:path: $kind:ty) => {
        if let Some(value) = $crate::json::kind::get::<$kind, _>($value)? {
            $crate::json::set_member(&mut $slot, $member(value))?
        }
    };
}

pub(crate) use {message, read_slot, write_slot};

/// A text is not the JSON of a message: the field, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self(tidy(error.to_string()))
    }
}

/// The message as JSON text.
pub fn to_vec<M: Message>(message: &M) -> Vec<u8> {
    serde_json::to_vec(&Whole(message)).expect("keys are strings and no field refuses to print")
}

/// The message as a JSON object.
pub fn to_value<M: Message>(message: &M) -> serde_json::Value {
    serde_json::to_value(Whole(message)).expect("keys are strings and no field refuses to print")
}

/// Reads a message; fields that the text does not have keep their defaults.
pub fn from_slice<M: Message>(text: &[u8]) -> Result<M, Error> {
    let mut message = M::default();
    merge_slice(&mut message, text, &[])?;
    Ok(message)
}

/// Reads a message from a parsed object.
pub fn from_value<M: Message>(value: serde_json::Value) -> Result<M, Error> {
    let mut message = M::default();
    merge(&mut message, value)?;
    Ok(message)
}

/// Reads JSON text into a message; the other fields stay unchanged. Names in `ignored` may be in
/// the text although they are no fields.
pub fn merge_slice<M: Message>(
    message: &mut M,
    text: &[u8],
    ignored: &'static [&'static str],
) -> Result<(), Error> {
    let mut input = serde_json::Deserializer::from_str(utf8(text)?);
    input.deserialize_map(Fields { message, ignored })?;
    Ok(input.end()?)
}

/// Reads JSON text into one field of a message; the other fields stay unchanged.
pub fn merge_field_slice<M: Message>(
    message: &mut M,
    field: &'static str,
    text: &[u8],
) -> Result<(), Error> {
    let mut input = serde_json::Deserializer::from_str(utf8(text)?);
    merge_field(message, field, &mut input)?;
    Ok(input.end()?)
}

fn utf8(text: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(text)
        .map_err(|error| Error(format!("not UTF-8 after byte {}", error.valid_up_to())))
}

/// Reads an object's fields into a message; the other fields stay unchanged.
pub fn merge<'de, M: Message, D: Deserializer<'de>>(
    message: &mut M,
    input: D,
) -> Result<(), D::Error> {
    input.deserialize_map(Fields { message, ignored: &[] })
}

/// Reads one value into one field of a message. An unknown field is ignored.
pub fn merge_field<'de, M: Message, D: Deserializer<'de>>(
    message: &mut M,
    field: &'static str,
    input: D,
) -> Result<(), D::Error> {
    let mut value = Single(Some(input));
    message.read(field, &mut value).map_err(|error| within(field, error))
}

/// Converts between JSON text and protobuf bytes, for a message that is known only by its name.
#[derive(Clone, Copy)]
pub struct Codec {
    pub to_json: fn(&[u8]) -> Result<serde_json::Value, prost::DecodeError>,
    pub to_protobuf: fn(&[u8]) -> Result<Vec<u8>, Error>,
}

impl Codec {
    pub(crate) fn of<M: Message>() -> Self {
        Self {
            to_json: |bytes| M::decode(bytes).map(|message| to_value(&message)),
            to_protobuf: |text| from_slice::<M>(text).map(|message| message.encode_to_vec()),
        }
    }
}

pub(crate) fn serialize<M: Message, S: serde::Serializer>(
    message: &M,
    out: S,
) -> Result<S::Ok, S::Error> {
    let mut map = out.serialize_map(None)?;
    message.write(&mut map)?;
    map.end()
}

pub(crate) fn ignore<'de, M: MapAccess<'de>>(value: &mut M) -> Result<(), M::Error> {
    value.next_value::<IgnoredAny>().map(drop)
}

pub(crate) fn set_member<T, E: serde::de::Error>(slot: &mut Option<T>, member: T) -> Result<(), E> {
    match slot.replace(member) {
        None => Ok(()),
        Some(_) => Err(E::custom("another member of the same oneof is given too")),
    }
}

struct Whole<'a, M>(&'a M);

impl<M: Message> serde::Serialize for Whole<'_, M> {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, out)
    }
}

/// Reads an object into a message; a repeated field and an unknown one are errors.
struct Fields<'a, M> {
    message: &'a mut M,
    ignored: &'static [&'static str],
}

impl<'de, M: Message> Visitor<'de> for Fields<'_, M> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Vec::new();
        while let Some(key) =
            map.next_key_seed(Name { fields: M::FIELDS, ignored: self.ignored })?
        {
            let name = match key {
                Key::Field(name) => name,
                Key::Ignored => {
                    ignore(&mut map)?;
                    continue;
                }
                Key::Unknown(name) => {
                    let reason = no_such("field", &name, M::FIELDS.iter().copied());
                    return Err(within(name, A::Error::custom(reason)));
                }
            };
            if seen.contains(&name) {
                return Err(within(name, A::Error::custom("given twice")));
            }
            seen.push(name);
            self.message.read(name, &mut map).map_err(|error| within(name, error))?;
        }
        Ok(())
    }
}

/// Finds a key among the field names without copying it.
struct Name {
    fields: &'static [&'static str],
    ignored: &'static [&'static str],
}

enum Key {
    Field(&'static str),
    Ignored,
    /// The start of the name.
    Unknown(String),
}

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E>(self, text: &str) -> Result<Key, E> {
        Ok(match self.fields.iter().find(|name| **name == text) {
            Some(name) => Key::Field(name),
            None if self.ignored.contains(&text) => Key::Ignored,
            None => Key::Unknown(kind::shown(text)),
        })
    }
}

/// The value of an object whose only key is known.
struct Single<D>(Option<D>);

impl<'de, D: Deserializer<'de>> MapAccess<'de> for Single<D> {
    type Error = D::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        _: K,
    ) -> Result<Option<K::Value>, D::Error> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, D::Error> {
        match self.0.take() {
            Some(input) => seed.deserialize(input),
            None => Err(D::Error::custom("expected one value")),
        }
    }
}

/// Adds a step of the path to an error, so that the whole text is for example
/// `field answers[1].option: expected an integer`.
pub(crate) fn within<E: serde::de::Error>(step: impl fmt::Display, error: E) -> E {
    let text = error.to_string();
    match text.strip_prefix("field ") {
        Some(inner) if inner.starts_with('[') => E::custom(format_args!("field {step}{inner}")),
        Some(inner) => E::custom(format_args!("field {step}.{inner}")),
        None => E::custom(format_args!("field {step}: {}", tidy(text))),
    }
}

/// Removes the value that serde quotes: it may be large, or a secret.
fn tidy(text: String) -> String {
    let echoes = text.starts_with("invalid type: ") || text.starts_with("invalid value: ");
    match text.rsplit_once(", expected ") {
        Some((_, expected)) if echoes => format!("expected {expected}"),
        _ => text,
    }
}
