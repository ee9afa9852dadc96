//! Writes and reads the value of one field: a [`Kind`] for each protobuf type, list and map. It
//! does not know which message the field belongs to; the caller adds the field's name to errors.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use super::{Message, within};

pub(crate) use super::object::Object;
pub(crate) use super::scalar::{Base64, Bool, Enum, Enumeration, Float, Int, Text};

/// The JSON form of one protobuf type.
pub(crate) trait Kind {
    /// The type of such a field in prost's code.
    type Value;

    fn write<S: Serializer>(value: &Self::Value, out: S) -> Result<S::Ok, S::Error>;

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Self::Value, D::Error>;
}

/// Writes one entry of an object.
pub(crate) fn put<K: Kind, M: SerializeMap>(
    out: &mut M,
    name: &'static str,
    value: &K::Value,
) -> Result<(), M::Error> {
    out.serialize_entry(name, &Print::<K>(value))
}

/// Writes one entry of an object, `null` if it is unset.
pub(crate) fn put_optional<K: Kind, M: SerializeMap>(
    out: &mut M,
    name: &'static str,
    value: Option<&K::Value>,
) -> Result<(), M::Error> {
    out.serialize_entry(name, &value.map(Print::<K>))
}

/// Reads the value of an entry; `null` is None.
pub(crate) fn get<'de, K: Kind, M: MapAccess<'de>>(
    input: &mut M,
) -> Result<Option<K::Value>, M::Error> {
    input.next_value_seed(Nullable::<K>(PhantomData))
}

struct Print<'a, K: Kind>(&'a K::Value);

impl<K: Kind> serde::Serialize for Print<'_, K> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        K::write(self.0, out)
    }
}

struct Nullable<K>(PhantomData<K>);

impl<'de, K: Kind> DeserializeSeed<'de> for Nullable<K> {
    type Value = Option<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_option(self)
    }
}

impl<'de, K: Kind> Visitor<'de> for Nullable<K> {
    type Value = Option<K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        K::read(input).map(Some)
    }
}

/// An element of a list or a map, where `null` is invalid.
struct Element<K>(PhantomData<K>);

impl<'de, K: Kind> DeserializeSeed<'de> for Element<K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<K::Value, D::Error> {
        K::read(input)
    }
}

/// Another message of `coop.v1`.
pub(crate) struct Sub<M>(PhantomData<M>);

impl<M: Message> Kind for Sub<M> {
    type Value = M;

    fn write<S: Serializer>(value: &M, out: S) -> Result<S::Ok, S::Error> {
        super::serialize(value, out)
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<M, D::Error> {
        let mut message = M::default();
        super::merge(&mut message, input)?;
        Ok(message)
    }
}

/// A repeated field.
pub(crate) struct List<K>(PhantomData<K>);

impl<K: Kind> Kind for List<K> {
    type Value = Vec<K::Value>;

    fn write<S: Serializer>(value: &Vec<K::Value>, out: S) -> Result<S::Ok, S::Error> {
        let mut list = out.serialize_seq(Some(value.len()))?;
        for element in value {
            list.serialize_element(&Print::<K>(element))?;
        }
        list.end()
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_seq(Self(PhantomData))
    }
}

impl<'de, K: Kind> Visitor<'de> for List<K> {
    type Value = Vec<K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        loop {
            match input.next_element_seed(Element::<K>(PhantomData)) {
                Ok(Some(element)) => list.push(element),
                Ok(None) => return Ok(list),
                Err(error) => return Err(within(format_args!("[{}]", list.len()), error)),
            }
        }
    }
}

/// A map with string keys.
pub(crate) struct Map<K>(PhantomData<K>);

impl<K: Kind> Kind for Map<K> {
    type Value = BTreeMap<String, K::Value>;

    fn write<S: Serializer>(value: &Self::Value, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(value.iter().map(|(key, value)| (key, Print::<K>(value))))
    }

    fn read<'de, D: Deserializer<'de>>(input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(Self(PhantomData))
    }
}

impl<'de, K: Kind> Visitor<'de> for Map<K> {
    type Value = BTreeMap<String, K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Self::Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = input.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(within(shown(&key), A::Error::custom("given twice")));
            }
            let value = input
                .next_value_seed(Element::<K>(PhantomData))
                .map_err(|error| within(shown(&key), error))?;
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// The start of a key, short enough for an error text.
pub(super) fn shown(key: &str) -> String {
    key.chars().take(64).collect()
}
